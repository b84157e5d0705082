/* SPDX-License-Identifier: MIT */
/* The kernel's files and the process list of one query. */
#include "engine/pdh/source.h"
#include "engine/os/clock.h"

static const char *const paths[SOURCE_PROCESSES] = {"/proc/stat", "/proc/meminfo"};

void source_begin(struct source *s)
{
    s->serial++;
}

void source_close(struct source *s)
{
    for (size_t i = 0; i < SOURCE_PROCESSES; i++) {
        kernel_file_close(s->files[i]);
    }
    if (s->list) {
        process_list_close(s->list);
    }
    kernel_stat_free(&s->stat);
    *s = (struct source){0};
}

static void stamp(struct source_time *time)
{
    time->utc = clock_utc();
    time->ticks = clock_ticks();
}

int64_t source_local(struct source *s, int64_t utc)
{
    int64_t minute = utc / 600000000 + 1; /* never 0, which stands for none yet */
    if (s->local_minute != minute) {
        s->local_minute = minute;
        s->local_offset = clock_utc_to_local(utc) - utc;
    }
    return utc + s->local_offset;
}

static HRESULT read_processes(struct source *s)
{
    HRESULT hr = s->list ? S_OK : process_list_open(&s->list);
    if (SUCCEEDED(hr)) {
        hr = process_list_read(s->list, &s->processes, &s->process_count);
    }
    stamp(&s->time[SOURCE_PROCESSES]);
    return hr;
}

static HRESULT read_file(struct source *s, enum source_part part)
{
    const char *text = NULL;
    size_t size = 0;
    HRESULT hr = s->files[part] ? S_OK : kernel_file_open(paths[part], &s->files[part]);
    if (SUCCEEDED(hr)) {
        hr = kernel_file_read(s->files[part], &text, &size);
    }
    stamp(&s->time[part]);
    if (FAILED(hr)) {
        return hr;
    }
    return part == SOURCE_STAT ? kernel_stat_parse(text, size, &s->stat) : kernel_memory_parse(text, size, &s->memory);
}

HRESULT source_need(struct source *s, enum source_part part, struct source_time *time)
{
    if (s->read_in[part] != s->serial) {
        s->read_in[part] = s->serial;
        s->result[part] = part == SOURCE_PROCESSES ? read_processes(s) : read_file(s, part);
    }
    *time = s->time[part];
    if (s->result[part] == E_OUTOFMEMORY) {
        s->read_in[part] = 0;
    }
    return s->result[part];
}
