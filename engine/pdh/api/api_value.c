/* SPDX-License-Identifier: MIT */
/* PDH functions for the values of counters: raw, formatted, as arrays and as statistics. */
#include "engine/base/memory.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/formula.h"

PDH_STATUS WINAPI PdhGetRawCounterValue(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!value || c->is_wildcard)
        return PDH_INVALID_ARGUMENT;
    counter_get(c, value, NULL);
    if (type)
        *type = c->type;
    return ERROR_SUCCESS;
}

/* Returns the result of a PDH function for a value that has this status. */
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
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!value || !formula_format_is_valid(format) || c->is_wildcard)
        return PDH_INVALID_ARGUMENT;
    PDH_RAW_COUNTER newer, older;
    counter_get(c, &newer, &older);
    DWORD status = formula_format(c->type, format, c->time_base, c->scale, &newer, &older, value);
    if (type)
        *type = c->type;
    return status_of_value(status);
}

PDH_STATUS WINAPI PdhCalculateCounterFromRawValue(PDH_HCOUNTER counter, DWORD format, PPDH_RAW_COUNTER newer,
                                                  PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!newer || !value || !formula_format_is_valid(format))
        return PDH_INVALID_ARGUMENT;
    return status_of_value(formula_format(c->type, format, c->time_base, c->scale, newer, older, value));
}

PDH_STATUS WINAPI PdhFormatFromRawValue(DWORD type, DWORD format, LONGLONG *time_base, PPDH_RAW_COUNTER newer,
                                        PPDH_RAW_COUNTER older, PPDH_FMT_COUNTERVALUE value)
{
    if (!newer || !value || !formula_format_is_valid(format))
        return PDH_INVALID_ARGUMENT;
    int64_t base = time_base ? *time_base : formula_time_base(type);
    return status_of_value(formula_format(type, format, base, 0, newer, older, value));
}

PDH_STATUS WINAPI PdhComputeCounterStatistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                                              PPDH_RAW_COUNTER values, PPDH_STATISTICS data)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!values || !data || !count || first >= count || !formula_format_is_valid(format))
        return PDH_INVALID_ARGUMENT;
    return status_of_value(formula_statistics(c->type, format, c->time_base, c->scale, first, count, values, data));
}

/* Returns the number of values in an array call; a single counter has one. The caller holds the lock. */
static size_t value_count(const struct counter *c)
{
    return c->is_wildcard ? c->newer_items.count : 1;
}

/* Adds the instance's name as Windows does: equal names get no numbers, so only their order distinguishes them
   (decision 127). */
static void *add_name(struct api_block *block, const struct counter *c, size_t i)
{
    size_t length;
    if (!c->is_wildcard)
        return api_block_add(block, c->instance ? c->instance : "");
    const char *name = counter_item_bare_name(&c->newer_items, i, &length);
    if (!name[length])
        return api_block_add(block, name);
    char *bare = text_copy_n(name, length);
    void *added = api_block_add(block, bare);
    block->failed |= !bare;
    memory_free(bare);
    return added;
}

/* Begins an array call. For a wildcard counter without instances, returns the counter's status instead of an array. */
static PDH_STATUS begin_array(struct api_block *block, enum api_form form, const struct counter *c, void *items,
                              LPDWORD bytes, size_t size)
{
    PDH_STATUS status = api_block_begin(block, form, items, bytes, size);
    if (status != ERROR_SUCCESS || size)
        return status;
    return counter_newer(c)->CStatus == PDH_CSTATUS_NO_INSTANCE ? (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE
                                                                : status_of_value(counter_newer(c)->CStatus);
}

/* Ends an array call: sets *bytes and *count. */
static PDH_STATUS end_array(const struct api_block *block, size_t n, LPDWORD bytes, LPDWORD count)
{
    PDH_STATUS status = api_block_end(block, bytes);
    if (status == ERROR_SUCCESS || status == (PDH_STATUS)PDH_MORE_DATA)
        *count = (DWORD)n;
    return status;
}

static PDH_STATUS raw_array(enum api_form form, const struct counter *c, LPDWORD bytes, LPDWORD count,
                            PPDH_RAW_COUNTER_ITEM_W items)
{
    size_t n = value_count(c);
    struct api_block block;
    PDH_STATUS status = begin_array(&block, form, c, items, bytes, n * sizeof *items);
    bool room = items && block.size >= block.used;
    for (size_t i = 0; i < n && status == ERROR_SUCCESS; i++) {
        void *name = add_name(&block, c, i);
        if (room)
            items[i] = (PDH_RAW_COUNTER_ITEM_W){name, c->is_wildcard ? c->newer_items.raw[i] : *counter_newer(c)};
    }
    return status == ERROR_SUCCESS ? end_array(&block, n, bytes, count) : status;
}

PDH_STATUS api_get_raw_array(enum api_form form, PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                             PDH_RAW_COUNTER_ITEM_W *items)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!bytes || !count)
        return PDH_INVALID_ARGUMENT;
    query_enter(c->query);
    PDH_STATUS status = raw_array(form, c, bytes, count, items);
    query_leave(c->query);
    return status;
}

static PDH_STATUS formatted_array(enum api_form form, const struct counter *c, DWORD format, LPDWORD bytes,
                                  LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    size_t n = value_count(c);
    struct api_block block;
    PDH_STATUS status = begin_array(&block, form, c, items, bytes, n * sizeof *items);
    bool room = items && block.size >= block.used;
    DWORD best = PDH_CSTATUS_INVALID_DATA;
    for (size_t i = 0; i < n && status == ERROR_SUCCESS; i++) {
        void *name = add_name(&block, c, i);
        if (room) {
            const PDH_RAW_COUNTER *newer = c->is_wildcard ? &c->newer_items.raw[i] : counter_newer(c);
            const PDH_RAW_COUNTER *older = c->is_wildcard ? counter_item_older(c, i) : counter_older(c);
            items[i].szName = name;
            DWORD one = formula_format(c->type, format, c->time_base, c->scale, newer, older, &items[i].FmtValue);
            best = best == PDH_CSTATUS_VALID_DATA ? best : one;
        }
    }
    if (status == ERROR_SUCCESS)
        status = end_array(&block, n, bytes, count);
    return status == ERROR_SUCCESS ? status_of_value(best) : status;
}

PDH_STATUS api_get_formatted_array(enum api_form form, PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count,
                                   PDH_FMT_COUNTERVALUE_ITEM_W *items)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!bytes || !count || !formula_format_is_valid(format))
        return PDH_INVALID_ARGUMENT;
    query_enter(c->query);
    PDH_STATUS status = formatted_array(form, c, format, bytes, count, items);
    query_leave(c->query);
    return status;
}
