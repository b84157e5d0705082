/* SPDX-License-Identifier: MIT */
/* The TCP port of the MS-PCQ server, and the access check for all callers of that server. */
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/pcq_session.h"
#include "engine/rpc/port.h"

#include <string.h>

#define PACKET_PRIVACY 6 /* RPC_C_AUTHN_LEVEL_PKT_PRIVACY */
#define MONITOR_USERS  "S-1-5-32-558"

static HRESULT read_port(uint16_t *out)
{
    char *port = NULL;
    uint64_t number = 0;
    HRESULT hr = environment_read_setting("OPENPLA_COUNTER_QUERY_PORT", PCQ_PORT_VALUE, &port);
    if (hr == S_OK && (!text_to_u64(port, &number) || number > UINT16_MAX))
        hr = error_set(E_INVALIDARG, "invalid " PCQ_PORT_VALUE " '%s': expected a number from 0 to 65535", port);
    memory_free(port);
    *out = (uint16_t)number;
    return hr;
}

static HRESULT read_unauthenticated(bool *out)
{
    char *text = NULL;
    HRESULT hr = environment_read_setting("OPENPLA_COUNTER_QUERY_UNAUTHENTICATED", PCQ_UNAUTHENTICATED_VALUE, &text);
    *out = hr == S_OK && !strcmp(text, "1");
    if (hr == S_OK && !*out && strcmp(text, "0") != 0)
        hr = error_set(E_INVALIDARG, "invalid " PCQ_UNAUTHENTICATED_VALUE " '%s': expected 0 or 1", text);
    memory_free(text);
    return SUCCEEDED(hr) ? S_OK : hr;
}

HRESULT pcq_settings_read(struct pcq_settings *out)
{
    struct pcq_settings s = {0};
    *out = s;
    HRESULT hr = read_port(&s.port);
    if (hr != S_OK)
        return hr;
    hr = read_unauthenticated(&s.unauthenticated);
    if (SUCCEEDED(hr))
        hr = environment_read_setting("OPENPLA_COUNTER_QUERY_FROM", PCQ_FROM_VALUE, &s.from);
    if (hr == S_FALSE) {
        s.from = text_copy(PCQ_FROM_HERE);
        hr = s.from ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        pcq_settings_free(&s);
    *out = s;
    return hr;
}

void pcq_settings_free(struct pcq_settings *s)
{
    memory_free(s->from);
    *s = (struct pcq_settings){0};
}

static bool caller_may(const struct pcq_call *call, const struct pcq_settings *settings)
{
    if (call->address && !ip_address_matches(call->address, settings->from))
        return false;
    if (call->by_port && !call->account)
        return settings->unauthenticated;
    if (call->level_known && call->level < PACKET_PRIVACY)
        return false;
    return call->by_port || call->caller.in_process || access_is_administrator(&call->caller) ||
           access_is_account(&call->caller, MONITOR_USERS);
}

uint32_t pcq_access_check(const struct pcq_call *call, const struct pcq_settings *settings)
{
    return caller_may(call, settings) ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

/* A client that sends no request for this long is disconnected, with or without a logon. A disconnected client has to
   reconnect for its next request. */
#define IDLE_MS        (15u * 60 * 1000)
#define MOST_OF_CLIENT 64

struct port {
    struct pcq_service service;
    struct rpc_port_settings settings;
    void (*report)(const struct rpc_port_event *event); /* may be NULL */
};

struct port_session {
    struct pcq_session *pcq;
    char address[SOCKET_ADDRESS_BYTES]; /* `pcq` borrows it */
};

static void port_session_close(void *user, void *session)
{
    struct port_session *s = session;
    (void)user;
    pcq_session_close(s->pcq);
    memory_free(s);
}

static HRESULT port_session_open(void *user, const char *address, const char *own, void **session)
{
    struct port *p = user;
    struct port_session *s = memory_zero(1, sizeof *s);
    (void)own;
    *session = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    text_fit(s->address, sizeof s->address, address);
    HRESULT hr = pcq_session_open(&p->service, s->address, &s->pcq);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    *session = s;
    return S_OK;
}

static uint32_t port_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    struct port_session *s = session;
    (void)user;
    return pcq_session_call(s->pcq, call, stub);
}

static void port_report(void *user, const struct rpc_port_event *e)
{
    const struct port *p = user;
    TRACE_STEP(rpc, "connection of %s: %s", e->address, e->reason);
    if (p->report)
        p->report(e);
}

HRESULT counter_port_open(struct pcq_server *server, const struct pcq_settings *settings,
                          const struct auth_accounts *accounts, void (*report)(const struct rpc_port_event *event))
{
    struct port *p = memory_zero(1, sizeof *p);
    uint16_t port;
    if (!p)
        return E_OUTOFMEMORY;
    p->report = report;
    p->service.server = server;
    p->service.settings = settings;
    p->settings = (struct rpc_port_settings){.port = settings->port, .from = settings->from};
    p->settings.limits =
        (struct admission_limits){.connections = COUNTER_PORT_CONNECTIONS, .connections_of_address = MOST_OF_CLIENT};
    p->settings.rpc_limits =
        (struct rpc_limits){.request = PCQ_REQUEST_MOST, .response = PCQ_ANSWER_MOST, .silence_ms = IDLE_MS};
    if (settings->unauthenticated) {
        p->settings.rpc_limits.anonymous_request = PCQ_REQUEST_MOST;
        p->settings.rpc_limits.logon_ms = IDLE_MS;
    }
    const struct rpc_port_handler handler = {
        .user = p, .open = port_session_open, .call = port_call, .close = port_session_close, .report = port_report};
    HRESULT hr = rpc_port_open(&p->settings, accounts, pcq_service_serves, &handler, &port);
    if (FAILED(hr))
        memory_free(p);
    return hr;
}
