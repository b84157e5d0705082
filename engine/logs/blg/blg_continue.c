/* SPDX-License-Identifier: MIT */
/* Looks at a binary log that shall be continued: is it ours, and does it log the same counters? */
#include "engine/logs/blg/blg_continue.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/blg_format.h"
#include "engine/logs/etl_reader.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/log_file.h"

#include <string.h>

static HRESULT not_a_log(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: has no catalog of counters to append samples to",
                     path);
}

static bool ends_record(const uint8_t *event, uint32_t size)
{
    return size >= BLG_PART_HEAD && event[2] == ETL_HEADER_CLASSIC_64 &&
           memcmp(event + 0x18, blg_class, sizeof blg_class) == 0 &&
           get_u32(event + BLG_EVENT_HEAD + 16) == get_u32(event + BLG_EVENT_HEAD + 20);
}

/* Compares one event of the catalog. *done counts the bytes that agreed; S_FALSE: all do. */
static HRESULT compare_part(const char *path, const struct etl_record *event, const struct blg_bytes *catalog,
                            size_t counters, size_t *done)
{
    const uint32_t part = get_u32(event->data + 16), parts = get_u32(event->data + 20);
    const size_t size = event->data_size - 24;
    if (part != *done / BLG_MAX_PART + 1 || part > parts)
        return not_a_log(path);
    if (size > catalog->size - *done || memcmp(event->data + 24, catalog->data + *done, size) != 0)
        return error_set(E_INVALIDARG, "%s: logs other counters than the %zu to be appended", path, counters);
    *done += size;
    if (part < parts)
        return S_OK;
    return *done == catalog->size
               ? S_FALSE
               : error_set(E_INVALIDARG, "%s: logs fewer counters than the %zu to be appended", path, counters);
}

/* Reads events up to the end of the catalog, S_OK. S_FALSE: the file ends before. */
static HRESULT compare_catalog(const char *path, struct etl_reader *reader, const struct blg_bytes *catalog,
                               size_t counters, uint8_t instance[16])
{
    struct etl_record event;
    HRESULT hr;
    size_t done = 0;
    while ((hr = etl_reader_next(reader, &event)) == S_OK) {
        if (event.kind == ETL_RECORD_SYSTEM)
            continue;
        if (event.kind != ETL_RECORD_CLASSIC || event.data_size < 24 ||
            memcmp(event.event + 0x18, blg_class, sizeof blg_class) != 0)
            return not_a_log(path);
        if (event.opcode == BLG_RECORD_NAMES)
            continue;
        if (event.opcode != BLG_RECORD_CATALOG)
            return not_a_log(path);
        memcpy(instance, event.data, 16);
        hr = compare_part(path, &event, catalog, counters, &done);
        if (hr != S_OK)
            return hr == S_FALSE ? S_OK : hr;
    }
    return hr;
}

bool blg_is_begun(const uint8_t *bytes, size_t size)
{
    uint8_t ours[ETL_BUFFER_HEAD];
    struct etl_buffer_header head = {.size = BLG_BUFFER_SIZE};
    etl_buffer_header_write(&head, ours);
    if (size >= ETL_BUFFER_HEAD)
        etl_buffer_header_read(bytes, &head);
    return memcmp(bytes, ours, size < sizeof head.size ? size : sizeof head.size) == 0 &&
           (size < ETL_BUFFER_HEAD || head.type == ETL_TYPE_FILE_HEADER) &&
           (size < ETL_BUFFER_HEAD + 4 ||
            (bytes[ETL_BUFFER_HEAD + 2] == ETL_HEADER_SYSTEM_64 && bytes[ETL_BUFFER_HEAD + 3] == ETL_MARKS));
}

/* Does the buffer hold all that it says? */
static bool is_whole(const uint8_t *buffer)
{
    const uint32_t used = etl_buffer_used(buffer, BLG_BUFFER_SIZE);
    uint32_t offset = ETL_BUFFER_HEAD, length;
    const uint8_t *event;
    while (etl_buffer_event(buffer, used, &offset, &event, &length)) {
    }
    return used != 0 && offset == used;
}

/* Can a file without a catalog be a log whose writing had just begun? It ends in the first buffer, or has that (and so
   a readable header), at most one more, and zeros. */
static HRESULT was_just_begun(const char *path, bool has_header, bool *begun)
{
    uint8_t *buffer = memory_alloc(BLG_BUFFER_SIZE);
    struct file *file = NULL;
    size_t got = BLG_BUFFER_SIZE;
    if (!buffer)
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a buffer to read", path);
    HRESULT hr = file_open(path, FILE_READ, &file);
    *begun = true;
    for (uint64_t i = 0; SUCCEEDED(hr) && *begun && got == BLG_BUFFER_SIZE; i++) {
        hr = file_read_at(file, i * BLG_BUFFER_SIZE, buffer, BLG_BUFFER_SIZE, &got);
        if (SUCCEEDED(hr) && i == 0)
            *begun = blg_is_begun(buffer, got) && (has_header || got < BLG_BUFFER_SIZE);
        else if (SUCCEEDED(hr))
            *begun = etl_all_zero(buffer, got) || (i == 1 && (got < BLG_BUFFER_SIZE || is_whole(buffer)));
    }
    file_close(file);
    memory_free(buffer);
    return hr;
}

/* S_OK: it may be continued. S_FALSE: it is to be begun anew. */
static HRESULT look_at(const char *path, const struct blg_bytes *catalog, size_t counters, struct blg_old *out)
{
    struct etl_reader *reader;
    bool begun = false;
    HRESULT hr = etl_reader_open(path, NULL, NULL, &reader);
    if (SUCCEEDED(hr)) {
        const struct etl_log *log = etl_reader_log(reader);
        hr = compare_catalog(path, reader, catalog, counters, out->instance);
        if (hr == S_OK && log->buffer_size != BLG_BUFFER_SIZE) {
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: is no binary log with buffers of %u bytes",
                           path, (unsigned)BLG_BUFFER_SIZE);
        }
        if (hr == S_OK && (log->mode & ETL_MODE_CIRCULAR) != 0)
            hr = error_set(E_INVALIDARG, "%s: is a circular log; samples cannot be appended to it", path);
        out->zone = log->zone;
        out->last_utc = log->end_utc;
        etl_reader_close(reader);
        if (hr != S_FALSE)
            return hr;
    } else if (hr != HRESULT_FROM_WIN32(ERROR_INVALID_DATA)) {
        return hr;
    }
    hr = was_just_begun(path, SUCCEEDED(hr), &begun);
    return FAILED(hr) ? hr : begun ? S_FALSE : not_a_log(path);
}

HRESULT blg_continue(const char *path, const struct log_options *options, const struct blg_bytes *catalog,
                     size_t counters, struct blg_old *out)
{
    struct file *file;
    *out = (struct blg_old){0};
    HRESULT hr = look_at(path, catalog, counters, out);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE;
    if (hr == S_OK)
        hr = log_file_continue(path, options, &file);
    return hr == S_OK ? etl_file_continue(file, path, ends_record, &out->file) : hr;
}
