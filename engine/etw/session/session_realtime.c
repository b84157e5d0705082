/* SPDX-License-Identifier: MIT */
/* The rings of a session's real-time consumers. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_output.h"

#include <string.h>

struct session_consumer {
    struct section *section;
    struct signal *signal;
    struct realtime_ring ring;
    struct realtime_backlog backlog; /* buffers that wait while the consumer is behind */
    bool leaves;       /* the consumer is being disconnected: it gets the waiting buffers, but no newer ones */
    uint32_t progress; /* realtime_ring_progress of a leaving consumer when last checked */
    uint64_t moved;    /* ms: when `progress` last changed */
    char name[64];
};

void session_realtime_begin(struct session_realtime *r, uint64_t backlog_bytes, uint32_t patience_ms)
{
    *r = (struct session_realtime){.backlog = {.most = backlog_bytes}, .patience_ms = patience_ms};
}

static void consumer_wake(struct session_consumer *c, bool wanted)
{
    if (wanted)
        (void)signal_set(c->signal);
}

static void consumer_free(struct session_consumer *c)
{
    if (!c)
        return;
    realtime_backlog_free(&c->backlog);
    section_close(c->section);
    signal_close(c->signal);
    memory_free(c);
}

static size_t realtime_count_staying(const struct session_realtime *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += !r->consumer[i]->leaves;
    return count;
}

static void realtime_move_backlog(struct realtime_backlog *from, struct realtime_backlog *to)
{
    *to = *from;
    *from = (struct realtime_backlog){.most = from->most};
}

static void realtime_remove(struct session_realtime *r, size_t i)
{
    struct session_consumer *c = r->consumer[i];
    if (!c->leaves && realtime_count_staying(r) == 1) /* the last consumer's backlog is kept for the next consumer */
        realtime_move_backlog(&c->backlog, &r->backlog);
    consumer_free(c);
    process_close(r->process[i]);
    r->count--;
    r->consumer[i] = r->consumer[r->count];
    r->process[i] = r->process[r->count];
}

static HRESULT consumer_open(const char *name, uint32_t buffer_size, struct session_consumer **out)
{
    const size_t size = realtime_ring_size(buffer_size);
    struct session_consumer *c = memory_zero(1, sizeof *c);
    HRESULT hr = c ? section_open(&(struct shared){.name = name}, size, &c->section) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = name}, &c->signal);
    if (SUCCEEDED(hr))
        hr = realtime_ring_map(section_memory(c->section), size, buffer_size, &c->ring);
    if (FAILED(hr)) {
        consumer_free(c);
        return hr;
    }
    text_fit(c->name, sizeof c->name, name);
    *out = c;
    return S_OK;
}

ULONG session_realtime_connect(struct session_realtime *r, const struct directory_process *process, const char *name,
                               const struct etl_log *log)
{
    struct session_consumer *c;
    struct process *p;
    if (r->count == SESSION_CONSUMERS)
        return ERROR_NO_SYSTEM_RESOURCES;
    if (!name || strlen(name) >= sizeof c->name)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = consumer_open(name, log->buffer_size, &c);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? ERROR_OUTOFMEMORY : ERROR_INVALID_PARAMETER;
    hr = process_open(process->id, process->start_time, &p);
    if (hr == S_OK) {
        hr = realtime_ring_begin(&c->ring, log);
        if (hr != S_OK)
            process_close(p);
    }
    if (hr != S_OK) {
        consumer_free(c);
        return hr == E_OUTOFMEMORY ? ERROR_OUTOFMEMORY : ERROR_INVALID_PARAMETER;
    }
    realtime_move_backlog(&r->backlog, &c->backlog);
    consumer_wake(c, true);
    r->consumer[r->count] = c;
    r->process[r->count++] = p;
    (void)session_realtime_pass(r);
    return ERROR_SUCCESS;
}

void session_realtime_disconnect(struct session_realtime *r, const char *name)
{
    for (size_t i = 0; name && i < r->count; i++) {
        if (strcmp(r->consumer[i]->name, name) == 0) {
            realtime_remove(r, i);
            return;
        }
    }
}

void session_realtime_remove_ended(struct session_realtime *r, size_t consumer)
{
    if (consumer < r->count)
        realtime_remove(r, consumer);
}

/* Forwards the consumer's backlog. Returns true if the backlog is empty afterwards. */
static bool realtime_catch_up(struct session_consumer *c)
{
    bool wanted = false;
    const bool all = realtime_backlog_give(&c->backlog, &c->ring, &wanted);
    consumer_wake(c, wanted);
    return all;
}

static void realtime_give_buffer(struct session_realtime *r, struct session_consumer *c,
                                 const struct etl_buffer_header *head, const uint8_t *bytes)
{
    bool wanted = false;
    if (realtime_catch_up(c) && !realtime_ring_is_full(&c->ring)) {
        (void)realtime_ring_put(&c->ring, head, bytes, &wanted);
        consumer_wake(c, wanted);
    } else if (realtime_backlog_add(&c->backlog, head, bytes) != S_OK) {
        r->lost++;
        realtime_ring_lost(&c->ring, 0, 1);
    }
}

void session_realtime_write(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    if (realtime_count_staying(r) == 0 && realtime_backlog_add(&r->backlog, head, bytes) != S_OK)
        r->lost++;
    for (size_t i = 0; i < r->count; i++)
        if (!r->consumer[i]->leaves)
            realtime_give_buffer(r, r->consumer[i], head, bytes);
}

/* Returns whether a leaving consumer has stopped reading. */
static bool consumer_is_asleep(const struct session_realtime *r, struct session_consumer *c)
{
    const uint32_t progress = realtime_ring_progress(&c->ring);
    const uint64_t now = clock_monotonic_ms();
    if (progress != c->progress) {
        c->progress = progress;
        c->moved = now;
    }
    return clock_passed_ms(c->moved, now) >= r->patience_ms;
}

static void realtime_end_consumer(struct session_realtime *r, size_t i)
{
    struct session_consumer *c = r->consumer[i];
    bool wanted = false;
    realtime_ring_lost(&c->ring, 0, c->backlog.count);
    r->lost += c->backlog.count;
    realtime_ring_end(&c->ring, &wanted);
    consumer_wake(c, wanted);
    realtime_remove(r, i);
}

bool session_realtime_pass(struct session_realtime *r)
{
    bool behind = false;
    for (size_t i = r->count; i-- > 0;) {
        struct session_consumer *c = r->consumer[i];
        if (realtime_ring_is_left(&c->ring)) {
            realtime_remove(r, i);
            continue;
        }
        const bool all = realtime_catch_up(c);
        if (c->leaves && (all || consumer_is_asleep(r, c)))
            realtime_end_consumer(r, i);
        else
            behind = behind || !all;
    }
    return behind;
}

void session_realtime_reap(struct session_realtime *r)
{
    for (size_t i = r->count; i-- > 0;)
        if (process_wait(r->process[i], 0, NULL) == S_OK)
            realtime_remove(r, i);
}

void session_realtime_mark(struct session_realtime *r, int64_t time)
{
    for (size_t i = 0; i < r->count; i++) {
        struct session_consumer *c = r->consumer[i];
        bool wanted = false;
        if (!c->leaves && realtime_catch_up(c))
            realtime_ring_mark(&c->ring, time, &wanted);
        consumer_wake(c, wanted);
    }
}

void session_realtime_lost(struct session_realtime *r, uint64_t events, uint64_t buffers)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->consumer[i]->leaves)
            realtime_ring_lost(&r->consumer[i]->ring, events, buffers);
}

void session_realtime_leave(struct session_realtime *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct session_consumer *c = r->consumer[i];
        c->progress = c->leaves ? c->progress : realtime_ring_progress(&c->ring);
        c->moved = c->leaves ? c->moved : clock_monotonic_ms();
        c->leaves = true;
    }
    r->lost += r->backlog.count;
    realtime_backlog_free(&r->backlog);
    (void)session_realtime_pass(r);
}
