/* SPDX-License-Identifier: MIT */
/* Writes performance logs in the binary format (.blg): PDH records in an .etl container (etl_file.c).

   A log that is written for weeks must be readable at any time. A crash or a full disk must not cost more than the
   sample that is being written. The container (etl_file.c) gives these two guarantees for events. This file gives the
   same two guarantees for records, which can be longer than an event.

   Layout, as Windows 8 and later write it:

       buffer 0            | log file header event (etl_header.c)
       buffer 1, 2, ...    | names | catalog | sample | sample | ...       each record cut into events:

       event:   +0x00  header: size, class type = type of the record, process, local stamp, class GUID (blg_class)
                +0x30  GUID of the log ("instance"); appended samples repeat the catalog's GUID
                +0x40  part number, from 1
                +0x44  number of parts
                +0x48  at most 8000 bytes of the record

       names (36):     machine, then pairs of title index and name; one record for each text counter
       catalog (32):   8 bytes, then an entry for each counter: its size, flags, type, time base, scale, and its names
       sample (34):    'B' 'L' block with one 'B' 'L' block (an item) for each entry of the catalog, in its order:
                       0x0103 a single counter: status, time, the two raw values, MultiCount
                       0x0203 a wildcard counter: status, time, then its instances with their names
                       0x0503 a whole object: a performance data block (blg_catalog.c), for text counters

   Lifecycle of a file:
   1. create_file writes the names and the catalog with stamps derived from the log's start and flushes them. From then
      on the file is a valid log without samples. A circular log becomes a ring after this point, so that its catalog is
      never overwritten.
   2. The first blg_append sets the stamp of the names to 2 us before the stamp of the first sample. The stamp of the
      catalog is 1 us before the stamp of the first sample. Windows uses the same stamps.
   3. blg_append builds the whole sample in memory and passes its events to etl_file_add, which adds all of them or
      none. The events stay in memory until a flush, or until a sample needs a new buffer. If the disk is full, the
      sample is lost, its events are counted in EventsLost, and the file remains complete.
   4. If the catalog of an existing file is identical to that of the new log, blg_continue appends to the file and uses
      the file's instance GUID.

   After a crash, the file ends in one of the following ways, and blg_continue handles it like this:
   - Inside a buffer, or in buffers of zeros (reserved space): etl_file_continue removes the partial buffer and the
     zeros.
   - After the events of an incomplete sample (its last part is missing): ends_record finds the last complete record,
     and the rest is removed.
   - Before the end of the catalog: was_just_begun checks that the file was never longer, and continue_file then starts
     the log again.
   - Any other end is corruption that a crash cannot cause. The file is rejected and not changed.

   The format does not define the following details; we decided:
   - A counter without a value is an ordinary item with its PDH_CSTATUS and the cell's raw values (zeros).
   - An instance of a wildcard counter stores its MultiCount only if MultiCount is above 1. The MultiCount field of any
     other instance is 0, as in PDH's logs. Instances without a value are omitted.
   - log_options.comment is not stored, because the format has no field for it.
   - Stamps are local FILETIMEs of whole milliseconds. The bias at the start applies to the whole file, so that stamps
     never go back and readers can convert them to UTC without ambiguity. The container's times are UTC.
   - Text counters are written as whole objects with one counter; the name records contain their names.
   - No summary (35) is written at the end, because the layout of the summary in counter logs is unknown and readers do
     not need a summary. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/logs/blg/blg_parts.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/log.h"

#include <string.h>

/* ---- continuing a log: checks whether the file is a log of OpenPLA with the same counters ---- */

static HRESULT not_a_log(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                     "cannot append to '%s': the log has no catalog of counters", path);
}

static bool ends_record(const uint8_t *event, uint32_t size)
{
    return size >= BLG_PART_HEAD && event[2] == ETL_HEADER_CLASSIC_64 &&
           memcmp(event + 0x18, blg_class, sizeof blg_class) == 0 &&
           get_u32(event + BLG_EVENT_HEAD + 16) == get_u32(event + BLG_EVENT_HEAD + 20);
}

/* Compares one event of the catalog. *done counts the bytes that were equal; S_FALSE: the whole catalog is equal. */
static HRESULT compare_part(const char *path, const struct etl_record *event, const struct blg_bytes *catalog,
                            size_t counters, size_t *done)
{
    const uint32_t part = get_u32(event->data + 16), parts = get_u32(event->data + 20);
    const size_t size = event->data_size - 24;
    if (part != *done / BLG_MAX_PART + 1 || part > parts)
        return not_a_log(path);
    if (size > catalog->size - *done || memcmp(event->data + 24, catalog->data + *done, size) != 0)
        return error_set(E_INVALIDARG, "cannot append to '%s': its counters differ from the %zu counters to append",
                         path, counters);
    *done += size;
    if (part < parts)
        return S_OK;
    return *done == catalog->size
               ? S_FALSE
               : error_set(E_INVALIDARG, "cannot append to '%s': it has fewer counters than the %zu to append", path,
                           counters);
}

/* Reads events up to the end of the file's catalog, and compares that catalog with `catalog`. S_FALSE: the file ends
   before the end of the catalog. */
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

/* Returns whether the buffer contains complete events up to its number of used bytes. */
static bool is_whole(const uint8_t *buffer)
{
    const uint32_t used = etl_buffer_used(buffer, BLG_BUFFER_SIZE);
    uint32_t offset = ETL_BUFFER_HEAD, length;
    const uint8_t *event;
    while (etl_buffer_event(buffer, used, &offset, &event, &length)) {
    }
    return used != 0 && offset == used;
}

/* Returns in *begun whether a file without a catalog can be a log whose creation was interrupted. The file of an
   interrupted creation can end inside the first buffer. Or the file consists of the complete first buffer (and
   therefore has a readable header), at most one more buffer, and zeros. */
static HRESULT was_just_begun(const char *path, bool has_header, bool *begun)
{
    uint8_t *buffer = memory_alloc(BLG_BUFFER_SIZE);
    struct file *file = NULL;
    size_t got = BLG_BUFFER_SIZE;
    if (!buffer)
        return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for a buffer", path);
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

/* Checks an existing file. S_OK: the log can be continued. S_FALSE: the caller must start the log again. */
static HRESULT blg_old_inspect(const char *path, const struct blg_bytes *catalog, size_t counters, struct blg_old *out)
{
    struct etl_reader *reader;
    bool begun = false;
    HRESULT hr = etl_reader_open(path, NULL, NULL, &reader);
    if (SUCCEEDED(hr)) {
        const struct etl_log *log = etl_reader_log(reader);
        hr = compare_catalog(path, reader, catalog, counters, out->instance);
        if (hr == S_OK && log->buffer_size != BLG_BUFFER_SIZE) {
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                           "cannot append to '%s': not a binary log with buffers of %u bytes", path,
                           (unsigned)BLG_BUFFER_SIZE);
        }
        if (hr == S_OK && (log->mode & ETL_MODE_CIRCULAR) != 0)
            hr = error_set(E_INVALIDARG, "cannot append to '%s': the log is circular", path);
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

/* Opens the log at `path` to append after its last complete sample. The file's catalog must be identical to `catalog`.
   The next flush removes what a crash left after that sample. S_FALSE: the file does not exist, or the file ends before
   the end of its catalog (it was never longer, or was truncated). The caller then starts the log again, because a file
   without a complete catalog has no samples. E_INVALIDARG: the file's counters differ from those in `catalog`, or the
   log is circular. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): the file is not a log of this format, or is corrupt in a way
   that a crash cannot cause. */
static HRESULT blg_continue(const char *path, const struct log_options *options, const struct blg_bytes *catalog,
                            size_t counters, struct blg_old *out)
{
    struct file *file;
    *out = (struct blg_old){0};
    HRESULT hr = blg_old_inspect(path, catalog, counters, out);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE;
    if (hr == S_OK)
        hr = log_file_continue(path, options, &file);
    return hr == S_OK ? etl_file_continue(file, path, ends_record, &out->file) : hr;
}

/* ---- writing ---- */

enum { TICKS_PER_MS = 10000, CATALOG_BEFORE_SAMPLE = 10, NAMES_BEFORE_SAMPLE = 20, STAMP_AT = 0x10 };

/* SEQUENTIAL, PRIVATE_LOGGER, PRIVATE_IN_PROC, NO_PER_PROCESSOR_BUFFERING and BLOCKING, as in the logs of PDH's own
   logger. */
#define PDH_LOG_FILE_MODE 0x30020801u
#define PDH_CIRCULAR_MODE ((PDH_LOG_FILE_MODE & ~(uint32_t)ETL_MODE_SEQUENTIAL) | ETL_MODE_CIRCULAR)
#define WNODE_FLAGS       0x001A0200u /* private loggers store this value in the event's UserTime field */

const uint8_t blg_class[16] = {0xb3, 0x3b, 0x3f, 0x93, 0x3e, 0x94, 0x0d, 0x49,
                               0x9c, 0xed, 0x3c, 0xbb, 0x14, 0xc1, 0x44, 0x79};

/* The layout of a counter's items. */
enum item_form { ITEM_SINGLE, ITEM_WILDCARD, ITEM_TEXT };

struct event_list {
    struct etl_event *items;
    size_t count, capacity;
};

struct blg_log {
    struct log_writer base;
    struct etl_file *file;
    uint64_t max_bytes;
    struct zone_rules zone;
    uint32_t process;
    uint8_t instance[16]; /* GUID of the log, in every event */
    bool sampled;         /* the names and the catalog have their final stamps */
    size_t counters;
    uint8_t *forms;            /* enum item_form per counter */
    struct log_counters texts; /* the text counters, with full instance names */
    struct blg_bytes *names;   /* one record per text counter */
    struct blg_bytes catalog;
    struct blg_bytes record; /* the record of the current sample */
    uint32_t *sizes; /* for each instance in a sample, the size of its name in bytes; 0: the instance is omitted */
    size_t sizes_capacity;
    struct event_list head;   /* the names and the catalog as events */
    struct event_list events; /* the sample as events */
};

static void free_log(struct blg_log *log)
{
    for (size_t i = 0; i < log->texts.count && log->names; i++)
        memory_free(log->names[i].data);
    memory_free(log->names);
    log_counters_free(&log->texts);
    memory_free(log->forms);
    memory_free(log->catalog.data);
    memory_free(log->record.data);
    memory_free(log->sizes);
    memory_free(log->head.items);
    memory_free(log->events.items);
    memory_free(log);
}

/* Splits a record into events and appends them to the list. The events borrow the record. */
static HRESULT cut_into_events(const struct blg_log *log, uint8_t type, int64_t stamp, const struct blg_bytes *record,
                               struct event_list *list)
{
    const size_t parts = record->size == 0 ? 1 : (record->size + BLG_MAX_PART - 1) / BLG_MAX_PART;
    void *events = list->items;
    if (!memory_grow(&events, &list->capacity, list->count + parts, sizeof *list->items))
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", record->size);
    list->items = events;
    for (size_t i = 0; i < parts; i++) {
        struct etl_event *event = &list->items[list->count++];
        size_t size = record->size - i * BLG_MAX_PART;
        event->data_size = (uint32_t)(size < BLG_MAX_PART ? size : BLG_MAX_PART);
        event->data = record->data + i * BLG_MAX_PART;
        event->head_size = BLG_PART_HEAD;
        uint8_t *head = event->head;
        memset(head, 0, BLG_PART_HEAD);
        put_u16(head, (uint16_t)(BLG_PART_HEAD + event->data_size));
        head[0x02] = ETL_HEADER_CLASSIC_64;
        head[0x03] = ETL_MARKS;
        head[0x04] = type;
        put_u16(head + 0x06, BLG_CLASS_VERSION);
        put_u32(head + 0x0C, log->process);
        put_u64(head + STAMP_AT, (uint64_t)stamp);
        memcpy(head + 0x18, blg_class, sizeof blg_class);
        put_u32(head + 0x2C, WNODE_FLAGS);
        memcpy(head + BLG_EVENT_HEAD, log->instance, sizeof log->instance);
        put_u32(head + BLG_EVENT_HEAD + 16, (uint32_t)(i + 1));
        put_u32(head + BLG_EVENT_HEAD + 20, (uint32_t)parts);
    }
    return S_OK;
}

/* Builds log->head: the events of the names and the catalog. The stamps of these events are just before `stamp`, which
   is the stamp of the first sample. */
static HRESULT make_head(struct blg_log *log, int64_t stamp)
{
    HRESULT hr = S_OK;
    log->head.count = 0;
    for (size_t i = 0; i < log->texts.count && SUCCEEDED(hr); i++)
        hr = cut_into_events(log, BLG_RECORD_NAMES, stamp - NAMES_BEFORE_SAMPLE, &log->names[i], &log->head);
    return SUCCEEDED(hr)
               ? cut_into_events(log, BLG_RECORD_CATALOG, stamp - CATALOG_BEFORE_SAMPLE, &log->catalog, &log->head)
               : hr;
}

static uint8_t *put_single(uint8_t *at, int64_t stamp, const struct log_raw *raw)
{
    blg_put_block_head(at, BLG_KIND_SINGLE, BLG_SINGLE_SIZE);
    put_u32(at + 0x08, raw->status);
    put_u64(at + 0x0C, (uint64_t)stamp);
    put_u32(at + 0x14, 0);
    put_u64(at + 0x18, (uint64_t)raw->first);
    put_u64(at + 0x20, (uint64_t)raw->second);
    put_u32(at + 0x28, raw->multi_count);
    put_u32(at + 0x2C, 0);
    return at + BLG_SINGLE_SIZE;
}

/* Returns the size of the cell's item. Stores the sizes of the item's instance names in `sizes`. */
static size_t wildcard_size(const struct log_cell *cell, uint32_t *sizes)
{
    size_t size = BLG_BLOCK_HEAD + BLG_WILDCARD_HEAD;
    for (size_t i = 0; i < cell->item_count; i++) {
        sizes[i] =
            cell->items[i].raw.status <= PDH_CSTATUS_NEW_DATA ? (uint32_t)blg_name_size(cell->items[i].instance) : 0;
        if (sizes[i] != 0)
            size += BLG_WILDCARD_ITEM + blg_round_up_8(sizes[i]);
    }
    return size;
}

/* Writes a wildcard counter's item. `sizes` was filled by wildcard_size. */
static HRESULT put_wildcard(uint8_t **at, int64_t stamp, const struct log_cell *cell, const uint32_t *sizes)
{
    uint8_t *block = *at + BLG_BLOCK_HEAD; /* name offsets are relative to this address */
    size_t items = 0, size = BLG_WILDCARD_HEAD;
    for (size_t i = 0; i < cell->item_count; i++) {
        items += sizes[i] != 0;
        size += sizes[i] != 0 ? BLG_WILDCARD_ITEM + blg_round_up_8(sizes[i]) : 0;
    }
    blg_put_block_head(*at, BLG_KIND_WILDCARD, BLG_BLOCK_HEAD + size);
    put_u32(block, (uint32_t)size);
    put_u32(block + 0x04, (uint32_t)items);
    put_u32(block + 0x08, cell->raw.status);
    put_u32(block + 0x0C, 0);
    put_u64(block + 0x10, (uint64_t)stamp);
    size_t name = BLG_WILDCARD_HEAD + items * BLG_WILDCARD_ITEM;
    uint8_t *item = block + BLG_WILDCARD_HEAD;
    for (size_t i = 0; i < cell->item_count; i++) {
        const struct log_raw *raw = &cell->items[i].raw;
        if (sizes[i] == 0)
            continue;
        put_u32(item, (uint32_t)name);
        put_u32(item + 0x04, raw->multi_count > 1 ? raw->multi_count : 0);
        put_u64(item + 0x08, (uint64_t)raw->first);
        put_u64(item + 0x10, (uint64_t)raw->second);
        item += BLG_WILDCARD_ITEM;
        HRESULT hr = blg_put_name(block + name, cell->items[i].instance, sizes[i]);
        if (FAILED(hr))
            return hr;
        name += sizes[i];
    }
    /* wildcard_size rounds each name up to 8 bytes, but the names are stored without gaps. The bytes that remain at the
       end become zeros. */
    memset(block + name, 0, size - name);
    *at = block + size;
    return S_OK;
}

/* Returns the size of the sample's record. */
static HRESULT measure_sample(struct blg_log *log, const struct log_cell *cells, size_t *size)
{
    size_t items = 0, text = 0;
    *size = BLG_BLOCK_HEAD;
    for (size_t i = 0; i < log->counters; i++) {
        void *sizes = log->sizes;
        switch ((enum item_form)log->forms[i]) {
        case ITEM_SINGLE:
            *size += BLG_SINGLE_SIZE;
            break;
        case ITEM_WILDCARD:
            if (!memory_grow(&sizes, &log->sizes_capacity, items + cells[i].item_count, sizeof *log->sizes))
                return error_set(E_OUTOFMEMORY, "out of memory for a sample of %zu instances", cells[i].item_count);
            log->sizes = sizes;
            if (cells[i].item_count != 0)
                *size += wildcard_size(&cells[i], log->sizes + items);
            else
                *size += BLG_BLOCK_HEAD + BLG_WILDCARD_HEAD;
            items += cells[i].item_count;
            break;
        case ITEM_TEXT:
            *size += blg_text_size(&log->texts.items[text++], &cells[i]);
            break;
        }
    }
    return S_OK;
}

static HRESULT build_sample(struct blg_log *log, int64_t stamp, int64_t utc, const struct log_cell *cells)
{
    size_t size, text = 0;
    HRESULT hr = measure_sample(log, cells, &size);
    if (SUCCEEDED(hr))
        hr = blg_bytes_resize(&log->record, size);
    if (FAILED(hr))
        return hr;
    blg_put_block_head(log->record.data, BLG_KIND_SAMPLE, size);
    uint8_t *at = log->record.data + BLG_BLOCK_HEAD;
    const uint32_t *sizes = log->sizes;
    for (size_t i = 0; i < log->counters && SUCCEEDED(hr); i++) {
        switch ((enum item_form)log->forms[i]) {
        case ITEM_SINGLE:
            at = put_single(at, stamp, &cells[i].raw);
            break;
        case ITEM_WILDCARD:
            hr = put_wildcard(&at, stamp, &cells[i], sizes);
            sizes = cells[i].item_count != 0 ? sizes + cells[i].item_count : sizes;
            break;
        case ITEM_TEXT:
            hr = blg_text_put(at, &log->texts.items[text], text, stamp, utc, &cells[i]);
            at += blg_text_size(&log->texts.items[text], &cells[i]);
            text++;
            break;
        }
    }
    return hr;
}

static HRESULT blg_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct blg_log *log = (struct blg_log *)w;
    utc -= utc % TICKS_PER_MS;
    const int64_t stamp = zone_to_local(&log->zone, utc);
    HRESULT hr = build_sample(log, stamp, utc, cells);
    if (SUCCEEDED(hr) && !log->sampled) {
        hr = make_head(log, stamp);
        if (SUCCEEDED(hr)) {
            hr = etl_file_restamp(log->file, log->head.items, log->head.count);
            if (FAILED(hr))
                etl_file_count_lost(log->file, 1, 0);
        }
    }
    if (SUCCEEDED(hr)) {
        log->events.count = 0;
        hr = cut_into_events(log, BLG_RECORD_SAMPLE, stamp, &log->record, &log->events);
    }
    if (FAILED(hr))
        return hr;
    if (log->max_bytes != 0 && etl_file_size_with(log->file, log->events.items, log->events.count) > log->max_bytes)
        return S_FALSE;
    hr = etl_file_add(log->file, utc, log->events.items, log->events.count);
    if (FAILED(hr)) {
        etl_file_count_lost(log->file, log->events.count, 0);
        return hr;
    }
    log->sampled = true;
    return S_OK;
}

static HRESULT blg_flush(struct log_writer *w)
{
    return etl_file_flush(((struct blg_log *)w)->file);
}

static uint64_t blg_size(const struct log_writer *w)
{
    return etl_file_size(((const struct blg_log *)w)->file);
}

static HRESULT blg_close(struct log_writer *w)
{
    struct blg_log *log = (struct blg_log *)w;
    HRESULT hr = etl_file_close(log->file);
    free_log(log);
    return hr;
}

/* Creates a unique GUID. The GUID does not have to be secret, so this function computes the GUID from the time, the
   process and the path. */
static HRESULT make_instance(uint8_t instance[16], const char *path, uint32_t process)
{
    char *seed = text_format("%lld %lld %u %p %s", (long long)clock_utc(), (long long)clock_ticks(), (unsigned)process,
                             (void *)instance, path);
    if (!seed)
        return error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory for its GUID", path);
    uint64_t hash = HASH_START;
    for (int half = 0; half < 2; half++) {
        hash = hash_text(hash, seed);
        put_u64(instance + 8 * half, hash ^ hash >> 32);
    }
    memory_free(seed);
    instance[7] = (uint8_t)((instance[7] & 0x0F) | 0x40); /* version 4, variant 1 of RFC 4122 */
    instance[8] = (uint8_t)((instance[8] & 0x3F) | 0x80);
    return S_OK;
}

static HRESULT put_instance_name(const struct blg_log *log, const char *path, char **out)
{
    const uint8_t *g = log->instance;
    *out = text_format("%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", (unsigned)get_u32(g), get_u16(g + 4),
                       get_u16(g + 6), g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
    return *out ? S_OK : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its header", path);
}

/* Fills the header of a new log with the data of this host OS. */
static HRESULT describe_host(struct blg_log *log, const char *path, int64_t start_utc, const struct log_zone *zone,
                             struct etl_log *header)
{
    *header = (struct etl_log){
        .process = log->process,
        .start_utc = start_utc,
        .start_stamp = start_utc,
        .boot_utc = clock_boot_utc(),
        .frequency = clock_frequency(),
        .cpu_mhz = clock_cpu_mhz(),
        .zone.bias = zone->known ? zone->bias_minutes : clock_bias_minutes(start_utc),
        .standard_name = zone->known ? text_copy(zone->name) : clock_zone_name(),
    };
    return header->standard_name ? make_instance(log->instance, path, log->process)
                                 : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its time zone", path);
}

/* Fills the header of a copied log with the values of the original log. */
static HRESULT describe_original(struct blg_log *log, const char *path, const struct blg_origin *origin,
                                 struct etl_log *header)
{
    const struct etl_log *old = origin->log;
    log->process = origin->process;
    memcpy(log->instance, origin->instance, sizeof log->instance);
    *header = (struct etl_log){
        .process = origin->process,
        .thread = old->thread,
        .start_utc = old->start_utc,
        .start_stamp = old->start_stamp,
        .boot_utc = old->boot_utc,
        .frequency = old->frequency,
        .cpu_mhz = old->cpu_mhz,
        .zone.bias = origin->bias_minutes,
        .standard_name = text_copy(old->standard_name),
    };
    return header->standard_name ? S_OK
                                 : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its time zone", path);
}

static HRESULT create_file(struct blg_log *log, const char *path, const struct log_options *options, bool over,
                           struct etl_log *header)
{
    struct file *file;
    bool fresh = false;
    char *name;
    HRESULT hr = put_instance_name(log, path, &name);
    if (FAILED(hr))
        return hr;
    header->logger_name = name;
    header->file_name = path;
    header->daylight_name = header->standard_name; /* the log has one bias, so both names are the same */
    header->buffer_size = BLG_BUFFER_SIZE;
    header->mode = options->circular ? PDH_CIRCULAR_MODE : PDH_LOG_FILE_MODE;
    header->maximum_file_mb = options->circular ? (uint32_t)(options->max_bytes >> 20) : 0;
    header->processors = 1;
    header->clock = ETL_CLOCK_SYSTEM;
    header->version_major = 6; /* the Windows version that writes such records (6.2) */
    header->version_minor = 2;
    header->build = 9200;
    header->private_logger = true;
    log->zone = header->zone;
    hr = log_file_begin(path, options, over, &file, &fresh);
    if (SUCCEEDED(hr))
        hr = etl_file_begin(file, path, header, &log->file);
    memory_free(name);
    if (FAILED(hr)) {
        if (fresh)
            (void)log_file_delete(path, options);
        return hr;
    }
    const int64_t stamp = zone_to_local(&log->zone, header->start_utc);
    hr = make_head(log, stamp - stamp % TICKS_PER_MS);
    if (SUCCEEDED(hr))
        hr = etl_file_add(log->file, header->start_utc, log->head.items, log->head.count);
    if (SUCCEEDED(hr))
        hr = etl_file_flush(log->file);
    if (SUCCEEDED(hr) && options->circular) {
        hr = etl_file_make_ring(log->file, options->max_bytes / BLG_BUFFER_SIZE);
        hr = FAILED(hr) ? error_prefix(hr, "%s", path) : hr;
    }
    if (FAILED(hr)) {
        (void)etl_file_close(log->file);
        if (fresh)
            (void)log_file_delete(path, options);
    }
    return hr;
}

static HRESULT start_file(struct blg_log *log, const char *path, int64_t start_utc, const struct log_options *options,
                          bool over)
{
    struct etl_log header;
    struct blg_origin origin;
    HRESULT hr = options->copy_of && blg_reader_origin(options->copy_of, &origin)
                     ? describe_original(log, path, &origin, &header)
                     : describe_host(log, path, start_utc, &options->zone, &header);
    if (SUCCEEDED(hr))
        hr = create_file(log, path, options, over, &header);
    memory_free((void *)header.standard_name);
    return hr;
}

/* Continues the file at `path`, or starts it if there is nothing to continue. */
static HRESULT continue_file(struct blg_log *log, const char *path, int64_t start_utc,
                             const struct log_options *options)
{
    struct blg_old old;
    HRESULT hr = blg_continue(path, options, &log->catalog, log->counters, &old);
    if (hr == S_FALSE)
        return start_file(log, path, start_utc, options, true);
    if (SUCCEEDED(hr)) {
        log->file = old.file;
        log->zone = old.zone;
        memcpy(log->instance, old.instance, sizeof log->instance);
        log->sampled = true;
    }
    return hr;
}

/* Adds a text counter. The instance name of the text counter includes the parent and the number, because the object
   stores the name in that form. */
static HRESULT add_text_counter(struct blg_log *log, const struct log_counter *counter)
{
    struct log_counter whole = *counter;
    char *name = NULL;
    if (!counter->wildcard && counter->instance) {
        const struct counter_path path = {
            .parent = (char *)counter->parent, .instance = (char *)counter->instance, .index = counter->index};
        name = counter_path_instance(&path);
        if (!name)
            return error_set(E_OUTOFMEMORY, "out of memory for the instance '%s'", counter->instance);
        whole.instance = name;
    }
    HRESULT hr = log_counters_add(&log->texts, &whole);
    memory_free(name);
    return hr;
}

static HRESULT take_counters(struct blg_log *log, const struct log_counter *counters, size_t count)
{
    HRESULT hr = blg_catalog_build(&log->catalog, counters, count);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        log->forms[i] = blg_is_text(&counters[i]) ? ITEM_TEXT : counters[i].wildcard ? ITEM_WILDCARD : ITEM_SINGLE;
        if (log->forms[i] == ITEM_TEXT)
            hr = add_text_counter(log, &counters[i]);
    }
    if (SUCCEEDED(hr)) {
        log->names = memory_zero(log->texts.count, sizeof *log->names);
        hr = log->names ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for a log's names");
    }
    for (size_t i = 0; i < log->texts.count && SUCCEEDED(hr); i++)
        hr = blg_names_build(&log->names[i], &log->texts.items[i], i);
    return hr;
}

static HRESULT blg_create(const struct log_format_traits *format, const char *path, const struct log_counter *counters,
                          size_t count, int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    (void)format;
    if (options->circular && (options->append || options->max_bytes == 0)) {
        return error_set(E_INVALIDARG,
                         options->append ? "cannot append to '%s': a circular log cannot be continued"
                                         : "cannot create '%s': a circular log needs a maximum size",
                         path);
    }
    struct blg_log *log = memory_zero(1, sizeof *log);
    uint8_t *forms = memory_zero(count, sizeof *forms);
    if (!log || !forms) {
        memory_free(log);
        memory_free(forms);
        return error_set(E_OUTOFMEMORY, "cannot create '%s': out of memory for a log of %zu counters", path, count);
    }
    log->base.functions = &log_binary_functions;
    log->max_bytes = options->max_bytes;
    log->process = process_own_id();
    log->counters = count;
    log->forms = forms;
    HRESULT hr = take_counters(log, counters, count);
    if (SUCCEEDED(hr)) {
        hr = options->append ? continue_file(log, path, start_utc, options)
                             : start_file(log, path, start_utc, options, options->replace);
    }
    if (FAILED(hr)) {
        free_log(log);
        return hr;
    }
    *out = &log->base;
    return S_OK;
}

const struct log_format_functions log_binary_functions = {
    .create = blg_create, .append = blg_append, .flush = blg_flush, .size = blg_size, .close = blg_close};
