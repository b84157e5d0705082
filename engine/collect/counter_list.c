/* SPDX-License-Identifier: MIT */
/* Makes counters out of the paths of a set: wildcards, the system's language and English, names for the log. */
#include "engine/collect/counter_list.h"

#include "engine/os/host.h"
#include "engine/os/memory.h"

#include <stdlib.h>
#include <string.h>

#define EXPAND_RETRIES 5 /* a list may grow between the call that asks its size and the one that fetches it */

/* Where the parts of \\machine\object(instance)\counter are, as byte offsets. */
struct path_parts {
    size_t instance, instance_end; /* between the parentheses; 0 when there is none */
    size_t counter;
};

static bool path_split(const char *path, struct path_parts *parts)
{
    const char *object = path;
    memset(parts, 0, sizeof *parts);
    if (object[0] == '\\' && object[1] == '\\') {
        object = strchr(object + 2, '\\');
        if (!object)
            return false;
    }
    if (*object != '\\')
        return false;
    /* Instances may hold backslashes and parentheses (mount points, databases): the last ")\" ends them. */
    const char *end = NULL;
    for (const char *p = strstr(object, ")\\"); p; p = strstr(p + 1, ")\\"))
        end = p;
    const char *open = end ? strchr(object, '(') : NULL;
    if (open && open < end) {
        parts->instance = (size_t)(open + 1 - path);
        parts->instance_end = (size_t)(end - path);
        parts->counter = (size_t)(end + 2 - path);
        return true;
    }
    const char *counter = strrchr(object + 1, '\\');
    if (!counter)
        return false;
    parts->counter = (size_t)(counter + 1 - path);
    return true;
}

/* "*" alone, or written with parent and index as templates do: "*#*" and the like. */
static bool all_instances(const char *path, const struct path_parts *parts)
{
    bool star = false;
    for (size_t i = parts->instance; i < parts->instance_end; i++) {
        if (path[i] != '*' && path[i] != '/' && path[i] != '#')
            return false;
        star |= path[i] == '*';
    }
    return star;
}

static bool has_wildcard(const char *path, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (path[i] == '*')
            return true;
    return false;
}

/* The path with `instance` in parentheses in place of the instance it has, or added. */
static char *with_instance(const char *path, const struct path_parts *parts, const char *instance)
{
    int head = (int)(parts->instance ? parts->instance - 1 : parts->counter - 1);
    return text_format("%.*s(%s)\\%s", head, path, instance, path + parts->counter);
}

static bool listed(const struct counter_list *list, const struct log_counter *c, uint64_t hash)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->counters[i].hash == hash && log_counter_same(&list->counters[i].names, c))
            return true;
    return false;
}

static void names_free(struct log_counter *c)
{
    const char *const texts[] = {c->machine, c->object, c->parent, c->instance, c->counter};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        memory_free((void *)texts[i]);
    memset(c, 0, sizeof *c);
}

/* NULL stays NULL, and so does "" when the part may be absent. */
static HRESULT name_from_wide(LPCWSTR text, bool may_be_absent, const char **out)
{
    size_t units = 0;
    *out = NULL;
    while (text && text[units])
        units++;
    if (!text || (!units && may_be_absent))
        return S_OK;
    char *name;
    HRESULT hr = text_from_utf16(text, units, true, &name);
    if (SUCCEEDED(hr))
        *out = name;
    return hr;
}

/* "\\NAME", whatever form PDH gives the machine in. */
static HRESULT machine_name(LPCWSTR wide, const char **out)
{
    HRESULT hr = name_from_wide(wide, true, out);
    if (FAILED(hr) || (*out && strncmp(*out, "\\\\", 2) == 0))
        return hr;
    char *bare = *out ? (char *)*out : host_computer_name();
    *out = bare ? text_format("\\\\%s", bare) : NULL;
    memory_free(bare);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* *out is NULL on failure. */
static HRESULT counter_info(const struct pdh_api *pdh, PDH_HCOUNTER counter, PDH_COUNTER_INFO_W **out)
{
    DWORD bytes = 0;
    *out = NULL;
    PDH_STATUS status = pdh->PdhGetCounterInfoW(counter, 0, &bytes, NULL);
    if ((DWORD)status != PDH_MORE_DATA)
        return pdh_error(status ? status : (PDH_STATUS)PDH_INVALID_DATA, "PdhGetCounterInfo");
    PDH_COUNTER_INFO_W *info = memory_zero(1, bytes);
    if (!info)
        return E_OUTOFMEMORY;
    status = pdh->PdhGetCounterInfoW(counter, 0, &bytes, info);
    if (status) {
        memory_free(info);
        return pdh_error(status, "PdhGetCounterInfo");
    }
    *out = info;
    return S_OK;
}

static HRESULT read_names(const struct counter_list *list, PDH_HCOUNTER counter, bool wildcard,
                          struct log_counter *names)
{
    PDH_COUNTER_INFO_W *info;
    HRESULT hr = counter_info(list->pdh, counter, &info);
    memset(names, 0, sizeof *names);
    if (!info)
        return hr;
    const PDH_COUNTER_PATH_ELEMENTS_W *path = &info->CounterPath;
    hr = machine_name(path->szMachineName, &names->machine);
    if (SUCCEEDED(hr))
        hr = name_from_wide(path->szObjectName, false, &names->object);
    if (SUCCEEDED(hr))
        hr = name_from_wide(path->szCounterName, false, &names->counter);
    if (SUCCEEDED(hr) && wildcard) {
        names->instance = text_copy("*");
        hr = names->instance ? S_OK : E_OUTOFMEMORY;
    } else if (SUCCEEDED(hr)) {
        hr = name_from_wide(path->szInstanceName, true, &names->instance);
        if (SUCCEEDED(hr))
            hr = name_from_wide(path->szParentInstance, true, &names->parent);
        names->index = path->dwInstanceIndex == UINT32_MAX ? 0 : path->dwInstanceIndex;
    }
    names->wildcard = wildcard;
    names->type = info->dwType;
    names->default_scale = info->lDefaultScale;
    LONGLONG time_base = 0;
    if (!list->pdh->PdhGetCounterTimeBase(counter, &time_base))
        names->time_base = time_base;
    memory_free(info);
    if (FAILED(hr))
        names_free(names);
    return hr;
}

/* The counter with these names out of the previous list; NULL when it has none. */
static PDH_HCOUNTER take_previous(struct counter_list *previous, const struct log_counter *names, uint64_t hash)
{
    for (size_t i = 0; previous && i < previous->count; i++) {
        struct listed_counter *c = &previous->counters[i];
        if (c->handle && c->hash == hash && log_counter_same(&c->names, names)) {
            PDH_HCOUNTER handle = c->handle;
            c->handle = NULL;
            return handle;
        }
    }
    return NULL;
}

/* Adds one path without counter wildcards. The status is the one the path got in the system's language. */
static HRESULT add_one(struct counter_list *list, const WCHAR *wide, const char *path, bool wildcard)
{
    const struct pdh_api *pdh = list->pdh;
    PDH_HCOUNTER counter = NULL;
    PDH_STATUS status = pdh->PdhAddCounterW(list->query, wide, 0, &counter);
    if (status && pdh->PdhAddEnglishCounterW(list->query, wide, 0, &counter))
        return pdh_error(status, path);
    struct log_counter names;
    HRESULT hr = read_names(list, counter, wildcard, &names);
    if (SUCCEEDED(hr)) {
        uint64_t hash = log_counter_hash(&names);
        void *items = list->counters;
        if (listed(list, &names, hash)) {
            hr = S_FALSE;
        } else if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->counters)) {
            hr = E_OUTOFMEMORY;
        } else {
            PDH_HCOUNTER before = take_previous(list->previous, &names, hash);
            if (before) { /* it knows its last value, the new one does not */
                pdh->PdhRemoveCounter(counter);
                counter = before;
            }
            list->counters = items;
            list->counters[list->count++] = (struct listed_counter){counter, names, hash};
            return S_OK;
        }
        names_free(&names);
    }
    pdh->PdhRemoveCounter(counter);
    return FAILED(hr) ? hr : S_OK;
}

static PDH_STATUS expand_once(const struct pdh_api *pdh, const WCHAR *path, DWORD flags, WCHAR **out)
{
    PDH_STATUS status = (PDH_STATUS)PDH_MORE_DATA;
    DWORD units = 0;
    WCHAR *paths = NULL;
    for (int i = 0; i < EXPAND_RETRIES && (DWORD)status == PDH_MORE_DATA; i++) {
        void *larger = units ? memory_resize(paths, (size_t)units * sizeof *paths) : paths;
        if (units && !larger) {
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
            break;
        }
        paths = larger;
        status = pdh->PdhExpandWildCardPathW(NULL, path, paths, &units, flags);
    }
    if (!status && (!paths || !paths[0]))
        status = (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    if (status) {
        memory_free(paths);
        return status;
    }
    *out = paths;
    return 0;
}

/* Paths that `path` stands for, a list that ends with an empty one. PdhExpandWildCardPath knows only the system's
   language; an English path is translated by adding it and asking for its full path. */
static PDH_STATUS expand(struct counter_list *list, const WCHAR *path, DWORD flags, WCHAR **out)
{
    PDH_STATUS status = expand_once(list->pdh, path, flags, out);
    PDH_HCOUNTER counter;
    PDH_COUNTER_INFO_W *info;
    if (!status || list->pdh->PdhAddEnglishCounterW(list->query, path, 0, &counter))
        return status;
    counter_info(list->pdh, counter, &info);
    if (info) {
        if (info->szFullPath && !expand_once(list->pdh, info->szFullPath, flags, out))
            status = 0;
        memory_free(info);
    }
    list->pdh->PdhRemoveCounter(counter);
    return status;
}

static HRESULT add_path(struct counter_list *list, const char *path, bool may_add_instance);

/* A path that came out of an expansion. "\Process\*" names counters without an instance although the object has some:
   all of them are meant. */
static HRESULT add_expanded(struct counter_list *list, const WCHAR *wide, bool may_add_instance)
{
    const char *path;
    struct path_parts parts;
    HRESULT hr = name_from_wide(wide, false, &path);
    if (FAILED(hr))
        return hr;
    bool split = path_split(path, &parts);
    hr = add_one(list, wide, path, split && list->keep_instances && all_instances(path, &parts));
    if (FAILED(hr) && hr != E_OUTOFMEMORY && may_add_instance && split && !parts.instance) {
        char *instances = with_instance(path, &parts, "*");
        hr = instances ? add_path(list, instances, false) : E_OUTOFMEMORY;
        memory_free(instances);
    }
    memory_free((void *)path);
    return hr;
}

static HRESULT add_path(struct counter_list *list, const char *path, bool may_add_instance)
{
    struct path_parts parts;
    if (!path_split(path, &parts))
        return pdh_error((PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME, path);
    bool keep = list->keep_instances && (all_instances(path, &parts) || !parts.instance);
    bool counters = has_wildcard(path, parts.counter, strlen(path)) ||
                    has_wildcard(path, 0, parts.instance ? parts.instance : parts.counter);
    bool instances = has_wildcard(path, parts.instance, parts.instance_end);
    char *plain = all_instances(path, &parts) ? with_instance(path, &parts, "*") : text_copy(path);
    WCHAR *wide = NULL, *paths = NULL;
    HRESULT hr = plain ? text_to_utf16(plain, &wide, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !counters && (keep || !instances)) {
        hr = add_one(list, wide, path, keep && instances);
    } else if (SUCCEEDED(hr)) {
        PDH_STATUS status = expand(list, wide, keep ? PDH_NOEXPANDINSTANCES : 0, &paths);
        hr = status ? pdh_error(status, path) : S_OK;
        bool added = false;
        HRESULT failure = S_OK;
        for (const WCHAR *p = paths; SUCCEEDED(hr) && p && *p;) {
            HRESULT one = add_expanded(list, p, may_add_instance && !parts.instance);
            added |= SUCCEEDED(one);
            if (one == E_OUTOFMEMORY)
                hr = one;
            if (FAILED(one))
                failure = one;
            while (*p++)
                ;
        }
        /* An instance may end between the expansion and its adding; only a path that gave nothing is a failure. */
        if (SUCCEEDED(hr) && !added)
            hr = failure;
    }
    memory_free(paths);
    memory_free(wide);
    memory_free(plain);
    return hr;
}

HRESULT counter_list_add(struct counter_list *list, const char *path)
{
    return add_path(list, path, true);
}

void counter_list_free(struct counter_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        names_free(&list->counters[i].names);
    memory_free(list->counters);
    list->counters = NULL;
    list->count = list->capacity = 0;
}

void counter_list_drop(struct counter_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->counters[i].handle)
            list->pdh->PdhRemoveCounter(list->counters[i].handle);
    counter_list_free(list);
}

static HRESULT add_hashes(const WCHAR *paths, struct expansion *out)
{
    for (const WCHAR *p = paths; *p; p++) {
        uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
        for (; *p; p++)
            hash = (hash ^ *p) * UINT64_C(0x100000001B3);
        void *hashes = out->hashes;
        if (!memory_grow(&hashes, &out->capacity, out->count + 1, sizeof *out->hashes))
            return E_OUTOFMEMORY;
        out->hashes = hashes;
        out->hashes[out->count++] = hash;
    }
    return S_OK;
}

static HRESULT expand_path(struct counter_list *list, const char *path, struct expansion *out)
{
    struct path_parts parts;
    if (!path_split(path, &parts) || !has_wildcard(path, 0, strlen(path)))
        return S_OK;
    /* As add_path: without an instance all of them are meant. */
    bool every = all_instances(path, &parts) || !parts.instance;
    char *plain = every ? with_instance(path, &parts, "*") : text_copy(path);
    WCHAR *wide = NULL, *paths = NULL;
    HRESULT hr = plain ? text_to_utf16(plain, &wide, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !expand(list, wide, 0, &paths))
        hr = add_hashes(paths, out);
    memory_free(paths);
    memory_free(wide);
    memory_free(plain);
    return hr;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

HRESULT counter_list_expand(struct counter_list *list, const struct texts *paths, struct expansion *out)
{
    HRESULT hr = S_OK;
    out->count = 0;
    for (size_t i = 0; i < paths->count && SUCCEEDED(hr); i++)
        hr = expand_path(list, paths->items[i], out);
    if (SUCCEEDED(hr) && out->count)
        qsort(out->hashes, out->count, sizeof *out->hashes, compare_hashes);
    return hr;
}

bool expansion_has_more(const struct expansion *then, const struct expansion *now)
{
    size_t i = 0;
    for (size_t k = 0; k < now->count; k++) {
        while (i < then->count && then->hashes[i] < now->hashes[k])
            i++;
        if (i == then->count || then->hashes[i] != now->hashes[k])
            return true;
    }
    return false;
}

void expansion_free(struct expansion *e)
{
    memory_free(e->hashes);
    *e = (struct expansion){0};
}
