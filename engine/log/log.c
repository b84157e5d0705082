/* SPDX-License-Identifier: MIT */
/* The log writer's face: picks the format's functions and calls them. */
#include "engine/log/log_formats.h"

/* Of enum log_format. A format without an entry is refused by log_writer_create. */
static const struct log_format_functions *const formats[] = {
    [LOG_CSV] = &log_csv_functions,
    [LOG_TSV] = &log_tsv_functions,
    [LOG_BINARY] = &log_binary_functions,
};

static const struct log_format_functions *format_functions(enum log_format format)
{
    return (size_t)format < sizeof formats / sizeof *formats ? formats[format] : NULL;
}

HRESULT log_writer_create(enum log_format format, const char *path, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    static const struct log_options none = {0};
    const struct log_format_functions *functions = format_functions(format);
    if (functions == NULL) {
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "%s: log file format %d%s cannot be written", path,
                         (int)format, format == LOG_SQL ? " (SQL)" : "");
    }
    return functions->create(path, counters, count, start_utc, options != NULL ? options : &none, out);
}

HRESULT log_writer_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    return w->functions->append(w, utc, cells);
}

HRESULT log_writer_flush(struct log_writer *w)
{
    return w->functions->flush(w);
}

uint64_t log_writer_size(const struct log_writer *w)
{
    return w->functions->size(w);
}

HRESULT log_writer_close(struct log_writer *w)
{
    return w == NULL ? S_OK : w->functions->close(w);
}
