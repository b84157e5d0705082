/* SPDX-License-Identifier: MIT */
/* Reads performance logs for programs: counters, samples and their values, with relog's reader and columns. */
#include "engine/base/memory.h"
#include "library/logs/log_parts.h"

#include <math.h>
#include <string.h>

static HRESULT no_memory(const struct library_log *log)
{
    return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory", log->info.path ? log->info.path : "");
}

static void log_free(struct library_log *log)
{
    for (size_t i = 0; i < log->counter_count; i++) {
        memory_free((void *)(uintptr_t)log->counters[i]->path);
        memory_free(log->counters[i]);
    }
    memory_free(log->counters);
    memory_free(log->values);
    text_buffer_free(&log->warning);
    columns_free(&log->columns);
    filter_free(&log->filter);
    inputs_close(&log->inputs);
    memory_free(log);
}

/* Returns whether the samples that follow can add counters. Samples add counters only in logs that store raw values and
   no formatted values. */
static bool counters_come_late(const struct library_log *log)
{
    for (size_t i = 0; i < log->inputs.count; i++)
        if (!log_reader_info(log->inputs.items[i].reader)->has_values)
            return true;
    return false;
}

static HRESULT log_scan(struct library_log *log)
{
    size_t at;
    HRESULT hr = inputs_rewind(&log->inputs);
    while (SUCCEEDED(hr) && (hr = inputs_next(&log->inputs, &at)) == S_OK)
        hr = columns_learn(&log->columns, &log->inputs, at);
    if (FAILED(hr))
        return hr;
    inputs_range(&log->inputs, &log->info.samples, &log->info.begin, &log->info.end);
    return columns_arrange(&log->columns);
}

static HRESULT log_begin(struct library_log *log, const struct openpla_log_options *options)
{
    static const enum openpla_format formats[] = {[LOG_CSV] = OPENPLA_FORMAT_CSV,
                                                  [LOG_TSV] = OPENPLA_FORMAT_TSV,
                                                  [LOG_SQL] = OPENPLA_FORMAT_SQL,
                                                  [LOG_BINARY] = OPENPLA_FORMAT_BINARY};
    const struct log_info *info = log_reader_info(log->inputs.items[0].reader);
    log->info.path = log->inputs.items[0].shown;
    log->info.format =
        (size_t)info->format < sizeof formats / sizeof *formats ? formats[info->format] : OPENPLA_FORMAT_BY_NAME;
    log->info.format_name = log_format_traits(info->format)->name;
    log->info.computer = info->machine;
    log->info.comment = info->comment;
    log->info.zone = info->zone.name;
    log->info.bias_minutes = info->zone.bias_minutes;
    log->learns = (options->flags & OPENPLA_LOG_STREAM) && counters_come_late(log);
    log->begin = INT64_MIN;
    if (options->begin != 0 || options->end != 0) {
        log->begin = log->inputs.from = options->begin;
        log->inputs.to = options->end;
    }
    log->columns.filter = &log->filter;
    log->columns.values = log->columns.raw = true;
    HRESULT hr = columns_begin(&log->columns, &log->inputs);
    if (SUCCEEDED(hr) && !(options->flags & OPENPLA_LOG_STREAM))
        hr = log_scan(log);
    return SUCCEEDED(hr) ? inputs_rewind(&log->inputs) : hr;
}

static HRESULT log_options_take(const struct openpla_log_options *given, struct openpla_log_options *own)
{
    HRESULT hr = library_take_options(given, own, sizeof *own, "openpla_log_open");
    if (SUCCEEDED(hr) && (own->flags & ~(uint32_t)OPENPLA_LOG_STREAM))
        hr = error_set(E_INVALIDARG, "openpla_log_open: 'options.flags': 0x%X has unknown bits", (unsigned)own->flags);
    if (SUCCEEDED(hr) && own->counter_count != 0)
        hr = library_check_pointer(own->counters, "openpla_log_open", "options.counters");
    for (size_t i = 0; SUCCEEDED(hr) && i < own->counter_count; i++)
        hr = library_check_text(own->counters[i], false, "openpla_log_open", "options.counters");
    if (SUCCEEDED(hr) && own->begin > own->end)
        hr = error_set(E_INVALIDARG, "openpla_log_open: 'options.begin': is after the end");
    return hr;
}

openpla_result openpla_log_open(const char *path, const struct openpla_log_options *options, openpla_log **log)
{
    struct openpla_log_options own = {0};
    void *handle = NULL;
    HRESULT hr = library_check_pointer(log, "openpla_log_open", "log");
    if (SUCCEEDED(hr)) {
        *log = NULL;
        hr = library_check_text(path, false, "openpla_log_open", "path");
    }
    if (SUCCEEDED(hr))
        hr = log_options_take(options, &own);
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = memory_zero(1, sizeof *l);
    if (!l)
        return library_result(error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", library_short_name(path)));
    char *name = (char *)(uintptr_t)path;
    const struct texts one = {.count = 1, .items = &name};
    hr = inputs_open(&l->inputs, &one);
    for (size_t i = 0; SUCCEEDED(hr) && i < own.counter_count; i++)
        hr = filter_add(&l->filter, own.counters[i]);
    if (SUCCEEDED(hr))
        hr = log_begin(l, &own);
    if (SUCCEEDED(hr))
        hr = handle_open(HANDLE_LOG, l, &handle);
    if (FAILED(hr)) {
        char *shown = format_path(path);
        hr = library_name_error(hr, "open", shown ? shown : library_short_name(path));
        const struct error_kept why = error_keep(hr);
        memory_free(shown);
        log_free(l);
        return library_result(error_restore(&why));
    }
    *log = handle;
    return OPENPLA_OK;
}

openpla_result openpla_log_close(openpla_log *log)
{
    void *object;
    const HRESULT hr = handle_enter(HANDLE_LOG, log, "openpla_log_close", &object);
    if (FAILED(hr))
        return library_result(hr);
    handle_close(log);
    log_free(object);
    return OPENPLA_OK;
}

openpla_result openpla_log_get_info(openpla_log *log, const struct openpla_log_info **info)
{
    void *object;
    HRESULT hr = library_check_pointer(info, "openpla_log_get_info", "info");
    if (SUCCEEDED(hr)) {
        *info = NULL;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_get_info", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    *info = &((struct library_log *)object)->info;
    handle_leave(log);
    return OPENPLA_OK;
}

/* ---- counters ---- */

openpla_result openpla_log_get_counter_count(openpla_log *log, size_t *count)
{
    void *object;
    HRESULT hr = library_check_pointer(count, "openpla_log_get_counter_count", "count");
    if (SUCCEEDED(hr)) {
        *count = 0;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_get_counter_count", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    *count = ((struct library_log *)object)->columns.counters.count;
    handle_leave(log);
    return OPENPLA_OK;
}

/* Copies the next column's counter for the caller. The copy keeps its address when the list of columns moves; its
   strings are borrowed from the columns. */
static HRESULT counter_give_out(struct library_log *log)
{
    const struct log_counter *from = &log->columns.counters.items[log->counter_count];
    void *counters = log->counters;
    if (!memory_grow(&counters, &log->counter_capacity, log->counter_count + 1, sizeof *log->counters))
        return no_memory(log);
    log->counters = counters;
    struct openpla_counter *counter = memory_zero(1, sizeof *counter);
    char *path = log_counter_path(from);
    if (!counter || !path) {
        memory_free(counter);
        memory_free(path);
        return no_memory(log);
    }
    *counter = (struct openpla_counter){.path = path,
                                        .computer = from->machine,
                                        .object = from->object,
                                        .parent = from->parent,
                                        .instance = from->instance,
                                        .counter = from->counter,
                                        .index = from->index,
                                        .type = from->type,
                                        .time_base = from->time_base,
                                        .default_scale = from->default_scale};
    log->counters[log->counter_count++] = counter;
    return S_OK;
}

openpla_result openpla_log_get_counter(openpla_log *log, size_t index, const struct openpla_counter **counter)
{
    void *object;
    HRESULT hr = library_check_pointer(counter, "openpla_log_get_counter", "counter");
    if (SUCCEEDED(hr)) {
        *counter = NULL;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_get_counter", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = object;
    if (index >= l->columns.counters.count)
        hr = S_FALSE;
    while (hr == S_OK && l->counter_count <= index)
        hr = counter_give_out(l);
    if (hr == S_OK)
        *counter = l->counters[index];
    handle_leave(log);
    return library_result(hr);
}

/* ---- samples ---- */

HRESULT library_log_next(struct library_log *log, int64_t *utc)
{
    size_t at = 0;
    HRESULT hr = inputs_next(&log->inputs, &at);
    if (hr == S_OK) {
        *utc = log->inputs.items[at].utc;
        if (log->learns)
            hr = columns_learn(&log->columns, &log->inputs, at);
        if (SUCCEEDED(hr))
            hr = columns_fill(&log->columns, &log->inputs, at);
    }
    return library_name_error(hr, "read", log->info.path);
}

static HRESULT fill_sample(struct library_log *log)
{
    const size_t count = log->columns.counters.count;
    void *values = log->values;
    if (!memory_grow(&values, &log->value_capacity, count + 1, sizeof *log->values))
        return no_memory(log);
    log->values = values;
    for (size_t i = 0; i < count; i++) {
        const struct log_cell *cell = &log->columns.cells[i];
        log->values[i] = (struct openpla_value){.value = cell->has_value ? cell->value : (double)NAN,
                                                .first = cell->raw.first,
                                                .second = cell->raw.second,
                                                .text = cell->raw.text,
                                                .status = cell->raw.status,
                                                .multi_count = cell->raw.multi_count,
                                                .has_value = cell->has_value};
    }
    log->sample.count = count;
    log->sample.values = log->values;
    return S_OK;
}

openpla_result openpla_log_next(openpla_log *log, const struct openpla_sample **sample)
{
    void *object;
    HRESULT hr = library_check_pointer(sample, "openpla_log_next", "sample");
    if (SUCCEEDED(hr)) {
        *sample = NULL;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_next", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = object;
    hr = library_log_next(l, &l->sample.time);
    if (hr == S_OK)
        hr = fill_sample(l);
    if (hr == S_OK)
        *sample = &l->sample;
    handle_leave(log);
    return library_result(hr);
}

openpla_result openpla_log_seek(openpla_log *log, int64_t time)
{
    void *object;
    HRESULT hr = handle_enter(HANDLE_LOG, log, "openpla_log_seek", &object);
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = object;
    l->inputs.from = time > l->begin ? time : l->begin;
    hr = inputs_rewind(&l->inputs);
    columns_restart(&l->columns);
    hr = library_name_error(hr, "read", l->info.path);
    handle_leave(log);
    return library_result(hr);
}

/* ---- warnings ---- */

/* Formats the warning at `index`; an empty text means that there are no more than `index` warnings. */
static void find_warning(struct library_log *log, size_t index)
{
    log->warning.length = 0;
    for (size_t i = 0; i < log->inputs.count; i++) {
        const struct texts *warnings = log_reader_warnings(log->inputs.items[i].reader);
        if (index < warnings->count) {
            text_buffer_format(&log->warning, "'%s': %s", log->inputs.items[i].shown, warnings->items[index]);
            return;
        }
        index -= warnings->count;
    }
    for (size_t i = 0; i < log->filter.count; i++) {
        if (!log->filter.patterns[i].used && index-- == 0) {
            text_buffer_format(&log->warning, "'%s': '%s' matches no counter", log->info.path,
                               log->filter.patterns[i].text);
            return;
        }
    }
}

openpla_result openpla_log_get_warning(openpla_log *log, size_t index, const char **text)
{
    void *object;
    HRESULT hr = library_check_pointer(text, "openpla_log_get_warning", "text");
    if (SUCCEEDED(hr)) {
        *text = NULL;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_get_warning", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = object;
    find_warning(l, index);
    if (l->warning.failed) {
        text_buffer_free(&l->warning);
        hr = no_memory(l);
    } else if (l->warning.length == 0) {
        hr = S_FALSE;
    } else {
        *text = l->warning.text;
    }
    handle_leave(log);
    return library_result(hr);
}
