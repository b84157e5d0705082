/* SPDX-License-Identifier: MIT */
/* Reads many samples of a performance log into one table of formatted values. The table is stored column by column and
   grows in both directions during the reading. */
#include "engine/base/memory.h"
#include "library/logs/log_parts.h"

#include <math.h>
#include <string.h>

#define DEFAULT_VALUES (UINT64_C(1) << 29)
enum { FIRST_ROWS = 64 };

struct table {
    struct openpla_table shown; /* the caller's part; must be the first member */
    int64_t *times;
    double *values;
    size_t column_capacity; /* the capacity of the rows is shown.stride */
};

void openpla_table_free(struct openpla_table *table)
{
    struct table *t = (struct table *)table;
    if (!t)
        return;
    memory_free(t->times);
    memory_free(t->values);
    memory_free(t);
}

static HRESULT no_memory(const struct library_log *log, const struct table *t)
{
    return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for %zu samples of %zu counters", log->info.path,
                     t->shown.samples + 1, log->columns.counters.count);
}

/* Doubles the number of rows. With more rows, the columns are farther apart in memory, so the function copies each
   column to its new place. */
static bool grow_rows(struct table *t)
{
    const size_t stride = t->shown.stride ? 2 * t->shown.stride : FIRST_ROWS, columns = t->column_capacity;
    if (stride > SIZE_MAX / 2 / sizeof *t->values || (columns != 0 && stride > SIZE_MAX / sizeof *t->values / columns))
        return false;
    int64_t *times = memory_resize(t->times, stride * sizeof *times);
    if (!times)
        return false;
    t->times = times;
    double *values = memory_alloc(stride * columns * sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < t->shown.counters; i++)
        memcpy(&values[i * stride], &t->values[i * t->shown.stride], t->shown.samples * sizeof *values);
    memory_free(t->values);
    t->values = values;
    t->shown.stride = stride;
    return true;
}

/* Adds columns; earlier samples get no value (NaN) in them. */
static bool grow_columns(struct table *t, size_t count)
{
    size_t capacity = t->column_capacity;
    if (count > capacity) {
        capacity += capacity / 2;
        capacity = capacity > count ? capacity : count;
        if (t->shown.stride != 0 && capacity > SIZE_MAX / sizeof *t->values / t->shown.stride)
            return false;
        double *values = memory_resize(t->values, capacity * t->shown.stride * sizeof *values);
        if (!values)
            return false;
        t->values = values;
        t->column_capacity = capacity;
    }
    for (size_t i = t->shown.counters; t->values && i < count; i++)
        for (size_t k = 0; k < t->shown.samples; k++)
            t->values[i * t->shown.stride + k] = (double)NAN;
    t->shown.counters = count;
    return true;
}

static HRESULT add_sample(struct table *t, struct library_log *log, int64_t utc, uint64_t most)
{
    const size_t count = log->columns.counters.count;
    if (count != 0 && t->shown.samples + 1 > most / count) {
        return error_set(E_OUTOFMEMORY,
                         "cannot read '%s': more than %llu values (select counters or a time, or raise max_values)",
                         log->info.path, (unsigned long long)most);
    }
    if (count > t->shown.counters && !grow_columns(t, count))
        return no_memory(log, t);
    if (t->shown.samples == t->shown.stride && !grow_rows(t))
        return no_memory(log, t);
    double *to = t->values ? &t->values[t->shown.samples] : NULL;
    for (size_t i = 0; to && i < count; i++, to += t->shown.stride)
        *to = log->columns.cells[i].has_value ? log->columns.cells[i].value : (double)NAN;
    t->times[t->shown.samples++] = utc;
    return S_OK;
}

openpla_result openpla_log_read_table(openpla_log *log, uint64_t max_values, struct openpla_table **table)
{
    void *object;
    int64_t utc = 0;
    HRESULT hr = library_check_pointer(table, "openpla_log_read_table", "table");
    if (SUCCEEDED(hr)) {
        *table = NULL;
        hr = handle_enter(HANDLE_LOG, log, "openpla_log_read_table", &object);
    }
    if (FAILED(hr))
        return library_result(hr);
    struct library_log *l = object;
    struct table *t = memory_zero(1, sizeof *t);
    if (!t) {
        hr = error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory", l->info.path);
        handle_leave(log);
        return library_result(hr);
    }
    while (hr == S_OK && (hr = library_log_next(l, &utc)) == S_OK)
        hr = add_sample(t, l, utc, max_values != 0 ? max_values : DEFAULT_VALUES);
    if (SUCCEEDED(hr) && !grow_columns(t, l->columns.counters.count)) /* a log without samples still has its counters */
        hr = no_memory(l, t);
    if (SUCCEEDED(hr)) {
        t->shown.times = t->times;
        t->shown.values = t->values;
        *table = &t->shown;
    } else {
        const struct error_kept why = error_keep(hr);
        openpla_table_free(&t->shown);
        hr = error_restore(&why);
    }
    handle_leave(log);
    return library_result(SUCCEEDED(hr) ? S_OK : hr);
}
