/* SPDX-License-Identifier: MIT */
/* Writes the samples of a query to a log file. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/perf_data.h"
#include "engine/pdh/core/query.h"
#include "engine/pdh/formula.h"

/* A column of the log: a counter, or one instance of a wildcard counter. */
struct column {
    uint64_t serial; /* serial of the counter */
    char *instance;  /* for a wildcard counter in a format with one column per instance; otherwise NULL */
    struct log_item *items;
    size_t item_capacity;
};

struct query_log {
    struct query *query;
    const struct log_format_traits *format;
    char *path;
    struct log_options options;
    bool circular;
    struct log_counters counters;
    struct column *columns; /* in the order of the log's counters */
    size_t column_capacity;
    struct log_cell *cells;
    struct log_writer *writer;
};

static PDH_STATUS status_of(HRESULT hr)
{
    switch ((uint32_t)hr) {
    case 0:
        return ERROR_SUCCESS;
    case (uint32_t)E_OUTOFMEMORY:
        return PDH_MEMORY_ALLOCATION_FAILURE;
    case 0x80070050: /* ERROR_FILE_EXISTS */
    case 0x800700B7: /* ERROR_ALREADY_EXISTS */
        return PDH_FILE_ALREADY_EXISTS;
    case 0x80070005: /* ERROR_ACCESS_DENIED */
        return PDH_ACCESS_DENIED;
    case 0x80070032: /* ERROR_NOT_SUPPORTED */
        return PDH_UNKNOWN_LOG_FORMAT;
    case 0x8007000D: /* ERROR_INVALID_DATA: the file to continue is not a log of this format */
        return PDH_LOG_TYPE_NOT_FOUND;
    case (uint32_t)E_INVALIDARG:
        return PDH_UNMATCHED_APPEND_COUNTER;
    default:
        /* Errors of databases are already PDH statuses. */
        return ((uint32_t)hr & 0xFFFF0000u) == 0xC0000000u ? (PDH_STATUS)hr : (PDH_STATUS)PDH_LOG_FILE_CREATE_ERROR;
    }
}

/* Adds a column with the counter's names as they appear in logs. `instance`, if not NULL, replaces the counter's own
   instance. */
static HRESULT add_column(struct query_log *l, const struct counter *c, const char *machine, const char *instance)
{
    const struct counter_schema *schema = &c->object->type->counters[c->schema];
    struct log_counter names = {.machine = machine,
                                .object = c->object->type->name,
                                .instance = c->path.instance,
                                .parent = c->path.parent,
                                .index = c->path.index == PATH_NO_INDEX ? 0 : c->path.index,
                                .counter = schema->name,
                                .wildcard = c->is_wildcard && !instance,
                                .type = schema->type,
                                .time_base = c->time_base,
                                .default_scale = schema->scale};
    struct counter_path parts = {0};
    char *path = instance ? text_format("\\o(%s)\\c", instance) : NULL;
    if (instance) {
        if (!path || counter_path_parse(path, &parts) != ERROR_SUCCESS) {
            memory_free(path);
            return E_OUTOFMEMORY;
        }
        names.instance = parts.instance;
        names.parent = parts.parent;
        names.index = parts.index == PATH_NO_INDEX ? 0 : parts.index;
    }
    size_t at = l->counters.count;
    void *columns = l->columns;
    bool ok = memory_grow(&columns, &l->column_capacity, at + 1, sizeof *l->columns);
    l->columns = columns;
    char *copy = ok && instance ? text_copy(instance) : NULL;
    HRESULT hr = ok && (copy || !instance) ? log_counters_add(&l->counters, &names) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        l->columns[at] = (struct column){.serial = c->serial, .instance = copy};
    else
        memory_free(copy);
    counter_path_free(&parts);
    memory_free(path);
    return hr;
}

static HRESULT add_instances(struct query_log *l, const struct counter *c, const char *machine)
{
    HRESULT hr = S_OK;
    const struct instance_list *list = c->object->instances;
    for (size_t i = 0; list && i < list->count && SUCCEEDED(hr); i++)
        if (text_matches(c->instance, list->items[i].name))
            hr = add_column(l, c, machine, list->items[i].name);
    return hr;
}

/* Creates the columns. The caller holds the query's lock. */
static HRESULT make_columns(struct query_log *l)
{
    HRESULT hr = S_OK;
    char *ours = os_computer_name();
    for (const struct counter *c = l->query->first; c && SUCCEEDED(hr); c = c->next) {
        const char *of = c->object->type->machine;
        char *machine = ours ? text_format("\\\\%s", of ? of : ours) : NULL;
        hr = !machine                                  ? E_OUTOFMEMORY
             : c->is_wildcard && !l->format->wildcards ? add_instances(l, c, machine)
                                                       : add_column(l, c, machine, NULL);
        memory_free(machine);
    }
    memory_free(ours);
    return hr;
}

static HRESULT create(struct query_log *l)
{
    return log_writer_create(l->format->format, l->path, l->counters.items, l->counters.count, clock_utc(), &l->options,
                             &l->writer);
}

PDH_STATUS query_log_create(struct query *q, const struct log_format_traits *format, const char *path,
                            const struct log_options *options, bool circular, struct query_log **out)
{
    struct query_log *l = memory_zero(1, sizeof *l);
    *out = NULL;
    if (!l)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    l->query = q;
    l->format = format;
    l->options = *options;
    l->options.circular = circular && format->ring;
    l->circular = circular && !format->ring;
    l->options.comment = options->comment ? text_copy(options->comment) : NULL;
    l->path = text_copy(path);
    HRESULT hr = l->path && (l->options.comment || !options->comment) ? S_OK : E_OUTOFMEMORY;
    query_enter(q);
    if (SUCCEEDED(hr))
        hr = make_columns(l);
    query_leave(q);
    PDH_STATUS status = status_of(hr);
    if (status == ERROR_SUCCESS && !l->counters.count)
        status = PDH_NO_COUNTERS;
    if (status == ERROR_SUCCESS) {
        l->cells = memory_zero(l->counters.count, sizeof *l->cells);
        hr = l->cells ? create(l) : E_OUTOFMEMORY;
        /* E_INVALIDARG: the size limit is too small for a circular log */
        status = hr == E_INVALIDARG && !options->append ? (PDH_STATUS)PDH_INVALID_ARGUMENT : status_of(hr);
    }
    if (status != ERROR_SUCCESS) {
        query_log_close(l);
        return status;
    }
    *out = l;
    return ERROR_SUCCESS;
}

/* Computes the value that a text log shows. False if the counter has no value. */
static bool displayed_value(const struct counter *c, const PDH_RAW_COUNTER *newer, const PDH_RAW_COUNTER *older,
                            double *value)
{
    PDH_FMT_COUNTERVALUE v;
    DWORD format = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100;
    bool has = formula_format(c->type, format, c->time_base, 0, newer, older, &v) == PDH_CSTATUS_VALID_DATA;
    *value = has ? v.doubleValue : 0;
    return has;
}

static void fill_value(const struct counter *c, const PDH_RAW_COUNTER *newer, const PDH_RAW_COUNTER *older,
                       struct log_cell *cell)
{
    cell->raw = log_raw_of(newer);
    cell->has_value = displayed_value(c, newer, older, &cell->value);
}

/* Fills the cell with all items of a wildcard counter. */
static HRESULT fill_items(struct column *column, const struct counter *c, struct log_cell *cell)
{
    const struct counter_items *items = &c->newer_items;
    void *grown = column->items;
    if (!memory_grow(&grown, &column->item_capacity, items->count, sizeof *column->items))
        return E_OUTOFMEMORY;
    column->items = grown;
    for (size_t i = 0; i < items->count; i++) {
        struct log_item *item = &column->items[i];
        *item = (struct log_item){.instance = counter_item_name(items, i), .raw = log_raw_of(&items->raw[i])};
        item->has_value = displayed_value(c, &items->raw[i], counter_item_older(c, i), &item->value);
    }
    cell->raw = log_raw_of(counter_newer(c));
    cell->items = column->items;
    cell->item_count = items->count;
    return S_OK;
}

/* Fills the cell with one instance of a wildcard counter, found by name. */
static void fill_item(const struct column *column, const struct counter *c, struct log_cell *cell)
{
    size_t i = counter_item_find(c, column->instance);
    if (i != SIZE_MAX)
        fill_value(c, &c->newer_items.raw[i], counter_item_older(c, i), cell);
}

/* Fills the cells with the values of the last sample. The caller holds the query's lock. Columns and counters are in
   the same order. Counters may have been removed since the columns were created, and new counters are at the end. */
static HRESULT fill_cells(struct query_log *l)
{
    HRESULT hr = S_OK;
    const struct counter *c = l->query->first;
    for (size_t i = 0; i < l->counters.count && SUCCEEDED(hr); i++) {
        struct column *column = &l->columns[i];
        struct log_cell *cell = &l->cells[i];
        *cell = (struct log_cell){.raw = {.status = PDH_CSTATUS_NO_INSTANCE}};
        while (c && c->serial < column->serial)
            c = c->next;
        if (!c || c->serial != column->serial)
            continue;
        if (column->instance)
            fill_item(column, c, cell);
        else if (c->is_wildcard)
            hr = fill_items(column, c, cell);
        else
            fill_value(c, counter_newer(c), counter_older(c), cell);
    }
    return hr;
}

static HRESULT start_over(struct query_log *l)
{
    HRESULT hr = log_writer_close(l->writer);
    l->writer = NULL;
    if (SUCCEEDED(hr) && l->format->is_file)
        hr = file_delete(l->path);
    l->options.append = false;
    return SUCCEEDED(hr) ? create(l) : hr;
}

/* Appends a sample to the log. The caller holds the query's lock, because the item names of a binary log belong to the
   instance list. */
static HRESULT append_sample(struct query_log *l)
{
    HRESULT hr = fill_cells(l);
    if (SUCCEEDED(hr) && !l->writer)
        hr = create(l);
    if (SUCCEEDED(hr))
        hr = log_writer_append(l->writer, l->query->sample_utc, l->cells);
    if (hr == S_FALSE && l->circular) {
        hr = start_over(l);
        if (SUCCEEDED(hr))
            hr = log_writer_append(l->writer, l->query->sample_utc, l->cells);
    }
    return hr;
}

PDH_STATUS query_log_update(struct query_log *l)
{
    PDH_STATUS status = query_collect(l->query, NULL);
    if (status != ERROR_SUCCESS)
        return status;
    query_enter(l->query);
    HRESULT hr = append_sample(l);
    query_leave(l->query);
    if (hr == S_FALSE)
        return PDH_END_OF_LOG_FILE;
    if (SUCCEEDED(hr))
        hr = log_writer_flush(l->writer);
    return status_of(hr);
}

uint64_t query_log_size(const struct query_log *l)
{
    return l->writer ? log_writer_size(l->writer) : 0;
}

PDH_STATUS query_log_close(struct query_log *l)
{
    if (!l)
        return ERROR_SUCCESS;
    HRESULT hr = log_writer_close(l->writer);
    for (size_t i = 0; i < l->counters.count; i++) {
        memory_free(l->columns[i].instance);
        memory_free(l->columns[i].items);
    }
    log_counters_free(&l->counters);
    memory_free((void *)l->options.comment);
    memory_free(l->columns);
    memory_free(l->cells);
    memory_free(l->path);
    memory_free(l);
    return status_of(hr);
}
