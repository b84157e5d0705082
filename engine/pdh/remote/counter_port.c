/* SPDX-License-Identifier: MIT */
/* The TCP port of the MS-PCQ server, and the access check for all its callers. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/base/thread.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/rpc.h"

#include <string.h>

#define PACKET_PRIVACY  6 /* RPC_C_AUTHN_LEVEL_PKT_PRIVACY */
#define MONITOR_USERS   "S-1-5-32-558"
#define LONGEST_ADDRESS 64

HRESULT pcq_settings_read(struct pcq_settings *out)
{
    char *port = NULL;
    uint64_t number = 0;
    *out = (struct pcq_settings){0};
    HRESULT hr = environment_read_setting("OPENPLA_COUNTER_QUERY_PORT", PCQ_PORT_VALUE, &port);
    if (hr != S_OK)
        return hr;
    if (!text_to_u64(port, &number) || number > UINT16_MAX)
        hr = error_set(E_INVALIDARG, "invalid " PCQ_PORT_VALUE " '%s': expected a number from 0 to 65535", port);
    memory_free(port);
    if (SUCCEEDED(hr))
        hr = environment_read_setting("OPENPLA_COUNTER_QUERY_FROM", PCQ_FROM_VALUE, &out->from);
    if (hr == S_FALSE) {
        out->from = text_copy(PCQ_FROM_HERE);
        hr = out->from ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        pcq_settings_free(out);
    out->port = SUCCEEDED(hr) ? (uint16_t)number : 0;
    return hr;
}

void pcq_settings_free(struct pcq_settings *s)
{
    memory_free(s->from);
    *s = (struct pcq_settings){0};
}

static bool is_among(const char *address, const char *from)
{
    static const char between[] = " ,;\t";
    for (size_t length; *(from += strspn(from, between)); from += length) {
        char pattern[LONGEST_ADDRESS];
        length = strcspn(from, between);
        if (length >= sizeof pattern)
            continue;
        memcpy(pattern, from, length);
        pattern[length] = 0;
        if (text_matches(pattern, address))
            return true;
    }
    return false;
}

uint32_t pcq_access_check(const struct pcq_call *call, const char *from)
{
    if (call->level_known && call->level < PACKET_PRIVACY)
        return ERROR_ACCESS_DENIED;
    if (call->address && !is_among(call->address, from))
        return ERROR_ACCESS_DENIED;
    const bool anonymous = call->address && !call->level_known;
    bool may = anonymous || call->caller.in_process || access_is_administrator(&call->caller) ||
               access_is_account(&call->caller, MONITOR_USERS);
    return may ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

/* A client that sends no request for this long, or stops within a packet, is considered gone. It reconnects for its
   next request. */
#define IDLE_MS      (15u * 60 * 1000)
#define SEND_MS      60000
/* Limit for connections that only receive a refusal. They take no places from permitted clients. */
#define MOST_REFUSED 16
#define REFUSED_MS   60000
#define PAUSE_MS                                                                                                       \
    100 /* after the system could not accept a connection, for example because all file descriptors are open */

struct port {
    struct rpc_service service;
    struct socket_end *listener;
    _Atomic size_t connections, refused;
};
struct client {
    struct port *port;
    struct socket_end *socket;
    char address[SOCKET_ADDRESS_BYTES];
    bool refused;
};

/* The counter for connections of the same kind: refused or permitted. */
static _Atomic size_t *connections_of(const struct client *c)
{
    return c->refused ? &c->port->refused : &c->port->connections;
}

static void serve_client(void *user)
{
    struct client *c = user;
    struct pdu_stream stream = pdu_stream_socket(c->socket);
    socket_set_timeouts(c->socket, c->refused ? REFUSED_MS : IDLE_MS, SEND_MS);
    rpc_connection_serve(&c->port->service, &stream, c->address);
    socket_close(c->socket);
    --*connections_of(c);
    memory_free(c);
}

/* S_FALSE if there are too many. */
static HRESULT take_client(struct port *p)
{
    struct thread *thread;
    struct client *c = memory_zero(1, sizeof *c);
    HRESULT hr = c ? socket_accept(p->listener, &c->socket, c->address) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        c->port = p;
        c->refused = pcq_access_check(&(struct pcq_call){.address = c->address}, p->service.from) != ERROR_SUCCESS;
        const size_t most = c->refused ? MOST_REFUSED : COUNTER_PORT_CONNECTIONS;
        hr = ++*connections_of(c) > most ? S_FALSE : thread_start(serve_client, c, &thread);
        if (hr != S_OK)
            --*connections_of(c);
    }
    if (hr == S_OK) {
        thread_close(thread);
    } else if (c) {
        socket_close(c->socket);
        memory_free(c);
    }
    return hr;
}

static void listen_on(void *user)
{
    struct wakeup *never;
    if (FAILED(wakeup_create(&never)))
        never = NULL;
    for (;;)
        if (FAILED(take_client(user)) && never)
            wakeup_wait(never, PAUSE_MS);
}

HRESULT counter_port_open(struct pcq_server *server, const struct pcq_settings *settings)
{
    struct thread *thread;
    struct port *p = memory_zero(1, sizeof *p);
    if (!p)
        return E_OUTOFMEMORY;
    p->service.server = server;
    p->service.from = settings->from;
    HRESULT hr = socket_listen(settings->port, &p->listener);
    if (SUCCEEDED(hr))
        hr = thread_start(listen_on, p, &thread);
    if (FAILED(hr)) {
        socket_close(p->listener);
        memory_free(p);
        return hr;
    }
    thread_close(thread);
    return S_OK;
}
