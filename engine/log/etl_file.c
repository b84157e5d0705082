/* SPDX-License-Identifier: MIT */
/* Writes .etl containers.

   The file is a whole log after every write call: a new buffer is first written empty (that is where a full disk
   shows), then filled in place, its events before the header that counts them, and the log file header's number of
   buffers last. So a reader, or a crash, between any two calls finds whole buffers with whole events in them.
   Layouts are those of Windows 8 and later, 64-bit; BuffersWritten, EndTime and EventsLost are kept true at each
   flush. The time zone in the header is one bias, without rules of change: a reader that converts the local stamps of
   performance logs needs exactly that.
   A ring (a circular log) goes back to its first buffer when the file may not grow; sequence numbers tell readers the
   order. */
#include "engine/log/etl_file.h"

#include "engine/log/little_endian.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"

#include <string.h>

/* The log file header event: SYSTEM_TRACE_HEADER, TRACE_LOGFILE_HEADER, two texts. */
enum { SYSTEM_HEADER = 0x20, LOGFILE_AT = ETL_BUFFER_HEAD + SYSTEM_HEADER, NAMES_AT = LOGFILE_AT + 0x118 };
enum { STAMP_AT = 0x10, STAMP_SIZE = 8 };
/* The part of TRACE_LOGFILE_HEADER that changes while the log grows: EndTime to EventsLost. */
enum { PATCH_AT = LOGFILE_AT + 0x10, PATCH_SIZE = 0x24, PATCH_END = 0, PATCH_BUFFERS = 0x14, PATCH_LOST = 0x20 };

struct etl_file {
    struct file *file;
    uint8_t *buffer;               /* the last buffer of the file as it shall be */
    uint8_t *spare;                /* the one before it while events are being added across buffers */
    uint32_t used;                 /* bytes of buffer in use */
    uint32_t written;              /* of these, how many the file has; 0: its copy is not to be trusted at all */
    uint64_t buffers;              /* whole buffers in the file, the header's included */
    uint64_t place;                /* of buffer among them */
    uint64_t ring_first, ring_end; /* places of the ring; 0: none */
    bool full;                     /* nothing more goes into buffer, whatever its room */
    uint64_t sequence;             /* of buffer */
    int64_t utc;                   /* of the newest event */
    bool changed;                  /* since the last flush */
    bool torn;                     /* a failed growth left bytes behind the last buffer */
    uint8_t patch[PATCH_SIZE];
};

static uint32_t event_space(const struct etl_event *event)
{
    return (event->head_size + event->data_size + 7) & ~(uint32_t)7;
}

static void free_file(struct etl_file *e)
{
    file_close(e->file);
    memory_free(e->buffer);
    memory_free(e->spare);
    memory_free(e);
}

static void put_buffer_head(uint8_t *buffer, uint32_t used, uint64_t sequence, int64_t utc, uint16_t flags)
{
    memset(buffer, 0, ETL_BUFFER_HEAD);
    put_u32(buffer + ETL_BUFFER_SIZE_AT, ETL_BUFFER_SIZE);
    put_u32(buffer + ETL_BUFFER_SAVED_AT, used);
    put_u32(buffer + ETL_BUFFER_CURRENT_AT, used);
    put_u64(buffer + ETL_BUFFER_TIME_AT, (uint64_t)utc);
    put_u64(buffer + ETL_BUFFER_SEQUENCE_AT, sequence);
    put_u32(buffer + ETL_BUFFER_STATE_AT, ETL_STATE_FLUSHED);
    put_u32(buffer + ETL_BUFFER_USED_AT, used);
    put_u16(buffer + ETL_BUFFER_FLAGS_AT, flags);
}

static void begin_buffer(uint8_t *buffer, uint64_t sequence, int64_t utc)
{
    memset(buffer, 0xFF, ETL_BUFFER_SIZE);
    put_buffer_head(buffer, ETL_BUFFER_HEAD, sequence, utc, ETL_FLAG_PROCESSOR_INDEX);
}

static HRESULT put_name(uint8_t *buffer, uint32_t *at, const char *name)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name ? name : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    /* An event's size is 16 bits, so the header event must stay below the buffer's size. */
    if (units >= (ETL_BUFFER_SIZE - 8 - *at) / 2)
        hr = error_set(E_INVALIDARG, "log name %s: %zu characters do not fit into a log file header", name, units);
    else
        for (size_t i = 0; i <= units; i++, *at += 2)
            put_u16(buffer + *at, wide[i]);
    memory_free(wide);
    return hr;
}

static HRESULT put_time_zone(uint8_t *at, const struct etl_header *h)
{
    enum { NAME_UNITS = 32, STANDARD_NAME = 4, DAYLIGHT_NAME = 88 };
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(h->zone_name ? h->zone_name : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    put_u32(at, (uint32_t)h->bias_minutes);
    for (size_t i = 0; i < units && i < NAME_UNITS - 1; i++) {
        put_u16(at + STANDARD_NAME + 2 * i, wide[i]);
        put_u16(at + DAYLIGHT_NAME + 2 * i, wide[i]);
    }
    memory_free(wide);
    return S_OK;
}

/* Fills the first buffer of the file. */
static HRESULT put_header(uint8_t *buffer, const struct etl_header *h, uint64_t buffers)
{
    memset(buffer, 0xFF, ETL_BUFFER_SIZE);
    memset(buffer + ETL_BUFFER_HEAD, 0, NAMES_AT - ETL_BUFFER_HEAD);
    uint8_t *event = buffer + ETL_BUFFER_HEAD, *log = buffer + LOGFILE_AT;
    put_u16(event, h->private_logger ? 0 : 2);
    event[2] = ETL_HEADER_SYSTEM_64;
    event[3] = ETL_MARKS;
    put_u32(event + 0x08, h->thread);
    put_u32(event + 0x0C, h->process);
    put_u64(event + 0x10, (uint64_t)h->start_stamp);

    put_u32(log + 0x00, ETL_BUFFER_SIZE);
    log[4] = h->version_major;
    log[5] = h->version_minor;
    log[6] = 1; /* version 1.5 of the format */
    log[7] = 5;
    put_u32(log + 0x08, h->build);
    put_u32(log + 0x0C, h->processors);
    put_u64(log + 0x10, (uint64_t)h->start_utc);
    put_u32(log + 0x18, 156250); /* TimerResolution, 100 ns */
    put_u32(log + 0x1C, h->maximum_file_mb);
    put_u32(log + 0x20, h->log_file_mode);
    put_u32(log + 0x24, (uint32_t)buffers);
    put_u32(log + 0x28, 1); /* StartBuffers */
    put_u32(log + 0x2C, 8); /* PointerSize */
    put_u64(log + 0xF8, (uint64_t)h->boot_utc);
    put_u64(log + 0x100, (uint64_t)h->frequency);
    put_u64(log + 0x108, (uint64_t)h->start_utc);
    put_u32(log + 0x110, h->clock);
    HRESULT hr = put_time_zone(log + 0x48, h);
    uint32_t end = NAMES_AT;
    if (SUCCEEDED(hr))
        hr = put_name(buffer, &end, h->logger_name);
    if (SUCCEEDED(hr))
        hr = put_name(buffer, &end, h->file_name);
    if (FAILED(hr))
        return hr;
    put_u16(event + 4, (uint16_t)(end - ETL_BUFFER_HEAD));
    for (; (end & 7) != 0; end++)
        buffer[end] = 0;
    put_buffer_head(buffer, end, 0, 0, h->private_logger ? ETL_FLAG_LAST : ETL_FLAG_LAST | ETL_FLAG_PROCESSOR_INDEX);
    put_u16(buffer + ETL_BUFFER_TYPE_AT, ETL_TYPE_FILE_HEADER);
    if (h->private_logger) {
        put_u32(buffer + ETL_BUFFER_CURRENT_AT, 0);
        put_u32(buffer + ETL_BUFFER_STATE_AT, 0);
    }
    return S_OK;
}

static struct etl_file *new_file(void)
{
    struct etl_file *e = memory_zero(1, sizeof *e);
    if (!e)
        return NULL;
    e->buffer = memory_alloc(ETL_BUFFER_SIZE);
    e->spare = memory_alloc(ETL_BUFFER_SIZE);
    if (!e->buffer || !e->spare) {
        free_file(e);
        return NULL;
    }
    return e;
}

HRESULT etl_file_create(const char *path, bool replace, const struct etl_header *header, struct etl_file **out)
{
    struct etl_file *e = new_file();
    if (!e)
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a log file's buffers", path);
    e->buffers = 2;
    e->place = 1;
    e->sequence = 1;
    e->utc = header->start_utc;
    e->used = e->written = ETL_BUFFER_HEAD;
    HRESULT hr = put_header(e->spare, header, e->buffers);
    if (SUCCEEDED(hr)) {
        memcpy(e->patch, e->spare + PATCH_AT, PATCH_SIZE);
        begin_buffer(e->buffer, e->sequence, e->utc);
        hr = file_open(path, replace ? FILE_REPLACE : FILE_CREATE_NEW, &e->file);
    }
    if (FAILED(hr)) {
        free_file(e);
        return hr;
    }
    hr = file_write_at(e->file, 0, e->spare, ETL_BUFFER_SIZE);
    if (SUCCEEDED(hr))
        hr = file_write_at(e->file, ETL_BUFFER_SIZE, e->buffer, ETL_BUFFER_SIZE);
    if (FAILED(hr)) {
        free_file(e);
        (void)file_delete(path);
        return hr;
    }
    *out = e;
    return S_OK;
}

static HRESULT damaged(const char *path, uint64_t buffer)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: buffer %llu, at byte %llu, is damaged", path,
                     (unsigned long long)buffer, (unsigned long long)buffer * ETL_BUFFER_SIZE);
}

/* The file's first buffer, into e->spare. */
static HRESULT load_header(struct etl_file *e, struct file *file, const char *path)
{
    size_t got;
    HRESULT hr = file_read_at(file, 0, e->spare, ETL_BUFFER_SIZE, &got);
    if (FAILED(hr))
        return hr;
    uint32_t offset = ETL_BUFFER_HEAD, length = 0;
    const uint8_t *event = NULL;
    uint32_t used = got == ETL_BUFFER_SIZE ? etl_buffer_used(e->spare) : 0;
    if (used == 0 || get_u16(e->spare + ETL_BUFFER_TYPE_AT) != ETL_TYPE_FILE_HEADER ||
        !etl_buffer_event(e->spare, used, &offset, &event, &length) || event[2] != ETL_HEADER_SYSTEM_64 ||
        length < NAMES_AT - ETL_BUFFER_HEAD || get_u32(e->spare + LOGFILE_AT) != ETL_BUFFER_SIZE) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: is not a binary log with buffers of %u bytes",
                         path, (unsigned)ETL_BUFFER_SIZE);
    }
    memcpy(e->patch, e->spare + PATCH_AT, PATCH_SIZE);
    return S_OK;
}

static bool all_zero(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

/* Looks for the end of the last record in buffer `place`, into e->used. 0: there is none. */
static HRESULT load_buffer(struct etl_file *e, struct file *file, const char *path, uint64_t place,
                           etl_ends_record *ends)
{
    size_t got;
    e->used = 0;
    HRESULT hr = file_read_at(file, place * ETL_BUFFER_SIZE, e->buffer, ETL_BUFFER_SIZE, &got);
    if (FAILED(hr) || got < ETL_BUFFER_HEAD || all_zero(e->buffer, ETL_BUFFER_HEAD))
        return hr;
    const bool cut = got < ETL_BUFFER_SIZE;
    const uint32_t used = etl_buffer_used(e->buffer);
    if (used == 0 || get_u16(e->buffer + ETL_BUFFER_TYPE_AT) != 0)
        return cut ? S_OK : damaged(path, place);
    uint32_t offset = ETL_BUFFER_HEAD, length;
    const uint8_t *event;
    const uint32_t there = used < got ? used : (uint32_t)got;
    while (etl_buffer_event(e->buffer, there, &offset, &event, &length)) {
        if (ends(event, length)) {
            e->used = (offset + 7) & ~(uint32_t)7; /* the padding may be cut */
            memset(e->buffer + (event - e->buffer) + length, 0, e->used - (uint32_t)(event - e->buffer) - length);
        }
    }
    return cut || offset == used ? S_OK : damaged(path, place);
}

/* Reads what is needed to go on: the header's changing part, and the buffer that the last record ends in. */
static HRESULT load_end(struct etl_file *e, struct file *file, const char *path, etl_ends_record *ends)
{
    uint64_t size;
    HRESULT hr = file_size(file, &size);
    if (SUCCEEDED(hr))
        hr = load_header(e, file, path);
    if (FAILED(hr))
        return hr;
    uint64_t place = (size + ETL_BUFFER_SIZE - 1) / ETL_BUFFER_SIZE;
    while (SUCCEEDED(hr) && e->used == 0 && --place > 0)
        hr = load_buffer(e, file, path, place, ends);
    if (SUCCEEDED(hr) && e->used == 0) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: %llu bytes hold no record to append to", path,
                       (unsigned long long)size);
    }
    if (FAILED(hr))
        return hr;
    e->place = place;
    e->buffers = place + 1;
    e->torn = size != e->buffers * ETL_BUFFER_SIZE;
    e->changed = e->torn || e->used != etl_buffer_used(e->buffer);
    memset(e->buffer + e->used, 0xFF, ETL_BUFFER_SIZE - e->used);
    e->sequence = get_u64(e->buffer + ETL_BUFFER_SEQUENCE_AT);
    e->utc = (int64_t)get_u64(e->patch + PATCH_END);
    e->written = 0;
    return S_OK;
}

HRESULT etl_file_open(const char *path, etl_ends_record *ends, struct etl_file **out)
{
    struct etl_file *e = new_file();
    if (!e)
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a log file's buffers", path);
    struct file *old;
    HRESULT hr = file_open(path, FILE_READ, &old);
    if (SUCCEEDED(hr)) {
        hr = load_end(e, old, path, ends);
        file_close(old);
    }
    if (SUCCEEDED(hr))
        hr = file_open(path, FILE_APPEND, &e->file);
    if (FAILED(hr)) {
        free_file(e);
        return hr;
    }
    *out = e;
    return S_OK;
}

HRESULT etl_file_make_ring(struct etl_file *e, uint64_t max_buffers)
{
    if (max_buffers < e->buffers + 2) {
        return error_set(
            E_INVALIDARG,
            "a circular log of %llu bytes is too small; its catalog needs %llu, and its samples %u at least",
            (unsigned long long)max_buffers * ETL_BUFFER_SIZE, (unsigned long long)e->buffers * ETL_BUFFER_SIZE,
            2 * (unsigned)ETL_BUFFER_SIZE);
    }
    e->ring_first = e->buffers;
    e->ring_end = max_buffers;
    e->full = true;
    return S_OK;
}

static uint64_t buffer_offset(const struct etl_file *e)
{
    return e->place * ETL_BUFFER_SIZE;
}

/* The place behind `place`. */
static uint64_t next_place(const struct etl_file *e, uint64_t place)
{
    return e->ring_end != 0 && place + 1 == e->ring_end ? e->ring_first : place + 1;
}

/* Bytes that the present buffer still takes. */
static uint32_t room(const struct etl_file *e)
{
    return e->full ? 0 : ETL_BUFFER_SIZE - e->used;
}

/* Brings the last buffer of the file up to date: its new events, then its header. */
static HRESULT write_buffer(struct etl_file *e, uint16_t flags)
{
    put_buffer_head(e->buffer, e->used, e->sequence, e->utc, flags);
    HRESULT hr = S_OK;
    if (e->written == 0) {
        hr = file_write_at(e->file, buffer_offset(e), e->buffer, ETL_BUFFER_SIZE);
    } else {
        if (e->used > e->written)
            hr = file_write_at(e->file, buffer_offset(e) + e->written, e->buffer + e->written, e->used - e->written);
        if (SUCCEEDED(hr))
            hr = file_write_at(e->file, buffer_offset(e), e->buffer, ETL_BUFFER_HEAD);
    }
    if (SUCCEEDED(hr))
        e->written = e->used;
    return hr;
}

static HRESULT write_patch(struct etl_file *e)
{
    put_u64(e->patch + PATCH_END, (uint64_t)e->utc);
    put_u32(e->patch + PATCH_BUFFERS, (uint32_t)e->buffers);
    return file_write_at(e->file, PATCH_AT, e->patch, PATCH_SIZE);
}

static HRESULT cut_torn_end(struct etl_file *e)
{
    if (e->torn) {
        HRESULT hr = file_set_size(e->file, e->buffers * ETL_BUFFER_SIZE);
        if (FAILED(hr))
            return hr;
        e->torn = false;
    }
    return S_OK;
}

/* Takes the place of `count` more buffers by writing them empty. e->spare serves. */
static HRESULT reserve(struct etl_file *e, uint64_t count)
{
    HRESULT hr = cut_torn_end(e);
    uint64_t place = e->place;
    for (uint64_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        place = next_place(e, place);
        begin_buffer(e->spare, e->sequence + 1 + i, e->utc);
        hr = file_write_at(e->file, place * ETL_BUFFER_SIZE, e->spare, ETL_BUFFER_SIZE);
        e->torn = e->torn || place >= e->buffers; /* until the buffers count */
    }
    return hr;
}

/* Copies events into the buffer until one does not fit; returns the index of that one. */
static size_t fill(struct etl_file *e, const struct etl_event *events, size_t count, size_t i)
{
    for (; i < count && event_space(&events[i]) <= room(e); i++) {
        const struct etl_event *event = &events[i];
        uint8_t *at = e->buffer + e->used;
        uint32_t space = event_space(event);
        memcpy(at, event->head, event->head_size);
        if (event->data_size != 0)
            memcpy(at + event->head_size, event->data, event->data_size);
        memset(at + event->head_size + event->data_size, 0, space - event->head_size - event->data_size);
        e->used += space;
    }
    return i;
}

static void swap_buffers(struct etl_file *e)
{
    uint8_t *other = e->spare;
    e->spare = e->buffer;
    e->buffer = other;
}

static HRESULT add_across(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count,
                          uint64_t new_buffers)
{
    const uint64_t old_buffers = e->buffers, old_place = e->place, old_sequence = e->sequence;
    const bool old_full = e->full;
    const int64_t old_utc = e->utc;
    const uint32_t old_used = e->used;
    e->utc = utc;
    HRESULT hr = reserve(e, new_buffers);
    if (FAILED(hr)) {
        e->utc = old_utc;
        (void)cut_torn_end(e); /* if it fails: tried again with the next growth and flush */
        return hr;
    }
    size_t i = fill(e, events, count, 0);
    hr = write_buffer(e, ETL_FLAG_PROCESSOR_INDEX);
    swap_buffers(e); /* the first one is kept for a way back */
    while (SUCCEEDED(hr) && i < count) {
        e->place = next_place(e, e->place);
        e->buffers += e->place == e->buffers;
        e->sequence++;
        e->full = false;
        begin_buffer(e->buffer, e->sequence, utc);
        e->used = e->written = ETL_BUFFER_HEAD;
        i = fill(e, events, count, i);
        hr = write_buffer(e, i == count ? ETL_FLAG_PROCESSOR_INDEX | ETL_FLAG_LAST : ETL_FLAG_PROCESSOR_INDEX);
    }
    if (SUCCEEDED(hr))
        hr = write_patch(e);
    if (SUCCEEDED(hr)) {
        e->torn = false;
        e->changed = false;
        return S_OK;
    }
    swap_buffers(e);
    e->buffers = old_buffers;
    e->place = old_place;
    e->full = old_full;
    e->sequence = old_sequence;
    e->utc = old_utc;
    e->used = old_used;
    memset(e->buffer + old_used, 0xFF, ETL_BUFFER_SIZE - old_used);
    e->written = 0;
    e->changed = true;
    e->torn = true;
    (void)etl_file_flush(e); /* what cannot be mended now is mended by the next flush */
    return hr;
}

static uint64_t buffers_needed(uint32_t free, const struct etl_event *events, size_t count)
{
    uint64_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t space = event_space(&events[i]);
        if (space > free) {
            needed++;
            free = ETL_MAX_EVENT;
        }
        free -= space;
    }
    return needed;
}

HRESULT etl_file_add(struct etl_file *e, int64_t utc, const struct etl_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].data_size > ETL_MAX_EVENT || event_space(&events[i]) > ETL_MAX_EVENT) {
            return error_set(E_INVALIDARG, "an event of %u bytes does not fit into a buffer of %u",
                             (unsigned)(events[i].head_size + events[i].data_size), (unsigned)ETL_BUFFER_SIZE);
        }
    }
    if (utc < e->utc)
        utc = e->utc; /* the clock was set back; buffers' times may not fall */
    uint64_t new_buffers = buffers_needed(room(e), events, count);
    if (new_buffers != 0)
        return add_across(e, utc, events, count, new_buffers);
    (void)fill(e, events, count, 0);
    e->utc = utc;
    e->changed = true;
    return S_OK;
}

HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count)
{
    uint64_t buffer = 1;
    uint32_t used = ETL_BUFFER_HEAD;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *stamp = events[i].head + STAMP_AT;
        uint32_t space = event_space(&events[i]);
        if (space > ETL_BUFFER_SIZE - used) {
            buffer++;
            used = ETL_BUFFER_HEAD;
        }
        if (buffer == e->place)
            memcpy(e->buffer + used + STAMP_AT, stamp, STAMP_SIZE);
        if (buffer < e->place || used < e->written) {
            HRESULT hr = file_write_at(e->file, buffer * ETL_BUFFER_SIZE + used + STAMP_AT, stamp, STAMP_SIZE);
            if (FAILED(hr))
                return hr;
        }
        used += space;
    }
    return S_OK;
}

void etl_file_count_lost(struct etl_file *e, size_t events)
{
    uint32_t lost = get_u32(e->patch + PATCH_LOST);
    put_u32(e->patch + PATCH_LOST, events < UINT32_MAX - lost ? lost + (uint32_t)events : UINT32_MAX);
    e->changed = true;
}

HRESULT etl_file_flush(struct etl_file *e)
{
    HRESULT cut = cut_torn_end(e), hr = S_OK;
    if (e->changed) {
        hr = write_buffer(e, ETL_FLAG_PROCESSOR_INDEX | ETL_FLAG_LAST);
        if (SUCCEEDED(hr))
            hr = write_patch(e);
        e->changed = FAILED(hr);
    }
    return FAILED(hr) ? hr : cut;
}

uint64_t etl_file_size(const struct etl_file *e)
{
    return e->buffers * ETL_BUFFER_SIZE;
}

uint64_t etl_file_size_with(const struct etl_file *e, const struct etl_event *events, size_t count)
{
    const uint64_t needed = buffers_needed(room(e), events, count);
    if (e->ring_end == 0)
        return (e->buffers + needed) * ETL_BUFFER_SIZE;
    /* The present buffer may not be overwritten by the events that begin in it. */
    const bool outside = e->place < e->ring_first;
    if (needed > e->ring_end - e->ring_first - (outside ? 0 : 1))
        return UINT64_MAX;
    const uint64_t buffers = e->buffers + needed;
    return (buffers < e->ring_end ? buffers : e->ring_end) * ETL_BUFFER_SIZE;
}

HRESULT etl_file_close(struct etl_file *e)
{
    if (!e)
        return S_OK;
    HRESULT hr = etl_file_flush(e);
    free_file(e);
    return hr;
}

uint32_t etl_buffer_used(const uint8_t *buffer)
{
    uint32_t used = get_u32(buffer + ETL_BUFFER_USED_AT);
    bool ours = get_u32(buffer + ETL_BUFFER_SIZE_AT) == ETL_BUFFER_SIZE && used >= ETL_BUFFER_HEAD &&
                used <= ETL_BUFFER_SIZE && (used & 7) == 0;
    return ours ? used : 0;
}
