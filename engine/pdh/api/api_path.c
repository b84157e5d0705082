/* SPDX-License-Identifier: MIT */
/* PDH functions for counter paths: parsing, building, validating, and expanding them to the existing objects, counters
   and instances. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/query.h"

#include <string.h>

/* ---- expanding wildcards ---- */

static bool has_wildcard(const char *text)
{
    return text && strpbrk(text, "*?");
}

static PDH_STATUS add_path(struct texts *paths, const struct counter_path *like, const struct counter_object_type *type,
                           const char *instance, const char *counter)
{
    /* in lists, names already include their "#1" */
    struct counter_path path = {.machine = type->machine ? (char *)type->machine : like->machine,
                                .object = (char *)type->name,
                                .instance = (char *)instance,
                                .index = PATH_NO_INDEX,
                                .counter = (char *)counter};
    char *text = counter_path_format(&path);
    HRESULT hr = text ? texts_add(paths, text) : E_OUTOFMEMORY;
    memory_free(text);
    return pdh_status_of(hr, PDH_MEMORY_ALLOCATION_FAILURE);
}

/* Adds the path of one counter for each matching instance. If `pattern` is NULL, the path and its results have no
   instance. */
static PDH_STATUS expand_instances(const struct counter_object *o, const struct counter_path *like, const char *pattern,
                                   const char *counter, DWORD flags, struct texts *paths)
{
    if (!pattern || ((flags & PDH_NOEXPANDINSTANCES) && has_wildcard(pattern)))
        return add_path(paths, like, o->type, pattern, counter);
    PDH_STATUS status = ERROR_SUCCESS;
    for (size_t i = 0; o->instances && i < o->instances->count && status == ERROR_SUCCESS; i++) {
        const char *name = o->instances->items[i].name;
        if (text_matches(pattern, name))
            status = add_path(paths, like, o->type, name, counter);
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
    bool any_counter = false, fits = o->type->has_instances || !pattern;
    PDH_STATUS status = ERROR_SUCCESS;
    if ((flags & PDH_NOEXPANDCOUNTERS) && has_wildcard(path->counter)) {
        any_counter = true;
        status = fits ? expand_instances(o, path, pattern, path->counter, flags, paths) : ERROR_SUCCESS;
    } else {
        for (uint32_t i = 0; i < o->type->counter_count && status == ERROR_SUCCESS; i++) {
            const char *name = o->type->counters[i].name;
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

static PDH_STATUS expand_objects(struct query *q, const struct counter_path *path, DWORD flags, struct texts *paths)
{
    PDH_STATUS status = catalogue_machine(q->catalogue, path->machine), worst = PDH_CSTATUS_NO_OBJECT;
    if (status == ERROR_SUCCESS)
        catalogue_find(q->catalogue, path->machine, path->object); /* the object may have appeared in the meantime */
    for (size_t i = 0; status == ERROR_SUCCESS && i < q->catalogue->count; i++) {
        struct counter_object *o;
        const struct counter_object_type *p = q->catalogue->types[i];
        if (!text_matches(path->object, p->name) || !catalogue_is_of(q->catalogue, p, path->machine))
            continue;
        status = query_object(q, i, &o);
        if (status == ERROR_SUCCESS)
            status = expand_object(o, path, flags, paths);
        if (status != ERROR_SUCCESS && status != (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE) {
            worst = status; /* other objects may have the counter that this object lacks */
            status = ERROR_SUCCESS;
        }
    }
    return status != ERROR_SUCCESS || paths->count ? status : worst;
}

/* Adds to `paths` every path that `path` matches, with * and ? in object, instance and counter. The results are ordered
   by counter, then by instance. If `path` has no instance, the results have none either. PDH_NOEXPANDCOUNTERS and
   PDH_NOEXPANDINSTANCES in `flags` keep the counter or the instance as it was written. A result contains the computer
   name if `path` contains one; for log files, every result does. A path without wildcards is checked and yields itself.
   Locks the query. Fails with PDH_CSTATUS_NO_MACHINE, NO_OBJECT, NO_COUNTER, NO_INSTANCE if nothing matches,
   BAD_COUNTERNAME, or PDH_MEMORY_ALLOCATION_FAILURE. The caller must free *paths even on failure. */
static PDH_STATUS wildcard_expand(struct query *q, const char *text, DWORD flags, struct texts *paths)
{
    struct counter_path path;
    PDH_STATUS status = counter_path_parse(text, &path);
    if (status == ERROR_SUCCESS) {
        query_enter(q);
        status = expand_objects(q, &path, flags, paths);
        query_leave(q);
        counter_path_free(&path);
    }
    return status;
}

/* ---- paths of programs ---- */

/* Expands a path to the counters of the source. */
static PDH_STATUS expand_source(enum api_form form, struct api_source source, const void *path, DWORD flags,
                                struct texts *paths)
{
    char *text;
    struct catalogue *catalogue = NULL;
    struct query *q = NULL;
    PDH_STATUS status = api_text_in(form, path, PDH_MAX_COUNTER_PATH, PDH_INVALID_PATH, &text);
    if (status == ERROR_SUCCESS)
        status = api_open_catalogue(form, source, &catalogue);
    if (status == ERROR_SUCCESS)
        status = query_create(0, catalogue, &q);
    if (status == ERROR_SUCCESS) {
        status = wildcard_expand(q, text, flags, paths);
        query_destroy(q);
    }
    memory_free(text);
    return status;
}

PDH_STATUS api_expand_wildcard_path(enum api_form form, struct api_source source, const void *path, void *list,
                                    LPDWORD units, DWORD flags)
{
    if (!path || !units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    struct texts paths = {0};
    PDH_STATUS status = expand_source(form, source, path, flags, &paths);
    if (status == ERROR_SUCCESS)
        status = api_list_out(form, &paths, false, list, units);
    texts_free(&paths);
    return status;
}

PDH_STATUS api_validate_path(enum api_form form, struct api_source source, const void *path)
{
    struct texts paths = {0};
    if (!path)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = expand_source(form, source, path, 0, &paths);
    texts_free(&paths);
    return status == (PDH_STATUS)PDH_INVALID_PATH ? (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME : status;
}

PDH_STATUS api_parse_counter_path(enum api_form form, const void *path, PDH_COUNTER_PATH_ELEMENTS_W *elements,
                                  LPDWORD bytes, DWORD flags)
{
    PDH_COUNTER_PATH_ELEMENTS_W head = {0};
    struct api_block block;
    if (!path || flags)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_block_begin(&block, form, elements, bytes, sizeof head);
    if (status != ERROR_SUCCESS)
        return status;
    char *text;
    struct counter_path parts;
    status = api_text_in(form, path, PDH_MAX_COUNTER_PATH, PDH_INVALID_PATH, &text);
    if (status != ERROR_SUCCESS)
        return status;
    status = counter_path_parse(text, &parts);
    memory_free(text);
    if (status != ERROR_SUCCESS)
        return status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE ? status : (PDH_STATUS)PDH_INVALID_PATH;
    /* as on Windows: with backslashes, and with this computer's name if the path has no computer */
    char *ours = parts.machine ? NULL : os_computer_name();
    char *machine = parts.machine || ours ? text_format("\\\\%s", parts.machine ? parts.machine : ours) : NULL;
    head.szMachineName = api_block_add(&block, machine);
    head.szObjectName = api_block_add(&block, parts.object);
    head.szInstanceName = api_block_add(&block, parts.instance);
    head.szParentInstance = api_block_add(&block, parts.parent);
    head.dwInstanceIndex = parts.index;
    head.szCounterName = api_block_add(&block, parts.counter);
    status = machine ? api_block_end(&block, bytes) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS)
        *elements = head;
    memory_free(ours);
    memory_free(machine);
    counter_path_free(&parts);
    return status;
}

/* Converts the five strings of the path elements to UTF-8. */
static PDH_STATUS take_elements(enum api_form form, const PDH_COUNTER_PATH_ELEMENTS_W *e, struct counter_path *path)
{
    PDH_STATUS status = api_text_in(form, e->szMachineName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->machine);
    if (status == ERROR_SUCCESS)
        status = api_text_in(form, e->szObjectName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->object);
    if (status == ERROR_SUCCESS)
        status = api_text_in(form, e->szInstanceName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->instance);
    if (status == ERROR_SUCCESS)
        status = api_text_in(form, e->szParentInstance, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->parent);
    if (status == ERROR_SUCCESS)
        status = api_text_in(form, e->szCounterName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->counter);
    path->index = e->dwInstanceIndex;
    return status;
}

PDH_STATUS api_make_counter_path(enum api_form form, const PDH_COUNTER_PATH_ELEMENTS_W *elements, void *path,
                                 LPDWORD units, DWORD flags)
{
    if (!elements || !units || !elements->szObjectName || !elements->szCounterName || flags)
        return PDH_INVALID_ARGUMENT;
    struct counter_path parts = {.index = PATH_NO_INDEX};
    PDH_STATUS status = take_elements(form, elements, &parts);
    if (status == ERROR_SUCCESS && parts.machine) {
        /* some callers pass "NAME", others "\\NAME" */
        size_t backslashes = strspn(parts.machine, "\\");
        memmove(parts.machine, parts.machine + backslashes, strlen(parts.machine + backslashes) + 1);
        if (!*parts.machine) {
            memory_free(parts.machine);
            parts.machine = NULL;
        }
    }
    char *text = status == ERROR_SUCCESS ? counter_path_format(&parts) : NULL;
    if (status == ERROR_SUCCESS)
        status = text ? api_text_out(form, text, path, units) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    memory_free(text);
    counter_path_free(&parts);
    return status;
}

PDH_STATUS api_parse_instance_name(enum api_form form, const void *text, void *instance, LPDWORD instance_units,
                                   void *parent, LPDWORD parent_units, LPDWORD index)
{
    char *given;
    struct counter_path parts;
    if (!text || !instance_units || !parent_units || !index || (!instance && *instance_units) ||
        (!parent && *parent_units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, text, PDH_MAX_INSTANCE_NAME, PDH_INVALID_INSTANCE, &given);
    if (status != ERROR_SUCCESS)
        return status;
    char *path = text_format("\\o(%s)\\c", given);
    status = !path    ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE
             : *given ? counter_path_parse(path, &parts)
                      : (PDH_STATUS)PDH_INVALID_INSTANCE;
    memory_free(path);
    memory_free(given);
    if (status != ERROR_SUCCESS)
        return status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE ? status : (PDH_STATUS)PDH_INVALID_INSTANCE;
    *index = parts.index == PATH_NO_INDEX ? 0 : parts.index;
    status = api_text_out(form, parts.instance ? parts.instance : "", instance, instance_units);
    PDH_STATUS second = api_text_out(form, parts.parent ? parts.parent : "", parent, parent_units);
    counter_path_free(&parts);
    return status != ERROR_SUCCESS ? status : second;
}

PDH_STATUS api_translate_path(enum api_form form, const void *path, void *out, LPDWORD units)
{
    char *text;
    if (!path || !units || (!out && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, path, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_BAD_COUNTERNAME, &text);
    if (status == ERROR_SUCCESS)
        status = counter_path_check(text);
    if (status == ERROR_SUCCESS)
        status = api_text_out(form, text, out, units);
    memory_free(text);
    return status;
}
