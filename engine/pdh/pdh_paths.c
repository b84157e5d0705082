/* SPDX-License-Identifier: MIT */
/* The Win32 names for counter paths and for what can be counted. */
#include "engine/pdh/pdh.h"
#include "engine/pdh/wide.h"
#include "engine/pdh/wildcard.h"
#include "engine/os/memory.h"
#include <string.h>

PDH_STATUS WINAPI PdhExpandWildCardPathW(LPCWSTR data_source, LPCWSTR path, LPWSTR list, LPDWORD units, DWORD flags)
{
    if (!path || !units || (!list && *units)) {
        return PDH_INVALID_ARGUMENT;
    }
    if (data_source) {
        return PDH_NOT_IMPLEMENTED; /* log files as a source */
    }
    char *text;
    struct query *q = NULL;
    struct texts paths = {0};
    PDH_STATUS status = wide_in(path, PDH_MAX_COUNTER_PATH, PDH_INVALID_PATH, &text);
    if (status == ERROR_SUCCESS) {
        status = query_create(0, &q);
    }
    if (status == ERROR_SUCCESS) {
        status = wildcard_expand(q, text, flags, &paths);
        query_destroy(q);
    }
    memory_free(text);
    if (status == ERROR_SUCCESS) {
        status = wide_out_list(&paths, false, list, units);
    }
    texts_free(&paths);
    return status;
}

PDH_STATUS WINAPI PdhValidatePathW(LPCWSTR path)
{
    DWORD units = 0;
    if (!path) {
        return PDH_INVALID_ARGUMENT;
    }
    PDH_STATUS status = PdhExpandWildCardPathW(NULL, path, NULL, &units, 0);
    if (status == (PDH_STATUS)PDH_INVALID_PATH) {
        return PDH_CSTATUS_BAD_COUNTERNAME;
    }
    return status == (PDH_STATUS)PDH_MORE_DATA ? ERROR_SUCCESS : status;
}

PDH_STATUS WINAPI PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W elements, LPDWORD bytes, DWORD flags)
{
    PDH_COUNTER_PATH_ELEMENTS_W head = {0};
    struct wide_block block;
    if (!path || flags) {
        return PDH_INVALID_ARGUMENT;
    }
    PDH_STATUS status = wide_block_begin(&block, elements, bytes, sizeof head);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    char *text;
    struct counter_path parts;
    status = wide_in(path, PDH_MAX_COUNTER_PATH, PDH_INVALID_PATH, &text);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    status = counter_path_parse(text, &parts);
    memory_free(text);
    if (status != ERROR_SUCCESS) {
        return status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE ? status : (PDH_STATUS)PDH_INVALID_PATH;
    }
    /* As Windows: the computer with its backslashes, ours where the path has none. */
    char *ours = parts.machine ? NULL : host_computer_name();
    char *machine = parts.machine || ours ? text_format("\\\\%s", parts.machine ? parts.machine : ours) : NULL;
    head.szMachineName = wide_block_add(&block, machine);
    head.szObjectName = wide_block_add(&block, parts.object);
    head.szInstanceName = wide_block_add(&block, parts.instance);
    head.szParentInstance = wide_block_add(&block, parts.parent);
    head.dwInstanceIndex = parts.index;
    head.szCounterName = wide_block_add(&block, parts.counter);
    status = machine ? wide_block_end(&block, bytes) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS) {
        *elements = head;
    }
    memory_free(ours);
    memory_free(machine);
    counter_path_free(&parts);
    return status;
}

/* The five texts of the elements in UTF-8. */
static PDH_STATUS take_elements(const PDH_COUNTER_PATH_ELEMENTS_W *e, struct counter_path *path)
{
    PDH_STATUS status = wide_in(e->szMachineName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->machine);
    if (status == ERROR_SUCCESS) {
        status = wide_in(e->szObjectName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->object);
    }
    if (status == ERROR_SUCCESS) {
        status = wide_in(e->szInstanceName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->instance);
    }
    if (status == ERROR_SUCCESS) {
        status = wide_in(e->szParentInstance, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->parent);
    }
    if (status == ERROR_SUCCESS) {
        status = wide_in(e->szCounterName, PDH_MAX_COUNTER_PATH, PDH_INVALID_ARGUMENT, &path->counter);
    }
    path->index = e->dwInstanceIndex;
    return status;
}

PDH_STATUS WINAPI PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W elements, LPWSTR path, LPDWORD units, DWORD flags)
{
    if (!elements || !units || !elements->szObjectName || !elements->szCounterName || flags) {
        return PDH_INVALID_ARGUMENT;
    }
    struct counter_path parts = {.index = PATH_NO_INDEX};
    PDH_STATUS status = take_elements(elements, &parts);
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
    if (status == ERROR_SUCCESS) {
        status = text ? wide_out(text, path, units) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    memory_free(text);
    counter_path_free(&parts);
    return status;
}

/* The enumerations take the computer as its own argument. */
static PDH_STATUS check_source(LPCWSTR data_source, LPCWSTR machine)
{
    char *name;
    if (data_source) {
        return PDH_NOT_IMPLEMENTED; /* log files as a source */
    }
    PDH_STATUS status = wide_in(machine, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_MACHINE, &name);
    if (status == ERROR_SUCCESS) {
        status = counter_path_machine_is_ours(name);
        memory_free(name);
    }
    return status;
}

PDH_STATUS WINAPI PdhEnumObjectsW(LPCWSTR data_source, LPCWSTR machine, LPWSTR list, LPDWORD units, DWORD detail,
                                  BOOL refresh)
{
    (void)refresh; /* nothing is kept between calls */
    struct texts names = {0};
    struct query *q = NULL;
    if (!units || (!list && *units)) {
        return PDH_INVALID_ARGUMENT;
    }
    PDH_STATUS status = check_source(data_source, machine);
    if (status == ERROR_SUCCESS) {
        status = query_create(0, &q);
    }
    for (size_t i = 0; status == ERROR_SUCCESS && i < pdh_provider_count; i++) {
        struct object *o;
        status = query_object(q, i, &o);
        if (status == (PDH_STATUS)PDH_CSTATUS_NO_OBJECT) {
            status = ERROR_SUCCESS;
        } else if (status == ERROR_SUCCESS && (detail & 0xFFFF) >= PERF_DETAIL_NOVICE) {
            status = pdh_status_of(texts_add(&names, pdh_providers[i]->name), PDH_MEMORY_ALLOCATION_FAILURE);
        }
    }
    if (q) {
        query_destroy(q);
    }
    if (status == ERROR_SUCCESS) {
        status = wide_out_list(&names, false, list, units);
    }
    texts_free(&names);
    return status;
}

/* Names of the counters, and of the instances without their "#1". */
static HRESULT list_items(const struct object *o, DWORD detail, struct texts *counters, struct texts *instances)
{
    HRESULT hr = S_OK;
    for (uint32_t i = 0; i < o->provider->counter_count && SUCCEEDED(hr); i++) {
        const struct counter_schema *c = &o->provider->counters[i];
        if ((o->present >> i & 1) && c->detail <= (detail & 0xFFFF)) {
            hr = texts_add(counters, c->name);
        }
    }
    for (size_t i = 0; o->instances && i < o->instances->count && SUCCEEDED(hr); i++) {
        const struct instance *item = &o->instances->items[i];
        char *base = text_copy_n(item->name, item->base_length);
        hr = base ? texts_add(instances, base) : E_OUTOFMEMORY;
        memory_free(base);
    }
    return hr;
}

static PDH_STATUS find_items(const char *object, DWORD detail, struct texts *counters, struct texts *instances)
{
    struct query *q;
    struct object *o;
    PDH_STATUS status = query_create(0, &q);
    if (status != ERROR_SUCCESS) {
        return status;
    }
    status = PDH_CSTATUS_NO_OBJECT;
    for (size_t i = 0; i < pdh_provider_count; i++) {
        if (text_equal_nocase(pdh_providers[i]->name, object)) {
            status = query_object(q, i, &o);
            if (status == ERROR_SUCCESS) {
                status = pdh_status_of(list_items(o, detail, counters, instances), PDH_MEMORY_ALLOCATION_FAILURE);
            }
        }
    }
    query_destroy(q);
    return status;
}

PDH_STATUS WINAPI PdhEnumObjectItemsW(LPCWSTR data_source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                      LPDWORD counter_units, LPWSTR instances, LPDWORD instance_units, DWORD detail,
                                      DWORD flags)
{
    if (!object || !counter_units || !instance_units || (!counters && *counter_units) ||
        (!instances && *instance_units) || flags) {
        return PDH_INVALID_ARGUMENT;
    }
    char *name = NULL;
    struct texts counter_names = {0}, instance_names = {0};
    PDH_STATUS status = check_source(data_source, machine);
    if (status == ERROR_SUCCESS) {
        status = wide_in(object, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_OBJECT, &name);
    }
    if (status == ERROR_SUCCESS) {
        status = find_items(name, detail, &counter_names, &instance_names);
    }
    if (status == ERROR_SUCCESS) {
        PDH_STATUS first = wide_out_list(&counter_names, false, counters, counter_units);
        PDH_STATUS second = wide_out_list(&instance_names, true, instances, instance_units);
        status = first != ERROR_SUCCESS ? first : second;
    }
    memory_free(name);
    texts_free(&counter_names);
    texts_free(&instance_names);
    return status;
}
