/* SPDX-License-Identifier: MIT */
#include "engine/pdh/counter_port.h"

#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pdh/remote/rpc_connection.h"

/* Who asks nothing for so long, or stops within a packet, is taken for gone; he connects again when he asks again. */
#define IDLE_MS      (15u * 60 * 1000)
#define SEND_MS      60000
/* Who may not ask is told so, and takes no place and little time from those who may. */
#define MOST_REFUSED 16
#define REFUSED_MS   60000
#define PAUSE_MS     100 /* after a connection that the system could not give, as when all files are open */

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

/* Those of his kind. */
static _Atomic size_t *connections_of(const struct client *c)
{
    return c->refused ? &c->port->refused : &c->port->connections;
}

static void serve(void *user)
{
    struct client *c = user;
    struct pdu_stream stream = pdu_stream_socket(c->socket);
    socket_set_patience(c->socket, c->refused ? REFUSED_MS : IDLE_MS, SEND_MS);
    rpc_connection_serve(&c->port->service, &stream, c->address);
    socket_close(c->socket);
    --*connections_of(c);
    memory_free(c);
}

/* S_FALSE: there are too many. */
static HRESULT take_client(struct port *p)
{
    struct thread *thread;
    struct client *c = memory_zero(1, sizeof *c);
    HRESULT hr = c ? socket_accept(p->listener, &c->socket, c->address) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        c->port = p;
        c->refused = pcq_gate(&(struct pcq_call){.address = c->address}, p->service.from) != ERROR_SUCCESS;
        const size_t most = c->refused ? MOST_REFUSED : COUNTER_PORT_CONNECTIONS;
        hr = ++*connections_of(c) > most ? S_FALSE : thread_start(serve, c, &thread);
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
