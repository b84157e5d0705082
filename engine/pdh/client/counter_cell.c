/* SPDX-License-Identifier: MIT */
/* Raw and formatted values, of one counter and of all instances of a wildcard. */
#include "engine/pdh/client/counter_cell.h"

#include "engine/base/memory.h"
#include "engine/logs/raw_counter.h"

#define VALUE_FORMAT (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100)

void counter_cell_read(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values, struct log_cell *cell)
{
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    *cell = (struct log_cell){0};
    PDH_STATUS status = pdh->PdhGetRawCounterValue(counter, NULL, &raw);
    if (status)
        cell->raw.status = (uint32_t)status;
    else
        cell->raw = log_raw_of(&raw);
    if (status || !values)
        return;
    status = pdh->PdhGetFormattedCounterValue(counter, VALUE_FORMAT, NULL, &value);
    cell->has_value = !status && value.CStatus <= PDH_CSTATUS_NEW_DATA;
    if (cell->has_value)
        cell->value = value.doubleValue;
}

static bool same_name(LPCWSTR a, LPCWSTR b)
{
    for (; *a == *b; a++, b++)
        if (!*a)
            return true;
    return false;
}

static void drop_names(struct counter_instances *n, size_t from)
{
    while (n->named > from)
        memory_free((void *)n->items[--n->named].instance);
}

void counter_instances_free(struct counter_instances *n)
{
    drop_names(n, 0);
    instance_numbers_free(&n->numbers);
    memory_free(n->items);
    memory_free(n->last.data);
    memory_free(n->next.data);
}

/* Does n->last list the names of n->next, of which the items were made? */
static bool same_names(const struct counter_instances *n, size_t count)
{
    const PDH_RAW_COUNTER_ITEM_W *now = n->last.data, *before = n->next.data;
    bool same = n->named == count;
    for (size_t i = 0; same && i < count; i++)
        same = same_name(before[i].szName, now[i].szName);
    return same;
}

/* PDH gives instances of one name the same text; in logs and alerts each has its number, as in a path. */
static HRESULT name_item(struct counter_instances *n, size_t i, LPCWSTR wide)
{
    char *name;
    size_t number = 0;
    HRESULT hr = pdh_text(wide, &name);
    if (SUCCEEDED(hr))
        hr = instance_numbers_next(&n->numbers, name, &number);
    if (SUCCEEDED(hr) && number) {
        char *numbered = instance_numbers_text(name, number);
        memory_free(name);
        name = numbered;
        hr = name ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr)) {
        memory_free(name);
        return hr;
    }
    n->items[i].instance = name;
    n->named = i + 1;
    return S_OK;
}

/* Makes items of the `count` instances of n->last; n->next still holds the list before. */
static HRESULT take_items(struct counter_instances *n, size_t count)
{
    const PDH_RAW_COUNTER_ITEM_W *now = n->last.data;
    const bool same = same_names(n, count);
    if (!same) {
        drop_names(n, 0);
        instance_numbers_clear(&n->numbers);
    }
    for (size_t i = 0; i < count; i++) {
        const HRESULT hr = same ? S_OK : name_item(n, i, now[i].szName);
        if (FAILED(hr)) {
            drop_names(n, 0);
            return hr;
        }
        n->items[i] = (struct log_item){.instance = n->items[i].instance, .raw = log_raw_of(&now[i].RawValue)};
    }
    return S_OK;
}

/* Gives the items their formatted values. PDH lists them in the order of the raw ones; those that had no sample before
   may be missing or without a value. */
static HRESULT format_items(const struct pdh_api *pdh, PDH_HCOUNTER counter, struct counter_instances *n,
                            struct pdh_list *formatted)
{
    DWORD count = 0;
    while (pdh_list_ask(formatted, 1))
        formatted->status =
            pdh->PdhGetFormattedCounterArrayW(counter, VALUE_FORMAT, &formatted->size, &count, formatted->data);
    if ((DWORD)formatted->status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    const PDH_FMT_COUNTERVALUE_ITEM_W *values = formatted->data;
    const PDH_RAW_COUNTER_ITEM_W *raw = n->last.data;
    for (size_t i = 0, at = 0; !formatted->status && i < count; i++) {
        size_t found = at;
        while (found < n->named && !same_name(raw[found].szName, values[i].szName))
            found++;
        if (found == n->named)
            continue;
        n->items[found].has_value = values[i].FmtValue.CStatus <= PDH_CSTATUS_NEW_DATA;
        if (n->items[found].has_value)
            n->items[found].value = values[i].FmtValue.doubleValue;
        at = found + 1;
    }
    return S_OK;
}

HRESULT counter_cell_read_instances(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values,
                                    struct counter_instances *n, struct pdh_list *formatted, struct log_cell *cell)
{
    DWORD count = 0;
    *cell = (struct log_cell){0};
    while (pdh_list_ask(&n->next, 1))
        n->next.status = pdh->PdhGetRawCounterArrayW(counter, &n->next.size, &count, n->next.data);
    if ((DWORD)n->next.status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    cell->raw.status = (uint32_t)n->next.status;
    if (n->next.status)
        return S_OK; /* an object without instances at this moment: the cell says so */
    void *items = n->items;
    if (!memory_grow(&items, &n->capacity, count, sizeof *n->items))
        return E_OUTOFMEMORY;
    n->items = items;
    struct pdh_list before = n->last;
    n->last = n->next;
    n->next = before;
    HRESULT hr = take_items(n, count);
    if (SUCCEEDED(hr) && values)
        hr = format_items(pdh, counter, n, formatted);
    if (SUCCEEDED(hr)) {
        cell->items = n->items;
        cell->item_count = count;
    }
    return hr;
}
