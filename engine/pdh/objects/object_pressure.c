/* SPDX-License-Identifier: MIT */
/* The object Pressure (OpenPLA only): the kernel's pressure stall information. The counters show the time during which
   tasks waited for processors, memory and disks, as a share of the time between two samples. */
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* Times are in microseconds. */
#define PRESSURE_ROWS                                                                                                  \
    COLUMN(SOME_TIME, "some")                                                                                          \
    COLUMN(FULL_TIME, "full")                                                                                          \
    COUNTER("% Some Time", PERF_PRECISION_100NS_TIMER, 0, 0, NO_TOTAL, "some * 10",                                    \
            "Share of the time in which at least one task was stalled for lack of this resource.")                     \
    COUNTER("% Full Time", PERF_PRECISION_100NS_TIMER, 0, 0, NO_TOTAL, "full * 10",                                    \
            "Share of the time in which all tasks with work to do were stalled for lack of this resource.")

#define OBJECT pressure
#define ROWS   PRESSURE_ROWS
#include "engine/pdh/core/counter_rows.inc"

struct pressure_state {
    struct table_state table;
    struct kept_files files;
};

static void close_state(void *state)
{
    kept_files_close(&((struct pressure_state *)state)->files);
}

/* Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234". */
static void set_time(int64_t *cells, const char *p, const char *end)
{
    static const char mark[] = "total=";
    int column = kernel_starts(p, end, "some ", 5) ? SOME_TIME : kernel_starts(p, end, "full ", 5) ? FULL_TIME : -1;
    uint64_t value;
    for (; column >= 0 && p < end; p = kernel_skip(kernel_word_end(p, end), end))
        if (kernel_starts(p, end, mark, sizeof mark - 1) && kernel_number(p + sizeof mark - 1, end, &value))
            cells[column] = (int64_t)value;
}

static HRESULT pressure_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    static const char *const resources[] = {"cpu", "io", "irq", "memory"};
    struct pressure_state *s = o->state;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof resources / sizeof *resources && hr != E_OUTOFMEMORY; i++) {
        char path[512];
        const char *text;
        size_t size;
        snprintf(path, sizeof path, "%s/proc/pressure/%s", source_root(source), resources[i]);
        hr = kept_files_text(&s->files, path, &text, &size);
        if (FAILED(hr))
            continue;
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, resources[i], strlen(resources[i]), 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (const char *p = text, *end = text + size, *line; p < end; p = line + 1) {
            line = kernel_line_end(p, end);
            set_time(cells, p, line);
        }
    }
    return hr == E_OUTOFMEMORY || !s->table.row_count ? hr : S_OK;
}

const struct counter_object_type pdh_pressure = {
    .name = "Pressure",
    .help = "How long tasks waited for processors (cpu), disks (io), interrupts (irq) and memory.",
    .has_instances = true,
    TABLE_OBJECT(pressure, ALL_OF, struct pressure_state, pressure_gather, close_state,
                 "the value \"total\" in the lines \"some\" and \"full\" of /proc/pressure/NAME, in microseconds")};
