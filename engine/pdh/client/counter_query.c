/* SPDX-License-Identifier: MIT */
/* A live query. This file adds counters by path (with wildcards, in the system's language or English), takes samples,
   and reads the values of one counter or of all its instances as cells of a log. */
#include "engine/pdh/counter_query.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"
#include "engine/logs/perf_data.h"
#include "engine/pdh/counter_paths.h"

#include <string.h>

/* The instances of a wildcard counter in the last sample in which it had instances. Zero-initialise. The names are kept
   as long as PDH lists the same names. Instances with the same name are numbered, as in "svchost#1". */
struct counter_instances {
    struct log_item *items;
    size_t capacity;
    size_t named; /* number of items that have names from `last` */
    struct instance_numbers numbers;
    struct pdh_list last, next; /* the result of PdhGetRawCounterArray, and a buffer for its next result */
};

/* ---- cells: raw and formatted values ---- */

#define VALUE_FORMAT (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100)

/* Reads the cell of a single counter, with its formatted value if `values` is set. The cell's status reports missing
   data. */
static void counter_cell_read(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values, struct log_cell *cell)
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

static void counter_instances_free(struct counter_instances *n)
{
    drop_names(n, 0);
    instance_numbers_free(&n->numbers);
    memory_free(n->items);
    memory_free(n->last.data);
    memory_free(n->next.data);
}

/* Returns true if `last` and `next` list the same names, so that the items' names are still valid. */
static bool same_names(const struct counter_instances *n, size_t count)
{
    const PDH_RAW_COUNTER_ITEM_W *now = n->last.data, *before = n->next.data;
    bool same = n->named == count;
    for (size_t i = 0; same && i < count; i++)
        same = same_name(before[i].szName, now[i].szName);
    return same;
}

/* Creates the name of an item. PDH can return the same name for several instances. In logs and alerts, as in paths,
   such names get numbers. */
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

/* Creates items for the `count` instances of n->last. n->next still has the previous list. */
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

/* Sets the formatted values of the items. PDH lists the formatted values in the same order as the raw values. Instances
   without a previous sample may be missing or have no value. */
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

/* Reads the cell of a wildcard counter. The cell borrows the items of `n`. `formatted` is a buffer for the formatted
   values. Fails only with E_OUTOFMEMORY. */
static HRESULT counter_cell_read_instances(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool values,
                                           struct counter_instances *n, struct pdh_list *formatted,
                                           struct log_cell *cell)
{
    DWORD count = 0;
    *cell = (struct log_cell){0};
    while (pdh_list_ask(&n->next, 1))
        n->next.status = pdh->PdhGetRawCounterArrayW(counter, &n->next.size, &count, n->next.data);
    if ((DWORD)n->next.status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    cell->raw.status = (uint32_t)n->next.status;
    if (n->next.status)
        return S_OK; /* the object has no instances now; the cell's status reports this */
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

/* ---- the query ---- */

struct query_counter {
    PDH_HCOUNTER handle;
    uint64_t hash; /* hash of the names, to find a counter that two paths yield */
    struct counter_instances instances;
};

struct counter_query {
    const struct pdh_api *pdh;
    PDH_HQUERY handle;              /* NULL: a later query has taken the handle over */
    struct counter_query *previous; /* NULL except while counters are added */
    bool keep_instances, values, present;
    struct log_counters columns;
    struct query_counter *counters; /* by column */
    size_t capacity;
    struct log_cell *cells;
    size_t cell_capacity;
    uint32_t *buckets; /* hash table of the columns: index + 1 */
    size_t bucket_count;
    void (*gives)(void *user, size_t path, size_t column);
    void *user;
    size_t place; /* index of the path that is being added */
    struct pdh_list formatted;
    struct counter_names *names; /* NULL: not needed yet */
};

static bool has_wildcard(const char *text)
{
    return text && strchr(text, '*');
}

static bool stars(const char *text)
{
    return !text[strspn(text, "*/#")];
}

/* Returns true for the instance "*" alone, or with parent and index as in templates: "*#*" and similar. */
static bool all_instances(const struct counter_path *path)
{
    return has_wildcard(path->instance) && stars(path->instance) && (!path->parent || stars(path->parent)) &&
           path->index == PATH_NO_INDEX;
}

/* Returns the path with the instance "*" instead of the path's instance, if any. */
static char *with_all_instances(const struct counter_path *path)
{
    const struct counter_path all = {.machine = path->machine,
                                     .object = path->object,
                                     .instance = (char *)"*",
                                     .index = PATH_NO_INDEX,
                                     .counter = path->counter};
    return counter_path_format(&all);
}

/* Converts the path to UTF-16 for PDH. `path` is the parsed `text`. */
static HRESULT wide_path(const char *text, const struct counter_path *path, bool every_instance, WCHAR **out)
{
    char *all = every_instance ? with_all_instances(path) : NULL;
    HRESULT hr = all || !every_instance ? text_to_utf16(all ? all : text, out, NULL) : E_OUTOFMEMORY;
    memory_free(all);
    return hr;
}

/* Converts a name; "" and NULL both mean that it is absent. */
static HRESULT name_from_wide(LPCWSTR wide, const char **out)
{
    char *name = NULL;
    HRESULT hr = wide && *wide ? pdh_text(wide, &name) : S_OK;
    *out = name;
    return hr;
}

/* Returns the computer's name as "\\NAME". PDH's name may lack the backslashes, or be missing for this computer. */
static HRESULT machine_name(LPCWSTR wide, const char **out)
{
    HRESULT hr = name_from_wide(wide, out);
    if (FAILED(hr) || (*out && strncmp(*out, "\\\\", 2) == 0))
        return hr;
    char *bare = *out ? (char *)*out : os_computer_name();
    *out = bare ? text_format("\\\\%s", bare) : NULL;
    memory_free(bare);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Reads the counter's information from PDH. *out is NULL on failure. */
static HRESULT counter_info(const struct pdh_api *pdh, PDH_HCOUNTER counter, bool explain, PDH_COUNTER_INFO_W **out)
{
    struct pdh_list info = {0};
    while (pdh_list_ask(&info, 1))
        info.status = pdh->PdhGetCounterInfoW(counter, explain, &info.size, info.data);
    *out = info.status ? NULL : info.data;
    if (!*out) {
        memory_free(info.data);
        return pdh_result(info.status ? info.status : (PDH_STATUS)PDH_INVALID_DATA, "PdhGetCounterInfo");
    }
    return S_OK;
}

static HRESULT read_names(const struct counter_query *q, PDH_HCOUNTER counter, bool wildcard, struct log_counter *names)
{
    PDH_COUNTER_INFO_W *info;
    HRESULT hr = counter_info(q->pdh, counter, false, &info);
    *names = (struct log_counter){0};
    if (!info)
        return hr;
    const PDH_COUNTER_PATH_ELEMENTS_W *path = &info->CounterPath;
    hr = machine_name(path->szMachineName, &names->machine);
    if (SUCCEEDED(hr))
        hr = name_from_wide(path->szObjectName, &names->object);
    if (SUCCEEDED(hr))
        hr = name_from_wide(path->szCounterName, &names->counter);
    if (SUCCEEDED(hr) && wildcard) {
        names->instance = text_copy("*");
        hr = names->instance ? S_OK : E_OUTOFMEMORY;
    } else if (SUCCEEDED(hr)) {
        hr = name_from_wide(path->szInstanceName, &names->instance);
        if (SUCCEEDED(hr))
            hr = name_from_wide(path->szParentInstance, &names->parent);
        names->index = path->dwInstanceIndex == UINT32_MAX ? 0 : path->dwInstanceIndex;
    }
    names->wildcard = wildcard;
    names->type = info->dwType;
    names->default_scale = info->lDefaultScale;
    LONGLONG time_base = 0;
    if (!q->pdh->PdhGetCounterTimeBase(counter, &time_base))
        names->time_base = time_base;
    memory_free(info);
    if (FAILED(hr))
        log_counter_free(names);
    return hr;
}

/* Returns the slot of the counter with these names, or the free slot for it. */
static size_t find_slot(const struct counter_query *q, const struct log_counter *names, uint64_t hash)
{
    size_t at = (size_t)hash & (q->bucket_count - 1);
    for (; q->buckets[at]; at = (at + 1) & (q->bucket_count - 1)) {
        const size_t place = q->buckets[at] - 1;
        if (q->counters[place].hash == hash && log_counter_same(&q->columns.items[place], names))
            break;
    }
    return at;
}

/* Returns the index of the counter with these names; the number of counters if it does not exist. */
static size_t find_counter(const struct counter_query *q, const struct log_counter *names, uint64_t hash)
{
    const size_t found = q->bucket_count ? q->buckets[find_slot(q, names, hash)] : 0;
    return found ? found - 1 : q->columns.count;
}

/* Grows the table if one more column would fill more than half of the buckets. */
static bool grow_buckets(struct counter_query *q)
{
    if (2 * (q->columns.count + 1) <= q->bucket_count)
        return true;
    const size_t count = q->bucket_count ? 4 * q->bucket_count : 64;
    uint32_t *buckets = memory_zero(count, sizeof *buckets);
    if (!buckets)
        return false;
    memory_free(q->buckets);
    q->buckets = buckets;
    q->bucket_count = count;
    for (size_t i = 0; i < q->columns.count; i++)
        q->buckets[find_slot(q, &q->columns.items[i], q->counters[i].hash)] = (uint32_t)i + 1;
    return true;
}

/* Takes the counter with these names from the previous query; NULL if the previous query does not have it. */
static PDH_HCOUNTER take_previous(struct counter_query *previous, const struct log_counter *names, uint64_t hash)
{
    size_t i = previous ? find_counter(previous, names, hash) : 0;
    if (!previous || i == previous->columns.count)
        return NULL;
    PDH_HCOUNTER handle = previous->counters[i].handle;
    previous->counters[i].handle = NULL;
    return handle;
}

static bool make_room(struct counter_query *q)
{
    void *columns = q->columns.items, *counters = q->counters;
    size_t need = q->columns.count + 1;
    bool room = memory_grow(&columns, &q->columns.capacity, need, sizeof *q->columns.items);
    q->columns.items = columns;
    room = room && memory_grow(&counters, &q->capacity, need, sizeof *q->counters);
    q->counters = counters;
    void *cells = q->cells;
    room = room && memory_grow(&cells, &q->cell_capacity, need, sizeof *q->cells);
    q->cells = cells;
    return room && grow_buckets(q);
}

static void report_given_columns(struct counter_query *q, size_t column)
{
    if (q->gives)
        q->gives(q->user, q->place, column);
}

/* Adds one path without counter wildcards. If the path yields no counter in the system's language and none in English,
   returns the status of the attempt in the system's language. */
static HRESULT add_one(struct counter_query *q, const WCHAR *wide, const char *path, bool wildcard)
{
    const struct pdh_api *pdh = q->pdh;
    PDH_HCOUNTER counter = NULL;
    PDH_STATUS status = pdh->PdhAddCounterW(q->handle, wide, 0, &counter);
    if (status && pdh->PdhAddEnglishCounterW(q->handle, wide, 0, &counter))
        return pdh_result(status, path);
    struct log_counter names;
    HRESULT hr = read_names(q, counter, wildcard, &names);
    if (SUCCEEDED(hr)) {
        uint64_t hash = log_counter_hash(&names);
        size_t there = find_counter(q, &names, hash);
        if (there < q->columns.count) {
            hr = S_FALSE;
            report_given_columns(q, there);
        } else if (!make_room(q)) {
            hr = E_OUTOFMEMORY;
        } else {
            PDH_HCOUNTER before = take_previous(q->previous, &names, hash);
            if (before) { /* keep the previous query's counter, which already has a value; the new counter has none */
                pdh->PdhRemoveCounter(counter);
                counter = before;
            }
            q->counters[q->columns.count] = (struct query_counter){.handle = counter, .hash = hash};
            q->buckets[find_slot(q, &names, hash)] = (uint32_t)q->columns.count + 1;
            q->columns.items[q->columns.count++] = names;
            report_given_columns(q, q->columns.count - 1);
            return S_OK;
        }
        log_counter_free(&names);
    }
    pdh->PdhRemoveCounter(counter);
    return FAILED(hr) ? hr : S_OK;
}

/* Expands a path. PdhExpandWildCardPath supports only the system's language. To translate an English path, the function
   adds its counter and reads the counter's full path. */
static PDH_STATUS query_expand_path(struct counter_query *q, const WCHAR *path, DWORD flags, WCHAR **out)
{
    PDH_STATUS status = counter_paths_expand(q->pdh, path, flags, out);
    PDH_HCOUNTER counter;
    PDH_COUNTER_INFO_W *info;
    if (!status || q->pdh->PdhAddEnglishCounterW(q->handle, path, 0, &counter))
        return status;
    counter_info(q->pdh, counter, false, &info);
    if (info) {
        if (info->szFullPath && !counter_paths_expand(q->pdh, info->szFullPath, flags, out))
            status = 0;
        memory_free(info);
    }
    q->pdh->PdhRemoveCounter(counter);
    return status;
}

static HRESULT add_path(struct counter_query *q, const char *text, bool may_add_instance);

/* Adds a path from an expansion. "\Process\*" expands to counters without an instance although the object has
   instances; such a path means all instances. */
static HRESULT add_expanded(struct counter_query *q, const WCHAR *wide, bool may_add_instance)
{
    char *text;
    struct counter_path path;
    HRESULT hr = pdh_text(wide, &text);
    if (FAILED(hr))
        return hr;
    bool parsed = !counter_path_parse(text, &path);
    hr = add_one(q, wide, text, parsed && q->keep_instances && all_instances(&path));
    if (FAILED(hr) && hr != E_OUTOFMEMORY && may_add_instance && parsed && !path.instance) {
        char *all = with_all_instances(&path);
        hr = all ? add_path(q, all, false) : E_OUTOFMEMORY;
        memory_free(all);
    }
    counter_path_free(&path);
    memory_free(text);
    return hr;
}

/* Adds the paths. An instance may end between the expansion and this call, so the function fails only if no path yields
   a counter. */
static HRESULT add_all(struct counter_query *q, const WCHAR *paths, bool may_add_instance)
{
    bool added = false;
    HRESULT failure = S_OK;
    while (*paths) {
        HRESULT hr = add_expanded(q, paths, may_add_instance);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr))
            failure = hr;
        else
            added = true;
        while (*paths++)
            ;
    }
    return added ? S_OK : failure;
}

static HRESULT add_parsed(struct counter_query *q, const char *text, const struct counter_path *path,
                          bool may_add_instance)
{
    bool every = all_instances(path);
    bool keep = q->keep_instances && (every || !path->instance);
    bool counters = has_wildcard(path->machine) || has_wildcard(path->object) || has_wildcard(path->counter);
    bool instances = has_wildcard(path->parent) || has_wildcard(path->instance);
    WCHAR *wide = NULL, *paths = NULL;
    HRESULT hr = wide_path(text, path, every, &wide);
    if (FAILED(hr))
        return hr;
    if (!counters && (keep || !instances) && !q->present) {
        hr = add_one(q, wide, text, keep && instances);
    } else {
        hr = pdh_result(query_expand_path(q, wide, keep ? PDH_NOEXPANDINSTANCES : 0, &paths), text);
        if (SUCCEEDED(hr))
            hr = add_all(q, paths, may_add_instance && !path->instance);
    }
    memory_free(paths);
    memory_free(wide);
    return hr;
}

static HRESULT add_path(struct counter_query *q, const char *text, bool may_add_instance)
{
    struct counter_path path;
    PDH_STATUS status = counter_path_parse(text, &path);
    if (status)
        return pdh_result(
            (DWORD)status == PDH_CSTATUS_NO_COUNTERNAME ? (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME : status, text);
    HRESULT hr = add_parsed(q, text, &path, may_add_instance);
    counter_path_free(&path);
    return hr;
}

static HRESULT open_handle(struct counter_query *q)
{
    if (q->previous) {
        q->handle = q->previous->handle;
        q->previous->handle = NULL;
        return S_OK;
    }
    PDH_STATUS status = q->pdh->PdhOpenQueryW(NULL, 0, &q->handle);
    if (status)
        q->handle = NULL;
    return pdh_result(status, "PdhOpenQuery");
}

/* Translates the path to English names. S_FALSE if the names in the path are already English or are unknown. The table
   of names is created when it is first needed. */
static HRESULT query_english_path(struct counter_query *q, const char *path, char **out)
{
    *out = NULL;
    HRESULT hr = q->names ? S_OK : counter_names_create(NULL, &q->names);
    return SUCCEEDED(hr) ? counter_names_path(q->names, path, out) : hr;
}

/* If the path is neither in the system's language nor English, tries its English translation. */
HRESULT counter_query_add(struct counter_query *q, const char *path, size_t place)
{
    q->place = place;
    HRESULT hr = add_path(q, path, !q->present);
    if (hr != (HRESULT)PDH_CSTATUS_NO_OBJECT && hr != (HRESULT)PDH_CSTATUS_NO_COUNTER)
        return hr;
    const struct error_kept why = error_keep(hr);
    char *english;
    hr = query_english_path(q, path, &english);
    if (hr == S_OK)
        hr = add_path(q, english, !q->present);
    memory_free(english);
    return hr == S_OK || hr == E_OUTOFMEMORY ? hr : error_restore(&why);
}

static HRESULT add_paths(struct counter_query *q, const struct counter_query_request *request)
{
    for (size_t i = 0; i < request->paths->count; i++) {
        const char *path = request->paths->items[i];
        HRESULT hr = counter_query_add(q, path, i);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr) && request->refused)
            request->refused(request->user, hr, path, error_text(hr));
    }
    return S_OK;
}

/* Removes the previous query's counters that this query did not take. */
static void drop_previous(struct counter_query *q)
{
    for (size_t i = 0; q->previous && i < q->previous->columns.count; i++)
        if (q->previous->counters[i].handle)
            q->pdh->PdhRemoveCounter(q->previous->counters[i].handle);
    q->previous = NULL;
}

HRESULT counter_query_open(const struct counter_query_request *request, struct counter_query **out)
{
    struct counter_query *q = memory_zero(1, sizeof *q);
    *out = NULL;
    if (!q)
        return E_OUTOFMEMORY;
    q->pdh = request->pdh;
    q->keep_instances = request->keep_instances;
    q->values = request->values;
    q->present = request->present;
    q->previous = request->previous;
    q->gives = request->gives;
    q->user = request->user;
    HRESULT hr = open_handle(q);
    if (SUCCEEDED(hr))
        hr = add_paths(q, request);
    if (SUCCEEDED(hr))
        drop_previous(q);
    if (FAILED(hr)) {
        counter_query_close(q);
        return hr;
    }
    *out = q;
    return S_OK;
}

PDH_HQUERY counter_query_handle(const struct counter_query *q)
{
    return q->handle;
}

const struct log_counter *counter_query_columns(const struct counter_query *q, size_t *count)
{
    *count = q->columns.count;
    return q->columns.items;
}

HRESULT counter_query_help(const struct counter_query *q, size_t column, char **help)
{
    PDH_COUNTER_INFO_W *info;
    *help = NULL;
    HRESULT hr = counter_info(q->pdh, q->counters[column].handle, true, &info);
    if (info && info->szExplainText && *info->szExplainText)
        hr = pdh_text(info->szExplainText, help);
    memory_free(info);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

bool counter_query_same_columns(const struct counter_query *a, const struct counter_query *b)
{
    size_t i = 0;
    while (i < a->columns.count && i < b->columns.count && a->counters[i].hash == b->counters[i].hash &&
           log_counter_same(&a->columns.items[i], &b->columns.items[i]))
        i++;
    return i == a->columns.count && i == b->columns.count;
}

HRESULT counter_query_sample(struct counter_query *q, int64_t *utc, const struct log_cell **cells)
{
    *utc = clock_utc();
    *cells = q->cells;
    PDH_STATUS status = q->columns.count ? q->pdh->PdhCollectQueryData(q->handle) : 0;
    /* PDH_NO_DATA means that no counter has a value now. The log nevertheless gets a row, which shows that the
       instances no longer existed at this time. */
    HRESULT hr = (DWORD)status == PDH_NO_DATA ? S_OK : pdh_result(status, "PdhCollectQueryData");
    TRACE_STEP(pdh, "sample of %zu columns: 0x%08X", q->columns.count, (unsigned)status);
    for (size_t i = 0; i < q->columns.count && SUCCEEDED(hr); i++) {
        struct query_counter *c = &q->counters[i];
        if (q->columns.items[i].wildcard)
            hr = counter_cell_read_instances(q->pdh, c->handle, q->values, &c->instances, &q->formatted, &q->cells[i]);
        else
            counter_cell_read(q->pdh, c->handle, q->values, &q->cells[i]);
    }
    return hr;
}

void counter_query_close(struct counter_query *q)
{
    if (!q)
        return;
    if (q->handle)
        q->pdh->PdhCloseQuery(q->handle);
    for (size_t i = 0; i < q->columns.count; i++)
        counter_instances_free(&q->counters[i].instances);
    log_counters_free(&q->columns);
    memory_free(q->counters);
    memory_free(q->cells);
    memory_free(q->buckets);
    memory_free(q->formatted.data);
    counter_names_free(q->names);
    memory_free(q);
}

/* Lists a path without wildcards only if its counter exists. PDH itself lists a path without wildcards even if its
   counter does not exist. */
static HRESULT list_one(struct counter_query *q, const WCHAR *wide, WCHAR **paths)
{
    PDH_HCOUNTER counter = NULL;
    if (q->pdh->PdhAddCounterW(q->handle, wide, 0, &counter) &&
        q->pdh->PdhAddEnglishCounterW(q->handle, wide, 0, &counter))
        return S_OK;
    q->pdh->PdhRemoveCounter(counter);
    size_t units = 0;
    while (wide[units])
        units++;
    *paths = memory_zero(units + 2, sizeof **paths);
    if (*paths)
        memcpy(*paths, wide, units * sizeof **paths);
    return *paths ? S_OK : E_OUTOFMEMORY;
}

static HRESULT list_paths(struct counter_query *q, const char *text, WCHAR **paths)
{
    struct counter_path path;
    PDH_STATUS status = counter_path_parse(text, &path);
    *paths = NULL;
    if (status)
        return (DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE ? E_OUTOFMEMORY : S_OK;
    /* as in counter_query_add: a path without an instance means all instances */
    const bool wildcard = has_wildcard(text);
    WCHAR *wide = NULL;
    HRESULT hr = wide_path(text, &path, wildcard && (all_instances(&path) || !path.instance), &wide);
    if (SUCCEEDED(hr) && !wildcard)
        hr = list_one(q, wide, paths);
    else if (SUCCEEDED(hr))
        query_expand_path(q, wide, 0, paths);
    memory_free(wide);
    counter_path_free(&path);
    return hr;
}

HRESULT counter_query_list(struct counter_query *q, const char *text, WCHAR **paths)
{
    char *english = NULL;
    HRESULT hr = list_paths(q, text, paths);
    if (SUCCEEDED(hr) && !*paths)
        hr = query_english_path(q, text, &english);
    if (english)
        hr = list_paths(q, english, paths);
    memory_free(english);
    return FAILED(hr) ? hr : S_OK;
}
