/* SPDX-License-Identifier: MIT */
/* Performance logs in the binary format (.blg): PDH records in an .etl container (etl_file.c).

   Written as Windows 8 and later write a log of counters: a catalog record (type 32) first, then one sample record
   (type 34) per sample, each cut into events of at most 8000 bytes. Stamps are local FILETIMES of whole milliseconds,
   the catalog's 1 us before the first sample's; container times are UTC. What the format leaves open, decided here:
   - A counter without a value is an ordinary item with its PDH_CSTATUS and zeros as given.
   - An item of a wildcard counter has its MultiCount only when it is above 1; PDH writes 0 for ordinary counters.
   - log_options.comment has no place in the file.
   - Append continues a file whose catalog is the same to the byte, under its instance GUID. Other counters are
     E_INVALIDARG, a file that is no such log HRESULT_FROM_WIN32(ERROR_INVALID_DATA); an empty file is begun anew.
   - A record that a crash cut between its parts stays incomplete; readers drop a record when the next one begins.
   Samples stay in memory until a flush, or until the next one needs a new buffer. One that the disk has no room for
   is counted in the header's EventsLost. */
#include "engine/log/log_formats.h"

#include <string.h>

#include "engine/log/etl_file.h"
#include "engine/log/little_endian.h"
#include "engine/log/local_time.h"
#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"

/* Class type of a record's events, and the kinds of 'B','L' blocks inside. */
enum { RECORD_NAMES = 36, RECORD_CATALOG = 32, RECORD_SAMPLE = 34, CLASS_VERSION = 60 };
enum { KIND_SAMPLE = 0x0003, KIND_SINGLE = 0x0103, KIND_WILDCARD = 0x0203, BLOCK_HEAD = 8 };
enum { CATALOG_HEAD = 8, ENTRY_HEAD = 0x34, ENTRY_WILDCARD = 1 };
enum { SINGLE_SIZE = 0x30, WILDCARD_HEAD = 0x18, WILDCARD_ITEM = 0x18 };
enum { EVENT_HEAD = 0x30, PART_HEAD = EVENT_HEAD + 24, MAX_PART = 8000, EVENT_CLASSIC_64 = 0x14, EVENT_MARKERS = 0xC0 };
enum { MAX_RECORD = 0x40000000, TICKS_PER_MS = 10000, CATALOG_BEFORE_SAMPLE = 10 };

/* SEQUENTIAL, PRIVATE_LOGGER, PRIVATE_IN_PROC, NO_PER_PROCESSOR_BUFFERING, BLOCKING, as PDH's own logger has it. */
#define PDH_LOG_FILE_MODE 0x30020801u
#define WNODE_FLAGS       0x001A0200u /* what a private logger leaves where the user time would be */

/* {933f3bb3-943e-490d-9ced-3cbb14c14479} as it lies in the file. */
static const uint8_t pdh_class[16] = {0xb3, 0x3b, 0x3f, 0x93, 0x3e, 0x94, 0x0d, 0x49,
                                      0x9c, 0xed, 0x3c, 0xbb, 0x14, 0xc1, 0x44, 0x79};

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct blg_log {
    struct log_writer base;
    struct etl_file *file;
    uint64_t max_bytes;
    struct local_time zone;
    uint32_t process;
    uint8_t instance[16]; /* GUID of the log, in every event */
    bool sampled;         /* the catalog has its final stamp */
    size_t counters;
    bool *wildcards;          /* per counter */
    struct bytes catalog;     /* the catalog record */
    struct bytes record;      /* the sample record in work */
    struct etl_event *events; /* a record cut into events */
    size_t event_capacity;
};

static void free_log(struct blg_log *log)
{
    memory_free(log->wildcards);
    memory_free(log->catalog.data);
    memory_free(log->record.data);
    memory_free(log->events);
    memory_free(log);
}

/* Makes the size `size`; new bytes are undefined. */
static HRESULT set_size(struct bytes *b, size_t size)
{
    if (size > MAX_RECORD) {
        return error_set(E_INVALIDARG, "a record of %zu bytes is too long for a binary log", size);
    }
    void *data = b->data;
    if (!memory_grow(&data, &b->capacity, size, 1)) {
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", size);
    }
    b->data = data;
    b->size = size;
    return S_OK;
}

static size_t round_up_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Bytes of a name in the file, with its NUL. */
static size_t name_size(const char *name)
{
    return (text_utf16_length(name) + 1) * 2;
}

/* Writes a name of name_size bytes. */
static HRESULT put_name(uint8_t *at, const char *name, size_t size)
{
    size_t i = 0;
    for (; (unsigned char)name[i] - 1u < 0x7F; i++) { /* ASCII, not the end: nearly every name */
        put_u16(at + 2 * i, (unsigned char)name[i]);
    }
    if (name[i] == '\0') {
        put_u16(at + 2 * i, 0);
        return S_OK;
    }
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name, &wide, &units);
    if (FAILED(hr)) {
        return hr;
    }
    if ((units + 1) * 2 != size) {
        hr = error_set(E_INVALIDARG, "instance or counter name %s: malformed text", name);
    } else {
        for (i = 0; i <= units; i++) {
            put_u16(at + 2 * i, wide[i]);
        }
    }
    memory_free(wide);
    return hr;
}

static HRESULT add_catalog_entry(struct bytes *catalog, const struct log_counter *c)
{
    enum { NAMES = 5 };
    const char *names[NAMES] = {c->machine, c->object, c->wildcard ? "*" : c->instance, c->parent, c->counter};
    static const uint8_t places[NAMES] = {0x1C, 0x20, 0x24, 0x28, 0x30}; /* of the names' offsets in the entry */
    size_t sizes[NAMES] = {0}, begin = catalog->size, size = ENTRY_HEAD;
    for (int i = 0; i < NAMES; i++) {
        sizes[i] = names[i] != NULL ? name_size(names[i]) : 0;
        size += sizes[i];
    }
    HRESULT hr = set_size(catalog, begin + round_up_8(size));
    if (FAILED(hr)) {
        return hr;
    }
    uint8_t *entry = catalog->data + begin;
    memset(entry, 0, round_up_8(size));
    put_u32(entry, (uint32_t)round_up_8(size));
    put_u32(entry + 0x04, c->wildcard ? ENTRY_WILDCARD : 0);
    put_u32(entry + 0x0C, c->type);
    put_u64(entry + 0x10, (uint64_t)c->time_base);
    put_u32(entry + 0x18, (uint32_t)c->default_scale);
    put_u32(entry + 0x2C, c->index);
    uint32_t offset = 0;
    for (int i = 0; i < NAMES && SUCCEEDED(hr); i++) {
        put_u32(entry + places[i], names[i] != NULL ? offset : UINT32_MAX);
        if (names[i] != NULL) {
            hr = put_name(entry + ENTRY_HEAD + offset, names[i], sizes[i]);
            offset += (uint32_t)sizes[i];
        }
    }
    return hr;
}

static HRESULT build_catalog(struct bytes *catalog, const struct log_counter *counters, size_t count)
{
    HRESULT hr = set_size(catalog, CATALOG_HEAD);
    if (SUCCEEDED(hr)) {
        put_u32(catalog->data, 0x000006FF); /* constants of every file seen; 8 is PDH's number of the format */
        put_u32(catalog->data + 4, 0x00020008);
    }
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        hr = add_catalog_entry(catalog, &counters[i]);
    }
    return hr;
}

/* Cuts a record into log->events. The events borrow the record. */
static HRESULT cut_into_events(struct blg_log *log, uint8_t type, int64_t stamp, const struct bytes *record,
                               size_t *count)
{
    size_t parts = record->size == 0 ? 1 : (record->size + MAX_PART - 1) / MAX_PART;
    void *events = log->events;
    if (!memory_grow(&events, &log->event_capacity, parts, sizeof *log->events)) {
        return error_set(E_OUTOFMEMORY, "out of memory for a log record of %zu bytes", record->size);
    }
    log->events = events;
    for (size_t i = 0; i < parts; i++) {
        struct etl_event *event = &log->events[i];
        size_t size = record->size - i * MAX_PART;
        event->data_size = (uint32_t)(size < MAX_PART ? size : MAX_PART);
        event->data = record->data + i * MAX_PART;
        event->head_size = PART_HEAD;
        uint8_t *head = event->head;
        memset(head, 0, PART_HEAD);
        put_u16(head, (uint16_t)(PART_HEAD + event->data_size));
        head[0x02] = EVENT_CLASSIC_64;
        head[0x03] = EVENT_MARKERS;
        head[0x04] = type;
        put_u16(head + 0x06, CLASS_VERSION);
        put_u32(head + 0x0C, log->process);
        put_u64(head + 0x10, (uint64_t)stamp);
        memcpy(head + 0x18, pdh_class, sizeof pdh_class);
        put_u32(head + 0x2C, WNODE_FLAGS);
        memcpy(head + EVENT_HEAD, log->instance, sizeof log->instance);
        put_u32(head + EVENT_HEAD + 16, (uint32_t)(i + 1));
        put_u32(head + EVENT_HEAD + 20, (uint32_t)parts);
    }
    *count = parts;
    return S_OK;
}

static void put_block_head(uint8_t *at, uint16_t kind, size_t size)
{
    at[0] = 'B';
    at[1] = 'L';
    put_u16(at + 2, kind);
    put_u32(at + 4, (uint32_t)size);
}

static uint8_t *put_single(uint8_t *at, int64_t stamp, const struct log_raw *raw)
{
    put_block_head(at, KIND_SINGLE, SINGLE_SIZE);
    put_u32(at + 0x08, raw->status);
    put_u64(at + 0x0C, (uint64_t)stamp);
    put_u32(at + 0x14, 0);
    put_u64(at + 0x18, (uint64_t)raw->first);
    put_u64(at + 0x20, (uint64_t)raw->second);
    put_u32(at + 0x28, raw->multi_count);
    put_u32(at + 0x2C, 0);
    return at + SINGLE_SIZE;
}

static size_t wildcard_size(const struct log_cell *cell)
{
    size_t size = BLOCK_HEAD + WILDCARD_HEAD;
    for (size_t i = 0; i < cell->item_count; i++) {
        size += WILDCARD_ITEM + round_up_8(name_size(cell->items[i].instance));
    }
    return size;
}

static HRESULT put_wildcard(uint8_t **at, int64_t stamp, const struct log_cell *cell)
{
    size_t size = wildcard_size(cell);
    uint8_t *block = *at + BLOCK_HEAD; /* name offsets count from here */
    put_block_head(*at, KIND_WILDCARD, size);
    put_u32(block, (uint32_t)(size - BLOCK_HEAD));
    put_u32(block + 0x04, (uint32_t)cell->item_count);
    put_u32(block + 0x08, cell->raw.status);
    put_u32(block + 0x0C, 0);
    put_u64(block + 0x10, (uint64_t)stamp);
    size_t name = WILDCARD_HEAD + cell->item_count * WILDCARD_ITEM;
    uint8_t *item = block + WILDCARD_HEAD;
    for (size_t i = 0; i < cell->item_count; i++, item += WILDCARD_ITEM) {
        const struct log_raw *raw = &cell->items[i].raw;
        put_u32(item, (uint32_t)name);
        put_u32(item + 0x04, raw->multi_count > 1 ? raw->multi_count : 0);
        put_u64(item + 0x08, (uint64_t)raw->first);
        put_u64(item + 0x10, (uint64_t)raw->second);
        size_t bytes = name_size(cell->items[i].instance);
        HRESULT hr = put_name(block + name, cell->items[i].instance, bytes);
        if (FAILED(hr)) {
            return hr;
        }
        name += bytes;
    }
    /* Room is kept for each name rounded up to 8, but the names themselves are packed. */
    memset(block + name, 0, size - BLOCK_HEAD - name);
    *at += size;
    return S_OK;
}

static HRESULT build_sample(struct blg_log *log, int64_t stamp, const struct log_cell *cells)
{
    size_t size = BLOCK_HEAD;
    for (size_t i = 0; i < log->counters; i++) {
        size += log->wildcards[i] ? wildcard_size(&cells[i]) : (size_t)SINGLE_SIZE;
    }
    HRESULT hr = set_size(&log->record, size);
    if (FAILED(hr)) {
        return hr;
    }
    put_block_head(log->record.data, KIND_SAMPLE, size);
    uint8_t *at = log->record.data + BLOCK_HEAD;
    for (size_t i = 0; i < log->counters && SUCCEEDED(hr); i++) {
        if (log->wildcards[i]) {
            hr = put_wildcard(&at, stamp, &cells[i]);
        } else {
            at = put_single(at, stamp, &cells[i].raw);
        }
    }
    return hr;
}

static int64_t record_stamp(struct blg_log *log, int64_t utc)
{
    int64_t local = local_time(&log->zone, utc);
    return local - local % TICKS_PER_MS;
}

static HRESULT blg_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    struct blg_log *log = (struct blg_log *)w;
    const int64_t stamp = record_stamp(log, utc);
    size_t count = 0;
    HRESULT hr = build_sample(log, stamp, cells);
    if (SUCCEEDED(hr) && !log->sampled) {
        hr = cut_into_events(log, RECORD_CATALOG, stamp, &log->catalog, &count);
        if (SUCCEEDED(hr)) {
            hr = etl_file_restamp(log->file, log->events, count, stamp - CATALOG_BEFORE_SAMPLE);
            if (FAILED(hr)) {
                etl_file_count_lost(log->file, 1);
            }
        }
    }
    if (SUCCEEDED(hr)) {
        hr = cut_into_events(log, RECORD_SAMPLE, stamp, &log->record, &count);
    }
    if (FAILED(hr)) {
        return hr;
    }
    if (log->max_bytes != 0 && etl_file_size_with(log->file, log->events, count) > log->max_bytes) {
        return S_FALSE;
    }
    hr = etl_file_add(log->file, utc, log->events, count);
    if (FAILED(hr)) {
        etl_file_count_lost(log->file, count);
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

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3u; /* FNV-1a */
    }
    return hash;
}

/* A GUID no other log has: nothing secret, so the moment, the process and the path are enough to make it from. */
static HRESULT make_instance(uint8_t instance[16], const char *path, uint32_t process)
{
    char *seed = text_format("%lld %lld %u %p %s", (long long)clock_utc(), (long long)clock_ticks(), (unsigned)process,
                             (void *)instance, path);
    if (seed == NULL) {
        return error_set(E_OUTOFMEMORY, "%s: out of memory for its GUID", path);
    }
    uint64_t hash = 0xcbf29ce484222325u;
    for (int half = 0; half < 2; half++) {
        hash = hash_bytes(hash, seed, strlen(seed));
        put_u64(instance + 8 * half, hash ^ hash >> 32); /* FNV's upper bits are the well mixed ones */
    }
    memory_free(seed);
    instance[7] = (uint8_t)((instance[7] & 0x0F) | 0x40); /* version 4, variant 1 of RFC 4122 */
    instance[8] = (uint8_t)((instance[8] & 0x3F) | 0x80);
    return S_OK;
}

static HRESULT start_file(struct blg_log *log, const char *path, int64_t start_utc, bool replace)
{
    HRESULT hr = make_instance(log->instance, path, log->process);
    if (FAILED(hr)) {
        return hr;
    }
    const uint8_t *g = log->instance;
    char *name = text_format("%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", (unsigned)get_u32(g), get_u16(g + 4),
                             get_u16(g + 6), g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
    if (name == NULL) {
        return error_set(E_OUTOFMEMORY, "%s: out of memory for its header", path);
    }
    const struct etl_header header = {
        .logger_name = name,
        .file_name = path,
        .log_file_mode = PDH_LOG_FILE_MODE,
        .processors = 1,
        .clock = ETL_CLOCK_SYSTEM,
        .version_major = 6, /* of the Windows whose records these are */
        .version_minor = 2,
        .build = 9200,
        .private_logger = true,
        .process = log->process,
        .start_utc = start_utc,
        .start_stamp = start_utc,
        .boot_utc = clock_boot_utc(),
        .frequency = clock_frequency(),
    };
    hr = etl_file_create(path, replace, &header, &log->file);
    memory_free(name);
    if (FAILED(hr)) {
        return hr;
    }
    size_t count = 0;
    hr = cut_into_events(log, RECORD_CATALOG, record_stamp(log, start_utc) - CATALOG_BEFORE_SAMPLE, &log->catalog,
                         &count);
    if (SUCCEEDED(hr)) {
        hr = etl_file_add(log->file, start_utc, log->events, count);
    }
    if (SUCCEEDED(hr)) {
        hr = etl_file_flush(log->file);
    }
    if (FAILED(hr)) {
        (void)etl_file_close(log->file);
        (void)file_delete(path);
    }
    return hr;
}

static HRESULT not_a_log(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: has no catalog of counters to append samples to",
                     path);
}

/* Walks the events of one buffer. *done counts the catalog's bytes that agreed; S_FALSE: the catalog is complete. */
static HRESULT compare_buffer(struct blg_log *log, const char *path, const uint8_t *buffer, size_t *done)
{
    uint32_t used = etl_buffer_used(buffer), offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    while (etl_buffer_event(buffer, used, &offset, &event, &size)) {
        if (size < PART_HEAD || event[2] != EVENT_CLASSIC_64 ||
            memcmp(event + 0x18, pdh_class, sizeof pdh_class) != 0) {
            return not_a_log(path);
        }
        if (event[4] == RECORD_NAMES) {
            continue;
        }
        const uint32_t part = get_u32(event + EVENT_HEAD + 16), parts = get_u32(event + EVENT_HEAD + 20);
        const size_t chunk = size - PART_HEAD;
        if (event[4] != RECORD_CATALOG || part != *done / MAX_PART + 1 || part > parts) {
            return not_a_log(path);
        }
        if (chunk > log->catalog.size - *done || memcmp(event + PART_HEAD, log->catalog.data + *done, chunk) != 0) {
            return error_set(E_INVALIDARG, "%s: logs other counters than the %zu to be appended", path, log->counters);
        }
        memcpy(log->instance, event + EVENT_HEAD, sizeof log->instance);
        *done += chunk;
        if (part == parts) {
            return *done == log->catalog.size
                       ? S_FALSE
                       : error_set(E_INVALIDARG, "%s: logs fewer counters than the %zu to be appended", path,
                                   log->counters);
        }
    }
    return offset == used ? S_OK : not_a_log(path);
}

/* Is the file's catalog ours? */
static HRESULT compare_catalog(struct blg_log *log, const char *path, struct file *file)
{
    uint8_t *buffer = memory_alloc(ETL_BUFFER_SIZE);
    if (buffer == NULL) {
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a buffer to read", path);
    }
    HRESULT hr = S_OK;
    size_t done = 0;
    for (uint64_t i = 1; hr == S_OK; i++) {
        size_t got;
        hr = file_read_at(file, i * ETL_BUFFER_SIZE, buffer, ETL_BUFFER_SIZE, &got);
        if (SUCCEEDED(hr)) {
            hr = got == ETL_BUFFER_SIZE ? compare_buffer(log, path, buffer, &done) : not_a_log(path);
        }
    }
    memory_free(buffer);
    return FAILED(hr) ? hr : S_OK;
}

/* Continues the file at path, or begins it when there is none. */
static HRESULT continue_file(struct blg_log *log, const char *path, int64_t start_utc)
{
    struct file *file;
    uint64_t bytes;
    HRESULT hr = file_open(path, FILE_READ, &file);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) {
        return start_file(log, path, start_utc, false);
    }
    if (FAILED(hr)) {
        return hr;
    }
    hr = file_size(file, &bytes);
    if (SUCCEEDED(hr) && bytes != 0) {
        hr = compare_catalog(log, path, file);
    }
    file_close(file);
    if (FAILED(hr)) {
        return hr;
    }
    if (bytes == 0) {
        return start_file(log, path, start_utc, true);
    }
    log->sampled = true;
    return etl_file_open(path, &log->file);
}

static HRESULT blg_create(const char *path, const struct log_counter *counters, size_t count, int64_t start_utc,
                          const struct log_options *options, struct log_writer **out)
{
    struct blg_log *log = memory_zero(1, sizeof *log);
    bool *wildcards = memory_zero(count, sizeof *wildcards);
    if (log == NULL || wildcards == NULL) {
        memory_free(log);
        memory_free(wildcards);
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a log of %zu counters", path, count);
    }
    log->base.functions = &log_binary_functions;
    log->max_bytes = options->max_bytes;
    log->process = process_own_id();
    log->counters = count;
    log->wildcards = wildcards;
    for (size_t i = 0; i < count; i++) {
        wildcards[i] = counters[i].wildcard;
    }
    HRESULT hr = build_catalog(&log->catalog, counters, count);
    if (SUCCEEDED(hr)) {
        hr = options->append ? continue_file(log, path, start_utc) : start_file(log, path, start_utc, false);
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
