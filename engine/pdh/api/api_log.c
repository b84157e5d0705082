/* SPDX-License-Identifier: MIT */
/* Log files as programs handle them: written from a query, bound as a source, looked at. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/handle.h"
#include "engine/pdh/core/log_handle.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/core/query_log.h"

struct log_handle {
    enum handle_kind kind;
    DWORD type; /* PDH_LOG_TYPE_* */
    PDH_HQUERY query;
    struct query_log *output; /* NULL for a source */
    struct texts paths;       /* of a source; of an output, its own */
};

static struct log_handle *log_of(PDH_HLOG handle)
{
    return api_handle(handle, LOG_HANDLE);
}

static struct log_handle *log_handle_create(void)
{
    struct log_handle *l = memory_zero(1, sizeof *l);
    if (l && !handle_add(l)) {
        memory_free(l);
        l = NULL;
    }
    if (l)
        l->kind = LOG_HANDLE;
    return l;
}

const struct texts *log_handle_paths(PDH_HLOG handle)
{
    const struct log_handle *l = log_of(handle);
    return l && !l->output ? &l->paths : NULL;
}

const char *log_handle_name(PDH_HLOG handle)
{
    const struct log_handle *l = log_of(handle);
    return l && l->paths.count ? l->paths.items[0] : NULL;
}

static void log_handle_free(struct log_handle *l)
{
    handle_remove(l);
    texts_free(&l->paths);
    memory_free(l);
}

/* Opens and closes the files to know that they can be read; *type becomes that of the first. */
static PDH_STATUS check_files(const struct texts *paths, DWORD *type)
{
    struct catalogue *catalogue;
    struct log_reader *reader;
    PDH_STATUS status = catalogue_open_logs(paths, &catalogue);
    if (status != ERROR_SUCCESS)
        return status;
    catalogue_close(catalogue);
    HRESULT hr = log_reader_open(paths->items[0], &reader);
    if (FAILED(hr))
        return pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
    *type = log_format_traits(log_reader_info(reader)->format)->pdh_type;
    log_reader_close(reader);
    return ERROR_SUCCESS;
}

static PDH_STATUS open_source(struct texts *paths, PDH_HLOG *out)
{
    struct log_handle *l = log_handle_create();
    if (!l)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_STATUS status = paths->count ? check_files(paths, &l->type) : ERROR_SUCCESS;
    if (status != ERROR_SUCCESS) {
        if (l)
            log_handle_free(l);
        return status;
    }
    l->paths = *paths;
    *paths = (struct texts){0};
    *out = (PDH_HLOG)l;
    return ERROR_SUCCESS;
}

PDH_STATUS api_bind_source(enum api_form form, PDH_HLOG *handle, const void *names)
{
    struct texts paths = {0};
    if (!handle)
        return PDH_INVALID_ARGUMENT;
    *handle = NULL;
    PDH_STATUS status = api_list_in(form, names, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_DATASOURCE, &paths);
    if (status == ERROR_SUCCESS)
        status = open_source(&paths, handle);
    texts_free(&paths);
    return status;
}

/* Is the file to be created, continued or neither? */
static PDH_STATUS make_room(const char *path, DWORD access, const struct log_format_traits *format, bool *append)
{
    bool exists = format->is_file && file_exists(path);
    *append = (access & PDH_LOG_OPT_APPEND) != 0;
    switch (access & PDH_LOG_CREATE_MASK) {
    case PDH_LOG_CREATE_NEW:
        return exists ? (PDH_STATUS)PDH_FILE_ALREADY_EXISTS : ERROR_SUCCESS;
    case PDH_LOG_CREATE_ALWAYS:
        if (exists && FAILED(file_delete(path)))
            return PDH_LOG_FILE_CREATE_ERROR;
        return ERROR_SUCCESS;
    case PDH_LOG_OPEN_EXISTING:
        if (!exists && format->is_file)
            return PDH_FILE_NOT_FOUND;
        *append = true;
        return ERROR_SUCCESS;
    case PDH_LOG_OPEN_ALWAYS:
        *append = true;
        return ERROR_SUCCESS;
    default:
        return PDH_INVALID_ARGUMENT;
    }
}

static PDH_STATUS open_output(enum api_form form, const char *path, DWORD access, DWORD type, struct query *q,
                              DWORD most, const void *caption, PDH_HLOG *out)
{
    /* Bytes, as PdhOpenLog is documented, with PDH_LOG_OPT_MAX_IS_BYTES and without. */
    struct log_options options = {.max_bytes = most};
    char *comment = NULL;
    const struct log_format_traits *format = log_format_by_type(type);
    if (!format)
        return PDH_UNKNOWN_LOG_FORMAT;
    struct log_handle *l = log_handle_create();
    PDH_STATUS status =
        l ? make_room(path, access, format, &options.append) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS) {
        status = api_text_in(form, caption, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_ARGUMENT, &comment);
        options.comment = comment;
    }
    if (status == ERROR_SUCCESS)
        status = pdh_status_of(texts_add(&l->paths, path), PDH_MEMORY_ALLOCATION_FAILURE);
    if (status == ERROR_SUCCESS)
        status = query_log_create(q, format, path, &options, (access & PDH_LOG_OPT_CIRCULAR) != 0, &l->output);
    memory_free(comment);
    if (status != ERROR_SUCCESS) {
        if (l)
            log_handle_free(l);
        return status;
    }
    l->type = type;
    l->query = (PDH_HQUERY)q;
    *out = (PDH_HLOG)l;
    return ERROR_SUCCESS;
}

PDH_STATUS api_open_log(enum api_form form, const void *name, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD most,
                        const void *caption, PDH_HLOG *out)
{
    struct texts paths = {0};
    DWORD kind = access & PDH_LOG_ACCESS_MASK;
    char *path;
    if (!name || !type || !out)
        return PDH_INVALID_ARGUMENT;
    *out = NULL;
    struct query *q = api_query(query);
    if (kind != PDH_LOG_READ_ACCESS && !q)
        return query ? (PDH_STATUS)PDH_INVALID_HANDLE : (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, name, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_ARGUMENT, &path);
    if (status != ERROR_SUCCESS)
        return status;
    if (kind == PDH_LOG_READ_ACCESS) {
        status = pdh_status_of(texts_add(&paths, path), PDH_MEMORY_ALLOCATION_FAILURE);
        if (status == ERROR_SUCCESS)
            status = open_source(&paths, out);
        if (status == ERROR_SUCCESS)
            *type = log_of(*out)->type;
        texts_free(&paths);
    } else if (kind == PDH_LOG_WRITE_ACCESS || kind == PDH_LOG_UPDATE_ACCESS) {
        status = open_output(form, path, kind == PDH_LOG_UPDATE_ACCESS ? access | PDH_LOG_OPT_APPEND : access, *type, q,
                             most, caption, out);
    } else {
        status = PDH_INVALID_ARGUMENT;
    }
    memory_free(path);
    return status;
}

PDH_STATUS api_update_log(PDH_HLOG handle)
{
    struct log_handle *l = log_of(handle);
    if (!l)
        return PDH_INVALID_HANDLE;
    return l->output ? query_log_update(l->output) : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}

/* Every sample is in the file as soon as PdhUpdateLog returns, its names with it. */
PDH_STATUS WINAPI PdhUpdateLogFileCatalog(PDH_HLOG handle)
{
    const struct log_handle *l = log_of(handle);
    return l && l->output ? ERROR_SUCCESS : (PDH_STATUS)PDH_INVALID_HANDLE;
}

PDH_STATUS WINAPI PdhGetLogFileSize(PDH_HLOG handle, LONGLONG *size)
{
    const struct log_handle *l = log_of(handle);
    if (!l || !size)
        return l ? (PDH_STATUS)PDH_INVALID_ARGUMENT : (PDH_STATUS)PDH_INVALID_HANDLE;
    *size = 0;
    if (l->output) {
        *size = (LONGLONG)query_log_size(l->output);
        return ERROR_SUCCESS;
    }
    for (size_t i = 0; i < l->paths.count; i++) {
        struct log_reader *reader;
        uint64_t done, total;
        HRESULT hr = log_reader_open(l->paths.items[i], &reader);
        if (FAILED(hr))
            return pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
        log_reader_progress(reader, &done, &total);
        log_reader_close(reader);
        *size += (LONGLONG)total;
    }
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhCloseLog(PDH_HLOG handle, DWORD flags)
{
    struct log_handle *l = log_of(handle);
    if (!l)
        return PDH_INVALID_HANDLE;
    PDH_HQUERY query = flags & PDH_FLAGS_CLOSE_QUERY ? l->query : NULL;
    PDH_STATUS status = query_log_close(l->output);
    log_handle_free(l);
    if (query)
        PdhCloseQuery(query);
    return status;
}

PDH_STATUS api_get_log_type(enum api_form form, const void *name, LPDWORD type)
{
    struct texts paths = {0};
    char *path;
    if (!name || !type)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, name, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_ARGUMENT, &path);
    if (status == ERROR_SUCCESS)
        status = pdh_status_of(texts_add(&paths, path), PDH_MEMORY_ALLOCATION_FAILURE);
    if (status == ERROR_SUCCESS)
        status = check_files(&paths, type);
    memory_free(path);
    texts_free(&paths);
    return status;
}

/* Reads all samples of the source: a log does not say how many it has. */
static PDH_STATUS count_samples(struct catalogue *c, PDH_TIME_INFO *info)
{
    PDH_STATUS status;
    int64_t local = 0;
    *info = (PDH_TIME_INFO){.StartTime = INT64_MAX};
    while ((status = c->functions->advance(c, &local)) == ERROR_SUCCESS) {
        info->StartTime = local < info->StartTime ? local : info->StartTime;
        info->EndTime = local > info->EndTime ? local : info->EndTime;
        info->SampleCount++;
    }
    if (status != (PDH_STATUS)PDH_NO_MORE_DATA)
        return status;
    return info->SampleCount ? ERROR_SUCCESS : (PDH_STATUS)PDH_NO_DATA;
}

PDH_STATUS api_get_time_range(enum api_form form, struct api_source source, LPDWORD count, PPDH_TIME_INFO info,
                              LPDWORD bytes)
{
    struct catalogue *c;
    PDH_TIME_INFO range;
    if (!count || !info || !bytes)
        return PDH_INVALID_ARGUMENT;
    if (*bytes < sizeof *info) {
        *bytes = sizeof *info;
        return PDH_MORE_DATA;
    }
    PDH_STATUS status = api_open_catalogue(form, source, &c);
    if (status != ERROR_SUCCESS)
        return status;
    status = catalogue_is_real_time(c) ? (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME : count_samples(c, &range);
    catalogue_close(c);
    if (status == ERROR_SUCCESS) {
        *info = range;
        *count = 1;
        *bytes = sizeof *info;
    }
    return status;
}
