/* SPDX-License-Identifier: MIT */
/* Expansion of wildcard paths. */
#include "engine/pdh/core/wildcard.h"

#include "engine/base/memory.h"

#include <string.h>

static bool has_wildcard(const char *text)
{
    return text && strpbrk(text, "*?");
}

static PDH_STATUS add_path(struct texts *paths, const struct counter_path *like, const struct provider *provider,
                           const char *instance, const char *counter)
{
    /* A list's names hold their "#1" themselves. */
    struct counter_path path = {.machine = provider->machine ? (char *)provider->machine : like->machine,
                                .object = (char *)provider->name,
                                .instance = (char *)instance,
                                .index = PATH_NO_INDEX,
                                .counter = (char *)counter};
    char *text = counter_path_format(&path);
    HRESULT hr = text ? texts_add(paths, text) : E_OUTOFMEMORY;
    memory_free(text);
    return pdh_status_of(hr, PDH_MEMORY_ALLOCATION_FAILURE);
}

/* One counter in all the instances that match. `pattern` NULL: the path names none and gets none. */
static PDH_STATUS expand_instances(const struct counter_object *o, const struct counter_path *like, const char *pattern,
                                   const char *counter, DWORD flags, struct texts *paths)
{
    if (!pattern || ((flags & PDH_NOEXPANDINSTANCES) && has_wildcard(pattern)))
        return add_path(paths, like, o->provider, pattern, counter);
    PDH_STATUS status = ERROR_SUCCESS;
    for (size_t i = 0; o->instances && i < o->instances->count && status == ERROR_SUCCESS; i++) {
        const char *name = o->instances->items[i].name;
        if (text_matches(pattern, name))
            status = add_path(paths, like, o->provider, name, counter);
    }
    return status;
}

static PDH_STATUS expand_object(const struct counter_object *o, const struct counter_path *path, DWORD flags,
                                struct texts *paths)
{
    char *pattern = counter_path_instance(path);
    if (path->instance && !pattern)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    size_t before = paths->count;
    bool any_counter = false, fits = o->provider->has_instances || !pattern;
    PDH_STATUS status = ERROR_SUCCESS;
    if ((flags & PDH_NOEXPANDCOUNTERS) && has_wildcard(path->counter)) {
        any_counter = true;
        status = fits ? expand_instances(o, path, pattern, path->counter, flags, paths) : ERROR_SUCCESS;
    } else {
        for (uint32_t i = 0; i < o->provider->counter_count && status == ERROR_SUCCESS; i++) {
            const char *name = o->provider->counters[i].name;
            if (counter_object_has_counter(o, i) && text_matches(path->counter, name)) {
                any_counter = true;
                status = fits ? expand_instances(o, path, pattern, name, flags, paths) : ERROR_SUCCESS;
            }
        }
    }
    memory_free(pattern);
    if (status == ERROR_SUCCESS && paths->count == before)
        return any_counter ? PDH_CSTATUS_NO_INSTANCE : PDH_CSTATUS_NO_COUNTER;
    return status;
}

static PDH_STATUS expand(struct query *q, const struct counter_path *path, DWORD flags, struct texts *paths)
{
    PDH_STATUS status = catalogue_machine(q->catalogue, path->machine), worst = PDH_CSTATUS_NO_OBJECT;
    if (status == ERROR_SUCCESS)
        catalogue_find(q->catalogue, path->machine, path->object); /* which may have come since */
    for (size_t i = 0; status == ERROR_SUCCESS && i < q->catalogue->count; i++) {
        struct counter_object *o;
        const struct provider *p = q->catalogue->providers[i];
        if (!text_matches(path->object, p->name) || !catalogue_is_of(q->catalogue, p, path->machine))
            continue;
        status = query_object(q, i, &o);
        if (status == ERROR_SUCCESS)
            status = expand_object(o, path, flags, paths);
        if (status != ERROR_SUCCESS && status != (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE) {
            worst = status; /* other objects may have what this one lacks */
            status = ERROR_SUCCESS;
        }
    }
    return status != ERROR_SUCCESS || paths->count ? status : worst;
}

PDH_STATUS wildcard_expand(struct query *q, const char *text, DWORD flags, struct texts *paths)
{
    struct counter_path path;
    PDH_STATUS status = counter_path_parse(text, &path);
    if (status == ERROR_SUCCESS) {
        query_enter(q);
        status = expand(q, &path, flags, paths);
        query_leave(q);
        counter_path_free(&path);
    }
    return status;
}
