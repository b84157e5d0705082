/* SPDX-License-Identifier: MIT */
/* The Win32 names for queries, counters and their values. Paths and enumerations are in pdh_paths.c. */
#include "engine/pdh/pdh.h"
#include "engine/pdh/formula.h"
#include "engine/pdh/query.h"
#include "engine/pdh/wide.h"
#include "engine/os/memory.h"
#include <string.h>

#ifndef _WIN32
#define PDH_ENTRY(name, parameters) .name = name,
const struct pdh_api openpdh_api = {PDH_API_LIST(PDH_ENTRY)};
#undef PDH_ENTRY
#endif

static struct query *query_of(PDH_HQUERY handle)
{
    struct query *q = (struct query *)handle;
    return q && (uintptr_t)q % sizeof(void *) == 0 && q->mark == QUERY_MARK ? q : NULL;
}

static struct counter *counter_of(PDH_HCOUNTER handle)
{
    struct counter *c = (struct counter *)handle;
    return c && (uintptr_t)c % sizeof(void *) == 0 && c->mark == COUNTER_MARK ? c : NULL;
}

PDH_STATUS WINAPI PdhGetDllVersion(LPDWORD version)
{
    if (!version) {
        return PDH_INVALID_ARGUMENT;
    }
    *version = PDH_VERSION;
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhOpenQueryW(LPCWSTR data_source, DWORD_PTR user_data, PDH_HQUERY *query)
{
    if (!query) {
        return PDH_INVALID_ARGUMENT;
    }
    *query = NULL;
    if (data_source) {
        return PDH_NOT_IMPLEMENTED; /* log files as a source */
    }
    struct query *q;
    PDH_STATUS status = query_create(user_data, &q);
    *query = (PDH_HQUERY)q;
    return status;
}

PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY query)
{
    struct query *q = query_of(query);
    if (!q) {
        return PDH_INVALID_HANDLE;
    }
    query_destroy(q);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhAddEnglishCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter)
{
    if (!path || !counter) {
        return PDH_INVALID_ARGUMENT;
    }
    *counter = NULL;
    struct query *q = query_of(query);
    if (!q) {
        return PDH_INVALID_HANDLE;
    }
    char *text;
    struct counter *c = NULL;
    PDH_STATUS status = wide_in(path, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_BAD_COUNTERNAME, &text);
    if (status == ERROR_SUCCESS) {
        status = query_add(q, text, user_data, &c);
        memory_free(text);
    }
    *counter = (PDH_HCOUNTER)c;
    return status;
}

/* Names are English here in every language. */
PDH_STATUS WINAPI PdhAddCounterW(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter)
{
    return PdhAddEnglishCounterW(query, path, user_data, counter);
}

PDH_STATUS WINAPI PdhRemoveCounter(PDH_HCOUNTER counter)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    query_remove(c);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY query)
{
    struct query *q = query_of(query);
    return q ? query_collect(q, NULL) : (PDH_STATUS)PDH_INVALID_HANDLE;
}

PDH_STATUS WINAPI PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time)
{
    struct query *q = query_of(query);
    if (!time) {
        return PDH_INVALID_ARGUMENT;
    }
    int64_t local = 0;
    PDH_STATUS status = q ? query_collect(q, &local) : (PDH_STATUS)PDH_INVALID_HANDLE;
    *time = local;
    return status;
}

PDH_STATUS WINAPI PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (factor < PDH_MIN_SCALE || factor > PDH_MAX_SCALE) {
        return PDH_INVALID_ARGUMENT;
    }
    query_enter(c->query);
    c->scale = factor;
    query_leave(c->query);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *time_base)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!time_base) {
        return PDH_INVALID_ARGUMENT;
    }
    *time_base = c->time_base;
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!value || c->is_wildcard) {
        return PDH_INVALID_ARGUMENT;
    }
    query_enter(c->query);
    *value = c->newer;
    query_leave(c->query);
    if (type) {
        *type = counter_type(c);
    }
    return ERROR_SUCCESS;
}

/* What a function returns for the status it found in a value. */
static PDH_STATUS status_of_value(DWORD status)
{
    switch (status) {
    case PDH_CSTATUS_VALID_DATA:
    case PDH_CSTATUS_NEW_DATA:
        return ERROR_SUCCESS;
    case PDH_CALC_NEGATIVE_DENOMINATOR:
    case PDH_CALC_NEGATIVE_TIMEBASE:
    case PDH_CALC_NEGATIVE_VALUE:
    case PDH_INVALID_ARGUMENT:
    case PDH_MEMORY_ALLOCATION_FAILURE:
        return (PDH_STATUS)status;
    default:
        return PDH_INVALID_DATA;
    }
}

PDH_STATUS WINAPI PdhGetFormattedCounterValue(PDH_HCOUNTER counter, DWORD format, LPDWORD type,
                                              PPDH_FMT_COUNTERVALUE value)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!value || !formula_format_is_valid(format) || c->is_wildcard) {
        return PDH_INVALID_ARGUMENT;
    }
    query_enter(c->query);
    DWORD status = formula_format(counter_type(c), format, c->time_base, c->scale, &c->newer, &c->older, value);
    query_leave(c->query);
    if (type) {
        *type = counter_type(c);
    }
    return status_of_value(status);
}

PDH_STATUS WINAPI PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format, PPDH_RAW_COUNTER newer,
                                                  PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!newer || !value || !formula_format_is_valid(format)) {
        return PDH_INVALID_ARGUMENT;
    }
    return status_of_value(formula_format(counter_type(c), format, c->time_base, c->scale, newer, older, value));
}

PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG *time_base, PPDH_RAW_COUNTER newer,
                                        PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    if (!newer || !value || !formula_format_is_valid(format)) {
        return PDH_INVALID_ARGUMENT;
    }
    int64_t base = time_base ? *time_base : formula_time_base(type);
    return status_of_value(formula_format(type, format, base, 0, newer, older, value));
}

/* Number of values in an array call: one for a single counter. Holds the lock. */
static size_t value_count(const struct counter *c)
{
    return c->is_wildcard ? c->newer_items.count : 1;
}

static const char *value_name(const struct counter *c, size_t i)
{
    if (c->is_wildcard) {
        return counter_item_name(&c->newer_items, i);
    }
    return c->instance ? c->instance : "";
}

/* Makes the end of an array call: *bytes and *count. */
static PDH_STATUS end_array(const struct wide_block *block, size_t n, LPDWORD bytes, LPDWORD count)
{
    PDH_STATUS status = wide_block_end(block, bytes);
    if (status == ERROR_SUCCESS || status == (PDH_STATUS)PDH_MORE_DATA) {
        *count = (DWORD)n;
    }
    return status;
}

static PDH_STATUS raw_array(const struct counter *c, LPDWORD bytes, LPDWORD count, PPDH_RAW_COUNTER_ITEM_W items)
{
    size_t n = value_count(c);
    struct wide_block block;
    PDH_STATUS status = wide_block_begin(&block, items, bytes, n * sizeof *items);
    if (status == ERROR_SUCCESS && c->is_wildcard && n == 0) {
        return c->newer.CStatus == PDH_CSTATUS_NO_INSTANCE ? (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE
                                                           : status_of_value(c->newer.CStatus);
    }
    bool room = items && block.size >= block.used;
    for (size_t i = 0; i < n && status == ERROR_SUCCESS; i++) {
        LPWSTR name = wide_block_add(&block, value_name(c, i));
        if (room) {
            items[i] = (PDH_RAW_COUNTER_ITEM_W){name, c->is_wildcard ? c->newer_items.raw[i] : c->newer};
        }
    }
    return status == ERROR_SUCCESS ? end_array(&block, n, bytes, count) : status;
}

PDH_STATUS WINAPI PdhGetRawCounterArrayW(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                                         PPDH_RAW_COUNTER_ITEM_W items)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!bytes || !count) {
        return PDH_INVALID_ARGUMENT;
    }
    query_enter(c->query);
    PDH_STATUS status = raw_array(c, bytes, count, items);
    query_leave(c->query);
    return status;
}

static PDH_STATUS formatted_array(const struct counter *c, DWORD format, LPDWORD bytes, LPDWORD count,
                                  PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    size_t n = value_count(c);
    struct wide_block block;
    PDH_STATUS status = wide_block_begin(&block, items, bytes, n * sizeof *items);
    if (status == ERROR_SUCCESS && c->is_wildcard && n == 0) {
        return c->newer.CStatus == PDH_CSTATUS_NO_INSTANCE ? (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE
                                                           : status_of_value(c->newer.CStatus);
    }
    bool room = items && block.size >= block.used;
    DWORD best = PDH_CSTATUS_INVALID_DATA;
    for (size_t i = 0; i < n && status == ERROR_SUCCESS; i++) {
        LPWSTR name = wide_block_add(&block, value_name(c, i));
        if (room) {
            const PDH_RAW_COUNTER *newer = c->is_wildcard ? &c->newer_items.raw[i] : &c->newer;
            const PDH_RAW_COUNTER *older = c->is_wildcard ? counter_item_older(c, i) : &c->older;
            items[i].szName = name;
            DWORD one =
                formula_format(counter_type(c), format, c->time_base, c->scale, newer, older, &items[i].FmtValue);
            best = best == PDH_CSTATUS_VALID_DATA ? best : one;
        }
    }
    if (status == ERROR_SUCCESS) {
        status = end_array(&block, n, bytes, count);
    }
    return status == ERROR_SUCCESS ? status_of_value(best) : status;
}

PDH_STATUS WINAPI PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count,
                                               PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    if (!bytes || !count || !formula_format_is_valid(format)) {
        return PDH_INVALID_ARGUMENT;
    }
    query_enter(c->query);
    PDH_STATUS status = formatted_array(c, format, bytes, count, items);
    query_leave(c->query);
    return status;
}

/* Fills `head` with the texts' places in the block. `path` is the counter's with our computer's name. */
static PDH_STATUS fill_info(const struct counter *c, const struct counter_path *path, bool explain,
                            struct wide_block *block, PDH_COUNTER_INFO_W *head)
{
    const struct counter_schema *schema = &c->object->provider->counters[c->schema];
    char *full = counter_path_format(path), *machine = text_format("\\\\%s", path->machine);
    if (full && machine) {
        head->dwType = schema->type;
        head->CStatus = c->newer.CStatus;
        head->lScale = c->scale;
        head->lDefaultScale = schema->scale;
        head->dwUserData = c->user_data;
        head->dwQueryUserData = c->query->user_data;
        head->szFullPath = wide_block_add(block, full);
        head->szMachineName = wide_block_add(block, machine);
        head->szObjectName = wide_block_add(block, path->object);
        head->szInstanceName = wide_block_add(block, path->instance);
        head->szParentInstance = wide_block_add(block, path->parent);
        head->dwInstanceIndex = path->index;
        head->szCounterName = wide_block_add(block, path->counter);
        head->szExplainText = explain ? wide_block_add(block, schema->help) : NULL;
    }
    bool ok = full && machine;
    memory_free(full);
    memory_free(machine);
    return ok ? ERROR_SUCCESS : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

PDH_STATUS WINAPI PdhGetCounterInfoW(PDH_HCOUNTER counter, BOOLEAN explain, LPDWORD bytes, PPDH_COUNTER_INFO_W info)
{
    struct counter *c = counter_of(counter);
    if (!c) {
        return PDH_INVALID_HANDLE;
    }
    struct wide_block block;
    PDH_COUNTER_INFO_W head = {0};
    PDH_STATUS status = wide_block_begin(&block, info, bytes, sizeof head);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    /* As the object spells its names; the machine is always ours. */
    struct counter_path path = c->path;
    path.machine = host_computer_name();
    path.object = (char *)c->object->provider->name;
    path.counter = (char *)c->object->provider->counters[c->schema].name;
    if (!path.machine) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    query_enter(c->query);
    status = fill_info(c, &path, explain != 0, &block, &head);
    query_leave(c->query);
    memory_free(path.machine);
    if (status == ERROR_SUCCESS) {
        status = wide_block_end(&block, bytes);
    }
    if (status == ERROR_SUCCESS) {
        head.dwLength = *bytes;
        *info = head;
    }
    return status;
}
