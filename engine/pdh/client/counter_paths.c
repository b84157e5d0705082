/* SPDX-License-Identifier: MIT */
/* Lists of counter paths. */
#include "engine/pdh/counter_paths.h"

#include "engine/base/memory.h"
#include "engine/pdh/pdh_list.h"

#include <string.h>

PDH_STATUS counter_paths_expand(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out)
{
    struct pdh_list l = {0};
    while (pdh_list_ask(&l, sizeof(WCHAR)))
        l.status = pdh->PdhExpandWildCardPathW(NULL, path, l.data, &l.size, flags);
    const WCHAR *paths = l.data;
    if (!l.status && (!paths || !*paths))
        l.status = (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    if (l.status) {
        memory_free(l.data);
        l.data = NULL;
    }
    *out = l.data;
    return l.status;
}

static HRESULT add_texts(const WCHAR *list, struct texts *out)
{
    HRESULT hr = S_OK;
    while (list && *list && SUCCEEDED(hr)) {
        char *text;
        hr = pdh_text(list, &text);
        if (SUCCEEDED(hr))
            hr = texts_give(out, text);
        while (*list++)
            ;
    }
    return hr;
}

HRESULT counter_paths_objects(const struct pdh_api *pdh, const WCHAR *machine, struct texts *out)
{
    struct pdh_list l = {0};
    while (pdh_list_ask(&l, sizeof(WCHAR)))
        l.status = pdh->PdhEnumObjectsW(NULL, machine, l.data, &l.size, PERF_DETAIL_WIZARD, !l.data);
    HRESULT hr = pdh_result(l.status, "objects");
    if (SUCCEEDED(hr))
        hr = add_texts(l.data, out);
    memory_free(l.data);
    return hr;
}

static HRESULT list_items(const struct pdh_api *pdh, const WCHAR *machine, const char *object, struct texts *counters,
                          struct texts *instances)
{
    struct pdh_list c = {0}, i = {0};
    WCHAR *name;
    HRESULT hr = text_to_utf16(object, &name, NULL);
    if (FAILED(hr))
        return hr;
    while (pdh_list_ask(&c, sizeof(WCHAR)) && pdh_list_ask(&i, sizeof(WCHAR)))
        c.status = i.status =
            pdh->PdhEnumObjectItemsW(NULL, machine, name, c.data, &c.size, i.data, &i.size, PERF_DETAIL_WIZARD, 0);
    /* They differ where memory was out for one of them. */
    hr = pdh_result((DWORD)c.status == PDH_MORE_DATA ? i.status : c.status, object);
    if (SUCCEEDED(hr))
        hr = add_texts(c.data, counters);
    if (SUCCEEDED(hr) && i.size)
        hr = add_texts(i.data, instances);
    memory_free(c.data);
    memory_free(i.data);
    memory_free(name);
    return hr;
}

HRESULT counter_paths_counters(const struct pdh_api *pdh, const char *object, struct texts *out)
{
    struct texts instances = {0};
    const HRESULT hr = list_items(pdh, NULL, object, out, &instances);
    texts_free(&instances);
    return hr;
}

static HRESULT expand(const struct pdh_api *pdh, const char *path, struct texts *out)
{
    WCHAR *wide = NULL, *list = NULL;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (SUCCEEDED(hr))
        hr = pdh_result(counter_paths_expand(pdh, wide, 0, &list), path);
    if (SUCCEEDED(hr))
        hr = add_texts(list, out);
    memory_free(wide);
    memory_free(list);
    return hr;
}

/* One object's counters. An object may have no instance now. */
static HRESULT list_counters(const struct pdh_api *pdh, const char *machine, const WCHAR *wide_machine,
                             const char *object, bool each_instance, struct texts *out)
{
    struct texts counters = {0}, instances = {0};
    const char *name = machine ? machine + strspn(machine, "\\") : "";
    HRESULT hr = list_items(pdh, wide_machine, object, &counters, &instances);
    for (size_t i = 0; i < counters.count && SUCCEEDED(hr); i++) {
        char *path = text_format("%s%s\\%s%s\\%s", machine ? "\\\\" : "", name, object, instances.count ? "(*)" : "",
                                 counters.items[i]);
        if (!path)
            hr = E_OUTOFMEMORY;
        else
            hr = each_instance && instances.count ? expand(pdh, path, out) : texts_add(out, path);
        memory_free(path);
    }
    texts_free(&counters);
    texts_free(&instances);
    return hr;
}

HRESULT counter_paths_list(const struct pdh_api *pdh, const char *machine, const char *object, bool instances,
                           struct texts *out)
{
    struct texts objects = {0};
    WCHAR *wide = NULL;
    HRESULT hr = machine ? text_to_utf16(machine, &wide, NULL) : S_OK;
    if (SUCCEEDED(hr))
        hr = object ? texts_add(&objects, object) : counter_paths_objects(pdh, wide, &objects);
    for (size_t i = 0; i < objects.count && SUCCEEDED(hr); i++) {
        hr = list_counters(pdh, machine, wide, objects.items[i], instances, out);
        /* Of a program that has ended since all objects were listed. */
        if (!object && hr == (HRESULT)PDH_CSTATUS_NO_OBJECT)
            hr = S_OK;
    }
    memory_free(wide);
    texts_free(&objects);
    return hr;
}
