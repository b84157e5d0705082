/* SPDX-License-Identifier: MIT */
/* Rings of a session's consumers. */
#include "engine/etw/session_realtime.h"

#include "engine/etw/session_output.h"
#include "engine/os/etw_controller_types.h"
#include "engine/os/memory.h"

#include <string.h>

struct session_consumer {
    struct section *section;
    struct signal *signal;
    struct realtime_ring ring;
    char name[64];
};

void session_realtime_begin(struct session_realtime *r, uint64_t backlog_bytes)
{
    *r = (struct session_realtime){.backlog = {.most = backlog_bytes}};
}

static void wake(struct session_consumer *c, bool wanted)
{
    if (wanted)
        (void)signal_set(c->signal);
}

static void consumer_free(struct session_consumer *c)
{
    if (!c)
        return;
    section_close(c->section);
    signal_close(c->signal);
    memory_free(c);
}

static void forget(struct session_realtime *r, size_t i)
{
    if (r->behind == r->consumer[i]) {
        r->behind = NULL;
        if (r->count > 1)
            realtime_backlog_free(&r->backlog); /* the others have it */
    }
    consumer_free(r->consumer[i]);
    process_close(r->process[i]);
    r->count--;
    r->consumer[i] = r->consumer[r->count];
    r->process[i] = r->process[r->count];
}

static HRESULT open_consumer(const char *name, uint32_t buffer_size, struct session_consumer **out)
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
    HRESULT hr = open_consumer(name, log->buffer_size, &c);
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
    wake(c, true);
    r->consumer[r->count] = c;
    r->process[r->count++] = p;
    if (!r->behind && r->backlog.first)
        r->behind = c;
    (void)session_realtime_pass(r);
    return ERROR_SUCCESS;
}

void session_realtime_disconnect(struct session_realtime *r, const char *name)
{
    for (size_t i = 0; name && i < r->count; i++) {
        if (strcmp(r->consumer[i]->name, name) == 0) {
            forget(r, i);
            return;
        }
    }
}

void session_realtime_ended(struct session_realtime *r, size_t consumer)
{
    if (consumer < r->count)
        forget(r, consumer);
}

static void keep(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    if (realtime_backlog_add(&r->backlog, head, bytes) == S_OK)
        return;
    r->lost++;
    if (r->behind)
        realtime_ring_lost(&r->behind->ring, 0, 1);
}

/* True: somebody is behind still. */
static bool catch_up(struct session_realtime *r)
{
    struct session_consumer *c = r->behind;
    bool wanted = false;
    if (!c || realtime_ring_is_full(&c->ring))
        return c != NULL;
    if (realtime_backlog_give(&r->backlog, &c->ring, &wanted))
        r->behind = NULL;
    wake(c, wanted);
    return r->behind != NULL;
}

void session_realtime_write(struct session_realtime *r, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    (void)catch_up(r);
    if (r->count == 0)
        keep(r, head, bytes);
    for (size_t i = 0; i < r->count; i++) {
        struct session_consumer *c = r->consumer[i];
        bool wanted = false;
        if (!r->behind && realtime_ring_is_full(&c->ring))
            r->behind = c;
        if (r->behind == c) {
            keep(r, head, bytes);
        } else {
            if (realtime_ring_put(&c->ring, head, bytes, &wanted) != S_OK)
                r->lost++;
            wake(c, wanted);
        }
    }
}

bool session_realtime_pass(struct session_realtime *r)
{
    for (size_t i = r->count; i-- > 0;)
        if (realtime_ring_is_left(&r->consumer[i]->ring))
            forget(r, i);
    return catch_up(r);
}

void session_realtime_tend(struct session_realtime *r)
{
    for (size_t i = r->count; i-- > 0;)
        if (process_wait(r->process[i], 0, NULL) == S_OK)
            forget(r, i);
}

void session_realtime_mark(struct session_realtime *r, int64_t time)
{
    for (size_t i = 0; i < r->count; i++) {
        bool wanted = false;
        if (r->consumer[i] != r->behind)
            realtime_ring_mark(&r->consumer[i]->ring, time, &wanted);
        wake(r->consumer[i], wanted);
    }
}

void session_realtime_lost(struct session_realtime *r, uint64_t events, uint64_t buffers)
{
    for (size_t i = 0; i < r->count; i++)
        realtime_ring_lost(&r->consumer[i]->ring, events, buffers);
}

void session_realtime_end(struct session_realtime *r)
{
    if (r->behind)
        realtime_ring_lost(&r->behind->ring, 0, r->backlog.count);
    r->lost += r->backlog.count;
    realtime_backlog_free(&r->backlog);
    while (r->count != 0) {
        bool wanted = false;
        struct session_consumer *c = r->consumer[r->count - 1];
        realtime_ring_end(&c->ring, &wanted);
        wake(c, wanted);
        forget(r, r->count - 1);
    }
}
