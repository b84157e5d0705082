/* SPDX-License-Identifier: MIT */
/* Writes the files of the export formats through a buffer, and builds their column names. */
#include "engine/logs/export/log_output.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ENOUGH_BYTES = 256 << 10 };

HRESULT log_output_create(struct log_output *f, const struct log_format_traits *format, const char *path,
                          const struct log_counter *counters, size_t count, const struct log_options *options)
{
    bool fresh;
    HRESULT hr = log_refuse_wildcards(path, counters, count);
    if (SUCCEEDED(hr) && options->append)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot append to '%s': %s files cannot be continued",
                       path, format->name);
    if (SUCCEEDED(hr))
        hr = log_file_begin(path, options, options->replace, &f->file, &fresh);
    if (FAILED(hr))
        return hr;
    hr = log_file_empty(f->file);
    if (FAILED(hr)) {
        file_close(f->file);
        f->file = NULL;
        if (fresh)
            (void)log_file_delete(path, options);
    }
    return hr;
}

HRESULT log_output_write(struct log_output *f, bool all)
{
    if (f->pending.failed)
        return error_set(E_OUTOFMEMORY, "out of memory for the output");
    if (f->pending.length == 0 || (!all && f->pending.length < ENOUGH_BYTES))
        return S_OK;
    HRESULT hr = file_write_at(f->file, f->size, f->pending.text, f->pending.length);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        (void)file_set_size(f->file, f->size);
        return error_restore(&why);
    }
    f->size += f->pending.length;
    f->pending.length = 0;
    return S_OK;
}

uint64_t log_output_size(const struct log_output *f)
{
    return f->size + f->pending.length;
}

HRESULT log_output_close(struct log_output *f, HRESULT hr)
{
    if (SUCCEEDED(hr))
        hr = log_output_write(f, true);
    file_close(f->file);
    text_buffer_free(&f->pending);
    *f = (struct log_output){0};
    return hr;
}

struct named_column {
    const char *name;
    size_t column;
};

static int compare_names(const void *left, const void *right)
{
    const struct named_column *a = left, *b = right;
    const int order = strcmp(a->name, b->name);
    return order ? order : (a->column > b->column) - (a->column < b->column);
}

HRESULT log_output_names(const struct log_counter *counters, size_t count, struct texts *names)
{
    struct named_column *sorted = memory_zero(count + 1, sizeof *sorted);
    HRESULT hr = sorted ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        char *path = log_counter_path(&counters[i]);
        hr = path ? texts_add_owned(names, path) : E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        sorted[i] = (struct named_column){names->items[i], i};
    if (SUCCEEDED(hr))
        qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 0, end; i < count && SUCCEEDED(hr); i = end) {
        for (end = i + 1; end < count && strcmp(sorted[end].name, sorted[i].name) == 0; end++) {
            char *other = text_format("%s (%zu)", sorted[i].name, end - i + 1);
            if (!other) {
                hr = E_OUTOFMEMORY;
                break;
            }
            memory_free(names->items[sorted[end].column]);
            names->items[sorted[end].column] = other;
            sorted[end].name = sorted[i].name; /* the string to which it pointed was freed */
        }
    }
    memory_free(sorted);
    return FAILED(hr) ? error_set(hr, "out of memory for the names of %zu counters", count) : S_OK;
}
