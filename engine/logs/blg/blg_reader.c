/* SPDX-License-Identifier: MIT */
/* Reads performance logs in the binary format (.blg), which blg_log.c describes. The reader has two layers.

   1. Records (blg_records_*): joins the events of the container into records. The parts of a record must be consecutive
      and have the same type, stamp and instance GUID. If another record begins before the last part, the parts are
      dropped with a warning.
      After a seek, and in a circular log after its catalog, reading can start inside a record. A record whose first
      parts are missing at such a position is normal and causes no warning (in_the_middle).
   2. Samples (blg_reader): keeps the current catalog and converts the items of each sample to cells. The second layer
      reads logs of counters and logs of whole objects, both of 32-bit and of 64-bit writers.

   In a truncated or partially overwritten file, the reader skips each of the following parts. For each skipped part the
   reader adds one warning with the position of the part. The last of the following kinds causes no warning:
   - a record without its last parts
   - a sample with fewer items than the catalog has entries. (If a sample is complete and only one item is corrupt, only
     that item's counter has no value.)
   - samples whose catalog is missing, for example because another program removed the catalog. Without the catalog, the
     reader cannot assign the sample's items to counters.
   - the rest of a sample at the beginning of a ring

   Opening fails only if the file has no catalog, if its first catalog is corrupt, or if other events precede its first
   record (an event trace).

   Sample times are local and are converted to UTC with the time zone in the file's header. In the hour that clocks show
   twice, the reader takes a time as the first occurrence. If the first occurrence is before the previous sample, the
   reader takes the second occurrence. The format does not define the following details; we decided:
   - If another program appended other counters, the file has a second catalog. The counters of the second catalog are
     added after those of the first catalog. Cells of counters that are not in the current catalog are missing values
     (PDH_CSTATUS_NO_COUNTER). A sample belongs to the catalog with the same instance GUID.
   - Each instance of a wildcard counter has the counter's status, and a MultiCount of 0 means 1.
   - If an item's kind does not match its catalog entry, its value is missing. */
#include "engine/base/memory.h"
#include "engine/logs/blg/blg_parts.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

#include <stdarg.h>
#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { HEAD = BLG_PART_HEAD - BLG_EVENT_HEAD }; /* GUID, part number, part count */
/* Events with a hook id below this number describe the file itself. Every log has events that describe the file. */
enum { FIRST_KERNEL_HOOK = 0x0100 };

static PRINTF_LIKE(3, 4) void blg_records_warn(const struct blg_records *r, uint64_t position, const char *format, ...)
{
    char text[400];
    va_list list;
    const int head = snprintf(text, sizeof text, "buffer at byte %" PRIu64 ": ", position);
    va_start(list, format);
    vsnprintf(text + head, sizeof text - (size_t)head, format, list);
    va_end(list);
    r->warn(r->context, text);
}

static void drop_parts(struct blg_records *r)
{
    if (r->part != 0) {
        blg_records_warn(r, r->record.position, "skipped a record of type %u: only %u of its %u parts were found",
                         (unsigned)r->record.type, (unsigned)r->part, (unsigned)r->part_count);
    }
    r->part = 0;
}

/* Starts a record with an event. False: the event is not a first part. */
static bool begin_record(struct blg_records *r, const struct etl_record *event, uint32_t part, uint32_t parts)
{
    drop_parts(r);
    if (part != 1 || parts == 0) {
        if (!r->in_the_middle) {
            blg_records_warn(r, event->position,
                             "skipped part %u of %u of a record of type %u: earlier parts are missing", (unsigned)part,
                             (unsigned)parts, (unsigned)event->opcode);
        }
        return false;
    }
    r->record = (struct blg_record){.type = event->opcode, .stamp = event->stamp, .position = event->position};
    memcpy(r->record.instance, event->data, sizeof r->record.instance);
    r->in_the_middle = false;
    r->size = 0;
    r->part_count = parts;
    return true;
}

/* Adds an event to the current record. S_OK: r->record is complete; S_FALSE: more events are needed. */
static HRESULT add_part(struct blg_records *r, const struct etl_record *event)
{
    const uint32_t part = get_u32(event->data + 16), parts = get_u32(event->data + 20);
    const size_t size = event->data_size - HEAD;
    const bool follows = r->part != 0 && part == r->part + 1 && parts == r->part_count &&
                         event->opcode == r->record.type && event->stamp == r->record.stamp &&
                         memcmp(event->data, r->record.instance, sizeof r->record.instance) == 0;
    if (!follows) {
        if (!begin_record(r, event, part, parts))
            return S_FALSE;
        if (parts == 1) { /* no copy is needed */
            r->record.data = event->data + HEAD;
            r->record.size = size;
            return S_OK;
        }
    }
    if (size > BLG_MAX_RECORD - r->size) {
        drop_parts(r);
        return S_FALSE;
    }
    void *bytes = r->parts;
    if (!memory_grow(&bytes, &r->capacity, r->size + size, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", r->size + size);
    r->parts = bytes;
    memcpy(r->parts + r->size, event->data + HEAD, size);
    r->size += size;
    r->part = part;
    if (part < parts)
        return S_FALSE;
    r->part = 0;
    r->record.data = r->parts;
    r->record.size = r->size;
    return S_OK;
}

HRESULT blg_records_next(struct blg_records *r)
{
    struct etl_record event;
    HRESULT hr;
    while ((hr = etl_reader_next(r->etl, &event)) == S_OK) {
        if (event.kind == ETL_RECORD_CLASSIC && event.data_size >= HEAD &&
            memcmp(event.event + 0x18, blg_class, sizeof blg_class) == 0) {
            hr = add_part(r, &event);
            if (hr != S_FALSE)
                return hr;
        } else if (event.kind == ETL_RECORD_SYSTEM || event.kind == ETL_RECORD_PERFORMANCE) {
            r->kernel |= event.id >= FIRST_KERNEL_HOOK;
        } else if (!r->foreign) {
            if (r->record.type == 0) {
                return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                                 "not a log of performance counters, but an event trace");
            }
            r->foreign = true;
            blg_records_warn(r, event.position, "skipped events that are not records of a performance log");
        }
    }
    if (hr == S_FALSE)
        drop_parts(r);
    return hr;
}

/* Continues with an event at or after `stamp`. If `stamp` is INT64_MIN, continues with the first event. */
static HRESULT blg_records_seek(struct blg_records *r, int64_t stamp)
{
    r->part = 0;
    r->in_the_middle = stamp != INT64_MIN;
    return etl_reader_seek(r->etl, stamp);
}

void blg_records_close(struct blg_records *r)
{
    etl_reader_close(r->etl);
    memory_free(r->parts);
}

/* ---- samples ---- */

#define TWO_HOURS   INT64_C(72000000000)
#define NOT_A_LOG   HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
#define NO_INSTANCE UINT32_MAX /* the offset in a catalog entry if a name is absent */

enum { MAX_COUNTERS = 1 << 20 };

struct entry { /* entry of the catalog */
    uint32_t flags, size;
    size_t at;    /* offset in the catalog */
    size_t place; /* index of the column, or of the object */
};

struct blg_reader {
    struct log_reader base;
    struct blg_records records;
    char *path;
    struct blg_columns columns;
    struct blg_names names;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct blg_object *objects;
    size_t object_count, object_capacity;
    uint8_t *catalog; /* bytes of the current catalog */
    size_t catalog_size, catalog_capacity;
    uint8_t instance[16]; /* instance GUID of the current catalog */
    bool has_columns;     /* columns are assigned to the catalog's counters */
    bool catalog_seen;    /* a catalog was read since reading began or since the last seek */
    bool jumped;          /* a seek may have skipped a catalog */

    int64_t last_utc, skip_before;
    uint64_t samples;
    bool pending; /* the first sample was read during opening and is in the cells */
    int64_t pending_utc;
};

static void blg_reader_add_warning(void *context, const char *text)
{
    struct blg_reader *r = context;
    for (size_t i = 0; i < r->base.warnings.count; i++)
        if (strcmp(r->base.warnings.items[i], text) == 0)
            return; /* already reported: after a seek, the same part of the file is read again */
    log_reader_warn(&r->base, "%s", text);
}

/* Grows an array. `items` points to the pointer to the array. */
static HRESULT records_grow(void *items, size_t *capacity, size_t need, size_t size)
{
    void *grown;
    memcpy(&grown, items, sizeof grown);
    const bool ok = memory_grow(&grown, capacity, need, size) != 0;
    memcpy(items, &grown, sizeof grown);
    return ok ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for its records");
}

static char *entry_name(const uint8_t *entry, uint32_t size, uint32_t field, HRESULT *hr)
{
    const uint32_t offset = get_u32(entry + field), room = size - BLG_ENTRY_HEAD;
    size_t units;
    if (offset == NO_INSTANCE)
        return NULL;
    if (offset > room || !etl_text_length(entry + BLG_ENTRY_HEAD + offset, room - offset, &units)) {
        *hr = SUCCEEDED(*hr) ? S_FALSE : *hr;
        return NULL;
    }
    char *name = etl_text(entry + BLG_ENTRY_HEAD + offset, units);
    if (!name)
        *hr = E_OUTOFMEMORY;
    return name;
}

/* Reads the counter of an entry; its names are from memory_alloc. S_FALSE: the entry is malformed. */
static HRESULT read_entry(const uint8_t *at, uint32_t size, struct log_counter *out)
{
    HRESULT hr = S_OK;
    *out = (struct log_counter){
        .machine = entry_name(at, size, 0x1C, &hr),
        .object = entry_name(at, size, 0x20, &hr),
        .instance = entry_name(at, size, 0x24, &hr),
        .parent = entry_name(at, size, 0x28, &hr),
        .index = get_u32(at + 0x2C),
        .counter = entry_name(at, size, 0x30, &hr),
        .wildcard = (get_u32(at + 0x04) & BLG_ENTRY_WILDCARD) != 0,
        .type = get_u32(at + 0x0C),
        .time_base = (int64_t)get_u64(at + 0x10),
        .default_scale = (int32_t)get_u32(at + 0x18),
    };
    if (hr == S_OK && (!out->object || !out->counter))
        hr = S_FALSE;
    if (hr != S_OK)
        log_counter_free(out);
    return FAILED(hr) ? error_set(hr, "out of memory for its catalog of counters") : hr;
}

/* Adds an entry of the catalog. S_FALSE: the entry is malformed. */
static HRESULT add_entry(struct blg_reader *r, size_t at, uint32_t size)
{
    const uint8_t *bytes = r->records.record.data + at;
    struct entry entry = {.flags = get_u32(bytes + 0x04), .size = size, .at = at};
    struct log_counter counter;
    HRESULT hr = read_entry(bytes, size, &counter);
    if (hr != S_OK)
        return hr;
    if ((entry.flags & BLG_ENTRY_OBJECT) != 0) {
        hr = records_grow(&r->objects, &r->object_capacity, r->object_count + 1, sizeof *r->objects);
        if (SUCCEEDED(hr)) {
            entry.place = r->object_count++;
            r->objects[entry.place] =
                (struct blg_object){.machine = (char *)counter.machine, .object = (char *)counter.object};
            counter.machine = counter.object = NULL; /* now owned by the object */
        }
    }
    log_counter_free(&counter);
    if (SUCCEEDED(hr))
        hr = records_grow(&r->entries, &r->entry_capacity, r->entry_count + 1, sizeof *r->entries);
    if (SUCCEEDED(hr))
        r->entries[r->entry_count++] = entry;
    return hr;
}

static HRESULT keep_catalog(struct blg_reader *r)
{
    HRESULT hr = records_grow(&r->catalog, &r->catalog_capacity, r->records.record.size, 1);
    if (SUCCEEDED(hr)) {
        memcpy(r->catalog, r->records.record.data, r->records.record.size);
        r->catalog_size = r->records.record.size;
        memcpy(r->instance, r->records.record.instance, sizeof r->instance);
    }
    return hr;
}

/* Makes the record the current catalog. A corrupt first catalog is an error; a later corrupt catalog causes a warning
   and then has no entries. */
static HRESULT read_catalog(struct blg_reader *r)
{
    const uint8_t *data = r->records.record.data;
    const size_t size = r->records.record.size;
    if (size && r->catalog_size == size && memcmp(r->catalog, data, size) == 0) {
        memcpy(r->instance, r->records.record.instance, sizeof r->instance);
        return S_OK; /* the same catalog, read again after a seek or repeated by an append */
    }
    const bool first = r->catalog_size == 0;
    size_t at = BLG_CATALOG_HEAD;
    for (size_t i = 0; i < r->object_count; i++)
        blg_object_free(&r->objects[i]);
    r->entry_count = r->object_count = 0;
    r->has_columns = false;
    blg_columns_clear(&r->columns);
    HRESULT hr = size < BLG_CATALOG_HEAD ? S_FALSE : S_OK;
    while (hr == S_OK && at < size) {
        const uint32_t length = size - at < BLG_ENTRY_HEAD ? 0 : get_u32(data + at);
        if (length < BLG_ENTRY_HEAD || length > size - at) {
            hr = S_FALSE;
        } else {
            hr = add_entry(r, at, length);
            at += length;
        }
    }
    if (hr == S_FALSE && first)
        return error_set(NOT_A_LOG, "entry %zu of its catalog of counters is corrupt", r->entry_count + 1);
    if (hr == S_FALSE) {
        blg_records_warn(&r->records, r->records.record.position,
                         "skipped the samples of another catalog: entry %zu of that catalog is corrupt",
                         r->entry_count + 1);
        r->entry_count = 0;
    }
    return SUCCEEDED(hr) ? keep_catalog(r) : hr;
}

/* An item of a sample. */
struct item {
    const uint8_t *at; /* its header */
    uint32_t kind, size;
};

static inline bool next_item(const uint8_t **at, const uint8_t *end, struct item *out)
{
    if (end - *at < BLG_BLOCK_HEAD || (*at)[0] != 'B' || (*at)[1] != 'L')
        return false;
    *out = (struct item){.at = *at, .kind = get_u16(*at + 2), .size = get_u32(*at + 4)};
    if (out->size < BLG_BLOCK_HEAD || out->size > (size_t)(end - *at))
        return false;
    *at += out->size;
    return true;
}

static void read_single(struct log_cell *cell, const uint8_t *at)
{
    cell->raw.status = get_u32(at + 0x08);
    cell->raw.multi_count = get_u32(at + 0x28);
    cell->raw.first = (int64_t)get_u64(at + 0x18);
    cell->raw.second = (int64_t)get_u64(at + 0x20);
}

static void missing(struct blg_reader *r, const struct entry *entry, size_t number, const char *why)
{
    if ((entry->flags & BLG_ENTRY_OBJECT) == 0)
        r->columns.cells[entry->place] = (struct log_cell){.raw.status = PDH_CSTATUS_INVALID_DATA};
    blg_records_warn(&r->records, r->records.record.position, "item %zu of a sample: %s", number + 1, why);
}

/* Reads every kind of item except a valid single counter, which read_sample reads. */
static HRESULT read_item(struct blg_reader *r, const struct entry *entry, size_t number, const struct item *item)
{
    HRESULT hr = S_FALSE;
    if ((entry->flags & BLG_ENTRY_OBJECT) != 0) {
        struct blg_object *object = &r->objects[entry->place];
        object->present = false;
        if (item->kind == BLG_KIND_OBJECT)
            hr = blg_object_read(object, item->at + BLG_BLOCK_HEAD, item->size - BLG_BLOCK_HEAD);
    } else if ((entry->flags & BLG_ENTRY_WILDCARD) != 0) {
        if (item->kind == BLG_KIND_WILDCARD) {
            hr =
                blg_columns_wildcard(&r->columns, entry->place, item->at + BLG_BLOCK_HEAD, item->size - BLG_BLOCK_HEAD);
        }
    }
    if (hr == S_FALSE) {
        missing(r, entry, number, "corrupt, or not of the type that the catalog specifies; its values are missing");
        hr = S_OK;
    }
    return hr;
}

static HRESULT read_objects(struct blg_reader *r)
{
    for (size_t i = 0; i < r->object_count; i++) {
        struct blg_object *object = &r->objects[i];
        for (size_t k = 0; k < object->column_count; k++)
            r->columns.cells[object->columns[k]] = (struct log_cell){.raw.status = PDH_CSTATUS_NO_OBJECT};
    }
    for (size_t i = 0; i < r->object_count; i++) {
        if (r->objects[i].present) {
            HRESULT hr = blg_object_cells(&r->objects[i], r->objects, r->object_count, &r->names, &r->columns);
            if (FAILED(hr))
                return hr;
            if (hr == S_FALSE) {
                blg_records_warn(&r->records, r->records.record.position,
                                 "object '%s' is corrupt in a sample; some of its values are missing",
                                 r->objects[i].object);
            }
        }
    }
    return S_OK;
}

/* Assigns columns to the catalog's counters, in the order of the catalog. `at` points to the sample's items. The items
   of objects define the objects' counters. NULL: there is no sample, so objects have no counters. */
static HRESULT make_columns(struct blg_reader *r, const uint8_t *at, const uint8_t *end)
{
    const bool find = r->base.counters.count != 0;
    size_t column = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->entry_count && SUCCEEDED(hr); i++) {
        struct entry *entry = &r->entries[i];
        struct item item = {0};
        const bool has_item = at && next_item(&at, end, &item);
        if ((entry->flags & BLG_ENTRY_OBJECT) != 0) {
            struct blg_object *object = &r->objects[entry->place];
            hr = S_OK;
            if (has_item && item.kind == BLG_KIND_OBJECT) {
                hr = blg_object_read(object, item.at + BLG_BLOCK_HEAD, item.size - BLG_BLOCK_HEAD);
                hr = hr == S_OK ? blg_object_columns(object, &r->names, &r->columns) : hr;
            }
            continue;
        }
        struct log_counter counter;
        hr = read_entry(r->catalog + entry->at, entry->size, &counter);
        if (hr == S_OK) {
            hr = r->base.counters.count < MAX_COUNTERS ? blg_columns_add(&r->columns, &counter, find, &column)
                                                       : error_set(NOT_A_LOG, "more than %d counters", MAX_COUNTERS);
            entry->place = column++;
            log_counter_free(&counter);
        }
    }
    r->has_columns = SUCCEEDED(hr);
    return r->has_columns ? S_OK : hr; /* S_FALSE only means that an entry is corrupt */
}

static HRESULT sample_is_cut(struct blg_reader *r, size_t items)
{
    blg_records_warn(&r->records, r->records.record.position, "skipped a sample: only %zu of its %zu items were found",
                     items, r->entry_count);
    return S_FALSE;
}

/* Checks that the sample has an item for each entry of the catalog, unless *whole is set. Sets *whole on success. */
static HRESULT check_items(struct blg_reader *r, const uint8_t *first, const uint8_t *end, bool *whole)
{
    struct item item;
    for (size_t i = 0; !*whole && i < r->entry_count; i++)
        if (!next_item(&first, end, &item))
            return sample_is_cut(r, i);
    *whole = true;
    return S_OK;
}

/* Reads the sample into the cells. S_FALSE: the sample is corrupt. */
static HRESULT read_sample(struct blg_reader *r)
{
    const uint8_t *at = r->records.record.data, *end = at + r->records.record.size;
    struct item item;
    if (!next_item(&at, end, &item) || item.kind != BLG_KIND_SAMPLE) {
        blg_records_warn(&r->records, r->records.record.position, "skipped a sample: it has no header");
        return S_FALSE;
    }
    end = at;
    at = r->records.record.data + BLG_BLOCK_HEAD;
    const uint8_t *const first = at;
    bool whole = false; /* the sample has all its items; until this is checked, only cells may be changed */
    HRESULT hr = S_OK;
    if (!r->has_columns) {
        hr = check_items(r, first, end, &whole);
        hr = hr == S_OK ? make_columns(r, at, end) : hr;
    }
    if (hr != S_OK)
        return hr;
    for (size_t i = 0; i < r->entry_count; i++) {
        const struct entry *entry = &r->entries[i];
        if (!next_item(&at, end, &item))
            return sample_is_cut(r, i); /* the cells are invalid, but the next sample replaces them */
        if ((entry->flags & (BLG_ENTRY_WILDCARD | BLG_ENTRY_OBJECT)) == 0 && item.kind == BLG_KIND_SINGLE &&
            item.size >= BLG_SINGLE_SIZE) {
            read_single(&r->columns.cells[entry->place], item.at);
            continue;
        }
        hr = check_items(r, first, end, &whole);
        hr = hr == S_OK ? read_item(r, entry, i, &item) : hr;
        if (hr != S_OK)
            return hr;
    }
    return r->object_count != 0 ? read_objects(r) : S_OK;
}

static int64_t sample_utc(struct blg_reader *r)
{
    r->last_utc = zone_to_utc(&etl_reader_log(r->records.etl)->zone, r->records.record.stamp, r->last_utc);
    return r->last_utc;
}

static void check_summary(struct blg_reader *r)
{
    if (r->records.record.size < 20) {
        blg_records_warn(&r->records, r->records.record.position, "the summary at the end is corrupt");
        return;
    }
    const uint32_t says = get_u32(r->records.record.data + 16);
    if (!r->jumped && says != r->samples) {
        blg_records_warn(&r->records, r->records.record.position, "the summary counts %u samples, but %llu were found",
                         (unsigned)says, (unsigned long long)r->samples);
    }
}

static void begin_reading(struct blg_reader *r)
{
    r->last_utc = INT64_MIN;
    r->samples = 0;
    r->pending = false;
}

static HRESULT go_to(struct blg_reader *r, int64_t stamp)
{
    begin_reading(r);
    r->jumped = r->catalog_seen = stamp != INT64_MIN;
    return blg_records_seek(&r->records, stamp);
}

/* Reads records until a sample is in the cells. S_FALSE: there are no more samples. */
static HRESULT find_sample(struct blg_reader *r, int64_t *utc)
{
    HRESULT hr;
    while ((hr = blg_records_next(&r->records)) == S_OK) {
        switch (r->records.record.type) {
        case BLG_RECORD_NAMES:
            if (!r->jumped && r->samples == 0) {
                hr = blg_names_add(&r->names, r->records.record.data, r->records.record.size);
                if (hr == S_FALSE) {
                    blg_records_warn(&r->records, r->records.record.position,
                                     "the name table is corrupt; some counters have numbers instead of names");
                }
            }
            break;
        case BLG_RECORD_CATALOG:
            hr = read_catalog(r);
            r->catalog_seen = true;
            /* In a circular log, the first record after the catalog can lack its beginning. */
            r->records.in_the_middle = (etl_reader_log(r->records.etl)->mode & ETL_MODE_CIRCULAR) != 0;
            break;
        case BLG_RECORD_SUMMARY:
            check_summary(r);
            break;
        case BLG_RECORD_SAMPLE:
            if (!r->catalog_seen) {
                blg_records_warn(&r->records, r->records.record.position,
                                 "skipped a sample before the catalog of counters");
                break;
            }
            if (memcmp(r->records.record.instance, r->instance, sizeof r->instance) != 0) {
                if (r->jumped) { /* the seek skipped the sample's catalog, so read from the beginning */
                    hr = go_to(r, INT64_MIN);
                    break;
                }
                blg_records_warn(&r->records, r->records.record.position,
                                 "skipped a sample: its catalog is not in the file");
                break;
            }
            *utc = sample_utc(r);
            if (*utc < r->skip_before) {
                r->samples++;
                break;
            }
            hr = read_sample(r);
            if (hr == S_OK) {
                r->samples++;
                return S_OK;
            }
            break;
        default:
            blg_records_warn(&r->records, r->records.record.position, "skipped a record of unknown type %u",
                             (unsigned)r->records.record.type);
            break;
        }
        if (FAILED(hr))
            return hr;
    }
    return hr;
}

static HRESULT blg_next(struct log_reader *base, int64_t *utc, const struct log_cell **cells)
{
    struct blg_reader *r = (struct blg_reader *)base;
    HRESULT hr = S_OK;
    if (r->pending) {
        *utc = r->pending_utc;
        r->pending = false;
    } else {
        hr = find_sample(r, utc);
        hr = FAILED(hr) ? error_prefix(hr, "%s", r->path) : hr;
    }
    *cells = r->columns.cells;
    return hr;
}

static HRESULT blg_seek(struct log_reader *base, int64_t utc)
{
    struct blg_reader *r = (struct blg_reader *)base;
    r->skip_before = utc;
    if (utc == INT64_MIN)
        return go_to(r, INT64_MIN);
    /* Local times can go back by an hour when the clocks change, so start two hours earlier and skip the earlier
       samples. */
    const int64_t local = zone_to_local(&etl_reader_log(r->records.etl)->zone, utc);
    return go_to(r, local < INT64_MIN + TWO_HOURS + 1 ? INT64_MIN + 1 : local - TWO_HOURS);
}

static void blg_progress(const struct log_reader *base, uint64_t *done, uint64_t *total)
{
    etl_reader_progress(((const struct blg_reader *)base)->records.etl, done, total);
}

static void blg_close(struct log_reader *base)
{
    struct blg_reader *r = (struct blg_reader *)base;
    blg_records_close(&r->records);
    blg_columns_free(&r->columns);
    blg_names_free(&r->names);
    for (size_t i = 0; i < r->object_count; i++)
        blg_object_free(&r->objects[i]);
    memory_free(r->objects);
    memory_free(r->entries);
    memory_free(r->catalog);
    memory_free(r->path);
    log_reader_free_base(base);
    memory_free(r);
}

static bool blg_recognises(const char *path, const uint8_t *head, size_t size)
{
    (void)path;
    struct etl_buffer_header h;
    if (!head || size < ETL_BUFFER_HEAD)
        return false;
    etl_buffer_header_read(head, &h);
    return h.type == ETL_TYPE_FILE_HEADER && h.size >= ETL_BUFFER_HEAD && h.size <= ETL_LARGEST_BUFFER &&
           h.used >= ETL_BUFFER_HEAD && h.used <= ETL_LARGEST_BUFFER;
}

static HRESULT fill_info(struct blg_reader *r, int64_t first_local)
{
    const struct etl_log *log = etl_reader_log(r->records.etl);
    const char *name = log->standard_name;
    const char *machine = r->base.counters.count != 0 ? r->base.counters.items[0].machine : NULL;
    r->base.info = (struct log_info){
        .format = LOG_BINARY,
        .zone = {.known = true,
                 .bias_minutes = (int)zone_bias_minutes(&log->zone, first_local, false),
                 /* A name such as "@tzres.dll,-212" is a resource, not a time zone. */
                 .name = name[0] && name[0] != '@' ? text_copy(name) : NULL},
        .machine = machine ? text_copy(machine) : NULL,
    };
    const bool ok = (r->base.info.machine != NULL) == (machine != NULL) &&
                    (r->base.info.zone.name != NULL) == (name[0] && name[0] != '@');
    return ok ? S_OK : error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", r->path);
}

static HRESULT blg_open(const char *path, struct log_reader **out)
{
    struct blg_reader *r = memory_zero(1, sizeof *r);
    if (!r || !(r->path = text_copy(path))) {
        memory_free(r);
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path);
    }
    r->base.functions = &log_binary_reader;
    r->columns.counters = &r->base.counters;
    r->last_utc = r->skip_before = INT64_MIN;
    r->records.warn = blg_reader_add_warning;
    r->records.context = r;
    HRESULT hr = etl_reader_open(path, blg_reader_add_warning, r, &r->records.etl);
    if (SUCCEEDED(hr)) {
        hr = find_sample(r, &r->pending_utc);
        hr = FAILED(hr) ? error_prefix(hr, "%s", path) : hr;
        r->pending = hr == S_OK;
    }
    if (SUCCEEDED(hr) && r->catalog_size == 0) {
        hr = r->records.kernel
                 ? error_set(NOT_A_LOG, "cannot open '%s': not a log of performance counters, but an event trace", path)
                 : error_set(NOT_A_LOG, "cannot open '%s': it has no catalog of counters%s%s", path,
                             r->base.warnings.count != 0 ? "; " : "",
                             r->base.warnings.count != 0 ? r->base.warnings.items[0] : "");
    }
    if (SUCCEEDED(hr) && !r->has_columns)
        hr = make_columns(r, NULL, NULL);
    if (SUCCEEDED(hr))
        hr = fill_info(r, r->pending ? r->records.record.stamp : etl_reader_log(r->records.etl)->start_utc);
    if (FAILED(hr)) {
        blg_close(&r->base);
        return hr;
    }
    *out = &r->base;
    return S_OK;
}

bool blg_reader_origin(const struct log_reader *reader, struct blg_origin *out)
{
    if (reader->functions != &log_binary_reader)
        return false;
    const struct blg_reader *r = (const struct blg_reader *)reader;
    const struct etl_log *log = etl_reader_log(r->records.etl);
    *out = (struct blg_origin){
        .log = log, .process = log->process, .bias_minutes = (int32_t)reader->info.zone.bias_minutes};
    memcpy(out->instance, r->instance, sizeof out->instance);
    return true;
}

const struct log_reader_functions log_binary_reader = {
    .recognises = blg_recognises,
    .open = blg_open,
    .next = blg_next,
    .seek = blg_seek,
    .progress = blg_progress,
    .close = blg_close,
};
