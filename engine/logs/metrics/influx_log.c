/* SPDX-License-Identifier: MIT */
/* Writes performance logs in InfluxDB's line protocol, with times in nanoseconds, the protocol's default unit. */
#include "engine/base/memory.h"
#include "engine/logs/export/log_output.h"
#include "engine/logs/line_protocol.h"

struct influx_log {
    struct log_writer base;
    struct log_output file;
    struct line_layout *layout;
    bool warned;
};

static void influx_free(struct influx_log *log)
{
    line_layout_free(log->layout);
    memory_free(log);
}

static HRESULT influx_create(const struct log_format_traits *format, const char *path,
                             const struct log_counter *counters, size_t count, int64_t start_utc,
                             const struct log_options *options, struct log_writer **out)
{
    struct influx_log *log = memory_zero(1, sizeof *log);
    (void)start_utc;
    if (!log)
        return E_OUTOFMEMORY;
    log->base.functions = &log_influx_functions;
    HRESULT hr = log_refuse_wildcards(path, counters, count);
    if (SUCCEEDED(hr))
        hr = line_layout_create(counters, count, NULL, &log->layout);
    if (SUCCEEDED(hr))
        hr = log_output_create(&log->file, format, path, counters, count, options);
    if (FAILED(hr)) {
        influx_free(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static HRESULT influx_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct influx_log *log = (struct influx_log *)w;
    line_layout_add(log->layout, utc, LINE_NANOSECONDS, cells, &log->file.pending);
    return log_output_write(&log->file, false);
}

static HRESULT influx_flush(struct log_writer *w)
{
    return log_output_write(&((struct influx_log *)w)->file, true);
}

static uint64_t influx_size(const struct log_writer *w)
{
    return log_output_size(&((const struct influx_log *)w)->file);
}

static HRESULT influx_warning(struct log_writer *w, char **text)
{
    struct influx_log *log = (struct influx_log *)w;
    const size_t duplicates = line_layout_duplicates(log->layout);
    if (duplicates == 0 || log->warned)
        return S_FALSE;
    *text = text_format("omitted counters: %zu, because other counters have the same tags and field", duplicates);
    log->warned = *text != NULL;
    return *text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT influx_close(struct log_writer *w)
{
    struct influx_log *log = (struct influx_log *)w;
    const HRESULT hr = log_output_close(&log->file, S_OK);
    influx_free(log);
    return hr;
}

const struct log_format_functions log_influx_functions = {.create = influx_create,
                                                          .append = influx_append,
                                                          .flush = influx_flush,
                                                          .size = influx_size,
                                                          .warning = influx_warning,
                                                          .close = influx_close};
