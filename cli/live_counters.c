/* SPDX-License-Identifier: MIT */
/* Live counters through the host's PDH. */
#include "cli/live_counters.h"

#include "engine/os/clock.h"
#include "engine/os/memory.h"

#include <string.h>

#define TRIES 5 /* a list may grow between the call that asks its size and the one that fetches it */

HRESULT live_counters_open(struct live_counters *l)
{
    HRESULT hr = host_pdh(&l->pdh);
    if (SUCCEEDED(hr)) {
        PDH_STATUS status = l->pdh->PdhOpenQueryW(NULL, 0, &l->query);
        hr = status ? pdh_error(status, "counters") : S_OK;
    }
    return hr;
}

/* A list of texts in UTF-16 as UTF-8. */
static HRESULT take_list(const WCHAR *list, struct texts *out)
{
    HRESULT hr = S_OK;
    while (list && *list && SUCCEEDED(hr)) {
        size_t units = 0;
        char *text = NULL;
        while (list[units])
            units++;
        hr = text_from_utf16(list, units, true, &text);
        if (SUCCEEDED(hr)) {
            hr = texts_add(out, text);
            memory_free(text);
        }
        list += units + 1;
    }
    return hr;
}

static bool more(PDH_STATUS status)
{
    return (DWORD)status == PDH_MORE_DATA;
}

static HRESULT expand(const struct pdh_api *pdh, const char *path, struct texts *out)
{
    WCHAR *wide, *list = NULL;
    DWORD units = 0;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    PDH_STATUS status = pdh->PdhExpandWildCardPathW(NULL, wide, NULL, &units, 0);
    for (int i = 0; i < TRIES && more(status) && SUCCEEDED(hr); i++) {
        units += units / 8 + 64;
        memory_free(list);
        list = memory_zero(units, sizeof *list);
        hr = list ? S_OK : E_OUTOFMEMORY;
        status = list ? pdh->PdhExpandWildCardPathW(NULL, wide, list, &units, 0) : status;
    }
    if (SUCCEEDED(hr))
        hr = status ? pdh_error(status, path) : take_list(list, out);
    memory_free(wide);
    memory_free(list);
    return hr;
}

static HRESULT add_one(struct live_counters *l, const char *path)
{
    WCHAR *wide;
    void *items = l->items;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    bool room = memory_grow(&items, &l->capacity, l->count + 1, sizeof *l->items);
    l->items = items;
    char *copy = room ? text_copy(path) : NULL;
    PDH_HCOUNTER handle = NULL;
    PDH_STATUS status = copy ? l->pdh->PdhAddEnglishCounterW(l->query, wide, 0, &handle) : 0;
    if (status) {
        /* Names of the system's language, on a Windows that is not English. */
        PDH_STATUS local = l->pdh->PdhAddCounterW(l->query, wide, 0, &handle);
        status = local ? status : local;
    }
    memory_free(wide);
    if (!copy || status) {
        memory_free(copy);
        return status ? pdh_error(status, path) : E_OUTOFMEMORY;
    }
    l->items[l->count++] = (struct live_counter){copy, handle};
    return S_OK;
}

HRESULT live_counters_add(struct live_counters *l, const char *path, const char *machine)
{
    struct texts paths = {0};
    bool bare = strncmp(path, "\\\\", 2) != 0;
    char *ours = bare && !machine ? host_computer_name() : NULL;
    const char *name = machine ? machine + strspn(machine, "\\") : ours;
    char *full = bare ? text_format("\\\\%s%s%s", name ? name : "", *path == '\\' ? "" : "\\", path) : text_copy(path);
    HRESULT hr = full && (name || !bare) ? expand(l->pdh, full, &paths) : E_OUTOFMEMORY;
    for (size_t i = 0; i < paths.count && SUCCEEDED(hr); i++)
        hr = add_one(l, paths.items[i]);
    texts_free(&paths);
    memory_free(full);
    memory_free(ours);
    return hr;
}

HRESULT live_counters_collect(struct live_counters *l, int64_t *utc)
{
    PDH_STATUS status = l->pdh->PdhCollectQueryData(l->query);
    *utc = clock_utc();
    return status && (DWORD)status != PDH_NO_DATA ? pdh_error(status, "sample") : S_OK;
}

bool live_counter_value(const struct live_counters *l, size_t i, double *value)
{
    PDH_FMT_COUNTERVALUE v;
    PDH_STATUS status =
        l->pdh->PdhGetFormattedCounterValue(l->items[i].handle, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, NULL, &v);
    *value = status ? 0 : v.doubleValue;
    return !status;
}

void live_counters_close(struct live_counters *l)
{
    if (l->query)
        l->pdh->PdhCloseQuery(l->query);
    for (size_t i = 0; i < l->count; i++)
        memory_free(l->items[i].path);
    memory_free(l->items);
    *l = (struct live_counters){0};
}

static HRESULT list_objects(const struct pdh_api *pdh, const WCHAR *machine, struct texts *out)
{
    WCHAR *list = NULL;
    DWORD units = 0;
    HRESULT hr = S_OK;
    PDH_STATUS status = pdh->PdhEnumObjectsW(NULL, machine, NULL, &units, PERF_DETAIL_WIZARD, true);
    for (int i = 0; i < TRIES && more(status) && SUCCEEDED(hr); i++) {
        units += 256;
        memory_free(list);
        list = memory_zero(units, sizeof *list);
        hr = list ? S_OK : E_OUTOFMEMORY;
        status = list ? pdh->PdhEnumObjectsW(NULL, machine, list, &units, PERF_DETAIL_WIZARD, false) : status;
    }
    if (SUCCEEDED(hr))
        hr = status ? pdh_error(status, "objects") : take_list(list, out);
    memory_free(list);
    return hr;
}

static HRESULT list_items(const struct pdh_api *pdh, const WCHAR *machine, const char *object, struct texts *counters,
                          struct texts *instances)
{
    WCHAR *name, *lists[2] = {NULL, NULL};
    DWORD units[2] = {0, 0};
    HRESULT hr = text_to_utf16(object, &name, NULL);
    if (FAILED(hr))
        return hr;
    PDH_STATUS status =
        pdh->PdhEnumObjectItemsW(NULL, machine, name, NULL, &units[0], NULL, &units[1], PERF_DETAIL_WIZARD, 0);
    for (int i = 0; i < TRIES && more(status) && SUCCEEDED(hr); i++) {
        for (int n = 0; n < 2; n++) {
            units[n] += 256;
            memory_free(lists[n]);
            lists[n] = memory_zero(units[n], sizeof *lists[n]);
            hr = lists[n] ? hr : E_OUTOFMEMORY;
        }
        status = FAILED(hr) ? status
                            : pdh->PdhEnumObjectItemsW(NULL, machine, name, lists[0], &units[0], lists[1], &units[1],
                                                       PERF_DETAIL_WIZARD, 0);
    }
    if (SUCCEEDED(hr))
        hr = status ? pdh_error(status, object) : take_list(lists[0], counters);
    if (SUCCEEDED(hr) && units[1])
        hr = take_list(lists[1], instances);
    memory_free(lists[0]);
    memory_free(lists[1]);
    memory_free(name);
    return hr;
}

/* One counter: its path, or with `expanded` those of all its instances. */
static HRESULT add_counter(const struct pdh_api *pdh, const char *machine, const char *object, bool has_instances,
                           const char *counter, bool expanded, struct texts *out)
{
    const char *instances = has_instances ? "(*)" : "", *name = machine ? machine + strspn(machine, "\\") : "";
    char *path = text_format("%s%s\\%s%s\\%s", machine ? "\\\\" : "", name, object, instances, counter);
    HRESULT hr = !path ? E_OUTOFMEMORY : expanded && has_instances ? expand(pdh, path, out) : texts_add(out, path);
    memory_free(path);
    return hr;
}

/* One object's counters, each in all instances where they are asked for. An object may have no instance now. */
static HRESULT list_counters(const struct pdh_api *pdh, const char *machine, const WCHAR *wide, const char *object,
                             bool expanded, struct texts *out)
{
    struct texts counters = {0}, instances = {0};
    HRESULT hr = list_items(pdh, wide, object, &counters, &instances);
    for (size_t i = 0; i < counters.count && SUCCEEDED(hr); i++)
        hr = add_counter(pdh, machine, object, instances.count > 0, counters.items[i], expanded, out);
    texts_free(&counters);
    texts_free(&instances);
    return hr;
}

HRESULT live_counters_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out)
{
    struct texts objects = {0};
    WCHAR *wide = NULL;
    HRESULT hr = machine ? text_to_utf16(machine, &wide, NULL) : S_OK;
    if (SUCCEEDED(hr))
        hr = object ? texts_add(&objects, object) : list_objects(pdh, wide, &objects);
    for (size_t i = 0; i < objects.count && SUCCEEDED(hr); i++)
        hr = list_counters(pdh, machine, wide, objects.items[i], instances, out);
    memory_free(wide);
    texts_free(&objects);
    return hr;
}
