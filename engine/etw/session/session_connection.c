/* SPDX-License-Identifier: MIT */
/* Connects real-time consumers to sessions. The consumer creates a ring and a signal under one random name, and passes
   the name to the session's host process through the directory. */
#include "engine/base/memory.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>

enum {
    ASK_MS = 10000,  /* maximum wait for an answer; a host process answers immediately unless its disk is slow */
    LEAVE_MS = 1000, /* maximum wait for the answer to a disconnect, which the host process also detects in the ring */
};

struct session_connection {
    struct directory *d;
    uint32_t logger, generation;
    char name[64];
    struct section *section;
    struct signal *signal;
    struct process *host;
};

static HRESULT connection_wait(void *context, uint32_t timeout_ms)
{
    struct session_connection *c = context;
    return signal_wait_or_process(c->signal, c->host, timeout_ms);
}

static void connection_wake(void *context)
{
    (void)signal_set(((struct session_connection *)context)->signal);
}

static HRESULT connection_ask(struct session_connection *c, enum directory_verb verb, uint32_t timeout_ms,
                              uint32_t *answer)
{
    const uint32_t own = process_own_id();
    const struct directory_request request = {.verb = verb, .process = {own, process_start_time(own)}, .file = c->name};
    return directory_ask(c->d, c->logger, c->generation, &request, timeout_ms, answer);
}

static void connection_free(struct session_connection *c)
{
    section_close(c->section);
    if (c->signal)
        signal_close(c->signal);
    if (c->host)
        process_close(c->host);
    memory_free(c);
}

static void connection_close(void *context)
{
    struct session_connection *c = context;
    uint32_t answer;
    (void)connection_ask(c, DIRECTORY_DISCONNECT, LEAVE_MS, &answer);
    connection_free(c);
}

/* Creates the ring in a new section, and opens the host process in order to detect its exit. */
static HRESULT connection_make_ring(struct session_connection *c, const struct directory_session *s,
                                    struct realtime_ring *ring)
{
    const uint32_t buffer_size = s->buffer_kb * ETL_BUFFER_UNIT;
    char key[SHARED_KEY_DIGITS + 1];
    HRESULT hr = shared_new_key(key);
    if (FAILED(hr))
        return hr;
    snprintf(c->name, sizeof c->name, "openetw-consumer-%s", key);
    const struct shared what = {.name = c->name, .create = true, .fresh = true};
    hr = section_open(&what, realtime_ring_size(buffer_size), &c->section);
    if (SUCCEEDED(hr))
        hr = signal_open(&what, &c->signal);
    if (SUCCEEDED(hr))
        hr = process_open(s->host.id, s->host.start_time, &c->host);
    if (hr == S_OK)
        realtime_ring_create(section_memory(c->section), buffer_size, ring);
    return hr;
}

static HRESULT no_such_session(const char *session, const char *why)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND), "cannot connect to session '%.200s': %s",
                     session, why);
}

static HRESULT connection_open(const struct directory_session *s, struct session_connection *c,
                               struct realtime_connection *out)
{
    uint32_t answer = ERROR_SUCCESS;
    const ULONG allowed = trace_allowed(&s->guid, TRACE_RIGHT_ACCESS_REALTIME);
    if (allowed != ERROR_SUCCESS)
        return HRESULT_FROM_WIN32((LONG)allowed);
    if ((s->mode & TRACE_MODE_REAL_TIME) == 0)
        return no_such_session(s->name, "not a real-time session");
    HRESULT hr = connection_make_ring(c, s, &out->ring);
    if (hr == S_OK)
        hr = connection_ask(c, DIRECTORY_CONNECT, ASK_MS, &answer);
    if (out->ring.shared && (hr != S_OK || answer != ERROR_SUCCESS))
        realtime_ring_leave(&out->ring); /* a slow host process may connect to the ring later, and must then find that
                                            the consumer has left */
    if (hr == S_FALSE || hr == E_ABORT)
        return no_such_session(s->name, "its host process does not respond");
    if (SUCCEEDED(hr) && answer != ERROR_SUCCESS) {
        return answer == ERROR_INVALID_PARAMETER
                   ? no_such_session(s->name, "it does not accept consumers")
                   : error_set(HRESULT_FROM_WIN32((LONG)answer),
                               "cannot connect to session '%.200s': it does not accept more consumers", s->name);
    }
    return hr;
}

static HRESULT connection_create(void *context, const char *session, struct realtime_connection *out)
{
    struct directory_session s = {0};
    struct session_connection *c = memory_zero(1, sizeof *c);
    (void)context;
    if (!c)
        return error_set(E_OUTOFMEMORY, "cannot connect to session '%.200s': out of memory", session);
    HRESULT hr = directory_get(&c->d);
    if (SUCCEEDED(hr)) {
        const ULONG code = controller_find(c->d, 0, session, 0, false, &s);
        hr = HRESULT_FROM_WIN32((LONG)code);
    }
    if (SUCCEEDED(hr)) {
        c->logger = s.logger;
        c->generation = s.generation;
        *out = (struct realtime_connection){.flush_ms = s.flush_ms,
                                            .context = c,
                                            .wait = connection_wait,
                                            .wake = connection_wake,
                                            .close = connection_close};
        hr = connection_open(&s, c, out);
        directory_session_free(&s);
    }
    if (FAILED(hr))
        connection_free(c);
    return hr;
}

const struct realtime_source session_connections = {connection_create, NULL};
