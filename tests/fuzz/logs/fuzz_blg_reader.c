/* SPDX-License-Identifier: MIT */
/* Corrupt performance logs with counters, wildcard counters, whole objects and two catalogs: the intact parts are
   readable, all cells are valid memory, and reading again after a seek to the beginning gives the same result. */
#include "engine/base/file.h"
#include "engine/base/process.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/pdh_types.h"
#include "tests/fuzz/small_container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START  INT64_C(132590000000000000)
#define SECOND INT64_C(10000000)

static const struct log_counter counters[] = {
    {.machine = "\\\\B", .object = "Memory", .counter = "Free", .type = PERF_COUNTER_RAWCOUNT},
    {.machine = "\\\\B", .object = "Process", .instance = "*", .wildcard = true, .counter = "%", .type = 0x20510500},
    {.machine = "\\\\B", .object = "System", .counter = "Name", .type = PERF_COUNTER_TEXT},
    {.machine = "\\\\B",
     .object = "Disk",
     .instance = "*",
     .wildcard = true,
     .counter = "S",
     .type = PERF_COUNTER_TEXT},
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Adds the writer's output for some samples to the container, in buffers of its size. */
static void add_log(struct small_container *c, const char *path, size_t first, size_t count)
{
    static const struct log_item values[] = {{.instance = "a", .raw = {.first = 1}},
                                             {.instance = "\xc3\xa9", .raw = {.first = 2}}};
    static const struct log_item texts[] = {{.instance = "C:", .raw = {.text = "fast"}},
                                            {.instance = "C:", .raw = {.text = "slow"}}};
    const struct log_cell cells[] = {{.raw = {.first = 5}},
                                     {.items = values, .item_count = 2},
                                     {.raw = {.text = "a name"}},
                                     {.items = texts, .item_count = 2}};
    struct log_writer *log;
    struct etl_reader *reader = NULL;
    struct etl_record record;
    uint8_t events[SMALL_BUFFER];
    size_t size = 0;
    (void)file_delete(path);
    must(log_writer_create(LOG_BINARY, path, counters + first, count, START, NULL, &log) == S_OK);
    for (int i = 0; i < 2; i++)
        must(log_writer_append(log, START + i * SECOND, cells + first) == S_OK);
    must(log_writer_close(log) == S_OK && etl_reader_open(path, NULL, NULL, &reader) == S_OK);
    while (etl_reader_next(reader, &record) == S_OK) {
        const size_t space = (record.size + 7) & ~(size_t)7;
        if (record.kind != ETL_RECORD_CLASSIC)
            continue;
        if (size + space > SMALL_BUFFER - ETL_BUFFER_HEAD) {
            small_add(c, 0, events, size, false);
            size = 0;
        }
        memset(events + size, 0, space);
        memcpy(events + size, record.event, record.size);
        size += space;
    }
    small_add(c, 0, events, size, false);
    etl_reader_close(reader);
}

static const struct small_container *container(unsigned which, const char *path)
{
    static struct small_container made[2];
    static bool done;
    for (unsigned i = 0; i < 2 && !done; i++) {
        small_begin(&made[i], ETL_MODE_SEQUENTIAL | ETL_MODE_ONE_STREAM, i == 0 ? 8 : 4, ETL_CLOCK_SYSTEM);
        add_log(&made[i], path, 0, 4);
        if (i == 1)
            add_log(&made[i], path, 1, 2); /* another log appended, under another catalog */
    }
    done = true;
    return &made[which & 1];
}

static void touch(const struct log_raw *raw)
{
    must(!raw->text || text_is_utf8(raw->text, strlen(raw->text)));
}

static unsigned count_samples(struct log_reader *reader, int64_t from)
{
    const struct log_cell *cells;
    int64_t utc;
    unsigned samples = 0;
    HRESULT hr;
    while ((hr = log_reader_next(reader, &utc, &cells)) == S_OK) {
        size_t count;
        const struct log_counter *names = log_reader_counters(reader, &count);
        must(utc >= from);
        for (size_t i = 0; i < count; i++) {
            must(names[i].object && names[i].counter);
            touch(&cells[i].raw);
            for (size_t k = 0; k < cells[i].item_count; k++) {
                must(text_is_utf8(cells[i].items[k].instance, strlen(cells[i].items[k].instance)));
                touch(&cells[i].items[k].raw);
            }
        }
        samples++;
    }
    must(hr == S_FALSE);
    return samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct log_reader *reader;
    if (size == 0)
        return 0;
    snprintf(path, sizeof path, "fuzz_blg_reader.%u.tmp", (unsigned)process_own_id());
    small_store_damaged(container(data[0], path), data + 1, size - 1, path);
    if (FAILED(log_reader_open(path, &reader)))
        return 0;
    if (log_reader_info(reader)->format == LOG_BINARY) { /* enough corruption turns it into a text log */
        const unsigned all = count_samples(reader, INT64_MIN);
        must(SUCCEEDED(log_reader_seek(reader, INT64_MIN)));
        must(count_samples(reader, INT64_MIN) == all);
        must(SUCCEEDED(log_reader_seek(reader, START + SECOND)));
        (void)count_samples(reader, START + SECOND); /* may be more: the catalog of a corrupt file can come late */
        must(log_reader_warnings(reader)->count <= LOG_MAX_WARNINGS);
    }
    log_reader_close(reader);
    return 0;
}
