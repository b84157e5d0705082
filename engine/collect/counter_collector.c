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
    const struct log_format_traits *format;
    struct log_options options; /* its comment is owned */
    char *path;
    uint32_t max_records; /* 0: none */
    bool circular;
    struct texts watched;       /* paths whose new instances ask for a new segment */
    struct expansion then, now; /* what they stood for when the file was begun, and after the present sample */
    uint64_t watch_from;        /* clock_monotonic_ms */
    size_t column_count;        /* stays when the next segment takes over the list */
    uint64_t columns_hash;      /* of all their names */
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
    for (size_t i = 0; i < cc->column_count; i++) {
        instances_clear(&cc->instances[i]);
        memory_free(cc->instances[i].items);
    }
    memory_free(cc->instances);
    memory_free(cc->cells);
    memory_free(cc->columns);
    memory_free(cc->array);
    counter_list_free(&cc->list);
    texts_free(&cc->watched);
    expansion_free(&cc->then);
    expansion_free(&cc->now);
    memory_free((void *)cc->options.comment);
    memory_free(cc->path);
    memory_free(cc);
    return hr;
}

/* The query of the segment before goes on, with what its counters last said. */
static HRESULT open_query(struct counter_collector *cc, struct counter_collector *previous)
{
    if (previous) {
        cc->query = previous->query;
        previous->query = NULL;
        return S_OK;
    }
    PDH_STATUS status = cc->pdh->PdhOpenQueryW(NULL, 0, &cc->query);
    if (status)
        cc->query = NULL;
    return status ? pdh_error(status, "PdhOpenQuery") : S_OK;
}

/* The counters that can be added; what cannot is reported and the others are collected (DECISIONS 16). If none can, the
   log is made all the same and shows when the set ran. */
static HRESULT add_counters(struct counter_collector *cc, const struct texts *paths,
                            const struct collect_context *context)
{
    struct counter_collector *previous = (struct counter_collector *)context->previous;
    HRESULT opened = open_query(cc, previous);
    if (FAILED(opened))
        return opened;
    cc->list = (struct counter_list){.pdh = cc->pdh,
                                     .query = cc->query,
                                     .previous = previous ? &previous->list : NULL,
                                     .keep_instances = cc->format->wildcards};
    for (size_t i = 0; i < paths->count; i++) {
        HRESULT hr = counter_list_add(&cc->list, paths->items[i]);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr) && context->report)
            context->report(context->user, hr, paths->items[i], error_text(hr));
    }
    cc->list.previous = NULL;
    if (previous)
        counter_list_drop(&previous->list);
    size_t count = cc->list.count;
    cc->columns = memory_zero(count + 1, sizeof *cc->columns);
    cc->cells = memory_zero(count + 1, sizeof *cc->cells);
    cc->instances = memory_zero(count + 1, sizeof *cc->instances);
    if (!cc->columns || !cc->cells || !cc->instances)
        return E_OUTOFMEMORY;
    cc->column_count = count;
    for (size_t i = 0; i < count; i++) {
        cc->columns[i] = cc->list.counters[i].names;
        cc->columns_hash = cc->columns_hash * 31 + cc->list.counters[i].hash;
    }
    return S_OK;
}

/* A database takes the samples of all segments in one log: what waits for a database that is away is not lost with the
   segment, and no segment waits for it. */
static bool log_goes_on(const struct counter_collector *cc)
{
    return !cc->format->is_file && !cc->options.max_bytes && cc->log;
}

static bool take_over_log(struct counter_collector *cc, struct counter_collector *previous)
{
    if (!previous || !log_goes_on(previous) || cc->format != previous->format ||
        strcmp(cc->path, previous->path) != 0 || cc->columns_hash != previous->columns_hash)
        return false;
    cc->log = previous->log;
    previous->log = NULL;
    return true;
}

static HRESULT create_log(struct counter_collector *cc)
{
    HRESULT hr = log_writer_create(cc->format->format, cc->path, cc->columns, cc->list.count, clock_utc(), &cc->options,
                                   &cc->log);
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
    if (!cc->format->is_file || !overwrite || !file_exists(cc->path))
        return S_OK;
    return file_delete(cc->path);
}

static HRESULT begin_watch(struct counter_collector *cc, const struct texts *paths, uint32_t seconds)
{
    if (!seconds || cc->format->wildcards)
        return S_OK;
    cc->watch_from = clock_monotonic_ms() + (uint64_t)seconds * 1000;
    HRESULT hr = texts_copy(&cc->watched, paths);
    return SUCCEEDED(hr) ? counter_list_expand(&cc->list, paths, &cc->then) : hr;
}

/* After a sample. That memory is out costs the question, which is asked again, and not the sample. */
static void watch(struct counter_collector *cc)
{
    if (cc->watched.count && !cc->collector.asks_for_segment && clock_monotonic_ms() >= cc->watch_from &&
        SUCCEEDED(counter_list_expand(&cc->list, &cc->watched, &cc->now)))
        cc->collector.asks_for_segment = expansion_has_more(&cc->then, &cc->now);
}

static HRESULT counter_collector_open(struct object *object, const struct collect_context *context,
                                      struct collector **out)
{
    const struct performance_counter_collector *model = (const struct performance_counter_collector *)object;
    struct counter_collector *cc = memory_zero(1, sizeof *cc);
    if (!cc)
        return E_OUTOFMEMORY;
    cc->collector.interval_ms = (uint64_t)model->SampleInterval * 1000;
    cc->format = log_format_traits((enum log_format)model->LogFileFormat);
    cc->max_records = model->SegmentMaxRecords;
    /* MS-PLA 2.2.2.11: LogCircular, LogOverwrite and LogAppend mean nothing to an SQL log. */
    cc->circular = model->LogCircular && context->segment_max_mb && !context->segmented && cc->format->is_file;
    cc->options.append = model->LogAppend && cc->format->appends;
    cc->options.max_bytes = (uint64_t)context->segment_max_mb << 20;
    cc->options.circular = cc->circular && cc->format->ring;
    cc->options.comment = text_copy(context->description);
    cc->path = text_copy(cc->format->is_file ? context->output_path : model->DataSourceName);
    HRESULT hr = cc->options.comment && cc->path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = host_pdh(&cc->pdh);
    if (SUCCEEDED(hr))
        hr = add_counters(cc, &model->PerformanceCounters, context);
    if (SUCCEEDED(hr))
        hr = begin_watch(cc, &model->PerformanceCounters, context->new_instances_seconds);
    if (SUCCEEDED(hr))
        hr = make_room(cc, model);
    if (SUCCEEDED(hr) && !take_over_log(cc, (struct counter_collector *)context->previous))
        hr = create_log(cc);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        counter_collector_close(&cc->collector);
        return error_restore(&why);
    }
    *out = &cc->collector;
    return S_OK;
}

static struct log_raw raw_of(const PDH_RAW_COUNTER *raw)
{
    return (struct log_raw){
        .status = raw->CStatus, .first = raw->FirstValue, .second = raw->SecondValue, .multi_count = raw->MultiCount};
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
    if (status || !cc->format->values)
        return;
    status = cc->pdh->PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &value);
    cell->has_value = !status && value.CStatus <= PDH_CSTATUS_NEW_DATA;
    if (cell->has_value)
        cell->value = value.doubleValue;
}

/* The instances of this moment, as raw or as formatted values, in cc->array. */
static PDH_STATUS fetch_array(struct counter_collector *cc, PDH_HCOUNTER counter, bool formatted, DWORD *count)
{
    PDH_STATUS status = (PDH_STATUS)PDH_MORE_DATA;
    for (int i = 0; i < ARRAY_RETRIES; i++) {
        DWORD bytes = cc->array_bytes;
        status = formatted ? cc->pdh->PdhGetFormattedCounterArrayW(counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, &bytes,
                                                                   count, cc->array)
                           : cc->pdh->PdhGetRawCounterArrayW(counter, &bytes, count, cc->array);
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

static HRESULT instance_name(LPCWSTR wide, char **out)
{
    size_t units = 0;
    while (wide[units])
        units++;
    return text_from_utf16(wide, units, true, out);
}

/* Gives the instances their formatted values. PDH lists them in the order of the raw ones; those that had no sample
   before may be missing or without a value. */
static HRESULT format_instances(struct counter_collector *cc, PDH_HCOUNTER counter, struct instances *n)
{
    DWORD count = 0;
    PDH_STATUS status = fetch_array(cc, counter, true, &count);
    if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    const PDH_FMT_COUNTERVALUE_ITEM_W *array = cc->array;
    for (size_t i = 0, at = 0; !status && i < count; i++) {
        char *name;
        HRESULT hr = instance_name(array[i].szName, &name);
        if (FAILED(hr))
            return hr;
        size_t found = at;
        while (found < n->count && strcmp(n->items[found].instance, name) != 0)
            found++;
        memory_free(name);
        if (found == n->count)
            continue;
        n->items[found].has_value = array[i].FmtValue.CStatus <= PDH_CSTATUS_NEW_DATA;
        if (n->items[found].has_value)
            n->items[found].value = array[i].FmtValue.doubleValue;
        at = found + 1;
    }
    return S_OK;
}

static HRESULT read_instances(struct counter_collector *cc, PDH_HCOUNTER counter, struct instances *n,
                              struct log_cell *cell)
{
    DWORD count = 0;
    memset(cell, 0, sizeof *cell);
    instances_clear(n);
    PDH_STATUS status = fetch_array(cc, counter, false, &count);
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
        char *name;
        HRESULT hr = instance_name(array[i].szName, &name);
        if (FAILED(hr))
            return hr;
        n->items[n->count++] = (struct log_item){.instance = name, .raw = raw_of(&array[i].RawValue)};
    }
    HRESULT hr = cc->format->values ? format_instances(cc, counter, n) : S_OK;
    if (FAILED(hr))
        return hr;
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

/* A circular log of a format that cannot overwrite its oldest samples starts over when it is full: it never grows above
   its limit and always ends with the newest samples. */
static HRESULT start_over(struct counter_collector *cc)
{
    HRESULT hr = log_writer_close(cc->log);
    cc->log = NULL;
    if (SUCCEEDED(hr))
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
    if (hr == S_FALSE && cc->circular && !cc->options.circular) {
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
    watch(cc);
    return cc->max_records && c->records >= cc->max_records ? S_FALSE : S_OK;
}

static HRESULT counter_collector_flush(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    return cc->log ? log_writer_flush(cc->log) : S_OK;
}

static HRESULT counter_collector_complete(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    if (log_goes_on(cc))
        return S_OK;
    HRESULT hr = log_writer_close(cc->log);
    cc->log = NULL;
    return hr;
}

static HRESULT counter_collector_remark(struct collector *c, char **text)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    return cc->log ? log_writer_remark(cc->log, text) : S_FALSE;
}

const struct collector_kind counter_collector_kind = {
    .open = counter_collector_open,
    .sample = counter_collector_sample,
    .flush = counter_collector_flush,
    .complete = counter_collector_complete,
    .remark = counter_collector_remark,
    .close = counter_collector_close,
};
