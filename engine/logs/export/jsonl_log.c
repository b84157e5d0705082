/* SPDX-License-Identifier: MIT */
/* Writes performance logs as JSON lines: one object in UTF-8 for each sample, followed by a line feed.

       {"time":"2021-03-04T09:51:39.073Z","\\\\SRV1\\Memory\\Available MBytes":1000,"...":null}

   Every object has all counters, with their paths as names. A missing value is null, and so are infinities and NaNs,
   which JSON cannot represent. Therefore pandas, DuckDB and jq find the same columns in each line. */
#include "engine/base/clock.h"
#include "engine/base/json_text.h"
#include "engine/base/memory.h"
#include "engine/logs/export/log_output.h"
#include "engine/logs/number_text.h"

#include <math.h>

struct jsonl_log {
    struct log_writer base;
    struct log_output file;
    struct texts names; /* for each counter, the text before its value: ,"\\path": */
};

static void jsonl_free(struct jsonl_log *log)
{
    texts_free(&log->names);
    memory_free(log);
}

static HRESULT jsonl_names(struct jsonl_log *log, const struct log_counter *counters, size_t count)
{
    struct texts names = {0};
    HRESULT hr = log_output_names(counters, count, &names);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        struct text_buffer b = {0};
        text_buffer_add(&b, ",");
        json_add_text(&b, names.items[i]);
        text_buffer_add(&b, ":");
        char *name = text_buffer_take(&b);
        hr = name ? texts_add_owned(&log->names, name)
                  : error_set(E_OUTOFMEMORY, "out of memory for the names of %zu counters", count);
    }
    texts_free(&names);
    return hr;
}

static HRESULT jsonl_create(const struct log_format_traits *format, const char *path,
                            const struct log_counter *counters, size_t count, int64_t start_utc,
                            const struct log_options *options, struct log_writer **out)
{
    struct jsonl_log *log = memory_zero(1, sizeof *log);
    (void)start_utc;
    if (!log)
        return E_OUTOFMEMORY;
    log->base.functions = &log_jsonl_functions;
    HRESULT hr = jsonl_names(log, counters, count);
    if (SUCCEEDED(hr))
        hr = log_output_create(&log->file, format, path, counters, count, options);
    if (FAILED(hr)) {
        jsonl_free(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static HRESULT jsonl_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct jsonl_log *log = (struct jsonl_log *)w;
    struct text_buffer *b = &log->file.pending;
    const struct calendar_time t = clock_calendar(utc);
    char number[NUMBER_TEXT_SIZE];
    text_buffer_format(b, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", t.year, t.month, t.day, t.hour, t.minute,
                       t.second, t.millisecond);
    for (size_t i = 0; i < log->names.count; i++) {
        text_buffer_add(b, log->names.items[i]);
        if (cells[i].has_value && isfinite(cells[i].value))
            text_buffer_add_n(b, number, number_text_shortest(cells[i].value, 15, false, number));
        else
            text_buffer_add_n(b, "null", 4);
    }
    text_buffer_add_n(b, "}\n", 2);
    return log_output_write(&log->file, false);
}

static HRESULT jsonl_flush(struct log_writer *w)
{
    return log_output_write(&((struct jsonl_log *)w)->file, true);
}

static uint64_t jsonl_size(const struct log_writer *w)
{
    return log_output_size(&((const struct jsonl_log *)w)->file);
}

static HRESULT jsonl_close(struct log_writer *w)
{
    struct jsonl_log *log = (struct jsonl_log *)w;
    const HRESULT hr = log_output_close(&log->file, S_OK);
    jsonl_free(log);
    return hr;
}

const struct log_format_functions log_jsonl_functions = {
    .create = jsonl_create, .append = jsonl_append, .flush = jsonl_flush, .size = jsonl_size, .close = jsonl_close};
