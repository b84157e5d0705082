/* SPDX-License-Identifier: MIT */
/* The listener, the connections and their threads.

       accept ──> queue ──> workers ──> parked connections ──> poller ──> queue ...

   A worker reads the bytes that have arrived, passes them to the state machine, performs a complete call, and sends the
   output. The worker stays with the connection as long as bytes arrive, and for STAY_MS after the last byte, so that a
   busy client does not wait for another thread. Then the worker parks the connection. A single poller waits for all
   parked connections, because a thread for each of them would cost 1 MB under Wine. No wait is longer than the state
   machine allows, so a client that is silent or sends single bytes loses its connection. */
#include "engine/rpc/port.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"

#include <stdio.h>
#include <string.h>

enum {
    RECEIVE_BYTES = 8192,
    STAY_MS = 1000,         /* time for which a worker stays with an idle connection */
    WORKER_IDLE_MS = 10000, /* time for which a worker waits for work before it exits */
    CONNECT_MS = 5000,
    TOKEN_BYTES = 16,
    FINISH_MS = 2000, /* time for a refused client to read the reason */
    SEND_MS = 60000,  /* time for which a client can leave its answers unread */
    PAUSE_MS = 100    /* pause after a connection could not be accepted, for example because too many files are open */
};

struct rpc_port {
    struct rpc_service service;
    const struct rpc_port_settings *settings;
    struct rpc_port_handler handler;
    struct admission *admission;
    struct socket_end *listener;
    struct socket_end *wake, *woken; /* a connection to this process itself: a byte in it wakes the poller */
    struct lock lock;                /* protects all members below */
    struct thread_condition queued;
    struct port_client *queue, **queue_end; /* connections that wait for a worker */
    size_t queue_count, idle_workers;
    struct port_client *parked;
};

struct port_client {
    struct port_client *next; /* in the queue, or among the parked connections */
    struct rpc_port *port;
    struct socket_end *socket;
    struct rpc_connection *connection;
    void *session;
    char address[SOCKET_ADDRESS_BYTES];
    char account[AUTH_NAME_BYTES]; /* account of the last call */
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

/* Reports why the state machine closed the connection. Delays the end of the connection after a refused logon. */
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

/* Serves a connection that has bytes. True: the connection must be closed; false: it is idle. */
static bool client_serve(struct port_client *c)
{
    uint8_t bytes[RECEIVE_BYTES];
    bool goes_on = true, is_silent = false;
    while (goes_on && !is_silent) {
        size_t got;
        const uint64_t now = clock_monotonic_ms(), deadline = rpc_connection_deadline_ms(c->connection);
        if (now >= deadline) {
            port_report(c->port, RPC_PORT_FAILED, c->address, c->account,
                        "the client made no progress within the time limit");
            goes_on = false;
            break;
        }
        const uint64_t wait = deadline - now < STAY_MS ? deadline - now : STAY_MS;
        const HRESULT hr = socket_receive_some(c->socket, bytes, sizeof bytes, (uint32_t)wait, &got);
        is_silent = hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT);
        goes_on = is_silent || hr == S_OK;
        for (size_t at = 0; at < got && goes_on;) {
            at += rpc_connection_take(c->connection, bytes + at, got - at, clock_monotonic_ms());
            client_answer(c);
            const bool is_over = rpc_connection_is_over(c->connection);
            if (is_over)
                client_note_end(c);
            goes_on = client_flush(c) && !is_over;
            if (is_over)
                socket_finish(c->socket, FINISH_MS);
        }
    }
    memory_wipe(bytes, sizeof bytes);
    return !goes_on;
}

static void client_free(struct port_client *c)
{
    if (!c)
        return;
    rpc_connection_close(c->connection);
    socket_close(c->socket);
    memory_free(c);
}

static void client_close(struct port_client *c)
{
    struct rpc_port *p = c->port;
    p->handler.close(p->handler.user, c->session);
    admission_leave(p->admission, c->address);
    client_free(c);
}

/* ---- workers ---- */

static void client_park(struct port_client *c)
{
    struct rpc_port *p = c->port;
    lock_enter(&p->lock);
    c->next = p->parked;
    p->parked = c;
    lock_leave(&p->lock);
    (void)socket_send(p->wake, "", 1);
}

/* Waits for the next connection in the queue. NULL: the worker exits, because there was no work for WORKER_IDLE_MS and
   other workers are idle. */
static struct port_client *worker_next(struct rpc_port *p)
{
    lock_enter(&p->lock);
    p->idle_workers++;
    while (!p->queue)
        if (!thread_condition_wait(&p->queued, &p->lock, WORKER_IDLE_MS) && !p->queue && p->idle_workers > 1)
            break;
    p->idle_workers--;
    struct port_client *c = p->queue;
    if (c) {
        p->queue = c->next;
        if (!p->queue)
            p->queue_end = &p->queue;
        p->queue_count--;
    }
    lock_leave(&p->lock);
    return c;
}

static void worker_run(void *user)
{
    struct rpc_port *p = user;
    for (struct port_client *c; (c = worker_next(p)) != NULL;)
        if (client_serve(c))
            client_close(c);
        else
            client_park(c);
}

/* Queues the connection for a worker, and starts a new worker if none is idle. If there is no memory for another
   thread, the connection waits for one of the existing workers. */
static void port_queue(struct rpc_port *p, struct port_client *c)
{
    struct thread *thread;
    lock_enter(&p->lock);
    c->next = NULL;
    *p->queue_end = c;
    p->queue_end = &c->next;
    const bool needs_worker = ++p->queue_count > p->idle_workers;
    thread_condition_wake(&p->queued);
    lock_leave(&p->lock);
    if (needs_worker && SUCCEEDED(thread_start(worker_run, p, &thread)))
        thread_close(thread);
}

/* ---- the poller ---- */

struct poll_list {
    struct socket_end **sockets; /* the first is `woken` */
    struct port_client **clients;
    bool *ready;
    size_t count, socket_capacity, client_capacity, ready_capacity;
};

/* Lists the parked connections. Returns the milliseconds until the first connection can expire. */
static uint32_t poll_list_fill(struct rpc_port *p, struct poll_list *l)
{
    uint64_t wait = UINT32_MAX;
    const uint64_t now = clock_monotonic_ms();
    l->count = 1;
    lock_enter(&p->lock);
    for (struct port_client *c = p->parked; c; c = c->next) {
        const uint64_t deadline = rpc_connection_deadline_ms(c->connection);
        if (!memory_grow((void **)&l->sockets, &l->socket_capacity, l->count + 1, sizeof *l->sockets) ||
            !memory_grow((void **)&l->clients, &l->client_capacity, l->count + 1, sizeof *l->clients) ||
            !memory_grow((void **)&l->ready, &l->ready_capacity, l->count + 1, sizeof *l->ready))
            break;
        l->sockets[l->count] = c->socket;
        l->clients[l->count++] = c;
        wait = deadline <= now ? 0 : deadline - now < wait ? deadline - now : wait;
    }
    lock_leave(&p->lock);
    return (uint32_t)wait;
}

static void port_unpark(struct rpc_port *p, struct port_client *c)
{
    lock_enter(&p->lock);
    struct port_client **at = &p->parked;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    lock_leave(&p->lock);
    port_queue(p, c); /* a worker also closes expired connections */
}

static void poller_run(void *user)
{
    struct rpc_port *p = user;
    struct poll_list l = {.count = 1};
    char bytes[64];
    size_t got;
    while (!memory_grow((void **)&l.sockets, &l.socket_capacity, 1, sizeof *l.sockets) ||
           !memory_grow((void **)&l.clients, &l.client_capacity, 1, sizeof *l.clients) ||
           !memory_grow((void **)&l.ready, &l.ready_capacity, 1, sizeof *l.ready))
        thread_sleep(PAUSE_MS);
    for (;;) {
        const uint32_t wait = poll_list_fill(p, &l);
        l.sockets[0] = p->woken;
        if (FAILED(sockets_wait(l.sockets, l.count, wait, l.ready))) {
            thread_sleep(PAUSE_MS);
            continue;
        }
        if (l.ready[0])
            (void)socket_receive_some(p->woken, bytes, sizeof bytes, 0, &got);
        const uint64_t now = clock_monotonic_ms();
        for (size_t i = 1; i < l.count; i++)
            if (l.ready[i] || rpc_connection_deadline_ms(l.clients[i]->connection) <= now)
                port_unpark(p, l.clients[i]);
    }
}

/* Connects two sockets of this process; a byte in this connection wakes the poller. Another program can connect to the
   listener first, so each side identifies itself with a token. */
static HRESULT port_open_wake(struct rpc_port *p)
{
    struct socket_end *listener = NULL;
    char address[SOCKET_ADDRESS_BYTES], port[8];
    uint8_t token[TOKEN_BYTES], received[TOKEN_BYTES];
    uint16_t number = 0;
    HRESULT hr = os_random(token, sizeof token);
    if (SUCCEEDED(hr))
        hr = socket_listen_at("127.0.0.1", 0, &listener);
    if (SUCCEEDED(hr)) {
        socket_own_address(listener, address, &number);
        snprintf(port, sizeof port, "%u", (unsigned)number);
        hr = socket_connect("127.0.0.1", port, CONNECT_MS, &p->wake);
    }
    if (SUCCEEDED(hr))
        hr = socket_send(p->wake, token, sizeof token);
    while (SUCCEEDED(hr) && !p->woken) {
        hr = socket_accept(listener, &p->woken, address);
        if (FAILED(hr))
            break;
        socket_set_timeouts(p->woken, CONNECT_MS, 0);
        if (socket_receive(p->woken, received, sizeof received) == S_OK && !memcmp(token, received, sizeof token))
            break;
        socket_close(p->woken);
        p->woken = NULL;
    }
    socket_close(listener);
    return hr;
}

/* ---- accepting ---- */

/* Returns why a connection is refused; NULL: it is accepted. */
static const char *refusal_of(struct rpc_port *p, const char *address)
{
    const char *why;
    if (!ip_address_matches(address, p->settings->from))
        return "the address is not permitted";
    return admission_enter(p->admission, address, clock_monotonic_ms(), &why) ? NULL : why;
}

static HRESULT port_take_client(struct rpc_port *p)
{
    char own[SOCKET_ADDRESS_BYTES];
    uint16_t port;
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
    socket_set_timeouts(c->socket, 0, SEND_MS);
    socket_own_address(c->socket, own, &port);
    hr = rpc_connection_open(&p->service, clock_monotonic_ms(), &c->connection);
    if (SUCCEEDED(hr))
        hr = p->handler.open(p->handler.user, c->address, own, &c->session);
    if (SUCCEEDED(hr)) {
        port_queue(p, c);
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
    struct thread *thread, *poller;
    struct rpc_port *p = memory_zero(1, sizeof *p);
    HRESULT hr = p ? admission_open(&settings->limits, &p->admission) : E_OUTOFMEMORY;
    *port = 0;
    if (SUCCEEDED(hr))
        hr = port_open_wake(p);
    if (SUCCEEDED(hr)) {
        p->queue_end = &p->queue;
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
        hr = thread_start(poller_run, p, &poller);
    }
    if (SUCCEEDED(hr)) {
        /* From now on, the poller uses the port, so the port is not freed even after a failure. */
        thread_close(poller);
        hr = thread_start(port_accept, p, &thread);
        if (SUCCEEDED(hr))
            thread_close(thread);
        return hr;
    }
    if (p) {
        admission_close(p->admission);
        socket_close(p->listener);
        socket_close(p->wake);
        socket_close(p->woken);
    }
    memory_free(p);
    return hr;
}
