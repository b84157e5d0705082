/* SPDX-License-Identifier: MIT */
/* Merges the samples of several logs by time, and finds the median interval between samples. */
#include "engine/logs/log_inputs.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/sql_log.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_PER_MINUTE INT64_C(600000000)

static HRESULT open_one(struct inputs *in, const char *path)
{
    void *items = in->items;
    if (!memory_grow(&items, &in->capacity, in->count + 1, sizeof *in->items))
        return error_set(E_OUTOFMEMORY, "out of memory for %zu logs", in->count + 1);
    in->items = items;
    struct input one = {.path = text_copy(path), .shown = format_path(path)};
    HRESULT hr = one.path && one.shown ? log_reader_open(path, &one.reader) : E_OUTOFMEMORY;
    const bool is_open = SUCCEEDED(hr);
    if (is_open && in->names)
        hr = log_reader_translate(one.reader, in->names);
    if (FAILED(hr)) {
        if (is_open)
            log_reader_close(one.reader);
        memory_free(one.path);
        memory_free(one.shown);
        return hr;
    }
    in->items[in->count++] = one;
    return S_OK;
}

static HRESULT add_matching(const char *path, struct texts *out)
{
    struct texts names = {0};
    size_t found = 0;
    char *folder = path_folder(path);
    HRESULT hr = folder ? folder_list(*folder ? folder : ".", false, &names) : E_OUTOFMEMORY;
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        if (text_matches(path_name(path), names.items[i])) {
            char *file = path_join(folder, names.items[i]);
            hr = file ? texts_add_owned(out, file) : E_OUTOFMEMORY;
            found++;
        }
    }
    if (SUCCEEDED(hr) && found == 0)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "no such file: '%s'", path);
    texts_free(&names);
    memory_free(folder);
    return hr;
}

HRESULT input_paths(const struct texts *paths, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < paths->count && SUCCEEDED(hr); i++) {
        const char *path = paths->items[i];
        const bool many = !sql_source_is(path) && strpbrk(path_name(path), "*?");
        hr = many ? add_matching(path, out) : texts_add(out, path);
    }
    return hr;
}

HRESULT inputs_open(struct inputs *in, const struct texts *paths)
{
    struct texts all = {0};
    HRESULT hr = input_paths(paths, &all);
    in->from = INT64_MIN;
    in->to = INT64_MAX;
    for (size_t i = 0; i < all.count && SUCCEEDED(hr); i++)
        hr = open_one(in, all.items[i]);
    texts_free(&all);
    return hr;
}

HRESULT inputs_rewind(struct inputs *in)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++) {
        struct input *one = &in->items[i];
        one->pending = one->ended = false;
        one->samples = 0;
        hr = log_reader_seek(one->reader, in->from);
    }
    return hr;
}

static int64_t to_utc(int64_t local, int64_t bias)
{
    return local == INT64_MIN || local == INT64_MAX ? local : local + bias;
}

HRESULT inputs_limit(struct inputs *in, int64_t from, int64_t to)
{
    const int64_t bias = log_reader_info(in->items[0].reader)->zone.bias_minutes * TICKS_PER_MINUTE;
    in->from = to_utc(from, bias);
    in->to = to_utc(to, bias);
    return inputs_rewind(in);
}

static HRESULT input_read_ahead(struct inputs *in, struct input *one)
{
    HRESULT hr = S_OK;
    while (!one->pending && !one->ended) {
        hr = log_reader_next(one->reader, &one->utc, &one->cells);
        if (FAILED(hr))
            return hr;
        one->ended = hr == S_FALSE;
        one->pending = hr == S_OK && one->utc >= in->from && one->utc <= in->to;
    }
    return S_OK;
}

HRESULT inputs_next(struct inputs *in, size_t *at)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < in->count; i++) {
        HRESULT hr = input_read_ahead(in, &in->items[i]);
        if (FAILED(hr))
            return hr;
        if (in->items[i].pending && (best == SIZE_MAX || in->items[i].utc < in->items[best].utc))
            best = i;
    }
    if (best == SIZE_MAX)
        return S_FALSE;
    struct input *one = &in->items[best];
    one->pending = false;
    one->first = one->samples == 0 || one->utc < one->first ? one->utc : one->first;
    one->last = one->samples == 0 || one->utc > one->last ? one->utc : one->last;
    one->samples++;
    *at = best;
    return S_OK;
}

void inputs_progress(const struct inputs *in, uint64_t *done, uint64_t *total)
{
    *done = *total = 0;
    for (size_t i = 0; i < in->count; i++) {
        uint64_t one_done, one_total;
        log_reader_progress(in->items[i].reader, &one_done, &one_total);
        *done += one_done;
        *total += one_total;
    }
}

void inputs_range(const struct inputs *in, uint64_t *samples, int64_t *first, int64_t *last)
{
    *samples = 0;
    *first = *last = 0;
    for (size_t i = 0; i < in->count; i++) {
        const struct input *one = &in->items[i];
        if (one->samples > 0) {
            *first = *samples == 0 || one->first < *first ? one->first : *first;
            *last = *samples == 0 || one->last > *last ? one->last : *last;
            *samples += one->samples;
        }
    }
}

HRESULT inputs_describe_names(const struct inputs *in, char **out)
{
    struct names_summary s = {0};
    HRESULT hr = S_OK;
    *out = NULL;
    for (size_t i = 0; in->names && i < in->count && SUCCEEDED(hr); i++) {
        size_t count;
        const struct log_counter *counters = log_reader_counters(in->items[i].reader, &count);
        for (size_t k = 0; k < count && SUCCEEDED(hr); k++)
            hr = names_summary_add(&s, in->names, &counters[k]);
    }
    if (SUCCEEDED(hr))
        hr = names_summary_text(&s, out);
    names_summary_free(&s);
    return hr;
}

void inputs_close(struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        log_reader_close(in->items[i].reader);
        memory_free(in->items[i].path);
        memory_free(in->items[i].shown);
    }
    memory_free(in->items);
    *in = (struct inputs){0};
}

char *format_path(const char *path)
{
    struct sql_source source;
    if (!sql_source_is(path))
        return text_copy(path);
    if (FAILED(sql_source_parse(path, &source)))
        return text_copy("SQL:..."); /* the unparsable name can contain a password, so it is not shown */
    char *shown = text_copy(source.shown);
    sql_source_free(&source);
    return shown;
}

enum { MAX_DISTANCES = 1 << 16 };

HRESULT sample_distances_add(struct sample_distances *d, int64_t distance)
{
    if (d->step == 0)
        d->step = 1;
    if (d->seen++ % d->step != 0)
        return S_OK;
    if (d->count == MAX_DISTANCES) { /* drop every second interval */
        for (size_t i = 0; i < MAX_DISTANCES / 2; i++)
            d->items[i] = d->items[2 * i];
        d->count = MAX_DISTANCES / 2;
        d->step *= 2;
    }
    void *items = d->items;
    if (!memory_grow(&items, &d->capacity, d->count + 1, sizeof *d->items))
        return E_OUTOFMEMORY;
    d->items = items;
    d->items[d->count++] = distance;
    return S_OK;
}

static int compare_distances(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t sample_distances_middle(struct sample_distances *d)
{
    if (d->count == 0)
        return 0;
    qsort(d->items, d->count, sizeof *d->items, compare_distances);
    return d->items[d->count / 2];
}

void sample_distances_free(struct sample_distances *d)
{
    memory_free(d->items);
    *d = (struct sample_distances){0};
}
