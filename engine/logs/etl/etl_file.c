/* SPDX-License-Identifier: MIT */
/* Writes .etl containers.

   The file is a complete log after every write call: the events of a buffer are written before the header that counts
   them, and the log file header's number of buffers is written last. Therefore a reader that opens the file between two
   calls, or after a crash, finds complete buffers with complete events. The layouts are those of 64-bit Windows 8 and
   later. BuffersWritten, EndTime and the losses are updated at each flush. In a circular log, the writer returns to the
   ring's first buffer when the file has its maximum size. Readers find the order of the buffers by their sequence
   numbers. */
#include "engine/logs/etl_file.h"

#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/etl/etl_container.h"
#include "engine/logs/log.h"

#include <string.h>

static void etl_container_free(struct etl_file *e)
{
    if (!e)
        return;
    etl_log_free(&e->log);
    file_close(e->file);
    memory_free(e->buffer);
    memory_free(e->spare);
    memory_free(e);
}

/* Returns the time of the newest event, for a buffer's header. */
static int64_t buffer_time(const struct etl_file *e)
{
    return etl_log_buffer_time(&e->log, etl_log_stamp(&e->log, e->log.end_utc));
}

struct etl_buffer_header etl_container_new_header(const struct etl_file *e, uint64_t sequence)
{
    return (struct etl_buffer_header){
        .size = e->size,
        .saved = ETL_BUFFER_HEAD,
        .current = ETL_BUFFER_HEAD,
        .time = buffer_time(e),
        .sequence = sequence,
        .state = ETL_STATE_FLUSHED,
        .used = ETL_BUFFER_HEAD,
        .flags = ETL_FLAG_PROCESSOR_INDEX,
    };
}

void etl_container_begin_buffer(const struct etl_file *e, uint64_t sequence, uint8_t *buffer,
                                struct etl_buffer_header *head)
{
    *head = etl_container_new_header(e, sequence);
    memset(buffer, 0xFF, e->size);
    etl_buffer_header_write(head, buffer);
}

/* Writes the log file header into the first buffer of the file. */
static HRESULT put_header(const struct etl_log *log, uint8_t *buffer)
{
    uint32_t length;
    memset(buffer, 0xFF, log->buffer_size);
    HRESULT hr = etl_log_write(log, buffer + ETL_BUFFER_HEAD, etl_buffer_max_event(log->buffer_size), &length);
    if (FAILED(hr))
        return hr;
    const uint32_t used = ETL_BUFFER_HEAD + ((length + 7) & ~(uint32_t)7);
    memset(buffer + ETL_BUFFER_HEAD + length, 0, used - ETL_BUFFER_HEAD - length);
    const struct etl_buffer_header head = {
        .size = log->buffer_size,
        .saved = used,
        .current = log->private_logger ? 0 : used,
        .state = log->private_logger ? 0 : ETL_STATE_FLUSHED,
        .used = used,
        .flags = log->private_logger ? ETL_FLAG_LAST : ETL_FLAG_LAST | ETL_FLAG_PROCESSOR_INDEX,
        .type = ETL_TYPE_FILE_HEADER,
    };
    etl_buffer_header_write(&head, buffer);
    return S_OK;
}

/* Creates a container without a file. NULL: out of memory, with an error message. */
static struct etl_file *etl_container_new(const char *path, uint32_t size)
{
    struct etl_file *e = memory_zero(1, sizeof *e);
    if (e) {
        e->size = size;
        e->buffer = memory_alloc(size);
        e->spare = memory_alloc(size);
        if (e->buffer && e->spare)
            return e;
    }
    etl_container_free(e);
    (void)error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for buffers of %u bytes", path, (unsigned)size);
    return NULL;
}

static bool is_size(uint32_t size)
{
    return size >= ETL_SMALLEST_BUFFER && size <= ETL_LARGEST_BUFFER && size % ETL_BUFFER_UNIT == 0;
}

/* Selects version 2.0 of the format for logs that readers of version 1.5 do not support. */
static void etl_log_complete(struct etl_log *log)
{
    enum { LARGEST_1_5 = 1024 * 1024, MOST_PROCESSORS_1_5 = 256 };
    const bool large = log->buffer_size > LARGEST_1_5 || log->processors > MOST_PROCESSORS_1_5;
    log->sub_version = large ? 2 : 1;
    log->sub_minor = large ? 0 : 5;
    log->end_utc = log->start_utc;
    log->timer_resolution = 156250;
    log->buffers_written = 2;
    log->events_lost = log->buffers_lost = 0;
    log->pointer_size = 8;
}

/* Sets everything that is known before the file is open. */
static HRESULT etl_file_prepare(struct etl_file *e, const struct etl_log *log)
{
    e->buffers = 2;
    e->place = e->sequence = 1;
    e->written = ETL_BUFFER_HEAD;
    e->log = *log;
    etl_log_complete(&e->log);
    HRESULT hr = put_header(&e->log, e->spare);
    e->log.standard_name = e->log.daylight_name = e->log.logger_name = e->log.file_name = NULL;
    if (FAILED(hr))
        return hr;
    memcpy(e->event, e->spare + ETL_BUFFER_HEAD, sizeof e->event);
    etl_container_begin_buffer(e, e->sequence, e->buffer, &e->head);
    return S_OK;
}

static HRESULT etl_file_allocate(const char *path, const struct etl_log *log, struct etl_file **out)
{
    *out = NULL;
    if (!is_size(log->buffer_size)) {
        return error_set(
            E_INVALIDARG, "cannot create '%s': invalid buffer size of %u bytes (expected whole KB from %u to %u)", path,
            (unsigned)log->buffer_size, ETL_SMALLEST_BUFFER / ETL_BUFFER_UNIT, ETL_LARGEST_BUFFER / ETL_BUFFER_UNIT);
    }
    *out = etl_container_new(path, log->buffer_size);
    return *out ? etl_file_prepare(*out, log) : E_OUTOFMEMORY;
}

static HRESULT write_beginning(struct etl_file *e)
{
    HRESULT hr = log_file_empty(e->file);
    if (SUCCEEDED(hr))
        hr = file_write_at(e->file, 0, e->spare, e->size);
    return SUCCEEDED(hr) ? file_write_at(e->file, e->size, e->buffer, e->size) : hr;
}

HRESULT etl_file_create(const char *path, bool replace, const struct etl_log *log, struct etl_file **out)
{
    struct etl_file *e;
    TRACE_STEP(logs, "create the trace %s", path);
    HRESULT hr = etl_file_allocate(path, log, &e);
    if (SUCCEEDED(hr))
        hr = file_open(path, replace ? FILE_REPLACE : FILE_CREATE_NEW, &e->file);
    bool opened = e && SUCCEEDED(hr);
    if (opened)
        hr = write_beginning(e);
    if (FAILED(hr)) {
        etl_container_free(e);
        if (opened)
            (void)file_delete(path);
        return hr;
    }
    *out = e;
    return S_OK;
}

HRESULT etl_file_begin(struct file *file, const char *path, const struct etl_log *log, struct etl_file **out)
{
    struct etl_file *e;
    HRESULT hr = etl_file_allocate(path, log, &e);
    if (e && SUCCEEDED(hr)) {
        e->file = file;
        hr = write_beginning(e);
    }
    if (FAILED(hr)) {
        if (!e || !e->file)
            file_close(file);
        etl_container_free(e);
        return hr;
    }
    *out = e;
    return S_OK;
}

static HRESULT damaged(const struct etl_file *e, const char *path, uint64_t buffer)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                     "cannot append to '%s': buffer %llu at byte %llu is corrupt", path, (unsigned long long)buffer,
                     (unsigned long long)buffer * e->size);
}

static HRESULT no_container(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                     "cannot append to '%s': it is not a log file to which events can be appended", path);
}

/* Fills e->log and e->event from the file's first buffer, using e->spare. */
static HRESULT etl_container_load_header(struct etl_file *e, struct file *file, const char *path)
{
    size_t got;
    HRESULT hr = file_read_at(file, 0, e->spare, e->size, &got);
    if (FAILED(hr))
        return hr;
    uint32_t offset = ETL_BUFFER_HEAD, length = 0;
    const uint8_t *event = NULL;
    const uint32_t used = got == e->size ? etl_buffer_used(e->spare, e->size) : 0;
    if (!etl_buffer_event(e->spare, used, &offset, &event, &length) || length < ETL_LOG_HEAD)
        return no_container(path);
    hr = etl_log_read(path, event, length, &e->log);
    if (FAILED(hr))
        return hr;
    memcpy(e->event, event, sizeof e->event);
    return e->log.buffer_size == e->size && e->log.pointer_size == 8 ? S_OK : no_container(path);
}

/* Finds the end of the last record in buffer number `place` and stores it in e->head.used; 0: no record ends in the
   buffer. */
static HRESULT load_buffer(struct etl_file *e, struct file *file, const char *path, uint64_t place,
                           etl_ends_record *ends)
{
    size_t got;
    HRESULT hr = file_read_at(file, place * e->size, e->buffer, e->size, &got);
    e->head.used = 0;
    if (FAILED(hr) || got < ETL_BUFFER_HEAD || etl_all_zero(e->buffer, ETL_BUFFER_HEAD))
        return hr;
    const bool cut = got < e->size;
    const uint32_t used = etl_buffer_used(e->buffer, e->size);
    etl_buffer_header_read(e->buffer, &e->head);
    e->head.used = 0;
    if (used == 0 || e->head.type != ETL_TYPE_EVENTS)
        return cut ? S_OK : damaged(e, path, place);
    uint32_t offset = ETL_BUFFER_HEAD, length;
    const uint8_t *event;
    const uint32_t there = used < got ? used : (uint32_t)got;
    while (etl_buffer_event(e->buffer, there, &offset, &event, &length)) {
        if (!ends || ends(event, length)) {
            e->head.used = (offset + 7) & ~(uint32_t)7; /* the padding can be missing */
            memset(e->buffer + (event - e->buffer) + length, 0, e->head.used - (uint32_t)(event - e->buffer) - length);
        }
    }
    return cut || offset == used ? S_OK : damaged(e, path, place);
}

/* Reads the data that appending needs: the header, and the buffer in which the last record ends. */
static HRESULT load_end(struct etl_file *e, struct file *file, const char *path, etl_ends_record *ends)
{
    uint64_t size;
    HRESULT hr = file_size(file, &size);
    if (SUCCEEDED(hr))
        hr = etl_container_load_header(e, file, path);
    if (FAILED(hr))
        return hr;
    uint64_t place = (size + e->size - 1) / e->size;
    while (SUCCEEDED(hr) && e->head.used == 0 && --place > 0)
        hr = load_buffer(e, file, path, place, ends);
    if (SUCCEEDED(hr) && e->head.used == 0) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot append to '%s': its %llu bytes contain no record", path, (unsigned long long)size);
    }
    if (FAILED(hr))
        return hr;
    e->place = place;
    e->buffers = place + 1;
    e->torn = size != e->buffers * e->size;
    e->changed = e->torn || e->head.used != etl_buffer_used(e->buffer, e->size);
    e->head.flags |= ETL_FLAG_PROCESSOR_INDEX;
    memset(e->buffer + e->head.used, 0xFF, e->size - e->head.used);
    e->sequence = e->head.sequence > place ? e->head.sequence : place;
    e->written = 0;
    return S_OK;
}

/* Like etl_container_new, but with the buffer size of an existing file. */
static HRESULT etl_container_of_size(struct file *file, const char *path, struct etl_file **out)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    struct etl_buffer_header head;
    size_t got;
    HRESULT hr = file_read_at(file, 0, bytes, sizeof bytes, &got);
    if (FAILED(hr))
        return hr;
    etl_buffer_header_read(bytes, &head);
    if (got < sizeof bytes || !is_size(head.size) || head.type != ETL_TYPE_FILE_HEADER)
        return no_container(path);
    *out = etl_container_new(path, head.size);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT etl_file_continue(struct file *file, const char *path, etl_ends_record *ends, struct etl_file **out)
{
    struct etl_file *e = NULL;
    HRESULT hr = etl_container_of_size(file, path, &e);
    if (SUCCEEDED(hr))
        hr = load_end(e, file, path, ends);
    if (FAILED(hr) || !e) {
        file_close(file);
        etl_container_free(e);
        return hr;
    }
    e->file = file;
    *out = e;
    return S_OK;
}

/* Returns whether the current buffer has no events, so that a complete buffer can replace it. */
static bool is_empty(const struct etl_file *e)
{
    return e->head.used == ETL_BUFFER_HEAD && !e->given;
}

HRESULT etl_file_make_ring(struct etl_file *e, uint64_t max_buffers)
{
    const uint64_t first = is_empty(e) ? e->place : e->buffers;
    if (max_buffers < first + 2) {
        return error_set(E_INVALIDARG,
                         "a circular log of %llu bytes is too small: the fixed part needs %llu bytes, and the ring "
                         "needs at least %u bytes",
                         (unsigned long long)max_buffers * e->size, (unsigned long long)first * e->size,
                         2 * (unsigned)e->size);
    }
    e->ring_first = first;
    e->ring_end = max_buffers;
    e->full = first != e->place;
    return S_OK;
}

static uint64_t buffer_offset(const struct etl_file *e)
{
    return e->place * e->size;
}

uint64_t etl_container_next_place(const struct etl_file *e, uint64_t place)
{
    return e->ring_end != 0 && place + 1 == e->ring_end ? e->ring_first : place + 1;
}

HRESULT etl_container_write_buffer(struct etl_file *e, bool last)
{
    e->head.saved = e->head.current = e->head.used;
    e->head.flags = (uint16_t)((e->head.flags & ~ETL_FLAG_LAST) | (last ? ETL_FLAG_LAST : 0));
    if (!e->given)
        e->head.time = buffer_time(e);
    etl_buffer_header_write(&e->head, e->buffer);
    HRESULT hr = S_OK;
    if (e->written == 0) {
        hr = file_write_at(e->file, buffer_offset(e), e->buffer, e->size);
    } else {
        if (e->head.used > e->written)
            hr = file_write_at(e->file, buffer_offset(e) + e->written, e->buffer + e->written,
                               e->head.used - e->written);
        if (SUCCEEDED(hr))
            hr = file_write_at(e->file, buffer_offset(e), e->buffer, ETL_BUFFER_HEAD);
    }
    if (SUCCEEDED(hr))
        e->written = e->head.used;
    return hr;
}

HRESULT etl_container_write_counts(struct etl_file *e)
{
    e->log.buffers_written = (uint32_t)e->buffers;
    etl_log_write_counts(&e->log, e->event);
    return file_write_at(e->file, ETL_BUFFER_HEAD, e->event, sizeof e->event);
}

HRESULT etl_container_cut_torn_end(struct etl_file *e)
{
    if (e->torn) {
        HRESULT hr = file_set_size(e->file, (e->buffers < e->taken ? e->taken : e->buffers) * e->size);
        if (FAILED(hr))
            return hr;
        e->torn = false;
    }
    return S_OK;
}

void etl_container_swap(struct etl_file *e)
{
    uint8_t *other = e->spare;
    e->spare = e->buffer;
    e->buffer = other;
}

/* Writes the whole buffer in e->spare as buffer number `place` of the file. If the file already contains that buffer or
   reserves space for it, a header without events is written first, and the new header last. Therefore a header never
   counts events of another buffer. */
static HRESULT place_buffer(struct etl_file *e, uint64_t place, const struct etl_buffer_header *head)
{
    const uint64_t at = place * e->size;
    if (place == e->buffers && place >= e->taken) {
        HRESULT hr = file_write_at(e->file, at, e->spare, e->size);
        e->torn = FAILED(hr);
        return hr;
    }
    uint8_t bytes[ETL_BUFFER_HEAD];
    struct etl_buffer_header empty = *head;
    empty.saved = empty.current = empty.used = ETL_BUFFER_HEAD;
    etl_buffer_header_write(&empty, bytes);
    HRESULT hr = file_write_at(e->file, at, bytes, sizeof bytes);
    if (SUCCEEDED(hr))
        hr = file_write_at(e->file, at + ETL_BUFFER_HEAD, e->spare + ETL_BUFFER_HEAD, e->size - ETL_BUFFER_HEAD);
    return SUCCEEDED(hr) ? file_write_at(e->file, at, e->spare, ETL_BUFFER_HEAD) : hr;
}

HRESULT etl_file_add_buffer(struct etl_file *e, int64_t utc, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    if (head->used < ETL_BUFFER_HEAD || head->used > e->size || (head->used & 7) != 0) {
        return error_set(E_INVALIDARG, "invalid buffer: %u bytes are in use, but the buffer size is %u bytes",
                         (unsigned)head->used, (unsigned)e->size);
    }
    const bool replaces = is_empty(e);
    const uint64_t place = replaces ? e->place : etl_container_next_place(e, e->place);
    struct etl_buffer_header whole = *head;
    whole.size = e->size;
    whole.saved = whole.current = whole.used;
    whole.time = etl_log_buffer_time(&e->log, head->time);
    whole.state = ETL_STATE_FLUSHED;
    whole.flags = (uint16_t)((whole.flags & ~ETL_FLAG_LAST) | ETL_FLAG_PROCESSOR_INDEX);
    etl_buffer_header_write(&whole, e->spare);
    memcpy(e->spare + ETL_BUFFER_HEAD, bytes + ETL_BUFFER_HEAD, whole.used - ETL_BUFFER_HEAD);
    memset(e->spare + whole.used, 0xFF, e->size - whole.used);
    HRESULT hr = etl_container_cut_torn_end(e);
    if (SUCCEEDED(hr) && !replaces && (e->written != e->head.used || (e->head.flags & ETL_FLAG_LAST) != 0))
        hr = etl_container_write_buffer(e, false);
    if (SUCCEEDED(hr))
        hr = place_buffer(e, place, &whole);
    e->changed = true;
    if (FAILED(hr)) {
        e->written = replaces ? 0 : e->written;
        (void)etl_container_cut_torn_end(e); /* if this fails, the next growth and the next flush try again */
        return hr;
    }
    etl_container_swap(e);
    e->head = whole;
    e->written = whole.used;
    e->buffers += place == e->buffers;
    e->place = place;
    e->sequence = whole.sequence > e->sequence ? whole.sequence : e->sequence;
    e->log.end_utc = utc > e->log.end_utc ? utc : e->log.end_utc;
    e->full = e->given = true;
    return S_OK;
}

static void count(uint32_t *to, size_t more)
{
    *to = more < UINT32_MAX - *to ? *to + (uint32_t)more : UINT32_MAX;
}

void etl_file_count_lost(struct etl_file *e, size_t events, size_t buffers)
{
    count(&e->log.events_lost, events);
    count(&e->log.buffers_lost, buffers);
    e->changed = true;
}

HRESULT etl_file_flush(struct etl_file *e)
{
    HRESULT cut = etl_container_cut_torn_end(e), hr = S_OK;
    if (e->changed) {
        hr = etl_container_write_buffer(e, true);
        if (SUCCEEDED(hr))
            hr = etl_container_write_counts(e);
        e->changed = FAILED(hr);
    }
    return FAILED(hr) ? hr : cut;
}

uint64_t etl_file_size(const struct etl_file *e)
{
    return e->buffers * e->size;
}

uint64_t etl_file_size_with_buffer(const struct etl_file *e)
{
    const bool grows = !is_empty(e) && etl_container_next_place(e, e->place) == e->buffers;
    return (e->buffers + grows) * e->size;
}

uint64_t etl_file_next_sequence(const struct etl_file *e)
{
    return is_empty(e) ? e->sequence : e->sequence + 1;
}

const struct etl_log *etl_file_log(const struct etl_file *e)
{
    return &e->log;
}

HRESULT etl_file_preallocate(struct etl_file *e, uint64_t bytes)
{
    const uint64_t whole = bytes / e->size;
    if (whole <= e->buffers)
        return S_OK;
    HRESULT hr = file_set_size(e->file, whole * e->size);
    if (SUCCEEDED(hr))
        e->taken = whole;
    return hr;
}

void etl_file_end(struct etl_file *e, int64_t utc)
{
    e->log.end_utc = utc > e->log.end_utc ? utc : e->log.end_utc;
    e->changed = true;
}

HRESULT etl_file_close(struct etl_file *e)
{
    if (!e)
        return S_OK;
    if (e->taken != 0) {
        e->taken = 0;
        e->torn = true;
    }
    HRESULT hr = etl_file_flush(e);
    etl_container_free(e);
    return hr;
}

void etl_file_cut_off(struct etl_file *e)
{
    file_close(e->file);
}

void etl_file_abandon(struct etl_file *e)
{
    etl_container_free(e);
}

/* ---- continuing the file of a session that has ended, or whose host process has exited ---- */

/* Reads the header of buffer number `place` of the file. S_FALSE: not a complete buffer with events of this file. */
static HRESULT head_at(const struct etl_file *e, struct file *file, uint64_t place, struct etl_buffer_header *out)
{
    uint8_t bytes[ETL_BUFFER_HEAD];
    size_t got;
    HRESULT hr = file_read_at(file, place * e->size, bytes, sizeof bytes, &got);
    if (FAILED(hr))
        return hr;
    if (got < sizeof bytes || etl_buffer_used(bytes, e->size) == 0)
        return S_FALSE;
    etl_buffer_header_read(bytes, out);
    return out->type == ETL_TYPE_EVENTS && out->sequence < INT64_MAX ? S_OK : S_FALSE;
}

/* Sets e->buffers and e->sequence, and sets e->place to the index of the buffer before the next one to write. S_FALSE:
   the file has no buffer. */
static HRESULT find_place(struct etl_file *e, struct file *file, uint64_t places, etl_holds *holds, void *context)
{
    uint64_t oldest = UINT64_MAX, oldest_place = 0;
    HRESULT hr = S_OK;
    e->buffers = 1;
    for (uint64_t place = 1; SUCCEEDED(hr) && place < places; place++) {
        struct etl_buffer_header head;
        hr = head_at(e, file, place, &head);
        if (hr != S_OK || head.used == ETL_BUFFER_HEAD)
            continue;
        hr = holds ? holds(context, head.sequence) : S_OK;
        e->buffers = place + 1;
        e->place = place;
        e->sequence = head.sequence > e->sequence ? head.sequence : e->sequence;
        if (head.sequence < oldest) {
            oldest = head.sequence;
            oldest_place = place;
        }
    }
    if (FAILED(hr))
        return hr;
    if (e->buffers == e->ring_end) /* the ring has wrapped around */
        e->place = oldest_place == e->ring_first ? e->ring_end - 1 : oldest_place - 1;
    return e->buffers != 1 ? S_OK : S_FALSE;
}

static HRESULT load_place(struct etl_file *e, struct file *file, const char *path, etl_holds *holds, void *context)
{
    uint64_t size;
    size_t got;
    HRESULT hr = etl_container_load_header(e, file, path);
    if (SUCCEEDED(hr))
        hr = file_size(file, &size);
    if (SUCCEEDED(hr))
        hr = find_place(e, file, size / e->size, holds, context);
    if (FAILED(hr))
        return hr;
    if (hr == S_FALSE) {
        e->buffers = 2;
        e->place = e->sequence = 1;
        etl_container_begin_buffer(e, 1, e->buffer, &e->head);
        e->changed = true;
    } else {
        hr = head_at(e, file, e->place, &e->head);
        if (hr == S_OK)
            hr = file_read_at(file, e->place * e->size, e->buffer, e->size, &got);
        else if (SUCCEEDED(hr)) /* in a ring: the crash interrupted overwriting this buffer, so it becomes empty */
            etl_container_begin_buffer(e, e->sequence, e->buffer, &e->head);
        e->written = e->head.used;
        e->full = e->given = true;
    }
    e->torn = size != e->buffers * e->size;
    e->changed = e->changed || e->torn;
    return FAILED(hr) ? hr : S_OK;
}

HRESULT etl_file_resume(const char *path, uint64_t max_buffers, etl_holds *holds, void *context, struct etl_file **out)
{
    struct etl_file *e = NULL;
    struct file *old;
    HRESULT hr = file_open(path, FILE_READ, &old);
    if (SUCCEEDED(hr)) {
        hr = etl_container_of_size(old, path, &e);
        if (SUCCEEDED(hr)) {
            e->ring_first = max_buffers != 0 ? 1 : 0;
            e->ring_end = max_buffers;
            hr = load_place(e, old, path, holds, context);
        }
        file_close(old);
    }
    if (SUCCEEDED(hr) && max_buffers != 0 && (max_buffers < 3 || e->buffers > max_buffers))
        hr = error_set(E_INVALIDARG, "cannot append to '%s': not a circular log of at most %llu buffers", path,
                       (unsigned long long)max_buffers);
    if (SUCCEEDED(hr))
        hr = file_open(path, FILE_APPEND, &e->file);
    if (FAILED(hr)) {
        etl_container_free(e);
        return hr;
    }
    *out = e;
    return S_OK;
}
