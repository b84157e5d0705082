/* SPDX-License-Identifier: MIT */
/* PDH functions for queries and counters. api_value.c returns the counters' values. */
#include "engine/base/memory.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/core/query.h"

/* H_WBEM_DATASOURCE, the handle for WMI as data source. For this handle OpenPLA uses the counters of this computer,
   because WMI has the same values. */
#define H_WBEM (-1)

void *api_handle(void *handle, enum handle_kind kind)
{
    return handle_is_alive(handle) && *(const enum handle_kind *)handle == kind ? handle : NULL;
}

struct query *api_query(PDH_HQUERY handle)
{
    return api_handle(handle, QUERY_HANDLE);
}

struct counter *api_counter(PDH_HCOUNTER handle)
{
    return api_handle(handle, COUNTER_HANDLE);
}

PDH_STATUS WINAPI PdhGetDllVersion(LPDWORD version)
{
    if (!version)
        return PDH_INVALID_ARGUMENT;
    *version = PDH_VERSION;
    return ERROR_SUCCESS;
}

PDH_STATUS api_open_catalogue(enum api_form form, struct api_source source, struct catalogue **out)
{
    struct texts one = {0};
    char *name = NULL;
    *out = NULL;
    if (source.handle && (intptr_t)source.handle != H_WBEM) {
        const struct texts *paths = log_handle_paths(source.handle);
        return paths ? paths->count ? catalogue_open_logs(paths, out) : catalogue_open_real_time(out)
                     : (PDH_STATUS)PDH_INVALID_HANDLE;
    }
    PDH_STATUS status = api_text_in(form, source.name, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_DATASOURCE, &name);
    if (status == ERROR_SUCCESS && (!name || !*name)) {
        memory_free(name);
        return catalogue_open_real_time(out);
    }
    if (status == ERROR_SUCCESS)
        status = pdh_status_of(texts_add(&one, name), PDH_MEMORY_ALLOCATION_FAILURE);
    if (status == ERROR_SUCCESS)
        status = catalogue_open_logs(&one, out);
    memory_free(name);
    texts_free(&one);
    return status;
}

PDH_STATUS api_open_query(enum api_form form, struct api_source source, DWORD_PTR user_data, PDH_HQUERY *query)
{
    struct catalogue *catalogue;
    struct query *q = NULL;
    if (!query)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_open_catalogue(form, source, &catalogue);
    if (status == ERROR_SUCCESS)
        status = query_create(user_data, catalogue, &q);
    *query = (PDH_HQUERY)q;
    return status;
}

PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY query)
{
    struct query *q = api_query(query);
    if (!q)
        return PDH_INVALID_HANDLE;
    query_destroy(q);
    return ERROR_SUCCESS;
}

/* This function also implements PdhAddEnglishCounter, because the names of OpenPLA's counters are always English. */
PDH_STATUS api_add_counter(enum api_form form, PDH_HQUERY query, const void *path, DWORD_PTR user_data,
                           PDH_HCOUNTER *counter)
{
    if (!path || !counter)
        return PDH_INVALID_ARGUMENT;
    *counter = NULL;
    struct query *q = api_query(query);
    if (!q)
        return PDH_INVALID_HANDLE;
    char *text;
    struct counter *c = NULL;
    PDH_STATUS status = api_text_in(form, path, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_BAD_COUNTERNAME, &text);
    if (status == ERROR_SUCCESS) {
        status = query_add(q, text, user_data, &c);
        memory_free(text);
    }
    *counter = (PDH_HCOUNTER)c;
    return status;
}

PDH_STATUS WINAPI PdhRemoveCounter(PDH_HCOUNTER counter)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    query_remove(c);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY query)
{
    struct query *q = api_query(query);
    return q ? query_collect(q, NULL) : (PDH_STATUS)PDH_INVALID_HANDLE;
}

PDH_STATUS WINAPI PdhCollectQueryDataWithTime(PDH_HQUERY query, LONGLONG *time)
{
    struct query *q = api_query(query);
    if (!time)
        return PDH_INVALID_ARGUMENT;
    int64_t local = 0;
    PDH_STATUS status = q ? query_collect(q, &local) : (PDH_STATUS)PDH_INVALID_HANDLE;
    *time = local;
    return status;
}

BOOL WINAPI PdhIsRealTimeQuery(PDH_HQUERY query)
{
    const struct query *q = api_query(query);
    return q && catalogue_is_real_time(q->catalogue);
}

PDH_STATUS WINAPI PdhSetQueryTimeRange(PDH_HQUERY query, PPDH_TIME_INFO info)
{
    struct query *q = api_query(query);
    if (!q)
        return PDH_INVALID_HANDLE;
    if (!info || info->StartTime > info->EndTime)
        return PDH_INVALID_ARGUMENT;
    if (catalogue_is_real_time(q->catalogue))
        return PDH_DATA_SOURCE_IS_REAL_TIME;
    query_enter(q);
    PDH_STATUS status = q->catalogue->functions->set_range(q->catalogue, info->StartTime, info->EndTime);
    query_leave(q);
    return status;
}

PDH_STATUS WINAPI PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (factor < PDH_MIN_SCALE || factor > PDH_MAX_SCALE)
        return PDH_INVALID_ARGUMENT;
    query_enter(c->query);
    c->scale = factor;
    query_leave(c->query);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhGetCounterTimeBase(PDH_HCOUNTER counter, LONGLONG *time_base)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    if (!time_base)
        return PDH_INVALID_ARGUMENT;
    *time_base = c->time_base;
    return ERROR_SUCCESS;
}

/* Fills `head` with the addresses of the strings in the block. `path` is the counter's path with its computer. */
static PDH_STATUS fill_info(const struct counter *c, const struct counter_path *path, bool explain,
                            struct api_block *block, PDH_COUNTER_INFO_W *head)
{
    const struct counter_schema *schema = &c->object->type->counters[c->schema];
    char *full = counter_path_format(path), *machine = text_format("\\\\%s", path->machine);
    if (full && machine) {
        head->dwType = schema->type;
        head->CStatus = counter_newer(c)->CStatus;
        head->lScale = c->scale;
        head->lDefaultScale = schema->scale;
        head->dwUserData = c->user_data;
        head->dwQueryUserData = c->query->user_data;
        head->szFullPath = api_block_add(block, full);
        head->szMachineName = api_block_add(block, machine);
        head->szObjectName = api_block_add(block, path->object);
        head->szInstanceName = api_block_add(block, path->instance);
        head->szParentInstance = api_block_add(block, path->parent);
        head->dwInstanceIndex = path->index;
        head->szCounterName = api_block_add(block, path->counter);
        head->szExplainText = explain ? api_block_add(block, schema->help) : NULL;
    }
    bool ok = full && machine;
    memory_free(full);
    memory_free(machine);
    return ok ? ERROR_SUCCESS : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

PDH_STATUS api_get_counter_info(enum api_form form, PDH_HCOUNTER counter, BOOLEAN explain, LPDWORD bytes,
                                PDH_COUNTER_INFO_W *info)
{
    struct counter *c = api_counter(counter);
    if (!c)
        return PDH_INVALID_HANDLE;
    struct api_block block;
    PDH_COUNTER_INFO_W head = {0};
    PDH_STATUS status = api_block_begin(&block, form, info, bytes, sizeof head);
    if (status != ERROR_SUCCESS)
        return status;
    /* gets the names as the object spells them */
    struct counter_path path = c->path;
    const struct counter_object_type *type = c->object->type;
    path.machine = type->machine ? text_copy(type->machine) : os_computer_name();
    path.object = (char *)type->name;
    path.counter = (char *)type->counters[c->schema].name;
    if (!path.machine)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    query_enter(c->query);
    status = fill_info(c, &path, explain != 0, &block, &head);
    query_leave(c->query);
    memory_free(path.machine);
    if (status == ERROR_SUCCESS)
        status = api_block_end(&block, bytes);
    if (status == ERROR_SUCCESS) {
        head.dwLength = *bytes;
        *info = head;
    }
    return status;
}
