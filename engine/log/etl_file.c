/* SPDX-License-Identifier: MIT */
/* Writes .etl containers.

   The file is a whole log after every write call: a new buffer is first written empty (that is where a full disk
   shows), then filled in place, its events before the header that counts them, and the log file header's number of
   buffers last. So a reader, or a crash, between any two calls finds whole buffers with whole events in them.
   Layouts are those of Windows 8 and later, 64-bit; BuffersWritten, EndTime and EventsLost are kept true at each
   flush. The time zone in the header is the bias at the start, without rules of change: a reader that converts the
   local stamps of performance logs needs exactly that. */
#include "engine/log/etl_file.h"

#include <string.h>

#include "engine/log/little_endian.h"
#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"

/* Offsets in a buffer's header. */
enum {
    BUFFER_SIZE_AT = 0x00,
    BUFFER_SAVED_AT = 0x04,
    BUFFER_CURRENT_AT = 0x08,
    BUFFER_TIME_AT = 0x10,
    BUFFER_SEQUENCE_AT = 0x18,
    BUFFER_STATE_AT = 0x2C,
    BUFFER_USED_AT = 0x30,
    BUFFER_FLAGS_AT = 0x34,
    BUFFER_TYPE_AT = 0x36,
};
enum { STATE_FLUSHED = 3, TYPE_FILE_HEADER = 4, FLAG_LAST = 0x01, FLAG_PROCESSOR_INDEX = 0x20 };

/* The log file header event: SYSTEM_TRACE_HEADER, TRACE_LOGFILE_HEADER, two texts. */
enum { SYSTEM_HEADER = 0x20, LOGFILE_AT = ETL_BUFFER_HEAD + SYSTEM_HEADER, NAMES_AT = LOGFILE_AT + 0x118 };
enum { SYSTEM_HEADER_64 = 0x02, EVENT_MARKERS = 0xC0, WPP_MARKER = 0x90, STAMP_AT = 0x10 };
/* The part of TRACE_LOGFILE_HEADER that changes while the log grows: EndTime to EventsLost. */
enum { PATCH_AT = LOGFILE_AT + 0x10, PATCH_SIZE = 0x24, PATCH_END = 0, PATCH_BUFFERS = 0x14, PATCH_LOST = 0x20 };

struct etl_file {
    struct file *file;
    uint8_t *buffer;   /* the last buffer of the file as it shall be */
    uint8_t *spare;    /* the one before it while events are being added across buffers */
    uint32_t used;     /* bytes of buffer in use */
    uint32_t written;  /* of these, how many the file has; 0: its copy is not to be trusted at all */
    uint64_t buffers;  /* whole buffers in the file, the header's included */
    uint64_t sequence; /* of buffer */
    int64_t utc;       /* of the newest event */
    bool changed;      /* since the last flush */
    bool torn;         /* a failed growth left bytes behind the last buffer */
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
    put_u32(buffer + BUFFER_SIZE_AT, ETL_BUFFER_SIZE);
    put_u32(buffer + BUFFER_SAVED_AT, used);
    put_u32(buffer + BUFFER_CURRENT_AT, used);
    put_u64(buffer + BUFFER_TIME_AT, (uint64_t)utc);
    put_u64(buffer + BUFFER_SEQUENCE_AT, sequence);
    put_u32(buffer + BUFFER_STATE_AT, STATE_FLUSHED);
    put_u32(buffer + BUFFER_USED_AT, used);
    put_u16(buffer + BUFFER_FLAGS_AT, flags);
}

static void begin_buffer(uint8_t *buffer, uint64_t sequence, int64_t utc)
{
    memset(buffer, 0xFF, ETL_BUFFER_SIZE);
    put_buffer_head(buffer, ETL_BUFFER_HEAD, sequence, utc, FLAG_PROCESSOR_INDEX);
}

static HRESULT put_name(uint8_t *buffer, uint32_t *at, const char *name)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name != NULL ? name : "", &wide, &units);
    if (FAILED(hr)) {
        return hr;
    }
    /* An event's size is 16 bits, so the header event must stay below the buffer's size. */
    if (units >= (ETL_BUFFER_SIZE - 8 - *at) / 2) {
        hr = error_set(E_INVALIDARG, "log name %s: %zu characters do not fit into a log file header", name, units);
    } else {
        for (size_t i = 0; i <= units; i++, *at += 2) {
            put_u16(buffer + *at, wide[i]);
        }
    }
    memory_free(wide);
    return hr;
}

static HRESULT put_time_zone(uint8_t *at, int64_t start_utc)
{
    enum { NAME_UNITS = 32, STANDARD_NAME = 4, DAYLIGHT_NAME = 88 };
    char *name = clock_zone_name();
    if (name == NULL) {
        return error_set(E_OUTOFMEMORY, "out of memory for the name of the time zone");
    }
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name, &wide, &units);
    memory_free(name);
    if (FAILED(hr)) {
        return hr;
    }
    put_u32(at, (uint32_t)clock_bias_minutes(start_utc));
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
    event[2] = SYSTEM_HEADER_64;
    event[3] = EVENT_MARKERS;
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
    HRESULT hr = put_time_zone(log + 0x48, h->start_utc);
    uint32_t end = NAMES_AT;
    if (SUCCEEDED(hr)) {
        hr = put_name(buffer, &end, h->logger_name);
    }
    if (SUCCEEDED(hr)) {
        hr = put_name(buffer, &end, h->file_name);
    }
    if (FAILED(hr)) {
        return hr;
    }
    put_u16(event + 4, (uint16_t)(end - ETL_BUFFER_HEAD));
    for (; (end & 7) != 0; end++) {
        buffer[end] = 0;
    }
    put_buffer_head(buffer, end, 0, 0, h->private_logger ? FLAG_LAST : FLAG_LAST | FLAG_PROCESSOR_INDEX);
    put_u16(buffer + BUFFER_TYPE_AT, TYPE_FILE_HEADER);
    if (h->private_logger) {
        put_u32(buffer + BUFFER_CURRENT_AT, 0);
        put_u32(buffer + BUFFER_STATE_AT, 0);
    }
    return S_OK;
}

static struct etl_file *new_file(void)
{
    struct etl_file *e = memory_zero(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    e->buffer = memory_alloc(ETL_BUFFER_SIZE);
    e->spare = memory_alloc(ETL_BUFFER_SIZE);
    if (e->buffer == NULL || e->spare == NULL) {
        free_file(e);
        return NULL;
    }
    return e;
}

HRESULT etl_file_create(const char *path, bool replace, const struct etl_header *header, struct etl_file **out)
{
    struct etl_file *e = new_file();
    if (e == NULL) {
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a log file's buffers", path);
    }
    e->buffers = 2;
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
    if (SUCCEEDED(hr)) {
        hr = file_write_at(e->file, ETL_BUFFER_SIZE, e->buffer, ETL_BUFFER_SIZE);
    }
    if (FAILED(hr)) {
        free_file(e);
        (void)file_delete(path);
        return hr;
    }
    *out = e;
    return S_OK;
}

/* Reads what is needed to go on: the header's changing part and the last buffer. */
static HRESULT load_end(struct etl_file *e, struct file *file, const char *path)
{
    uint64_t size;
    size_t got;
    HRESULT hr = file_size(file, &size);
    if (FAILED(hr)) {
        return hr;
    }
    e->buffers = size / ETL_BUFFER_SIZE;
    e->torn = size % ETL_BUFFER_SIZE != 0;
    if (e->buffers < 2) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "%s: %llu bytes are too few for a binary log to append to", path, (unsigned long long)size);
    }
    hr = file_read_at(file, 0, e->spare, ETL_BUFFER_SIZE, &got);
    if (FAILED(hr)) {
        return hr;
    }
    uint32_t offset = ETL_BUFFER_HEAD, length = 0;
    const uint8_t *event = NULL;
    uint32_t used = got == ETL_BUFFER_SIZE ? etl_buffer_used(e->spare) : 0;
    if (used == 0 || get_u16(e->spare + BUFFER_TYPE_AT) != TYPE_FILE_HEADER ||
        !etl_buffer_event(e->spare, used, &offset, &event, &length) || event[2] != SYSTEM_HEADER_64 ||
        length < NAMES_AT - ETL_BUFFER_HEAD || get_u32(e->spare + LOGFILE_AT) != ETL_BUFFER_SIZE) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: is not a binary log with buffers of %u bytes",
                         path, (unsigned)ETL_BUFFER_SIZE);
    }
    memcpy(e->patch, e->spare + PATCH_AT, PATCH_SIZE);
    hr = file_read_at(file, (e->buffers - 1) * ETL_BUFFER_SIZE, e->buffer, ETL_BUFFER_SIZE, &got);
    if (FAILED(hr)) {
        return hr;
    }
    e->used = got == ETL_BUFFER_SIZE ? etl_buffer_used(e->buffer) : 0;
    for (offset = ETL_BUFFER_HEAD; etl_buffer_event(e->buffer, e->used, &offset, &event, &length);) {
    }
    if (e->used == 0 || offset != e->used || get_u16(e->buffer + BUFFER_TYPE_AT) != 0) {
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: buffer %llu, the last, is damaged", path,
                         (unsigned long long)(e->buffers - 1));
    }
    memset(e->buffer + e->used, 0xFF, ETL_BUFFER_SIZE - e->used);
    e->sequence = get_u64(e->buffer + BUFFER_SEQUENCE_AT);
    e->utc = (int64_t)get_u64(e->patch + PATCH_END);
    e->written = 0;
    return S_OK;
}

HRESULT etl_file_open(const char *path, struct etl_file **out)
{
    struct etl_file *e = new_file();
    if (e == NULL) {
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a log file's buffers", path);
    }
    struct file *old;
    HRESULT hr = file_open(path, FILE_READ, &old);
    if (SUCCEEDED(hr)) {
        hr = load_end(e, old, path);
        file_close(old);
    }
    if (SUCCEEDED(hr)) {
        hr = file_open(path, FILE_APPEND, &e->file);
    }
    if (FAILED(hr)) {
        free_file(e);
        return hr;
    }
    *out = e;
    return S_OK;
}

static uint64_t buffer_place(const struct etl_file *e)
{
    return (e->buffers - 1) * ETL_BUFFER_SIZE;
}

/* Brings the last buffer of the file up to date: its new events, then its header. */
static HRESULT write_buffer(struct etl_file *e, uint16_t flags)
{
    put_buffer_head(e->buffer, e->used, e->sequence, e->utc, flags);
    HRESULT hr = S_OK;
    if (e->written == 0) {
        hr = file_write_at(e->file, buffer_place(e), e->buffer, ETL_BUFFER_SIZE);
    } else {
        if (e->used > e->written) {
            hr = file_write_at(e->file, buffer_place(e) + e->written, e->buffer + e->written, e->used - e->written);
        }
        if (SUCCEEDED(hr)) {
            hr = file_write_at(e->file, buffer_place(e), e->buffer, ETL_BUFFER_HEAD);
        }
    }
    if (SUCCEEDED(hr)) {
        e->written = e->used;
    }
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
        if (FAILED(hr)) {
            return hr;
        }
        e->torn = false;
    }
    return S_OK;
}

/* Takes the place of `count` more buffers by writing them empty. e->spare serves. */
static HRESULT reserve(struct etl_file *e, uint64_t count)
{
    HRESULT hr = cut_torn_end(e);
    for (uint64_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        begin_buffer(e->spare, e->sequence + 1 + i, e->utc);
        hr = file_write_at(e->file, (e->buffers + i) * ETL_BUFFER_SIZE, e->spare, ETL_BUFFER_SIZE);
        e->torn = true; /* until the buffers count */
    }
    return hr;
}

/* Copies events into the buffer until one does not fit; returns the index of that one. */
static size_t fill(struct etl_file *e, const struct etl_event *events, size_t count, size_t i)
{
    for (; i < count && event_space(&events[i]) <= ETL_BUFFER_SIZE - e->used; i++) {
        const struct etl_event *event = &events[i];
        uint8_t *at = e->buffer + e->used;
        uint32_t space = event_space(event);
        memcpy(at, event->head, event->head_size);
        if (event->data_size != 0) {
            memcpy(at + event->head_size, event->data, event->data_size);
        }
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
    const uint64_t old_buffers = e->buffers, old_sequence = e->sequence;
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
    hr = write_buffer(e, FLAG_PROCESSOR_INDEX);
    swap_buffers(e); /* the first one is kept for a way back */
    while (SUCCEEDED(hr) && i < count) {
        e->buffers++;
        e->sequence++;
        begin_buffer(e->buffer, e->sequence, utc);
        e->used = e->written = ETL_BUFFER_HEAD;
        i = fill(e, events, count, i);
        hr = write_buffer(e, i == count ? FLAG_PROCESSOR_INDEX | FLAG_LAST : FLAG_PROCESSOR_INDEX);
    }
    if (SUCCEEDED(hr)) {
        hr = write_patch(e);
    }
    if (SUCCEEDED(hr)) {
        e->torn = false;
        e->changed = false;
        return S_OK;
    }
    swap_buffers(e);
    e->buffers = old_buffers;
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

static uint64_t buffers_needed(uint32_t used, const struct etl_event *events, size_t count)
{
    uint64_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t space = event_space(&events[i]);
        if (space > ETL_BUFFER_SIZE - used) {
            needed++;
            used = ETL_BUFFER_HEAD;
        }
        used += space;
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
    if (utc < e->utc) {
        utc = e->utc; /* the clock was set back; buffers' times may not fall */
    }
    uint64_t new_buffers = buffers_needed(e->used, events, count);
    if (new_buffers != 0) {
        return add_across(e, utc, events, count, new_buffers);
    }
    (void)fill(e, events, count, 0);
    e->utc = utc;
    e->changed = true;
    return S_OK;
}

HRESULT etl_file_restamp(struct etl_file *e, const struct etl_event *events, size_t count, int64_t stamp)
{
    uint8_t bytes[8];
    put_u64(bytes, (uint64_t)stamp);
    uint64_t buffer = 1;
    uint32_t used = ETL_BUFFER_HEAD;
    for (size_t i = 0; i < count; i++) {
        uint32_t space = event_space(&events[i]);
        if (space > ETL_BUFFER_SIZE - used) {
            buffer++;
            used = ETL_BUFFER_HEAD;
        }
        if (buffer == e->buffers - 1) {
            memcpy(e->buffer + used + STAMP_AT, bytes, sizeof bytes);
        }
        if (buffer < e->buffers - 1 || used < e->written) {
            HRESULT hr = file_write_at(e->file, buffer * ETL_BUFFER_SIZE + used + STAMP_AT, bytes, sizeof bytes);
            if (FAILED(hr)) {
                return hr;
            }
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
        hr = write_buffer(e, FLAG_PROCESSOR_INDEX | FLAG_LAST);
        if (SUCCEEDED(hr)) {
            hr = write_patch(e);
        }
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
    return (e->buffers + buffers_needed(e->used, events, count)) * ETL_BUFFER_SIZE;
}

HRESULT etl_file_close(struct etl_file *e)
{
    if (e == NULL) {
        return S_OK;
    }
    HRESULT hr = etl_file_flush(e);
    free_file(e);
    return hr;
}

uint32_t etl_buffer_used(const uint8_t *buffer)
{
    uint32_t used = get_u32(buffer + BUFFER_USED_AT);
    bool ours = get_u32(buffer + BUFFER_SIZE_AT) == ETL_BUFFER_SIZE && used >= ETL_BUFFER_HEAD &&
                used <= ETL_BUFFER_SIZE && (used & 7) == 0;
    return ours ? used : 0;
}

bool etl_buffer_event(const uint8_t *buffer, uint32_t used, uint32_t *offset, const uint8_t **event, uint32_t *size)
{
    if (used > ETL_BUFFER_SIZE || *offset > used || used - *offset < 8) {
        return false;
    }
    const uint8_t *at = buffer + *offset;
    uint32_t length, smallest;
    if (at[3] == WPP_MARKER) {
        length = get_u16(at);
        smallest = 8;
    } else if ((at[3] & EVENT_MARKERS) != EVENT_MARKERS) {
        return false;
    } else if (at[2] <= 0x04 || at[2] == 0x10 || at[2] == 0x11) { /* system and performance headers */
        length = get_u16(at + 4);
        smallest = at[2] <= 0x02 ? SYSTEM_HEADER : at[2] <= 0x04 ? 0x18 : 0x10;
    } else {
        length = get_u16(at);
        smallest = at[2] == 0x12 || at[2] == 0x13 ? 0x50 : at[2] == 0x0B || at[2] == 0x15 ? 0x48 : 0x30;
    }
    uint32_t space = (length + 7) & ~(uint32_t)7;
    if (length < smallest || space > used - *offset) {
        return false;
    }
    *event = at;
    *size = length;
    *offset += space;
    return true;
}
