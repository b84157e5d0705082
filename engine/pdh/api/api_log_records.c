/* SPDX-License-Identifier: MIT */
/* What a log file holds, as it stands there: the counters of its header, and one record of bytes. */
#include "engine/base/memory.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/log.h"
#include "engine/logs/text_cells.h"
#include "engine/logs/text_rows.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/log_handle.h"
#include "engine/pdh/core/pdh.h"

#include <string.h>

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
        hr = text ? texts_give(&paths, text) : E_OUTOFMEMORY;
    }
    log_reader_close(reader);
    status = SUCCEEDED(hr) ? api_list_out(form, &paths, false, list, units) : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    texts_free(&paths);
    return status;
}

/* The record whose time is nearest to the one that is looked for. */
struct nearest {
    int64_t wanted; /* local FILETIME */
    uint64_t away;
    bool found;
    DWORD type;
    uint8_t *bytes;
    size_t size;
};

static HRESULT consider(struct nearest *n, int64_t local, DWORD type, const void *bytes, size_t size)
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

/* What is damaged is passed over: the others may be looked for. */
static void pass_over(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static HRESULT look_in_binary(const char *path, struct nearest *n)
{
    struct blg_records records = {.told = pass_over};
    HRESULT hr = etl_reader_open(path, NULL, NULL, &records.etl);
    while (SUCCEEDED(hr) && (hr = blg_records_next(&records)) == S_OK)
        if (records.record.type == BLG_RECORD_SAMPLE)
            hr = consider(n, records.record.stamp, PDH_LOG_TYPE_BINARY, records.record.data, records.record.size);
    blg_records_close(&records);
    return FAILED(hr) ? hr : S_OK;
}

/* A sample is a line that begins with a time; the line before the first is the header. */
static HRESULT look_in_text(const char *path, char separator, DWORD type, struct nearest *n)
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
        hr = consider(n, local, type, row.text, row.length);
        if (FAILED(hr))
            break;
    }
    text_rows_close(&rows);
    return FAILED(hr) ? hr : S_OK;
}

static PDH_STATUS look(const char *path, struct nearest *n)
{
    struct log_reader *reader;
    HRESULT hr = log_reader_open(path, &reader);
    if (FAILED(hr))
        return pdh_status_of(hr, PDH_LOG_FILE_OPEN_ERROR);
    const struct log_format_traits *format = log_format_traits(log_reader_info(reader)->format);
    log_reader_close(reader);
    if (format->separator)
        hr = look_in_text(path, format->separator, format->pdh_type, n);
    else if (format->is_file)
        hr = look_in_binary(path, n);
    else
        return PDH_NOT_IMPLEMENTED; /* a database has rows, no records */
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
        status = look(paths->items[i], &n);
    if (status == ERROR_SUCCESS && !n.found)
        status = PDH_ENTRY_NOT_IN_LOG_FILE;
    size_t need = offsetof(PDH_RAW_LOG_RECORD, RawBytes) + n.size;
    if (status == ERROR_SUCCESS && need > UINT32_MAX)
        status = PDH_INSUFFICIENT_BUFFER;
    if (status == ERROR_SUCCESS) {
        status = *bytes < need ? (PDH_STATUS)PDH_MORE_DATA : ERROR_SUCCESS;
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
