/* SPDX-License-Identifier: MIT */
/* Writes logs in the format Recipe: a line "RECIPE", a line for each counter, and an empty line. For each sample follow
   a line with its time and a line for each value, or "-" for a missing value. */
#include "engine/base/memory.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/number_text.h"

#include <stdio.h>
#include <string.h>

struct recipe_log {
    struct log_writer base;
    struct file *file;
    uint64_t size;
    size_t counters;
};

static HRESULT recipe_put(struct recipe_log *log, const char *text)
{
    const HRESULT hr = file_write(log->file, text, strlen(text));
    log->size += SUCCEEDED(hr) ? strlen(text) : 0;
    return hr;
}

static HRESULT recipe_put_counter(struct recipe_log *log, const struct log_counter *counter)
{
    char *path = log_counter_path(counter);
    HRESULT hr = path ? recipe_put(log, path) : E_OUTOFMEMORY;
    memory_free(path);
    return SUCCEEDED(hr) ? recipe_put(log, "\n") : hr;
}

static HRESULT recipe_create(const struct log_format_traits *format, const char *path,
                             const struct log_counter *counters, size_t count, int64_t start_utc,
                             const struct log_options *options, struct log_writer **out)
{
    bool fresh;
    struct recipe_log *log = memory_zero(1, sizeof *log);
    (void)format;
    (void)start_utc;
    if (!log)
        return E_OUTOFMEMORY;
    log->base.functions = &log_recipe_functions;
    log->counters = count;
    HRESULT hr = log_file_begin(path, options, options->replace, &log->file, &fresh);
    if (SUCCEEDED(hr))
        hr = log_file_empty(log->file);
    if (SUCCEEDED(hr))
        hr = recipe_put(log, "RECIPE\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = recipe_put_counter(log, &counters[i]);
    if (SUCCEEDED(hr))
        hr = recipe_put(log, "\n");
    if (FAILED(hr)) {
        file_close(log->file);
        memory_free(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

static HRESULT recipe_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct recipe_log *log = (struct recipe_log *)w;
    char line[NUMBER_TEXT_SIZE + 32];
    snprintf(line, sizeof line, "%lld\n", (long long)utc);
    HRESULT hr = recipe_put(log, line);
    for (size_t i = 0; SUCCEEDED(hr) && i < log->counters; i++) {
        size_t length = 1;
        *line = '-';
        if (cells[i].has_value)
            length = number_text(cells[i].value, line);
        memcpy(line + length, "\n", 2);
        hr = recipe_put(log, line);
    }
    return hr;
}

static HRESULT recipe_flush(struct log_writer *w)
{
    (void)w;
    return S_OK;
}

static uint64_t recipe_size(const struct log_writer *w)
{
    return ((const struct recipe_log *)w)->size;
}

static HRESULT recipe_close(struct log_writer *w)
{
    struct recipe_log *log = (struct recipe_log *)w;
    file_close(log->file);
    memory_free(log);
    return S_OK;
}

const struct log_format_functions log_recipe_functions = {.create = recipe_create,
                                                          .append = recipe_append,
                                                          .flush = recipe_flush,
                                                          .size = recipe_size,
                                                          .close = recipe_close};
