/* SPDX-License-Identifier: MIT */
/* Counter paths as programs have them made, taken apart, expanded and checked. */
#include "engine/base/memory.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/wildcard.h"

#include <string.h>

/* All paths that `path` stands for in the source. */
static PDH_STATUS expand(enum api_form form, struct api_source source, const void *path, DWORD flags,
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
    PDH_STATUS status = expand(form, source, path, flags, &paths);
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
    PDH_STATUS status = expand(form, source, path, 0, &paths);
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
    /* As Windows: the computer with its backslashes, ours where the path has none. */
    char *ours = parts.machine ? NULL : host_computer_name();
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

/* The five texts of the elements in UTF-8. */
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
        /* Both "NAME" and "\\NAME" are usual. */
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
