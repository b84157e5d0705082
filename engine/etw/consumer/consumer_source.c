/* SPDX-License-Identifier: MIT */
/* The sources of events: log files and running sessions. Corrupt parts of a log file are skipped without a report, as
   on Windows. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"

#include <stdatomic.h>
#include <string.h>

/* ---- a log file ---- */

struct file_source {
    struct consumer_source base;
    struct etl_reader *reader;
    bool between; /* the previous event was the last one of its buffer */
    atomic_bool stopped;
};

static HRESULT file_next(struct consumer_source *base, struct etl_record *e)
{
    struct file_source *s = (struct file_source *)base;
    if (s->between && atomic_load_explicit(&s->stopped, memory_order_relaxed))
        return S_FALSE;
    HRESULT hr = etl_reader_next(s->reader, e);
    s->between = hr == S_OK && e->last;
    return hr;
}

static HRESULT file_restart(struct consumer_source *base)
{
    struct file_source *s = (struct file_source *)base;
    s->between = false;
    return etl_reader_seek(s->reader, INT64_MIN);
}

static void file_stop(struct consumer_source *base)
{
    atomic_store(&((struct file_source *)base)->stopped, true);
}

static void file_close(struct consumer_source *base)
{
    struct file_source *s = (struct file_source *)base;
    etl_reader_close(s->reader);
    memory_free(s);
}

HRESULT consumer_source_of_file(const char *path, struct consumer_source **out)
{
    struct file_source *s = memory_zero(1, sizeof *s);
    if (!s)
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory", path);
    HRESULT hr = etl_reader_open(path, NULL, NULL, &s->reader);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    s->base = (struct consumer_source){etl_reader_log(s->reader), file_next, file_restart, file_stop, file_close};
    *out = &s->base;
    return S_OK;
}

/* ---- a session ---- */

/* Buffers from different processors arrive one after another. A buffer is held back as long as older events could
   arrive: until the host process reports that it has sent all events up to the buffer's next event. The buffer is also
   released when the FlushTimer has elapsed, or when the maximum number of buffers is held back. */

enum {
    MOST_HELD = 4096,
    LEAST_HELD = 4,
    MOST_HELD_BYTES = 16 * 1024 * 1024,
    DEFAULT_FLUSH_MS = 1000,
    IDLE_MS = 10000,    /* maximum wait; normally the host process wakes this thread earlier */
    CONNECT_MS = 10000, /* maximum wait for the log file header, the first buffer that the host process sends */
    LOST_EVENT = 32,    /* event types of the class RT_LostEvent */
    LOST_BUFFER = 33,
    LOST_SIZE = 0x30 + 4, /* a classic header and a count */
};
static const uint8_t lost_class[16] = {0xE0, 0x9A, 0x39, 0x6A, 0xC6, 0x4B, 0xE9, 0x4D,
                                       0x87, 0x0B, 0x36, 0x57, 0xF8, 0x94, 0x7E, 0x7E};

struct held {
    uint8_t *bytes; /* one buffer of the ring's buffer size */
    struct etl_buffer_header head;
    uint32_t offset; /* offset of the end of the event */
    struct etl_record event;
    int64_t key;    /* the event's time stamp; INT64_MIN for the log file header, so that it comes first */
    uint64_t since; /* clock_monotonic_ms at which the buffer was taken from the ring */
};

struct session_source {
    struct consumer_source base;
    const struct realtime_source *way;
    char *session;
    struct etl_log log;
    struct lock lock; /* protects `connected` and the connection's wake */
    struct realtime_connection connection;
    bool connected;
    atomic_bool stopped;
    uint32_t takes_left; /* buffers that may still be taken from the ring after `stopped` was set */
    bool draining;       /* no further buffers will arrive */
    struct held *held;   /* `most` entries */
    struct held **heap;  /* a heap with the oldest event first; entries from `count` on are free */
    size_t count, most;
    bool given;     /* the first entry's event was returned */
    bool begun;     /* the log file header was returned */
    int64_t until;  /* events up to this time stamp need not be held back */
    int64_t newest; /* time stamp of the newest event returned */
    uint64_t events_reported, buffers_reported, buffers_bad;
    uint8_t lost[LOST_SIZE];
};

/* ---- buffers that are held back ---- */

/* Reads the next event of the buffer. Returns false at the end of the buffer. */
static bool next_event(struct held *h)
{
    const uint8_t *event;
    uint32_t size, behind;
    if (!etl_buffer_event(h->bytes, h->head.used, &h->offset, &event, &size))
        return false;
    const bool first = event == h->bytes + ETL_BUFFER_HEAD;
    const int64_t before = h->event.stamp;
    etl_record_decode(event, size, &h->event);
    if (!h->event.has_stamp)
        h->event.stamp = first ? h->head.time : before;
    h->event.processor = h->head.processor;
    h->event.buffer = &h->head;
    behind = h->offset;
    h->event.last = !etl_buffer_event(h->bytes, h->head.used, &behind, &event, &size);
    h->key = first && h->head.type == ETL_TYPE_FILE_HEADER ? INT64_MIN : h->event.stamp;
    return true;
}

/* If both events have the same time, the event from the buffer with the lower number comes first. */
static bool is_older(const struct held *a, const struct held *b)
{
    return a->key != b->key ? a->key < b->key : a->head.sequence < b->head.sequence;
}

static void swap(struct session_source *s, size_t a, size_t b)
{
    struct held *moved = s->heap[a];
    s->heap[a] = s->heap[b];
    s->heap[b] = moved;
}

static void move_up(struct session_source *s, size_t at)
{
    for (; at != 0 && is_older(s->heap[at], s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(s, at, (at - 1) / 2);
}

static void move_down(struct session_source *s)
{
    for (size_t at = 0, oldest;; at = oldest) {
        oldest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->count; child++)
            if (is_older(s->heap[child], s->heap[oldest]))
                oldest = child;
        if (oldest == at)
            return;
        swap(s, at, oldest);
    }
}

/* Takes a buffer from the ring. S_FALSE: the ring is empty, the maximum number of buffers is held back, or the source
   was stopped and takes_left is 0. */
static HRESULT source_take_buffer(struct session_source *s)
{
    struct realtime_ring *ring = &s->connection.ring;
    const bool stopped = atomic_load(&s->stopped);
    if (s->count == s->most || (stopped && s->takes_left == 0))
        return S_FALSE;
    s->takes_left -= stopped;
    struct held *h = s->heap[s->count]; /* entries from `count` on are free, and their memory is reused */
    if (!h->bytes)
        h->bytes = memory_alloc(ring->buffer_size);
    if (!h->bytes)
        return error_set(E_OUTOFMEMORY, "cannot read session '%.200s': out of memory for a buffer of %u bytes",
                         s->session, (unsigned)ring->buffer_size);
    HRESULT hr = realtime_ring_take(ring, h->bytes, &h->head);
    if (hr == S_FALSE)
        return S_FALSE;
    if (FAILED(hr)) {
        s->buffers_bad++;
        return S_OK;
    }
    h->offset = ETL_BUFFER_HEAD;
    h->since = clock_monotonic_ms();
    if (next_event(h))
        move_up(s, s->count++);
    return S_OK;
}

/* ---- losses ---- */

/* Creates an event that reports the losses since the last report. Returns false if nothing was lost. */
static bool source_report_lost(struct session_source *s, struct etl_record *e)
{
    uint64_t events, buffers;
    realtime_ring_losses(&s->connection.ring, &events, &buffers);
    buffers += s->buffers_bad;
    if (events == s->events_reported && buffers == s->buffers_reported)
        return false;
    const bool of_events = events != s->events_reported;
    const uint64_t lost = of_events ? events - s->events_reported : buffers - s->buffers_reported;
    uint8_t *at = s->lost;
    memset(at, 0, LOST_SIZE);
    put_u16(at, LOST_SIZE);
    at[2] = ETL_HEADER_CLASSIC_64;
    at[3] = ETL_MARKS;
    at[4] = of_events ? LOST_EVENT : LOST_BUFFER;
    put_u64(at + 0x10, (uint64_t)s->newest);
    memcpy(at + 0x18, lost_class, sizeof lost_class);
    put_u32(at + 0x30, lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX);
    etl_record_decode(at, LOST_SIZE, e);
    e->utc = etl_log_utc(&s->log, e->stamp);
    s->events_reported = of_events ? events : s->events_reported;
    s->buffers_reported = of_events ? s->buffers_reported : buffers;
    s->log.events_lost = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
    return true;
}

/* ---- the source ---- */

static uint32_t window(const struct session_source *s)
{
    return s->connection.flush_ms != 0 ? s->connection.flush_ms : DEFAULT_FLUSH_MS;
}

/* Returns whether the oldest event can be returned now. If it cannot, *wait is the time in ms for which the event must
   be held back. */
static bool is_due(struct session_source *s, const struct held *h, uint32_t *wait)
{
    if (s->draining || s->count == s->most || h->key <= s->until)
        return true;
    const uint64_t passed = clock_passed_ms(h->since, clock_monotonic_ms());
    if (passed >= window(s)) {
        s->until = h->head.time > s->until ? h->head.time : s->until;
        return true;
    }
    *wait = window(s) - (uint32_t)passed;
    return false;
}

/* Waits until the host process puts something into the ring, the source is stopped, or the timeout (ms) elapses.
   E_ABORT: the host process has exited. */
static HRESULT wait_for_host(struct session_source *s, uint32_t timeout)
{
    HRESULT hr = S_OK;
    if (realtime_ring_sleep(&s->connection.ring, s->count != 0, s->until) && !atomic_load(&s->stopped))
        hr = s->connection.wait(s->connection.context, timeout);
    realtime_ring_awake(&s->connection.ring);
    return hr;
}

/* Waits until the oldest event can be returned. S_FALSE: no more events. */
static HRESULT find_due(struct session_source *s, struct held **out)
{
    bool host_ended = false;
    for (;;) {
        const int64_t complete = realtime_ring_complete(&s->connection.ring);
        HRESULT hr;
        while ((hr = source_take_buffer(s)) == S_OK)
            continue;
        if (FAILED(hr))
            return hr;
        /* After the host process has exited, the session has ended, or the source was stopped, an empty ring means that
           no more buffers can arrive. */
        const bool room = s->count < s->most;
        if (room && complete > s->until)
            s->until = complete;
        if (room && (host_ended || atomic_load(&s->stopped) || realtime_ring_is_over(&s->connection.ring)))
            s->draining = true;
        uint32_t timeout = IDLE_MS;
        if (s->count != 0) {
            *out = s->heap[0];
            if (is_due(s, *out, &timeout))
                return S_OK;
        } else if (s->draining) {
            return S_FALSE;
        }
        hr = wait_for_host(s, timeout);
        host_ended = hr == E_ABORT;
        if (FAILED(hr) && !host_ended)
            return hr;
    }
}

static HRESULT session_next(struct consumer_source *base, struct etl_record *e)
{
    struct session_source *s = (struct session_source *)base;
    const bool advances = s->given;
    struct held *h = s->heap[0];
    bool ends = false;
    s->given = false;
    realtime_ring_read(&s->connection.ring);
    if (advances) {
        ends = !next_event(h);
        if (ends)
            swap(s, 0, --s->count);
        move_down(s);
    }
    if ((ends || (!advances && s->begun)) && source_report_lost(s, e))
        return S_OK;
    HRESULT hr = find_due(s, &h);
    if (hr != S_OK)
        return hr == S_FALSE && source_report_lost(s, e) ? S_OK : hr;
    *e = h->event;
    e->utc = etl_log_utc(&s->log, e->stamp);
    s->newest = e->stamp;
    s->given = s->begun = true;
    return S_OK;
}

static void source_disconnect(struct session_source *s)
{
    lock_enter(&s->lock);
    const bool connected = s->connected;
    s->connected = false;
    lock_leave(&s->lock);
    if (connected) {
        realtime_ring_leave(&s->connection.ring);
        s->connection.close(s->connection.context);
    }
    for (size_t i = 0; i < s->most; i++)
        memory_free(s->held[i].bytes);
    memory_free(s->held);
    memory_free(s->heap);
    s->held = NULL;
    s->heap = NULL;
    s->most = s->count = 0;
    etl_log_free(&s->log);
}

/* Reads the log file header, which becomes the first event. */
static HRESULT read_log(struct session_source *s)
{
    const uint64_t start = clock_monotonic_ms();
    HRESULT hr = source_take_buffer(s);
    while (SUCCEEDED(hr) && s->count == 0 && clock_passed_ms(start, clock_monotonic_ms()) < CONNECT_MS) {
        hr = wait_for_host(s, CONNECT_MS);
        if (SUCCEEDED(hr))
            hr = source_take_buffer(s);
    }
    if (FAILED(hr) && hr != E_ABORT)
        return hr;
    const struct held *h = s->heap[0];
    if (s->count == 0 || h->head.type != ETL_TYPE_FILE_HEADER) {
        return error_set(HRESULT_FROM_WIN32(s->count == 0 ? ERROR_WMI_INSTANCE_NOT_FOUND : ERROR_INVALID_DATA),
                         "cannot open session '%.200s': its host process %s", s->session,
                         s->count == 0 ? "does not respond" : "sent no log file header");
    }
    return etl_log_read(s->session, h->event.event, h->event.size, &s->log);
}

static HRESULT make_places(struct session_source *s, size_t most)
{
    s->held = memory_zero(most, sizeof *s->held);
    s->heap = memory_zero(most, sizeof(struct held *));
    if (!s->held || !s->heap)
        return error_set(E_OUTOFMEMORY, "cannot open session '%.200s': out of memory for %zu buffers", s->session,
                         most);
    s->most = most;
    for (size_t i = 0; i < most; i++)
        s->heap[i] = &s->held[i];
    return S_OK;
}

static HRESULT connect_to(struct session_source *s)
{
    struct realtime_connection connection;
    if (!s->way)
        return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND),
                         "cannot open session '%.200s': no such session", s->session);
    HRESULT hr = s->way->connect(s->way->context, s->session, &connection);
    if (FAILED(hr))
        return hr;
    const size_t most = MOST_HELD_BYTES / connection.ring.buffer_size;
    lock_enter(&s->lock);
    s->connection = connection;
    s->connected = true;
    lock_leave(&s->lock);
    hr = make_places(s, most < LEAST_HELD ? LEAST_HELD : most > MOST_HELD ? MOST_HELD : most);
    if (FAILED(hr))
        return hr;
    s->given = false;
    s->draining = s->begun = false;
    s->takes_left = REALTIME_SLOTS;
    s->until = INT64_MIN;
    s->events_reported = s->buffers_reported = s->buffers_bad = 0;
    hr = read_log(s);
    s->newest = s->log.start_stamp;
    return hr;
}

static HRESULT session_restart(struct consumer_source *base)
{
    struct session_source *s = (struct session_source *)base;
    source_disconnect(s);
    return connect_to(s);
}

static void session_stop(struct consumer_source *base)
{
    struct session_source *s = (struct session_source *)base;
    atomic_store(&s->stopped, true);
    lock_enter(&s->lock);
    if (s->connected)
        s->connection.wake(s->connection.context);
    lock_leave(&s->lock);
}

static void session_close(struct consumer_source *base)
{
    struct session_source *s = (struct session_source *)base;
    source_disconnect(s);
    memory_free(s->session);
    memory_free(s);
}

HRESULT realtime_source_open(const struct realtime_source *source, const char *session, struct consumer_source **out)
{
    struct session_source *s = memory_zero(1, sizeof *s);
    if (!s || !(s->session = text_copy(session))) {
        memory_free(s);
        return error_set(E_OUTOFMEMORY, "cannot open session '%.200s': out of memory", session);
    }
    s->way = source;
    s->base = (struct consumer_source){&s->log, session_next, session_restart, session_stop, session_close};
    HRESULT hr = connect_to(s);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        session_close(&s->base);
        return error_restore(&why);
    }
    *out = &s->base;
    return S_OK;
}
