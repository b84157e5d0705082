/* SPDX-License-Identifier: MIT */
/* The performance counter collector: PDH's values of one set of counters, sample by sample into one log. */
#include "engine/collect/counter_list.h"
#include "engine/collect/kind.h"

#include "engine/model/model.h"
#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

#include <string.h>

#define ARRAY_RETRIES 5 /* instances may come between asking the size of their list and fetching it */

/* The instances a wildcard counter had in the present sample. */
struct instances {
    struct log_item *items;
    size_t count, capacity;
};

struct counter_collector {
    struct collector collector;
    const struct pdh_api *pdh;
    struct counter_list list;
    PDH_HQUERY query;
    struct log_cell *cells;
    struct instances *instances;
    void *array; /* what PdhGetRawCounterArray fills */
    DWORD array_bytes;
    struct log_writer *log;
    struct log_counter *columns;
    enum log_format format;
    struct log_options options; /* its comment is owned */
    char *path;
    uint32_t max_records; /* 0: none */
    bool circular;
};

static void instances_clear(struct instances *n)
{
    for (size_t i = 0; i < n->count; i++)
        memory_free((void *)n->items[i].instance);
    n->count = 0;
}

static HRESULT counter_collector_close(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    HRESULT hr = log_writer_close(cc->log);
    if (cc->query)
        cc->pdh->PdhCloseQuery(cc->query);
    for (size_t i = 0; cc->instances && i < cc->list.count; i++) {
        instances_clear(&cc->instances[i]);
        memory_free(cc->instances[i].items);
    }
    memory_free(cc->instances);
    memory_free(cc->cells);
    memory_free(cc->columns);
    memory_free(cc->array);
    counter_list_free(&cc->list);
    memory_free((void *)cc->options.comment);
    memory_free(cc->path);
    memory_free(cc);
    return hr;
}

/* The counters that can be added; what cannot is reported and the others are collected (DECISIONS 16). If none can, the
   log is made all the same and shows when the set ran. */
static HRESULT add_counters(struct counter_collector *cc, const struct texts *paths,
                            const struct collect_context *context)
{
    PDH_STATUS status = cc->pdh->PdhOpenQueryW(NULL, 0, &cc->query);
    if (status) {
        cc->query = NULL;
        return pdh_error(status, "PdhOpenQuery");
    }
    cc->list = (struct counter_list){.pdh = cc->pdh, .query = cc->query, .keep_instances = cc->format == LOG_BINARY};
    for (size_t i = 0; i < paths->count; i++) {
        HRESULT hr = counter_list_add(&cc->list, paths->items[i]);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr) && context->report)
            context->report(context->user, hr, paths->items[i], error_text(hr));
    }
    size_t count = cc->list.count;
    cc->columns = memory_zero(count + 1, sizeof *cc->columns);
    cc->cells = memory_zero(count + 1, sizeof *cc->cells);
    cc->instances = memory_zero(count + 1, sizeof *cc->instances);
    if (!cc->columns || !cc->cells || !cc->instances)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++)
        cc->columns[i] = cc->list.counters[i].names;
    return S_OK;
}

static HRESULT create_log(struct counter_collector *cc)
{
    HRESULT hr =
        log_writer_create(cc->format, cc->path, cc->columns, cc->list.count, clock_utc(), &cc->options, &cc->log);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) || hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "\"%s\" exists already; LogOverwrite, LogAppend or a name with a serial number avoids that",
                       cc->path);
    return hr;
}

/* A log that is there already is replaced or continued if the set says so; else log_writer_create refuses it. Where a
   set asks for both, the earlier data is kept. */
static HRESULT make_room(struct counter_collector *cc, const struct performance_counter_collector *model)
{
    bool overwrite = !cc->options.append && (model->LogOverwrite || model->LogCircular);
    if (cc->format == LOG_SQL || !overwrite || !file_exists(cc->path))
        return S_OK;
    return file_delete(cc->path);
}

static HRESULT counter_collector_open(struct object *object, const struct collect_context *context,
                                      struct collector **out)
{
    const struct performance_counter_collector *model = (const struct performance_counter_collector *)object;
    struct counter_collector *cc = memory_zero(1, sizeof *cc);
    if (!cc)
        return E_OUTOFMEMORY;
    cc->collector.interval_ms = (uint64_t)model->SampleInterval * 1000;
    cc->format = (enum log_format)model->LogFileFormat;
    cc->max_records = model->SegmentMaxRecords;
    cc->circular = model->LogCircular && context->segment_max_mb && !context->segmented;
    /* Text logs have no LogAppend on Windows either: pla-behaviour 7. */
    cc->options.append = model->LogAppend && cc->format == LOG_BINARY;
    cc->options.max_bytes = (uint64_t)context->segment_max_mb << 20;
    cc->options.comment = text_copy(context->description);
    cc->path = text_copy(cc->format == LOG_SQL ? model->DataSourceName : context->output_path);
    HRESULT hr = cc->options.comment && cc->path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = host_pdh(&cc->pdh);
    if (SUCCEEDED(hr))
        hr = add_counters(cc, &model->PerformanceCounters, context);
    if (SUCCEEDED(hr))
        hr = make_room(cc, model);
    if (SUCCEEDED(hr))
        hr = create_log(cc);
    if (FAILED(hr)) {
        /* The log's text must outlive the closing. */
        char *text = text_copy(error_text(hr));
        counter_collector_close(&cc->collector);
        if (text)
            error_set(hr, "%s", text);
        memory_free(text);
        return hr;
    }
    *out = &cc->collector;
    return S_OK;
}

static struct log_raw raw_of(const PDH_RAW_COUNTER *raw)
{
    return (struct log_raw){raw->CStatus, raw->FirstValue, raw->SecondValue, raw->MultiCount};
}

static void read_single(struct counter_collector *cc, PDH_HCOUNTER counter, struct log_cell *cell)
{
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    memset(cell, 0, sizeof *cell);
    PDH_STATUS status = cc->pdh->PdhGetRawCounterValue(counter, NULL, &raw);
    if (status)
        cell->raw.status = (uint32_t)status;
    else
        cell->raw = raw_of(&raw);
    if (status || cc->format == LOG_BINARY)
        return;
    status = cc->pdh->PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
    cell->has_value = !status && value.CStatus <= PDH_CSTATUS_NEW_DATA;
    if (cell->has_value)
        cell->value = value.doubleValue;
}

static PDH_STATUS fetch_array(struct counter_collector *cc, PDH_HCOUNTER counter, DWORD *count)
{
    PDH_STATUS status = (PDH_STATUS)PDH_MORE_DATA;
    for (int i = 0; i < ARRAY_RETRIES; i++) {
        DWORD bytes = cc->array_bytes;
        status = cc->pdh->PdhGetRawCounterArrayW(counter, &bytes, count, cc->array);
        if ((DWORD)status != PDH_MORE_DATA)
            return status;
        if (bytes <= cc->array_bytes)
            bytes = cc->array_bytes * 2 + 256;
        void *larger = memory_resize(cc->array, bytes);
        if (!larger)
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        cc->array = larger;
        cc->array_bytes = bytes;
    }
    return status;
}

static HRESULT read_instances(struct counter_collector *cc, PDH_HCOUNTER counter, struct instances *n,
                              struct log_cell *cell)
{
    DWORD count = 0;
    memset(cell, 0, sizeof *cell);
    instances_clear(n);
    PDH_STATUS status = fetch_array(cc, counter, &count);
    if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    cell->raw.status = (uint32_t)status;
    if (status)
        return S_OK; /* an object without instances at this moment: the cell says so */
    void *items = n->items;
    if (!memory_grow(&items, &n->capacity, count, sizeof *n->items))
        return E_OUTOFMEMORY;
    n->items = items;
    const PDH_RAW_COUNTER_ITEM_W *array = cc->array;
    for (DWORD i = 0; i < count; i++) {
        size_t units = 0;
        char *name;
        while (array[i].szName[units])
            units++;
        HRESULT hr = text_from_utf16(array[i].szName, units, true, &name);
        if (FAILED(hr))
            return hr;
        n->items[n->count++] = (struct log_item){name, raw_of(&array[i].RawValue)};
    }
    cell->items = n->items;
    cell->item_count = n->count;
    return S_OK;
}

static HRESULT read_cells(struct counter_collector *cc)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < cc->list.count && SUCCEEDED(hr); i++) {
        const struct listed_counter *counter = &cc->list.counters[i];
        if (counter->names.wildcard)
            hr = read_instances(cc, counter->handle, &cc->instances[i], &cc->cells[i]);
        else
            read_single(cc, counter->handle, &cc->cells[i]);
    }
    return hr;
}

/* A circular log that is full starts over: it never grows above its limit and always ends with the newest samples. */
static HRESULT start_over(struct counter_collector *cc)
{
    HRESULT hr = log_writer_close(cc->log);
    cc->log = NULL;
    if (SUCCEEDED(hr) && cc->format != LOG_SQL)
        hr = file_delete(cc->path);
    cc->options.append = false;
    return SUCCEEDED(hr) ? create_log(cc) : hr;
}

static HRESULT counter_collector_sample(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    int64_t utc = clock_utc();
    PDH_STATUS status = cc->list.count ? cc->pdh->PdhCollectQueryData(cc->query) : 0;
    /* PDH_NO_DATA: no counter has a value now. That is worth a row: the log shows when the instances were gone. */
    if (status && (DWORD)status != PDH_NO_DATA)
        return pdh_error(status, "PdhCollectQueryData");
    HRESULT hr = read_cells(cc);
    if (FAILED(hr))
        return hr;
    if (!cc->log) /* starting over failed at an earlier sample */
        hr = create_log(cc);
    if (SUCCEEDED(hr))
        hr = log_writer_append(cc->log, utc, cc->cells);
    if (hr == S_FALSE && cc->circular) {
        hr = start_over(cc);
        if (SUCCEEDED(hr))
            hr = log_writer_append(cc->log, utc, cc->cells);
    }
    if (hr != S_OK)
        return hr;
    hr = log_writer_flush(cc->log);
    if (FAILED(hr))
        return hr;
    c->records++;
    return cc->max_records && c->records >= cc->max_records ? S_FALSE : S_OK;
}

const struct collector_kind counter_collector_kind = {
    .open = counter_collector_open,
    .sample = counter_collector_sample,
    .close = counter_collector_close,
};
