/* SPDX-License-Identifier: MIT */
/* The listener and the threads of its connections. A connection's thread reads what has arrived, lets the state machine
   take it, performs the call if one is complete, and sends what came of it. It waits no longer than the state machine
   allows, so a client that is silent or sends single bytes loses its connection. */
#include "engine/rpc/port.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/thread.h"

#include <string.h>

enum {
    RECEIVE_BYTES = 8192,
    SEND_MS = 60000, /* a client that does not read its answers for so long is gone */
    PAUSE_MS = 100   /* after the system could not accept a connection, for example because all files are open */
};

struct rpc_port {
    struct rpc_service service;
    const struct rpc_port_settings *settings;
    struct rpc_port_handler handler;
    struct admission *admission;
    struct socket_end *listener;
};

struct port_client {
    struct rpc_port *port;
    struct socket_end *socket;
    struct rpc_connection *connection;
    void *session;
    char address[SOCKET_ADDRESS_BYTES];
    char account[AUTH_NAME_BYTES]; /* that called last */
};

static void port_report(const struct rpc_port *p, enum rpc_port_event_kind kind, const char *address,
                        const char *account, const char *reason)
{
    const struct rpc_port_event event = {.kind = kind, .address = address, .account = account, .reason = reason};
    if (p->handler.report)
        p->handler.report(p->handler.user, &event);
}

static bool client_flush(struct port_client *c)
{
    size_t size;
    for (const uint8_t *bytes; (bytes = rpc_connection_output(c->connection, &size)) != NULL;) {
        if (FAILED(socket_send(c->socket, bytes, size)))
            return false;
        rpc_connection_sent(c->connection, size);
    }
    return true;
}

static void client_note_account(struct port_client *c, const char *account)
{
    if (!account || strcmp(account, c->account) == 0)
        return;
    text_fit(c->account, sizeof c->account, account);
    admission_logon_succeeded(c->port->admission, c->address);
    port_report(c->port, RPC_PORT_LOGGED_ON, c->address, account, "");
}

static void client_answer(struct port_client *c)
{
    struct rpc_call call;
    struct ndr_writer stub = {0};
    if (!rpc_connection_call(c->connection, &call))
        return;
    client_note_account(c, call.account);
    const uint32_t fault = c->port->handler.call(c->port->handler.user, c->session, &call, &stub);
    rpc_connection_answer(c->connection, fault, stub.bytes, stub.size);
    ndr_writer_free(&stub);
}

/* Why the state machine closed the connection. A refused logon is answered late. */
static void client_note_end(struct port_client *c)
{
    const char *account, *reason = rpc_connection_failure(c->connection);
    if (rpc_connection_logon_failed(c->connection, &account)) {
        const uint32_t delay = admission_logon_failed(c->port->admission, c->address, clock_monotonic_ms());
        port_report(c->port, RPC_PORT_LOGON_FAILED, c->address, account ? account : "", reason);
        thread_sleep(delay);
    } else if (*reason)
        port_report(c->port, RPC_PORT_FAILED, c->address, c->account, reason);
}

static void client_serve(struct port_client *c)
{
    uint8_t bytes[RECEIVE_BYTES];
    bool goes_on = true;
    while (goes_on) {
        size_t got;
        const uint64_t now = clock_monotonic_ms(), deadline = rpc_connection_deadline_ms(c->connection);
        if (now >= deadline) {
            port_report(c->port, RPC_PORT_FAILED, c->address, c->account, "nothing arrived in time");
            break;
        }
        const HRESULT hr = socket_receive_some(c->socket, bytes, sizeof bytes, (uint32_t)(deadline - now), &got);
        if (hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT))
            continue;
        if (hr != S_OK)
            break;
        for (size_t at = 0; at < got && goes_on;) {
            at += rpc_connection_take(c->connection, bytes + at, got - at, clock_monotonic_ms());
            client_answer(c);
            const bool is_over = rpc_connection_is_over(c->connection);
            if (is_over)
                client_note_end(c);
            goes_on = client_flush(c) && !is_over;
        }
    }
    memory_wipe(bytes, sizeof bytes);
}

static void client_free(struct port_client *c)
{
    if (!c)
        return;
    rpc_connection_close(c->connection);
    socket_close(c->socket);
    memory_free(c);
}

static void client_run(void *user)
{
    struct port_client *c = user;
    struct rpc_port *p = c->port;
    char own[SOCKET_ADDRESS_BYTES];
    uint16_t port;
    socket_set_timeouts(c->socket, 0, SEND_MS);
    socket_own_address(c->socket, own, &port);
    if (SUCCEEDED(p->handler.open(p->handler.user, c->address, own, &c->session))) {
        client_serve(c);
        p->handler.close(p->handler.user, c->session);
    }
    admission_leave(p->admission, c->address);
    client_free(c);
}

/* NULL: it may come in. */
static const char *refusal_of(struct rpc_port *p, const char *address)
{
    const char *why;
    if (!ip_address_matches(address, p->settings->from))
        return "the address is not permitted";
    return admission_enter(p->admission, address, clock_monotonic_ms(), &why) ? NULL : why;
}

static HRESULT port_take_client(struct rpc_port *p)
{
    struct thread *thread;
    struct port_client *c = memory_zero(1, sizeof *c);
    HRESULT hr = c ? socket_accept(p->listener, &c->socket, c->address) : E_OUTOFMEMORY;
    const char *why = SUCCEEDED(hr) ? refusal_of(p, c->address) : NULL;
    if (why)
        port_report(p, RPC_PORT_REFUSED, c->address, "", why);
    if (FAILED(hr) || why) {
        client_free(c);
        return hr;
    }
    c->port = p;
    hr = rpc_connection_open(&p->service, clock_monotonic_ms(), &c->connection);
    if (SUCCEEDED(hr))
        hr = thread_start(client_run, c, &thread);
    if (SUCCEEDED(hr)) {
        thread_close(thread);
        return hr;
    }
    admission_leave(p->admission, c->address);
    client_free(c);
    return hr;
}

static void port_accept(void *user)
{
    struct rpc_port *p = user;
    for (bool failed = false;;) {
        const HRESULT hr = port_take_client(p);
        if (FAILED(hr)) {
            if (!failed)
                port_report(p, RPC_PORT_FAILED, "", "", error_text(hr));
            thread_sleep(PAUSE_MS);
        }
        failed = FAILED(hr);
    }
}

HRESULT rpc_port_open(const struct rpc_port_settings *settings, const struct auth_accounts *accounts,
                      bool (*serves)(void *user, const GUID *iid, uint32_t version),
                      const struct rpc_port_handler *handler, uint16_t *port)
{
    char own[SOCKET_ADDRESS_BYTES];
    struct thread *thread;
    struct rpc_port *p = memory_zero(1, sizeof *p);
    HRESULT hr = p ? admission_open(&settings->limits, &p->admission) : E_OUTOFMEMORY;
    *port = 0;
    if (SUCCEEDED(hr)) {
        p->settings = settings;
        p->handler = *handler;
        hr = settings->address ? socket_listen_at(settings->address, settings->port, &p->listener)
                               : socket_listen(settings->port, &p->listener);
    }
    if (SUCCEEDED(hr)) {
        socket_own_address(p->listener, own, port);
        p->service = (struct rpc_service){.accounts = accounts,
                                          .user = handler->user,
                                          .serves = serves,
                                          .port = *port,
                                          .limits = settings->rpc_limits};
        hr = thread_start(port_accept, p, &thread);
    }
    if (SUCCEEDED(hr)) {
        thread_close(thread);
        return hr;
    }
    if (p) {
        admission_close(p->admission);
        socket_close(p->listener);
    }
    memory_free(p);
    return hr;
}
