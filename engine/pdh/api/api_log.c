/* SPDX-License-Identifier: MIT */
/* PDH functions for logs: writing a log from a query, binding log files as a source, reading single records, and log
   sets in a database (MS-PLA 2.2.2.7). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/log.h"
#include "engine/logs/sql_log.h"
#include "engine/logs/text_rows.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/core/query.h"

#include <string.h>

struct log_handle {
    enum handle_kind kind;
    DWORD type; /* PDH_LOG_TYPE_* */
    PDH_HQUERY query;
    struct query_log *output; /* NULL for a source */
    struct texts paths;       /* the files of a source, or the file of an output */
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

/* Returns the name of the output, or of the source's first file. NULL if the handle is invalid or the source is this
   computer. */
static const char *log_handle_name(PDH_HLOG handle)
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

/* Opens and closes the files to check that they are readable. *type becomes the type of the first file. */
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

/* Decides whether the file is created or continued, or whether the call fails. */
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
    /* `most` is in bytes, with and without PDH_LOG_OPT_MAX_IS_BYTES, as documented for PdhOpenLog */
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

/* Only checks the handle, because every sample and its names are already in the file when PdhUpdateLog returns. */
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

/* Counts the samples by reading all of them, because a log does not store their number. */
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

/* ---- contents of a log file: the counters of its header, and one record as bytes ---- */

PDH_STATUS api_list_log_header(enum api_form form, const void *name, void *list, LPDWORD units)
{
    char *path;
    struct log_reader *reader;
    struct texts paths = {0};
    if (!name || !units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, name, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_ARGUMENT, &path);
    if (status != ERROR_SUCCESS)
        return status;
    HRESULT hr = log_reader_open(path, &reader);
    memory_free(path);
    if (FAILED(hr))
        return pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
    size_t count;
    const struct log_counter *counters = log_reader_counters(reader, &count);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        char *text = log_counter_path(&counters[i]);
        hr = text ? texts_add_owned(&paths, text) : E_OUTOFMEMORY;
    }
    log_reader_close(reader);
    status = SUCCEEDED(hr) ? api_list_out(form, &paths, false, list, units) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    texts_free(&paths);
    return status;
}

/* The record whose time is nearest to the requested one. */
struct nearest {
    int64_t wanted; /* local FILETIME */
    uint64_t away;
    bool found;
    DWORD type;
    uint8_t *bytes;
    size_t size;
};

static HRESULT nearest_consider_record(struct nearest *n, int64_t local, DWORD type, const void *bytes, size_t size)
{
    uint64_t away = local > n->wanted ? (uint64_t)local - (uint64_t)n->wanted : (uint64_t)n->wanted - (uint64_t)local;
    if (n->found && away >= n->away)
        return S_OK;
    uint8_t *copy = memory_copy(bytes, size ? size : 1);
    if (!copy)
        return E_OUTOFMEMORY;
    memory_free(n->bytes);
    *n = (struct nearest){n->wanted, away, true, type, copy, size};
    return S_OK;
}

/* Ignores corrupt records, because the requested record may be intact. */
static void skip_records(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static HRESULT find_in_binary_log(const char *path, struct nearest *n)
{
    struct blg_records records = {.warn = skip_records};
    HRESULT hr = etl_reader_open(path, NULL, NULL, &records.etl);
    while (SUCCEEDED(hr) && (hr = blg_records_next(&records)) == S_OK)
        if (records.record.type == BLG_RECORD_SAMPLE)
            hr = nearest_consider_record(n, records.record.stamp, PDH_LOG_TYPE_BINARY, records.record.data,
                                         records.record.size);
    blg_records_close(&records);
    return FAILED(hr) ? hr : S_OK;
}

/* Finds the record in a text log. A sample is a line that begins with a time; the line before the first sample is the
   header. */
static HRESULT find_in_text_log(const char *path, char separator, DWORD type, struct nearest *n)
{
    struct text_rows rows;
    struct text_row row;
    HRESULT hr = text_rows_open(path, &rows);
    if (FAILED(hr))
        return hr;
    while ((hr = text_rows_next(&rows, &row)) == S_OK) {
        const char *at = row.text, *end = row.text + row.length;
        struct text_cell cell;
        int64_t local;
        if (!text_cell_next(&at, end, separator, &cell) ||
            !text_time_read(cell.text, cell.length, TIME_MONTH_FIRST, &local))
            continue;
        hr = nearest_consider_record(n, local, type, row.text, row.length);
        if (FAILED(hr))
            break;
    }
    text_rows_close(&rows);
    return FAILED(hr) ? hr : S_OK;
}

static PDH_STATUS find_nearest_record(const char *path, struct nearest *n)
{
    struct log_reader *reader;
    HRESULT hr = log_reader_open(path, &reader);
    if (FAILED(hr))
        return pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
    const struct log_format_traits *format = log_format_traits(log_reader_info(reader)->format);
    log_reader_close(reader);
    if (format->separator)
        hr = find_in_text_log(path, format->separator, format->pdh_type, n);
    else if (format->is_file)
        hr = find_in_binary_log(path, n);
    else
        return PDH_NOT_IMPLEMENTED; /* a database has rows, not records */
    return pdh_status_of(hr, PDH_UNABLE_READ_LOG_HEADER);
}

PDH_STATUS WINAPI PdhReadRawLogRecord(PDH_HLOG log, FILETIME time, PPDH_RAW_LOG_RECORD record, LPDWORD bytes)
{
    const struct texts *paths = log_handle_paths(log);
    struct nearest n = {.wanted = (int64_t)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime)};
    PDH_STATUS status = ERROR_SUCCESS;
    if (!paths)
        return PDH_INVALID_HANDLE;
    if (!bytes || (!record && *bytes))
        return PDH_INVALID_ARGUMENT;
    for (size_t i = 0; i < paths->count && status == ERROR_SUCCESS; i++)
        status = find_nearest_record(paths->items[i], &n);
    if (status == ERROR_SUCCESS && !n.found)
        status = PDH_ENTRY_NOT_IN_LOG_FILE;
    size_t need = offsetof(PDH_RAW_LOG_RECORD, RawBytes) + n.size;
    if (status == ERROR_SUCCESS && need > UINT32_MAX)
        status = PDH_INSUFFICIENT_BUFFER;
    if (status == ERROR_SUCCESS) {
        status = !record || *bytes < need ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
        *bytes = (DWORD)need;
    }
    if (status == ERROR_SUCCESS) {
        record->dwStructureSize = (DWORD)need;
        record->dwRecordType = n.type;
        record->dwItems = (DWORD)n.size;
        memcpy((uint8_t *)record + offsetof(PDH_RAW_LOG_RECORD, RawBytes), n.bytes, n.size);
    }
    memory_free(n.bytes);
    return status;
}

/* ---- databases that hold log sets ---- */

#define LOGIN_SECONDS 15

/* Errors of ODBC are already PDH statuses. */
static PDH_STATUS sql_status(HRESULT hr)
{
    return ((uint32_t)hr & 0xFFFF0000u) == 0xC0000000u ? (PDH_STATUS)hr : pdh_status_of(hr, PDH_INVALID_DATASOURCE);
}

/* Connects to the database. `data_source` is the name of an ODBC data source, with or without "SQL:" before it, or a
   connection string. */
static PDH_STATUS connect_data_source(enum api_form form, const void *data_source, struct odbc **out,
                                      const struct sql_dialect **dialect)
{
    char *name;
    *out = NULL;
    if (!data_source)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, data_source, PDH_MAX_DATASOURCE_PATH, PDH_INVALID_DATASOURCE, &name);
    if (status != ERROR_SUCCESS)
        return status;
    const char *source = sql_source_is(name) ? name + 4 : name;
    char *connection = strchr(source, '=') ? text_copy(source) : text_format("DSN=%s", source);
    HRESULT hr = connection ? odbc_connect(connection, LOGIN_SECONDS, out) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = sql_dialect_of(*out, dialect);
    memory_free(connection);
    memory_free(name);
    return sql_status(hr);
}

static PDH_STATUS make_tables(enum api_form form, const void *data_source, bool create)
{
    struct odbc *c;
    const struct sql_dialect *dialect = NULL;
    PDH_STATUS status = connect_data_source(form, data_source, &c, &dialect);
    if (status == ERROR_SUCCESS)
        status = sql_status(sql_tables_ensure(c, dialect, create));
    odbc_disconnect(c);
    return status;
}

PDH_STATUS api_create_sql_tables(enum api_form form, const void *data_source)
{
    return make_tables(form, data_source, true);
}

PDH_STATUS api_verify_sql(enum api_form form, const void *data_source)
{
    return make_tables(form, data_source, false);
}

static HRESULT read_sets(struct odbc *c, struct texts *names)
{
    WCHAR room[SQL_NAME_UNITS];
    struct odbc_value out = {.kind = ODBC_TEXT, .text = room, .units = SQL_NAME_UNITS};
    struct odbc_statement *select;
    HRESULT hr =
        odbc_prepare(c, "SELECT DisplayString FROM DisplayToID ORDER BY DisplayString", NULL, 0, &out, 1, &select);
    if (FAILED(hr))
        return hr;
    hr = odbc_execute(select);
    while (SUCCEEDED(hr) && (hr = odbc_fetch(select)) == S_OK) {
        char *name;
        hr = odbc_get_text(&out, &name);
        if (SUCCEEDED(hr)) {
            hr = texts_add(names, name);
            memory_free(name);
        }
    }
    odbc_close(select);
    return FAILED(hr) ? hr : S_OK;
}

PDH_STATUS api_enum_log_sets(enum api_form form, const void *data_source, void *list, LPDWORD units)
{
    struct odbc *c = NULL;
    const struct sql_dialect *dialect = NULL;
    struct texts names = {0};
    if (!units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = connect_data_source(form, data_source, &c, &dialect);
    if (status == ERROR_SUCCESS)
        status = sql_status(sql_tables_ensure(c, dialect, false));
    if (status == ERROR_SUCCESS)
        status = sql_status(read_sets(c, &names));
    odbc_disconnect(c);
    if (status == ERROR_SUCCESS)
        status = api_list_out(form, &names, false, list, units);
    texts_free(&names);
    return status;
}

/* Opens the database of a log handle and finds the name of its log set. */
static PDH_STATUS open_set(PDH_HLOG log, struct sql_source *source, struct odbc **out)
{
    const char *name = log_handle_name(log);
    *out = NULL;
    *source = (struct sql_source){0};
    if (!name)
        return PDH_INVALID_HANDLE;
    if (!sql_source_is(name))
        return PDH_INVALID_ARGUMENT; /* a file has neither a database nor a log set */
    HRESULT hr = sql_source_parse(name, source);
    return sql_status(SUCCEEDED(hr) ? odbc_connect(source->connection, LOGIN_SECONDS, out) : hr);
}

static HRESULT read_identity(struct odbc *c, const char *log_set, GUID *guid, int *run)
{
    WCHAR name[SQL_NAME_UNITS], room[SQL_GUID_UNITS];
    struct odbc_value in = {.kind = ODBC_TEXT, .text = name, .units = SQL_NAME_UNITS};
    struct odbc_value out[] = {{.kind = ODBC_TEXT, .text = room, .units = SQL_GUID_UNITS}, {.kind = ODBC_INTEGER}};
    struct odbc_statement *select;
    char *text = NULL;
    odbc_set_text(&in, log_set);
    HRESULT hr =
        odbc_prepare(c, "SELECT GUID, RunID FROM DisplayToID WHERE DisplayString = ?", &in, 1, out, 2, &select);
    if (FAILED(hr))
        return hr;
    hr = odbc_execute(select);
    if (SUCCEEDED(hr))
        hr = odbc_fetch(select);
    if (hr == S_OK)
        hr = odbc_get_text(&out[0], &text);
    else if (hr == S_FALSE)
        hr = error_set((HRESULT)PDH_ENTRY_NOT_IN_LOG_FILE, "log set '%s' does not exist", log_set);
    if (SUCCEEDED(hr) && !text_to_guid(text, guid))
        hr = error_set((HRESULT)PDH_INVALID_DATA, "log set '%s': invalid GUID '%s'", log_set, text);
    *run = out[1].length == ODBC_NULL ? 0 : out[1].integer;
    memory_free(text);
    odbc_close(select);
    return hr;
}

PDH_STATUS WINAPI PdhGetLogSetGUID(PDH_HLOG log, GUID *guid, int *run)
{
    struct sql_source source;
    struct odbc *c;
    GUID found;
    int number = 0;
    if (!guid && !run)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_set(log, &source, &c);
    if (status == ERROR_SUCCESS)
        status = sql_status(read_identity(c, source.log_set, &found, &number));
    if (status == ERROR_SUCCESS && guid)
        *guid = found;
    if (status == ERROR_SUCCESS && run)
        *run = number;
    odbc_disconnect(c);
    sql_source_free(&source);
    return status;
}

static HRESULT write_run(struct odbc *c, const char *log_set, int run)
{
    WCHAR name[SQL_NAME_UNITS];
    struct odbc_value in[] = {{.kind = ODBC_INTEGER, .integer = run},
                              {.kind = ODBC_TEXT, .text = name, .units = SQL_NAME_UNITS}};
    struct odbc_statement *update;
    odbc_set_text(&in[1], log_set);
    HRESULT hr = odbc_prepare(c, "UPDATE DisplayToID SET RunID = ? WHERE DisplayString = ?", in, 2, NULL, 0, &update);
    if (SUCCEEDED(hr)) {
        hr = odbc_execute(update);
        odbc_close(update);
    }
    return hr;
}

PDH_STATUS WINAPI PdhSetLogSetRunID(PDH_HLOG log, int run)
{
    struct sql_source source;
    struct odbc *c;
    GUID guid;
    int before;
    PDH_STATUS status = open_set(log, &source, &c);
    /* Checks that the log set exists, because an UPDATE of no rows would not fail. */
    if (status == ERROR_SUCCESS)
        status = sql_status(read_identity(c, source.log_set, &guid, &before));
    if (status == ERROR_SUCCESS)
        status = sql_status(write_run(c, source.log_set, run));
    odbc_disconnect(c);
    sql_source_free(&source);
    return status;
}
