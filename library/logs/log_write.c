/* SPDX-License-Identifier: MIT */
/* Writes performance logs for programs, with the same writers as data collectors and relog. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/logs/log_inputs.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/sql_log.h"
#include "library/logs/library.h"

#include <string.h>

struct library_writer {
    char *path; /* for messages */
    struct log_writer *writer;
    struct log_counters counters;
    struct log_cell *cells;
};

#define CREATE "openpla_writer_create"

static void writer_free(struct library_writer *w)
{
    memory_free(w->path);
    memory_free(w->cells);
    log_counters_free(&w->counters);
    memory_free(w);
}

static HRESULT writer_take_counters(struct library_writer *w, const struct openpla_counter *counters, size_t count)
{
    HRESULT hr = count != 0 ? library_check_pointer(counters, CREATE, "counters")
                            : error_set(E_INVALIDARG, CREATE ": 'counters': a log needs at least one counter");
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        hr = library_check_text(counters[i].path, false, CREATE, "counters.path");
        if (SUCCEEDED(hr))
            hr = log_counters_add_path(&w->counters, counters[i].path);
        if (FAILED(hr) || !w->counters.items)
            break;
        struct log_counter *own = &w->counters.items[i];
        own->type = counters[i].type;
        own->time_base = counters[i].time_base;
        own->default_scale = counters[i].default_scale;
        const bool every = strcmp(own->counter, "*") == 0 || (own->instance && strcmp(own->instance, "*") == 0);
        if (every || !own->object[0]) {
            hr = error_set(E_INVALIDARG, CREATE ": '%s': %s", counters[i].path,
                           every ? "wildcards cannot be written (name each instance)"
                                 : "invalid counter path: expected \\object\\counter or "
                                   "\\\\computer\\object(instance)\\counter");
        }
    }
    if (SUCCEEDED(hr) && !(w->cells = memory_zero(count, sizeof *w->cells)))
        hr = E_OUTOFMEMORY;
    return hr;
}

/* Returns the format that the options choose or, by default, the format of the file name's extension. */
static HRESULT choose_format(const char *path, int32_t chosen, enum log_format *out)
{
    static const enum log_format formats[] = {[OPENPLA_FORMAT_CSV] = LOG_CSV,
                                              [OPENPLA_FORMAT_TSV] = LOG_TSV,
                                              [OPENPLA_FORMAT_SQL] = LOG_SQL,
                                              [OPENPLA_FORMAT_BINARY] = LOG_BINARY};
    if (chosen < 0 || chosen > OPENPLA_FORMAT_BINARY)
        return error_set(E_INVALIDARG, CREATE ": 'options.format': %d is not a format", (int)chosen);
    const bool is_database = sql_source_is(path);
    if (chosen != OPENPLA_FORMAT_BY_NAME) {
        *out = formats[chosen];
        if (is_database != (*out == LOG_SQL))
            return error_set(
                E_INVALIDARG,
                CREATE ": 'options.format': the format SQL and a name of the form SQL:DSN!SET must be used together");
        return S_OK;
    }
    const struct log_format_traits *traits = log_format_by_extension(path_extension(path));
    if (!is_database && (!traits || traits->is_export)) {
        return error_set(E_INVALIDARG,
                         "cannot create '%s': the extension does not name a log format (use .blg, .csv or .tsv, or set "
                         "options.format)",
                         path);
    }
    *out = is_database ? LOG_SQL : traits->format;
    return S_OK;
}

static HRESULT writer_begin(struct library_writer *w, const char *path, const struct openpla_writer_options *options)
{
    const struct log_options to = {
        .append = options->append,
        .replace = options->replace,
        .comment = options->comment,
        .max_bytes = options->max_bytes,
        .circular = options->circular,
        .zone = {.known = options->has_zone, .bias_minutes = options->bias_minutes, .name = options->zone}};
    enum log_format format = LOG_BINARY;
    HRESULT hr = choose_format(path, options->format, &format);
    if (SUCCEEDED(hr) && options->circular && !log_format_traits(format)->ring)
        hr = error_set(E_INVALIDARG, "cannot create '%s': only a binary log can be circular", w->path);
    if (SUCCEEDED(hr) && options->circular && options->max_bytes == 0)
        hr = error_set(E_INVALIDARG, "cannot create '%s': a circular log needs max_bytes", w->path);
    if (FAILED(hr))
        return hr;
    return log_writer_create(format, path, w->counters.items, w->counters.count,
                             options->start != 0 ? options->start : clock_utc(), &to, &w->writer);
}

openpla_result openpla_writer_create(const char *path, const struct openpla_counter *counters, size_t count,
                                     const struct openpla_writer_options *options, openpla_writer **writer)
{
    struct openpla_writer_options own = {0};
    void *handle = NULL;
    HRESULT hr = library_check_pointer(writer, CREATE, "writer");
    if (SUCCEEDED(hr)) {
        *writer = NULL;
        hr = library_check_text(path, false, CREATE, "path");
    }
    if (SUCCEEDED(hr))
        hr = library_take_options(options, &own, sizeof own, CREATE);
    if (SUCCEEDED(hr))
        hr = library_check_text(own.comment, true, CREATE, "options.comment");
    if (SUCCEEDED(hr))
        hr = library_check_text(own.zone, true, CREATE, "options.zone");
    if (FAILED(hr))
        return library_result(hr);
    struct library_writer *w = memory_zero(1, sizeof *w);
    if (!w)
        return library_result(error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory", library_short_name(path)));
    w->path = format_path(path);
    if (!w->path)
        hr = error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory", library_short_name(path));
    if (SUCCEEDED(hr))
        hr = writer_take_counters(w, counters, count);
    if (SUCCEEDED(hr)) /* before writer_begin: a failure here must not leave a file */
        hr = handle_open(HANDLE_WRITER, w, &handle);
    if (SUCCEEDED(hr))
        hr = writer_begin(w, path, &own);
    if (FAILED(hr)) {
        if (w->path && hr != E_INVALIDARG)
            hr = library_name_error(hr, "create", w->path);
        const struct error_kept why = error_keep(hr);
        if (handle)
            handle_close(handle);
        (void)log_writer_close(w->writer);
        writer_free(w);
        return library_result(error_restore(&why));
    }
    *writer = handle;
    return OPENPLA_OK;
}

static HRESULT fill_cells(struct library_writer *w, const struct openpla_value *values)
{
    for (size_t i = 0; i < w->counters.count; i++) {
        const struct openpla_value *from = &values[i];
        struct log_cell *cell = &w->cells[i];
        if (library_check_text(from->text, true, "openpla_writer_append", "values.text") != S_OK)
            return E_INVALIDARG;
        *cell = (struct log_cell){.has_value = from->has_value, .value = from->has_value ? from->value : 0};
        cell->raw = (struct log_raw){.status = from->status,
                                     .multi_count = from->multi_count,
                                     .first = from->first,
                                     .second = from->second,
                                     .text = from->text};
        if (w->counters.items[i].type == OPENPLA_TYPE_DOUBLE) {
            cell->raw = (struct log_raw){.status = from->has_value ? PDH_CSTATUS_VALID_DATA : PDH_CSTATUS_INVALID_DATA,
                                         .multi_count = 1};
            memcpy(&cell->raw.first, &cell->value, sizeof cell->value);
        }
    }
    return S_OK;
}

openpla_result openpla_writer_append(openpla_writer *writer, int64_t time, const struct openpla_value *values,
                                     size_t count)
{
    void *object;
    HRESULT hr = library_check_pointer(values, "openpla_writer_append", "values");
    if (SUCCEEDED(hr))
        hr = handle_enter(HANDLE_WRITER, writer, "openpla_writer_append", &object);
    if (FAILED(hr))
        return library_result(hr);
    struct library_writer *w = object;
    if (count != w->counters.count) {
        hr = error_set(E_INVALIDARG, "openpla_writer_append: 'count': is %zu, but '%s' has %zu counters", count,
                       w->path, w->counters.count);
    }
    if (SUCCEEDED(hr))
        hr = fill_cells(w, values);
    if (SUCCEEDED(hr))
        hr = library_name_error(log_writer_append(w->writer, time, w->cells), "write", w->path);
    handle_leave(writer);
    return library_result(hr);
}

openpla_result openpla_writer_flush(openpla_writer *writer)
{
    void *object;
    HRESULT hr = handle_enter(HANDLE_WRITER, writer, "openpla_writer_flush", &object);
    if (FAILED(hr))
        return library_result(hr);
    struct library_writer *w = object;
    hr = library_name_error(log_writer_flush(w->writer), "write", w->path);
    handle_leave(writer);
    return library_result(hr);
}

openpla_result openpla_writer_close(openpla_writer *writer)
{
    void *object;
    HRESULT hr = handle_enter(HANDLE_WRITER, writer, "openpla_writer_close", &object);
    if (FAILED(hr))
        return library_result(hr);
    struct library_writer *w = object;
    handle_close(writer);
    hr = library_name_error(log_writer_close(w->writer), "complete", w->path);
    writer_free(w);
    return library_result(hr);
}
