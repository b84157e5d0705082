/* SPDX-License-Identifier: MIT */
/* Reads .etl containers. Opening reads the buffer headers into an index that is sorted by stream (processor) and
   sequence number. The order by sequence number is also correct for a circular file. Reading loads one buffer of each
   stream, and uses a heap to find the stream with the oldest event. Compressed buffers are plain XPRESS: words of 32
   flags, where each flag announces a literal byte or a match of 16 bits or more. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/etl/etl_container.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packed {
    const uint8_t *at;
    size_t size, next;
    size_t half; /* position of the byte whose upper half is the next match's length; 0: no such byte */
};

/* Returns the length of a match whose length field (three bits) is too small for the length. 0: the data end, or the
   length is invalid. */
static uint32_t long_match(struct packed *p)
{
    uint32_t length;
    if (p->half != 0) {
        length = p->at[p->half] >> 4;
        p->half = 0;
    } else {
        if (p->next >= p->size)
            return 0;
        p->half = p->next++;
        length = p->at[p->half] & 15;
    }
    if (length < 15)
        return length + 7 + 3;
    if (p->next >= p->size)
        return 0;
    length = p->at[p->next++];
    if (length < 255)
        return length + 15 + 7 + 3;
    if (p->size - p->next < 2)
        return 0;
    length = get_u16(p->at + p->next);
    p->next += 2;
    if (length == 0) {
        if (p->size - p->next < 4)
            return 0;
        length = get_u32(p->at + p->next);
        p->next += 4;
    }
    return length < 15 + 7 || length > UINT32_MAX - 3 ? 0 : length + 3;
}

size_t xpress_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size)
{
    struct packed p = {.at = packed, .size = packed_size};
    uint32_t flags = 0;
    size_t made = 0;
    for (unsigned left = 0; made < size; left--) {
        if (left == 0) {
            if (p.size - p.next < 4)
                return made;
            flags = get_u32(p.at + p.next);
            p.next += 4;
            left = 32;
        }
        if ((flags >> (left - 1) & 1) == 0) {
            if (p.next >= p.size)
                return made;
            out[made++] = p.at[p.next++];
            continue;
        }
        if (p.size - p.next < 2)
            return made;
        uint32_t match = get_u16(p.at + p.next), length = (match & 7) + 3;
        size_t distance = (match >> 3) + 1;
        p.next += 2;
        if (length == 7 + 3)
            length = long_match(&p);
        if (length == 0 || distance > made)
            return made;
        for (uint32_t i = 0; i < length && made < size; i++, made++)
            out[made] = out[made - distance];
    }
    return made;
}

enum { COMPRESSION_XPRESS = 3, SCAN_WINDOW = 0x10000 };

struct place { /* a buffer in the file */
    uint64_t offset, sequence;
    uint32_t size; /* bytes in the file */
    uint16_t stream, flags;
    int64_t time; /* time on the file's clock */
};

struct stream {
    size_t first, end, next; /* indexes in `places`; next: the buffer to load after the current one */
    uint8_t *buffer;
    size_t capacity;
    uint32_t used, offset; /* positions in `buffer` */
    const uint8_t *ahead;  /* the event at `offset`, if it was found already; otherwise NULL */
    uint32_t ahead_size, ahead_offset;
    bool cut; /* the file does not contain all of this buffer */
    struct etl_buffer_header head;
    struct etl_record record;
    int64_t key;   /* the next event's sort key: its stamp; the log file header comes before all other events */
    bool metadata; /* among equal stamps, events that describe other events come first */
};

struct etl_reader {
    char *path;
    struct file *file;
    uint64_t size;  /* size of the file when it was opened */
    uint64_t whole; /* offset after the last complete buffer of the file */
    struct etl_log log;
    uint32_t step; /* buffer size of an uncompressed file */
    bool packed;
    struct place *places;
    size_t place_count, place_capacity;
    struct stream *streams;
    size_t stream_count;
    struct stream **heap; /* heap[0] has the oldest event */
    size_t heap_count;
    /* Number of streams that are in the heap or have no events; the heap is built when this number includes all
       streams. */
    size_t begun;
    bool given; /* heap[0]'s event has been returned */
    uint8_t *stored;
    size_t stored_capacity; /* size of `stored`, which receives a compressed buffer */
    uint64_t done;
    etl_warn *warn;
    void *warn_context;
};

static void etl_reader_warn(const struct etl_reader *r, uint64_t at, const char *format, ...) PRINTF_LIKE(3, 4);
static void etl_reader_warn(const struct etl_reader *r, uint64_t at, const char *format, ...)
{
    char text[256];
    va_list list;
    if (!r->warn)
        return;
    int head = snprintf(text, sizeof text, "at byte %llu: ", (unsigned long long)at);
    va_start(list, format);
    vsnprintf(text + head, sizeof text - (size_t)head, format, list);
    va_end(list);
    r->warn(r->warn_context, text);
}

static bool head_is_sane(const struct etl_reader *r, const struct etl_buffer_header *head, uint64_t offset)
{
    if (head->type > 15 || head->size < ETL_BUFFER_HEAD || head->size > ETL_LARGEST_BUFFER ||
        head->used < ETL_BUFFER_HEAD || head->used > ETL_LARGEST_BUFFER)
        return false;
    if ((head->flags & ETL_FLAG_COMPRESSED) != 0)
        return r->packed && head->used <= r->log.buffer_size;
    return head->used <= head->size && (r->packed || offset == 0 || head->size == r->step);
}

/* In a file with buffers of different sizes, searches for the next valid header after a corrupt one. *offset becomes
   its position, or the end of the file. */
static HRESULT find_next_head(struct etl_reader *r, uint64_t *offset)
{
    uint8_t *window = memory_alloc(SCAN_WINDOW);
    if (!window)
        return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for a buffer", r->path);
    HRESULT hr = S_OK;
    uint64_t at = *offset + 1;
    bool found = false;
    size_t got = SCAN_WINDOW;
    while (SUCCEEDED(hr) && !found && got == SCAN_WINDOW) {
        hr = file_read_at(r->file, at, window, SCAN_WINDOW, &got);
        size_t i = 0;
        for (; SUCCEEDED(hr) && !found && i + ETL_BUFFER_HEAD <= got; i++) {
            struct etl_buffer_header head;
            etl_buffer_header_read(window + i, &head);
            found = (head.flags & ETL_FLAG_COMPRESSED) != 0 && head.flags < 0x80 && head_is_sane(r, &head, at + i) &&
                    head.saved == head.used;
        }
        at += found ? i - 1 : i;
    }
    memory_free(window);
    *offset = found ? at : r->size;
    return hr;
}

static HRESULT add_place(struct etl_reader *r, const struct etl_buffer_header *head, uint64_t offset)
{
    void *places = r->places;
    if (!memory_grow(&places, &r->place_capacity, r->place_count + 1, sizeof *r->places))
        return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for an index of %zu buffers", r->path,
                         r->place_count);
    r->places = places;
    if (offset + head->size <= r->size && r->whole < offset + head->size)
        r->whole = offset + head->size;
    r->places[r->place_count++] = (struct place){
        .offset = offset,
        .sequence = head->sequence,
        .size = head->size,
        .stream = (r->log.mode & ETL_MODE_ONE_STREAM) != 0 ? 0 : head->processor,
        .flags = head->flags,
        .time = etl_log_buffer_stamp(&r->log, head->time),
    };
    return S_OK;
}

/* Adds the buffer at *offset to the index, if it is valid, and advances *offset. */
static HRESULT index_buffer(struct etl_reader *r, uint64_t *offset, uint64_t number)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    struct etl_buffer_header head;
    size_t got;
    HRESULT hr = file_read_at(r->file, *offset, bytes, sizeof bytes, &got);
    if (FAILED(hr))
        return hr;
    if (got < sizeof bytes) {
        etl_reader_warn(r, *offset + got, "the file ends inside the header of buffer %llu", (unsigned long long)number);
        *offset = r->size;
        return S_OK;
    }
    etl_buffer_header_read(bytes, &head);
    if (head_is_sane(r, &head, *offset)) {
        hr = add_place(r, &head, *offset);
        *offset += head.size;
        return hr;
    }
    const uint64_t at = *offset;
    if (!r->packed)
        *offset += r->step;
    else
        hr = find_next_head(r, offset);
    if (FAILED(hr) || etl_all_zero(bytes, sizeof bytes)) /* space that was reserved in advance */
        return hr;
    etl_reader_warn(r, at, "the header of buffer %llu is corrupt; its events up to byte %llu are skipped",
                    (unsigned long long)number, (unsigned long long)(*offset < r->size ? *offset : r->size));
    return S_OK;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool in_order(const struct etl_reader *r)
{
    for (size_t i = 1; i < r->place_count; i++)
        if (compare_places(&r->places[i - 1], &r->places[i]) > 0)
            return false;
    return true;
}

static HRESULT make_streams(struct etl_reader *r)
{
    if (!in_order(r))
        qsort(r->places, r->place_count, sizeof *r->places, compare_places);
    for (size_t i = 0; i < r->place_count; i++)
        r->stream_count += i == 0 || r->places[i].stream != r->places[i - 1].stream;
    r->streams = memory_zero(r->stream_count, sizeof *r->streams);
    r->heap = memory_zero(r->stream_count, sizeof(struct stream *));
    if (!r->streams || !r->heap) {
        return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for the streams of %zu processors", r->path,
                         r->stream_count);
    }
    struct stream *s = r->streams;
    for (size_t i = 0; i < r->place_count; i++) {
        if (i != 0 && r->places[i].stream != r->places[i - 1].stream) {
            s++;
            s->first = s->next = i;
        }
        s->end = i + 1;
    }
    return S_OK;
}

/* Reads the log file header from the first buffer, and determines how the rest of the file is stored. */
static HRESULT read_header(struct etl_reader *r)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    struct etl_buffer_header head;
    const HRESULT bad = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    size_t got;
    HRESULT hr = file_read_at(r->file, 0, bytes, sizeof bytes, &got);
    if (FAILED(hr))
        return hr;
    if (got < sizeof bytes) {
        return error_set(bad, "cannot open '%s': not a binary log (its %llu bytes are too few for a log file header)",
                         r->path, (unsigned long long)got);
    }
    etl_buffer_header_read(bytes, &head);
    r->step = head.size;
    if (!head_is_sane(r, &head, 0) || head.type != ETL_TYPE_FILE_HEADER)
        return error_set(bad, "cannot open '%s': not a binary log (it does not begin with a log file header)", r->path);
    uint8_t *buffer = memory_alloc(head.used);
    if (!buffer)
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its header", r->path);
    uint32_t offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    hr = file_read_at(r->file, 0, buffer, head.used, &got);
    if (SUCCEEDED(hr)) {
        if (etl_buffer_event(buffer, (uint32_t)got, &offset, &event, &size))
            hr = etl_log_read(r->path, event, size, &r->log);
        else if (got < head.used)
            hr = error_set(bad, "cannot open '%s': the file ends at byte %llu, inside its log file header", r->path,
                           (unsigned long long)got);
        else
            hr = error_set(bad, "cannot open '%s': its log file header is corrupt", r->path);
    }
    memory_free(buffer);
    if (FAILED(hr))
        return hr;
    r->packed = (r->log.mode & ETL_MODE_COMPRESSED) != 0;
    const uint32_t algorithm = head.state & 0xFFFF;
    if (r->packed && algorithm != COMPRESSION_XPRESS) {
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "cannot open '%s': unsupported compression algorithm %u (only XPRESS, 3, is supported)",
                         r->path, (unsigned)algorithm);
    }
    if (r->log.buffer_size > ETL_LARGEST_BUFFER) {
        return error_set(bad, "cannot open '%s': its buffers of %u bytes exceed the maximum of %u", r->path,
                         (unsigned)r->log.buffer_size, (unsigned)ETL_LARGEST_BUFFER);
    }
    return S_OK;
}

HRESULT etl_reader_open(const char *path, etl_warn *warn, void *context, struct etl_reader **out)
{
    struct etl_reader *r = memory_zero(1, sizeof *r);
    if (!r || !(r->path = text_copy(path))) {
        memory_free(r);
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path);
    }
    r->warn = warn;
    r->warn_context = context;
    HRESULT hr = file_open(path, FILE_READ, &r->file);
    if (SUCCEEDED(hr))
        hr = file_size(r->file, &r->size);
    if (SUCCEEDED(hr))
        hr = read_header(r);
    uint64_t offset = 0, number = 0;
    for (; SUCCEEDED(hr) && offset < r->size; number++)
        hr = index_buffer(r, &offset, number);
    if (SUCCEEDED(hr))
        hr = make_streams(r);
    if (SUCCEEDED(hr) && (r->log.mode & ETL_MODE_CIRCULAR) == 0 && number < r->log.buffers_written) {
        etl_reader_warn(r, r->size, "the file ends after buffer %llu, but its header reports %u buffers",
                        (unsigned long long)number, (unsigned)r->log.buffers_written);
    }
    if (FAILED(hr)) {
        etl_reader_close(r);
        return hr;
    }
    *out = r;
    return S_OK;
}

const struct etl_log *etl_reader_log(const struct etl_reader *r)
{
    return &r->log;
}

static HRESULT make_room(struct etl_reader *r, uint8_t **bytes, size_t *capacity, size_t size)
{
    void *grown = *bytes;
    if (!memory_grow(&grown, capacity, size, 1))
        return error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for a buffer of %zu bytes", r->path, size);
    *bytes = grown;
    return S_OK;
}

/* Decompresses the buffer in r->stored into the stream's buffer. */
static HRESULT stream_unpack_buffer(struct etl_reader *r, struct stream *s, const struct place *place, uint32_t used,
                                    size_t got)
{
    HRESULT hr = make_room(r, &s->buffer, &s->capacity, used);
    if (FAILED(hr))
        return hr;
    memcpy(s->buffer, r->stored, ETL_BUFFER_HEAD);
    const size_t made = xpress_unpack(r->stored + ETL_BUFFER_HEAD, got - ETL_BUFFER_HEAD, s->buffer + ETL_BUFFER_HEAD,
                                      used - ETL_BUFFER_HEAD);
    s->used = ETL_BUFFER_HEAD + (uint32_t)made;
    if (s->used == used)
        return S_OK;
    s->cut = true;
    if (got < place->size) {
        etl_reader_warn(r, place->offset + got, "the file ends inside a compressed buffer, after %u of its %u bytes",
                        (unsigned)s->used, (unsigned)used);
    } else {
        etl_reader_warn(r, place->offset, "a compressed buffer is corrupt after %u of its %u bytes", (unsigned)s->used,
                        (unsigned)used);
    }
    return S_OK;
}

/* Reads the buffer at `place` into the stream. If the file now has a different buffer at this position, as in a
   circular log that is being written, the result is an empty buffer. */
static HRESULT stream_load_buffer(struct etl_reader *r, struct stream *s, const struct place *place)
{
    const bool packed = (place->flags & ETL_FLAG_COMPRESSED) != 0;
    uint8_t **bytes = packed ? &r->stored : &s->buffer;
    size_t got;
    s->offset = s->used = ETL_BUFFER_HEAD;
    s->ahead = NULL;
    s->cut = false;
    HRESULT hr = make_room(r, bytes, packed ? &r->stored_capacity : &s->capacity, place->size);
    if (SUCCEEDED(hr))
        hr = file_read_at(r->file, place->offset, *bytes, place->size, &got);
    if (FAILED(hr))
        return hr;
    r->done += place->size;
    s->head = (struct etl_buffer_header){0};
    if (got >= ETL_BUFFER_HEAD)
        etl_buffer_header_read(*bytes, &s->head);
    if (!head_is_sane(r, &s->head, place->offset) || s->head.sequence != place->sequence) {
        etl_reader_warn(r, place->offset, "the buffer was replaced while the log was read");
        return S_OK;
    }
    if (packed)
        return stream_unpack_buffer(r, s, place, s->head.used, got);
    s->used = s->head.used;
    if (got >= s->used)
        return S_OK;
    s->cut = true;
    etl_reader_warn(r, place->offset + got, "the file ends inside a buffer, after %u of its %u bytes", (unsigned)got,
                    (unsigned)s->used);
    s->used = (uint32_t)got;
    return S_OK;
}

/* Finds the event at `offset`, if the buffer has one. */
static bool stream_look_ahead(struct stream *s)
{
    s->ahead_offset = s->offset;
    return etl_buffer_event(s->buffer, s->used, &s->ahead_offset, &s->ahead, &s->ahead_size);
}

/* Reads the stream's next event; loads buffers as needed. S_FALSE: no more events. */
static HRESULT stream_next_event(struct etl_reader *r, struct stream *s)
{
    for (;;) {
        const struct place *place = &r->places[s->next == s->first ? s->first : s->next - 1];
        if (s->ahead || (s->buffer && stream_look_ahead(s))) {
            const uint8_t *event = s->ahead;
            const int64_t before = s->record.stamp;
            s->offset = s->ahead_offset;
            s->ahead = NULL;
            etl_record_decode(event, s->ahead_size, &s->record);
            if (!s->record.has_stamp)
                s->record.stamp = event == s->buffer + ETL_BUFFER_HEAD ? place->time : before;
            s->record.processor = place->stream;
            s->record.position = place->offset;
            s->record.buffer = &s->head;
            s->record.last = !stream_look_ahead(s);
            s->key = place->offset == 0 && event == s->buffer + ETL_BUFFER_HEAD ? INT64_MIN : s->record.stamp;
            s->metadata = etl_record_is_metadata(&s->record);
            return S_OK;
        }
        if (s->buffer && s->offset < s->used && !s->cut) {
            etl_reader_warn(r, place->offset + ((place->flags & ETL_FLAG_COMPRESSED) != 0 ? 0 : s->offset),
                            "no event begins at byte %u of the buffer; the last %u bytes of the buffer are skipped",
                            (unsigned)s->offset, (unsigned)(s->used - s->offset));
        }
        s->offset = s->used; /* a failure below leaves an empty buffer */
        if (s->next == s->end) {
            memory_free(s->buffer);
            s->buffer = NULL;
            s->capacity = 0;
            return S_FALSE;
        }
        HRESULT hr = stream_load_buffer(r, s, &r->places[s->next]);
        if (FAILED(hr)) {
            s->offset = s->used;
            return hr;
        }
        s->next++;
    }
}

static bool is_older(const struct stream *a, const struct stream *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->metadata != b->metadata ? a->metadata : a < b;
}

/* Moves heap[at] down to its correct position. */
static void heap_sift_down(struct etl_reader *r, size_t at)
{
    for (;;) {
        size_t oldest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < r->heap_count; child++)
            if (is_older(r->heap[child], r->heap[oldest]))
                oldest = child;
        if (oldest == at)
            return;
        struct stream *moved = r->heap[at];
        r->heap[at] = r->heap[oldest];
        r->heap[oldest] = moved;
        at = oldest;
    }
}

static HRESULT heap_build(struct etl_reader *r)
{
    for (; r->begun < r->stream_count; r->begun++) {
        HRESULT hr = stream_next_event(r, &r->streams[r->begun]);
        if (FAILED(hr))
            return hr;
        if (hr == S_OK)
            r->heap[r->heap_count++] = &r->streams[r->begun];
    }
    for (size_t i = r->heap_count; i-- > 0;)
        heap_sift_down(r, i);
    r->given = false;
    return S_OK;
}

HRESULT etl_reader_next_record(struct etl_reader *r, const struct etl_record **record)
{
    HRESULT hr = S_OK;
    if (r->begun < r->stream_count) {
        hr = heap_build(r);
    } else if (r->given && r->heap_count != 0) {
        hr = stream_next_event(r, r->heap[0]);
        if (hr == S_FALSE)
            r->heap[0] = r->heap[--r->heap_count];
        if (SUCCEEDED(hr)) {
            r->given = false;
            heap_sift_down(r, 0);
        }
    }
    if (FAILED(hr))
        return hr;
    if (r->heap_count == 0)
        return S_FALSE;
    struct etl_record *oldest = &r->heap[0]->record;
    oldest->utc = etl_log_utc(&r->log, oldest->stamp);
    *record = oldest;
    r->given = true;
    return S_OK;
}

HRESULT etl_reader_next(struct etl_reader *r, struct etl_record *record)
{
    const struct etl_record *next;
    const HRESULT hr = etl_reader_next_record(r, &next);
    if (hr == S_OK)
        *record = *next;
    return hr;
}

static void drop_streams(struct etl_reader *r)
{
    for (size_t i = 0; i < r->stream_count && r->streams; i++)
        memory_free(r->streams[i].buffer);
    memory_free(r->streams);
    memory_free(r->heap);
    r->streams = NULL;
    r->heap = NULL;
    r->stream_count = r->heap_count = r->begun = 0;
    r->given = false;
}

HRESULT etl_reader_follow(struct etl_reader *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->place_count; i++)
        if (r->places[i].offset + r->places[i].size <= r->size)
            r->places[kept++] = r->places[i];
    if (kept == r->place_count)
        return S_OK;
    r->place_count = kept;
    drop_streams(r);
    return make_streams(r);
}

HRESULT etl_reader_grow(struct etl_reader *r)
{
    uint64_t size, number = 0;
    HRESULT hr = file_size(r->file, &size);
    if (FAILED(hr) || size < r->whole + r->step)
        return FAILED(hr) ? hr : S_FALSE;
    drop_streams(r);
    r->place_count = 0;
    r->size = size;
    for (uint64_t offset = r->whole; SUCCEEDED(hr) && offset + ETL_BUFFER_HEAD <= size; number++) {
        const size_t before = r->place_count;
        hr = index_buffer(r, &offset, number);
        if (SUCCEEDED(hr) && (r->place_count == before || offset > size))
            break; /* reserved space that is not written yet, or a partial buffer */
        r->whole = offset;
    }
    r->place_count -= r->place_count != 0 && r->places[r->place_count - 1].offset >= r->whole;
    if (SUCCEEDED(hr))
        hr = make_streams(r);
    return FAILED(hr) ? hr : r->place_count != 0 ? S_OK : S_FALSE;
}

/* Returns the stamp of a buffer's first event; S_FALSE: the buffer has no events. */
static HRESULT first_stamp(struct etl_reader *r, struct stream *s, size_t place, int64_t *stamp)
{
    HRESULT hr = stream_load_buffer(r, s, &r->places[place]);
    const uint8_t *event;
    uint32_t size;
    if (FAILED(hr) || !etl_buffer_event(s->buffer, s->used, &s->offset, &event, &size))
        return FAILED(hr) ? hr : S_FALSE;
    struct etl_record record;
    etl_record_decode(event, size, &record);
    *stamp = record.has_stamp ? record.stamp : r->places[place].time;
    return S_OK;
}

static HRESULT seek_stream(struct etl_reader *r, struct stream *s, int64_t stamp)
{
    /* Buffers before `low` begin before the stamp; buffers from `high` on do not. */
    size_t low = s->first, high = s->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        size_t probe = middle;
        int64_t first = 0;
        HRESULT hr = S_FALSE;
        while (hr == S_FALSE && probe < high) { /* the first buffer with an event, from `middle` on */
            hr = first_stamp(r, s, probe, &first);
            probe += hr == S_FALSE;
        }
        if (FAILED(hr))
            return hr;
        if (hr == S_OK && first < stamp)
            low = probe + 1;
        else
            high = middle;
    }
    s->next = low > s->first ? low - 1 : s->first;
    return S_OK;
}

HRESULT etl_reader_seek(struct etl_reader *r, int64_t stamp)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->stream_count && SUCCEEDED(hr); i++) {
        struct stream *s = &r->streams[i];
        s->next = s->first;
        if (stamp != INT64_MIN)
            hr = seek_stream(r, s, stamp);
        s->offset = s->used = 0;
        s->ahead = NULL;
    }
    r->begun = r->heap_count = 0;
    r->done = 0;
    for (size_t i = 0; i < r->stream_count; i++)
        for (size_t k = r->streams[i].first; k < r->streams[i].next; k++)
            r->done += r->places[k].size;
    return hr;
}

void etl_reader_progress(const struct etl_reader *r, uint64_t *done, uint64_t *total)
{
    *done = r->done < r->size ? r->done : r->size;
    *total = r->size;
}

void etl_reader_close(struct etl_reader *r)
{
    if (!r)
        return;
    drop_streams(r);
    file_close(r->file);
    etl_log_free(&r->log);
    memory_free(r->places);
    memory_free(r->stored);
    memory_free(r->path);
    memory_free(r);
}
