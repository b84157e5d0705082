/* SPDX-License-Identifier: MIT */
/* Writes .evtx files, the event log's format: records, chunks and the header.

   The problem. An event is written as an XML tree. The file format splits the tree into a template (here: shape), which
   is the same for all events of a kind, and the values that differ. Chunks of 64 KB must be readable independently, so
   each chunk contains one copy of every shape and name that its records use. When a stream is written, neither the
   number of events nor the shapes that they need are known in advance.

   A file is a header of 4096 bytes followed by chunks:

       chunk:  0      header "ElfChnk": first and last record number, twice; end of data; checksums
               128    64 lists of names, by hash     u32 offset of the first, 0: empty
               384    32 lists of shapes, by hash    u32 offset of the first, 0: empty
               512    records, one after another; the rest is zero

       record: u32 0x2A2A  u32 size  u64 number  FILETIME
               fragment header  0x0C  template id  offset of the shape
               [the shape itself, at its first use in the chunk]
               u32 count  {u16 size, u8 type, u8 0} per value  the values  0  padding to 8  u32 size again

       shape:  u32 offset of the next in the list  GUID  u32 size  binary XML
       name:   u32 offset of the next in the list  u16 hash  u16 characters  UTF-16 NUL

   All offsets count from the start of the chunk. Binary XML refers to a name by its offset; a name, like a shape, is
   written in the middle of the record that first uses it.

   From event to record. event_dump_evtx.c describes an event as steps (enum evtx_step) in r->shape and values in
   r->items and r->values. Equal steps mean an equal shape, so r->shape is the key: find_shape compares r->shape with
   the shapes of the chunk (w->known, whose steps are in w->shapes). The GUID is a hash of the steps, so a shape has the
   same GUID in all chunks and files.

   A record that does not fit. try_record writes into the chunk and notices at the end that the chunk is full.
   try_record then restores the position, the lists and the known shapes, so that the chunk is as before; names and
   shapes that the record added are in the part that is zeroed again. evtx_writer_add then completes the chunk and tries
   again in an empty one. For a record that does not fit into an empty chunk, evtx_writer_add returns S_FALSE, and the
   dump writes a shortened record. The last 8 bytes of a chunk stay unused because libevtx skips a record that ends with
   the chunk.

   Half-written files. Output is a stream of complete chunks. The header is written twice. At the start, it has the flag
   "dirty" and no chunks. At the end, the final header overwrites it. After a crash, the header has the flag "dirty" and
   a count of 0. Readers that recover such logs find the complete chunks by their signatures and checksums. The chunk
   that was being filled is lost. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/logs/little_endian.h"

#include <string.h>

void evtx_record_clear(struct evtx_record *r)
{
    r->shape.size = r->values.size = r->items.size = 0;
    r->depth = 0;
    r->longest = 0;
    r->too_long = false;
}

void evtx_record_free(struct evtx_record *r)
{
    memory_free(r->shape.bytes);
    memory_free(r->values.bytes);
    memory_free(r->items.bytes);
    *r = (struct evtx_record){0};
}

struct evtx_place evtx_record_place(const struct evtx_record *r)
{
    return (struct evtx_place){r->shape.size, r->values.size, r->items.size, r->depth, r->too_long};
}

void evtx_record_back(struct evtx_record *r, const struct evtx_place *place)
{
    r->shape.size = place->shape;
    r->values.size = place->values;
    r->items.size = place->items;
    r->depth = place->depth;
    r->too_long = place->too_long;
}

void evtx_record_fail(struct evtx_record *r, HRESULT hr)
{
    if (SUCCEEDED(r->hr))
        r->hr = hr;
}

static void record_check(struct evtx_record *r, HRESULT hr)
{
    if (SUCCEEDED(hr) && (r->shape.failed || r->values.failed || r->items.failed))
        hr = error_set(E_OUTOFMEMORY, "cannot write an event log record: out of memory");
    if (FAILED(hr))
        evtx_record_fail(r, hr);
}

/* Returns how many bytes of the UTF-8 text to write: all, or at most r->longest, without cutting a character. */
static size_t text_cut_size(const struct evtx_record *r, const char *text)
{
    size_t size = strlen(text);
    if (r->longest && size > r->longest)
        for (size = r->longest; size && ((unsigned char)text[size] & 0xC0) == 0x80; size--)
            ;
    return size;
}

static void shape_add_step(struct evtx_record *r, enum evtx_step step, const char *text)
{
    const size_t size = text ? text_cut_size(r, text) : 0;
    uint8_t *to = byte_buffer_add(&r->shape, text ? size + 2 : 1);
    if (to) {
        *to = (uint8_t)step;
        if (text)
            memcpy(to + 1, text, size);
    }
    /* The format has a 16-bit count of UTF-16 units. Checking the number of UTF-8 bytes is stricter, but sufficient: no
       event needs a longer string. */
    r->too_long |= size > UINT16_MAX;
    record_check(r, S_OK);
}

void evtx_begin(struct evtx_record *r, const char *element)
{
    if (r->depth++ < EVTX_DEPTH)
        shape_add_step(r, EVTX_BEGIN, element);
}

void evtx_end(struct evtx_record *r)
{
    if (--r->depth < EVTX_DEPTH)
        shape_add_step(r, EVTX_END, NULL);
}

void evtx_attribute(struct evtx_record *r, const char *name, const char *text)
{
    if (r->depth > EVTX_DEPTH)
        return;
    shape_add_step(r, EVTX_ATTRIBUTE, name);
    shape_add_step(r, EVTX_CONSTANT, text);
}

void evtx_attribute_value(struct evtx_record *r, const char *name, enum evtx_type type, const void *bytes, size_t size)
{
    if (r->depth > EVTX_DEPTH)
        return;
    shape_add_step(r, EVTX_ATTRIBUTE, name);
    evtx_value(r, type, bytes, size);
}

void evtx_constant(struct evtx_record *r, const char *text)
{
    if (*text)
        shape_add_step(r, EVTX_CONSTANT, text);
}

/* Adds a value's size and type. The caller adds the value's bytes before or after this call. */
static bool value_declare(struct evtx_record *r, enum evtx_type type, size_t size)
{
    if (size > UINT16_MAX || r->items.size / 4 >= UINT16_MAX) {
        r->too_long = true;
        return false;
    }
    byte_buffer_u8(&r->shape, EVTX_VALUE);
    byte_buffer_u8(&r->shape, (uint8_t)type);
    byte_buffer_u16(&r->items, (uint16_t)size);
    byte_buffer_u16(&r->items, (uint16_t)type);
    return true;
}

void evtx_value(struct evtx_record *r, enum evtx_type type, const void *bytes, size_t size)
{
    uint8_t *to = value_declare(r, type, size) ? byte_buffer_add(&r->values, size) : NULL;
    if (to && size)
        memcpy(to, bytes, size);
    record_check(r, S_OK);
}

HRESULT evtx_add_units(struct byte_buffer *to, const char *text)
{
    WCHAR *wide;
    size_t units;
    const HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    uint8_t *at = byte_buffer_add(to, 2 * units);
    for (size_t i = 0; at && i < units; i++) {
        const bool held = wide[i] >= ' ' ? wide[i] < 0xFFFE : wide[i] == '\t' || wide[i] == '\n' || wide[i] == '\r';
        put_u16(at + 2 * i, held ? (uint16_t)wide[i] : 0xFFFD);
    }
    memory_free(wide);
    return at ? S_OK : E_OUTOFMEMORY;
}

void evtx_value_text(struct evtx_record *r, const char *text)
{
    const size_t from = r->values.size, size = text_cut_size(r, text);
    char *part = r->longest ? text_copy_n(text, size) : NULL;
    const HRESULT hr = r->longest && !part ? E_OUTOFMEMORY : evtx_add_units(&r->values, part ? part : text);
    memory_free(part);
    record_check(r, hr);
    if (SUCCEEDED(r->hr) && !value_declare(r, EVTX_TEXT, r->values.size - from))
        r->values.size = from;
    record_check(r, S_OK);
}

void evtx_attribute_text(struct evtx_record *r, const char *name, const char *text)
{
    if (r->depth > EVTX_DEPTH)
        return;
    shape_add_step(r, EVTX_ATTRIBUTE, name);
    evtx_value_text(r, text);
}

void evtx_element(struct evtx_record *r, const char *element, const char *text)
{
    if (!text)
        return;
    evtx_begin(r, element);
    evtx_constant(r, text);
    evtx_end(r);
}

void evtx_element_value(struct evtx_record *r, const char *element, enum evtx_type type, const void *bytes, size_t size)
{
    evtx_begin(r, element);
    evtx_value(r, type, bytes, size);
    evtx_end(r);
}

enum {
    HEADER_SIZE = 128,   /* sizes of the headers of file and chunk */
    CHECKED_BYTES = 120, /* bytes of the header covered by its checksum */
    NAME_LISTS = 128,
    NAME_LIST_COUNT = 64,
    SHAPE_LISTS = NAME_LISTS + 4 * NAME_LIST_COUNT,
    SHAPE_LIST_COUNT = 32,
    RECORDS = SHAPE_LISTS + 4 * SHAPE_LIST_COUNT,
    RECORD_HEADER = 24,
    SHAPE_HEADER = 24,
    NAME_HEADER = 8,
    MORE = 0x40,
    /* libevtx skips the last record of a chunk that has no free byte */
    MOST_FREE_AT = EVTX_CHUNK_BYTES - 8,
};

/* A shape that the chunk contains, and its steps. */
struct shape {
    uint64_t hash;
    size_t from, size; /* position of the shape's steps in `shapes` */
    uint32_t at;
};

struct evtx_writer {
    uint8_t chunk[EVTX_CHUNK_BYTES];
    size_t at, last; /* position of the next record; position of the last record written */
    bool full;       /* a part of the record did not fit */
    uint64_t next, first;
    unsigned chunks, most_chunks;
    struct shape *known;
    size_t count, capacity;
    struct byte_buffer shapes, units;
    uint32_t sums[256];
};

/* ---- checksums: CRC-32 as in zlib ---- */

static void make_sums(uint32_t sums[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
        sums[i] = sum;
    }
}

static uint32_t add_sum(const struct evtx_writer *w, uint32_t sum, const uint8_t *bytes, size_t size)
{
    sum = ~sum;
    for (size_t i = 0; i < size; i++)
        sum = sum >> 8 ^ w->sums[(sum ^ bytes[i]) & 0xFF];
    return ~sum;
}

/* ---- the chunk's bytes ---- */

static uint8_t *chunk_take(struct evtx_writer *w, size_t size)
{
    if (w->full || size > MOST_FREE_AT - w->at) {
        w->full = true;
        return NULL;
    }
    w->at += size;
    return w->chunk + w->at - size;
}

static void put(struct evtx_writer *w, const void *bytes, size_t size)
{
    uint8_t *to = chunk_take(w, size);
    if (to && size)
        memcpy(to, bytes, size);
}

static void byte(struct evtx_writer *w, unsigned value)
{
    const uint8_t b = (uint8_t)value;
    put(w, &b, 1);
}

static void two(struct evtx_writer *w, size_t value)
{
    uint8_t b[2];
    put_u16(b, (uint16_t)value);
    put(w, b, sizeof b);
}

static void four(struct evtx_writer *w, size_t value)
{
    uint8_t b[4];
    put_u32(b, (uint32_t)value);
    put(w, b, sizeof b);
}

/* Sets the size field at `at` to the number of bytes that follow it. */
static void set_size(struct evtx_writer *w, size_t at)
{
    if (!w->full)
        put_u32(w->chunk + at, (uint32_t)(w->at - at - 4));
}

static void empty_chunk(struct evtx_writer *w)
{
    memset(w->chunk, 0, sizeof w->chunk);
    w->at = RECORDS;
    w->last = 0;
    w->first = w->next;
    w->count = 0;
    w->shapes.size = 0;
}

/* ---- shapes ---- */

static HRESULT to_units(struct evtx_writer *w, const char *text)
{
    w->units.size = 0;
    return evtx_add_units(&w->units, text);
}

/* Writes the length of a token's text, and the text. */
static HRESULT put_text(struct evtx_writer *w, const char *text)
{
    const HRESULT hr = to_units(w, text);
    if (FAILED(hr))
        return hr;
    byte(w, 0x05);
    byte(w, EVTX_TEXT);
    two(w, w->units.size / 2);
    put(w, w->units.bytes, w->units.size);
    return S_OK;
}

/* Writes a name's offset, and the name if the chunk does not contain it yet. Names with the same hash form a list. */
static HRESULT put_name(struct evtx_writer *w, const char *name)
{
    const HRESULT hr = to_units(w, name);
    if (FAILED(hr))
        return hr;
    const size_t size = w->units.size;
    uint16_t hash = 0;
    for (size_t i = 0; i < size; i += 2)
        hash = (uint16_t)(hash * 65599u + get_u16(w->units.bytes + i));
    uint8_t *list = w->chunk + NAME_LISTS + 4 * (hash % NAME_LIST_COUNT);
    for (uint32_t at = get_u32(list); at; at = get_u32(w->chunk + at))
        if (get_u16(w->chunk + at + 6) == size / 2 && memcmp(w->chunk + at + NAME_HEADER, w->units.bytes, size) == 0) {
            four(w, at);
            return S_OK;
        }
    four(w, w->at + 4);
    uint8_t *to = chunk_take(w, NAME_HEADER + size + 2);
    if (!to)
        return S_OK;
    put_u32(to, get_u32(list));
    put_u16(to + 4, hash);
    put_u16(to + 6, (uint16_t)(size / 2));
    memcpy(to + NAME_HEADER, w->units.bytes, size);
    put_u16(to + NAME_HEADER + size, 0);
    put_u32(list, (uint32_t)(to - w->chunk));
    return S_OK;
}

static const uint8_t *behind_text(const uint8_t *text)
{
    return text + strlen((const char *)text) + 1;
}

/* The elements of the shape that is being written. */
struct open_elements {
    size_t sizes[EVTX_DEPTH];
    unsigned depth;
    size_t attributes; /* position of the size field of the attributes; 0: no attributes */
    bool start;        /* the start tag is not closed yet */
};

static void close_start(struct evtx_writer *w, struct open_elements *o, unsigned token)
{
    if (o->start && o->attributes)
        set_size(w, o->attributes);
    if (o->start || token == 0x04)
        byte(w, token);
    o->start = false;
    o->attributes = 0;
}

static HRESULT begin_element(struct evtx_writer *w, struct open_elements *o, const char *name, bool attributes)
{
    close_start(w, o, 0x02);
    byte(w, attributes ? 0x01 | MORE : 0x01);
    two(w, 0xFFFF); /* dependency: the element depends on no value */
    o->sizes[o->depth++] = w->at;
    four(w, 0);
    const HRESULT hr = put_name(w, name);
    o->start = true;
    if (attributes) {
        o->attributes = w->at;
        four(w, 0);
    }
    return hr;
}

/* Returns the position after an attribute, which has exactly one text or value. */
static const uint8_t *behind_attribute(const uint8_t *name)
{
    const uint8_t *content = behind_text(name);
    return *content == EVTX_VALUE ? content + 2 : behind_text(content + 1);
}

static HRESULT put_elements(struct evtx_writer *w, const uint8_t *step, const uint8_t *end)
{
    struct open_elements o = {0};
    size_t values = 0;
    HRESULT hr = S_OK;
    bool in_attribute = false;
    while (SUCCEEDED(hr) && step < end) {
        const uint8_t *what = step + 1;
        if (*step == EVTX_BEGIN) {
            step = behind_text(what);
            hr = begin_element(w, &o, (const char *)what, *step == EVTX_ATTRIBUTE);
        } else if (*step == EVTX_ATTRIBUTE) {
            const uint8_t *next = behind_attribute(what);
            byte(w, *next == EVTX_ATTRIBUTE ? 0x06 | MORE : 0x06);
            hr = put_name(w, (const char *)what);
            step = behind_text(what);
            in_attribute = true;
        } else if (*step == EVTX_END) {
            close_start(w, &o, o.start ? 0x03 : 0x04);
            set_size(w, o.sizes[--o.depth]);
            step = what;
        } else {
            if (!in_attribute)
                close_start(w, &o, 0x02);
            in_attribute = false;
            if (*step == EVTX_VALUE) {
                byte(w, 0x0D);
                two(w, values++);
                byte(w, *what);
                step = what + 1;
            } else {
                hr = put_text(w, (const char *)what);
                step = behind_text(what);
            }
        }
    }
    return hr;
}

static const struct shape *find_shape(const struct evtx_writer *w, const struct evtx_record *r, uint64_t hash)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->known[i].hash == hash && w->known[i].size == r->shape.size &&
            memcmp(w->shapes.bytes + w->known[i].from, r->shape.bytes, r->shape.size) == 0)
            return &w->known[i];
    return NULL;
}

/* Writes a shape. The GUID of a shape is derived from its contents, so equal shapes always have equal GUIDs. */
static HRESULT put_shape(struct evtx_writer *w, const struct evtx_record *r, uint64_t hash)
{
    void *known = w->known;
    if (!memory_grow(&known, &w->capacity, w->count + 1, sizeof *w->known))
        return E_OUTOFMEMORY;
    w->known = known;
    const struct shape new = {hash, w->shapes.size, r->shape.size, (uint32_t)w->at};
    uint8_t *kept = byte_buffer_add(&w->shapes, r->shape.size);
    if (!kept)
        return E_OUTOFMEMORY;
    memcpy(kept, r->shape.bytes, r->shape.size);
    w->known[w->count++] = new;
    uint8_t *list = w->chunk + SHAPE_LISTS + 4 * (hash % SHAPE_LIST_COUNT);
    uint8_t *head = chunk_take(w, SHAPE_HEADER);
    if (!head)
        return S_OK;
    put_u32(head, get_u32(list));
    put_u64(head + 4, hash);
    put_u64(head + 12, hash_bytes(hash, r->shape.bytes, r->shape.size));
    put_u32(list, new.at);
    four(w, 0x0001010F); /* fragment header */
    HRESULT hr = put_elements(w, r->shape.bytes, r->shape.bytes + r->shape.size);
    byte(w, 0);
    set_size(w, new.at + SHAPE_HEADER - 4);
    return hr;
}

/* ---- records ---- */

static HRESULT put_record(struct evtx_writer *w, const struct evtx_record *r, int64_t time)
{
    const uint64_t hash = hash_bytes(HASH_START, r->shape.bytes, r->shape.size);
    const size_t from = w->at;
    uint8_t *head = chunk_take(w, RECORD_HEADER);
    HRESULT hr = S_OK;
    four(w, 0x0001010F);
    byte(w, 0x0C); /* template instance */
    byte(w, 0x01);
    four(w, (uint32_t)hash);
    const struct shape *shape = find_shape(w, r, hash);
    four(w, shape ? shape->at : w->at + 4);
    if (!shape)
        hr = put_shape(w, r, hash);
    four(w, r->items.size / 4);
    put(w, r->items.bytes, r->items.size);
    put(w, r->values.bytes, r->values.size);
    byte(w, 0);
    (void)chunk_take(w, (8 - (w->at + 4 - from) % 8) % 8);
    four(w, w->at + 4 - from);
    if (FAILED(hr) || w->full)
        return hr;
    put_u32(head, 0x00002A2A);
    put_u32(head + 4, (uint32_t)(w->at - from));
    put_u64(head + 8, w->next);
    put_u64(head + 16, (uint64_t)(time < 0 ? 0 : time));
    w->last = from;
    w->next++;
    return S_OK;
}

/* Tries to add a record to the chunk. Returns S_FALSE and leaves the chunk unchanged if the record does not fit. */
static HRESULT try_record(struct evtx_writer *w, const struct evtx_record *r, int64_t time)
{
    uint8_t lists[RECORDS - NAME_LISTS];
    const size_t at = w->at, count = w->count, size = w->shapes.size;
    memcpy(lists, w->chunk + NAME_LISTS, sizeof lists);
    w->full = false;
    const HRESULT hr = put_record(w, r, time);
    if (SUCCEEDED(hr) && !w->full)
        return S_OK;
    memset(w->chunk + at, 0, w->at - at);
    memcpy(w->chunk + NAME_LISTS, lists, sizeof lists);
    w->at = at;
    w->count = count;
    w->shapes.size = size;
    return FAILED(hr) ? hr : S_FALSE;
}

static void end_chunk(struct evtx_writer *w, struct text_buffer *to)
{
    uint8_t *c = w->chunk;
    const bool any = w->next != w->first;
    memcpy(c, "ElfChnk", 8);
    for (size_t i = 8; i < 40; i += 16) { /* two equal pairs of record numbers (first, last): the numbers in the file,
                                             and the numbers in the log */
        put_u64(c + i, w->first);
        put_u64(c + i + 8, any ? w->next - 1 : UINT64_MAX);
    }
    put_u32(c + 40, HEADER_SIZE);
    put_u32(c + 44, (uint32_t)w->last);
    put_u32(c + 48, (uint32_t)w->at);
    put_u32(c + 52, add_sum(w, 0, c + RECORDS, w->at - RECORDS));
    put_u32(c + 124, add_sum(w, add_sum(w, 0, c, CHECKED_BYTES), c + NAME_LISTS, RECORDS - NAME_LISTS));
    text_buffer_add_n(to, (const char *)c, EVTX_CHUNK_BYTES);
    w->chunks++;
}

/* ---- public functions ---- */

struct evtx_writer *evtx_writer_create(unsigned most_chunks)
{
    struct evtx_writer *w = memory_zero(1, sizeof *w);
    if (!w)
        return NULL;
    make_sums(w->sums);
    w->most_chunks = most_chunks;
    w->next = 1;
    empty_chunk(w);
    return w;
}

void evtx_writer_free(struct evtx_writer *w)
{
    if (!w)
        return;
    memory_free(w->known);
    memory_free(w->shapes.bytes);
    memory_free(w->units.bytes);
    memory_free(w);
}

HRESULT evtx_writer_add(struct evtx_writer *w, const struct evtx_record *r, int64_t time, struct text_buffer *to)
{
    if (FAILED(r->hr))
        return r->hr;
    if (r->too_long)
        return S_FALSE;
    HRESULT hr = try_record(w, r, time);
    if (hr != S_FALSE || w->at == RECORDS)
        return hr;
    if (w->chunks + 1 >= w->most_chunks)
        return error_set(
            HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
            "cannot write more events: an event log file can have at most 4 GB (limit the time with -b and "
            "-e, or use -of CSV or XML)");
    end_chunk(w, to);
    empty_chunk(w);
    return try_record(w, r, time);
}

uint64_t evtx_writer_next(const struct evtx_writer *w)
{
    return w->next;
}

void evtx_writer_end(struct evtx_writer *w, struct text_buffer *to)
{
    if (w->next != w->first || w->chunks == 0)
        end_chunk(w, to);
}

void evtx_writer_header(const struct evtx_writer *w, bool whole, uint8_t header[EVTX_HEADER_BYTES])
{
    memset(header, 0, EVTX_HEADER_BYTES);
    memcpy(header, "ElfFile", 8);
    put_u64(header + 16, w->chunks ? w->chunks - 1 : 0);
    put_u64(header + 24, w->next);
    put_u32(header + 32, HEADER_SIZE);
    put_u16(header + 36, 1);
    put_u16(header + 38, 3);
    put_u16(header + 40, EVTX_HEADER_BYTES);
    put_u16(header + 42, (uint16_t)w->chunks);
    put_u32(header + 120, whole ? 0 : 1);
    put_u32(header + 124, add_sum(w, 0, header, CHECKED_BYTES));
}
