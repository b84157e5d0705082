/* SPDX-License-Identifier: MIT */
/* Lists counter paths from PDH, and watches paths for new counters. */
#include "engine/pdh/counter_paths.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/counter_query.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CALLS 6

bool pdh_list_ask(struct pdh_list *l, size_t element)
{
    if (l->asked > 0) {
        bool again = (DWORD)l->status == PDH_MORE_DATA && l->asked < MOST_CALLS;
        /* The list may have grown by the next call, because threads start all the time on a busy computer. Therefore
           allocate an eighth more than requested, and double the surplus with each retry. */
        uint64_t more = l->size > l->room ? l->size + ((uint64_t)l->size << (l->asked - 1)) / 8 : l->room * 2ull;
        DWORD room = more < UINT32_MAX - 256 ? (DWORD)more + 256 : UINT32_MAX;
        void *data = again ? memory_resize(l->data, room * element) : NULL;
        if (again && !data)
            l->status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (!data) {
            l->asked = 0;
            return false;
        }
        l->data = data;
        l->room = room;
    }
    l->asked++;
    l->size = l->room;
    return true;
}

HRESULT pdh_result(PDH_STATUS status, const char *subject)
{
    if ((DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    return status ? pdh_error(status, subject) : S_OK;
}

HRESULT pdh_text(LPCWSTR wide, char **out)
{
    size_t units = 0;
    while (wide[units])
        units++;
    return text_from_utf16(wide, units, true, out);
}

/* ---- lists of counter paths ---- */

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
            hr = texts_add_owned(out, text);
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
    /* the statuses differ if memory ran out for one of the lists */
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

static HRESULT expand_path_texts(const struct pdh_api *pdh, const char *path, struct texts *out)
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

/* Adds the counters of one object. The object may have no instances now. */
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
            hr = each_instance && instances.count ? expand_path_texts(pdh, path, out) : texts_add(out, path);
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
        /* the object's program has exited since the objects were listed */
        if (!object && hr == (HRESULT)PDH_CSTATUS_NO_OBJECT)
            hr = S_OK;
    }
    memory_free(wide);
    texts_free(&objects);
    return hr;
}

/* ---- the watch ---- */

/* The watch compares hashes of counter paths. A path that exists now is new if it did not exist when the watch was
   opened. */

/* Time limit in milliseconds for one check, because a computer that does not answer delays it. The remaining paths are
   left for the next check. */
#define CHECK_MS 250

struct counter_watch {
    struct counter_query *query;
    struct texts paths;
    size_t next;    /* index of the next path to check */
    size_t checked; /* paths checked in this round */
    uint64_t *then; /* sorted */
    size_t count, capacity;
};

/* Hashes the first path of the list `path`. *next becomes the second path. */
static uint64_t hash_path(const WCHAR *path, const WCHAR **next)
{
    uint64_t hash = HASH_START;
    for (; *path; path++)
        hash = hash_number(hash, *path);
    *next = path + 1;
    return hash;
}

/* Records the counters that the path names now, and keeps the path if it must be watched. If a path has no wildcard and
   its counter exists, the path cannot yield more counters. */
static HRESULT note_path(struct counter_watch *w, const char *path, bool refused)
{
    WCHAR *paths = NULL;
    const bool wildcard = strchr(path, '*') != NULL;
    HRESULT hr = refused && !wildcard ? S_OK : counter_query_list(w->query, path, &paths);
    if (SUCCEEDED(hr) && (!paths || wildcard))
        hr = texts_add(&w->paths, path);
    for (const WCHAR *p = paths; SUCCEEDED(hr) && p && *p;) {
        void *then = w->then;
        if (!memory_grow(&then, &w->capacity, w->count + 1, sizeof *w->then))
            hr = E_OUTOFMEMORY;
        w->then = then;
        if (SUCCEEDED(hr))
            w->then[w->count++] = hash_path(p, &p);
    }
    memory_free(paths);
    return hr;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

HRESULT counter_watch_open(struct counter_query *q, const struct texts *paths, bool refused, struct counter_watch **out)
{
    struct counter_watch *w = memory_zero(1, sizeof *w);
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->query = q;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < paths->count && SUCCEEDED(hr); i++)
        hr = note_path(w, paths->items[i], refused);
    if (FAILED(hr)) {
        counter_watch_close(w);
        return hr;
    }
    if (w->count)
        qsort(w->then, w->count, sizeof *w->then, compare_hashes);
    *out = w;
    return S_OK;
}

static bool has_new(struct counter_watch *w, const char *path)
{
    WCHAR *paths;
    bool found = false;
    if (FAILED(counter_query_list(w->query, path, &paths)))
        return false;
    for (const WCHAR *p = paths, *next; p && *p && !found; p = next) {
        const uint64_t hash = hash_path(p, &next);
        found = !w->count || !bsearch(&hash, w->then, w->count, sizeof *w->then, compare_hashes);
    }
    memory_free(paths);
    return found;
}

bool counter_watch_has_new(struct counter_watch *w, bool *all)
{
    const uint64_t begin = clock_monotonic_ms();
    bool found = false;
    do {
        if (w->checked < w->paths.count)
            found = has_new(w, w->paths.items[w->next++ % w->paths.count]);
        w->checked++;
    } while (!found && w->checked < w->paths.count && clock_passed_ms(begin, clock_monotonic_ms()) < CHECK_MS);
    *all = w->checked >= w->paths.count;
    if (*all)
        w->checked = 0;
    return found;
}

void counter_watch_close(struct counter_watch *w)
{
    if (!w)
        return;
    texts_free(&w->paths);
    memory_free(w->then);
    memory_free(w);
}
