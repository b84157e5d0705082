/* SPDX-License-Identifier: MIT */
/* The client side of a TCP connection. The channel passes whole PDUs to the state machine, and sends the state
   machine's output before each wait. */
#include "engine/rpc/channel.h"

#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/text.h"
#include "engine/rpc/pdu/pdu.h"

#include <string.h>

#define CONNECT_MS 5000u
#define ANSWER_MS  60000u

struct rpc_channel {
    struct socket_end *socket;
    struct rpc_client *client;
    struct auth_credentials credentials;
    char *user, *domain;
    char *where;   /* host and port, for messages */
    bool was_sent; /* at least a part of the latest call's request was sent */
    uint8_t received[PDU_FRAGMENT];
};

void rpc_channel_close(struct rpc_channel *c)
{
    if (!c)
        return;
    rpc_client_close(c->client);
    socket_close(c->socket);
    memory_wipe(c->received, sizeof c->received);
    memory_wipe(&c->credentials, sizeof c->credentials);
    memory_free(c->user);
    memory_free(c->domain);
    memory_free(c->where);
    memory_free(c);
}

/* Adds host and port to the message, because the errors of sockets do not name them. */
static HRESULT channel_failed(const struct rpc_channel *c, HRESULT hr)
{
    return hr == E_OUTOFMEMORY ? hr : error_set(hr, "%s: %s", c->where, error_standard_text(hr));
}

static HRESULT channel_begin(struct rpc_channel *c, const struct rpc_target *t)
{
    c->where = text_format("%s port %s", t->host, t->port);
    if (!c->where)
        return E_OUTOFMEMORY;
    if (t->credentials) {
        c->user = text_copy(t->credentials->user);
        c->domain = text_copy(t->credentials->domain);
        if (!c->user || !c->domain)
            return E_OUTOFMEMORY;
        c->credentials = *t->credentials;
        c->credentials.user = c->user;
        c->credentials.domain = c->domain;
    }
    HRESULT hr = rpc_client_open(t->credentials ? &c->credentials : NULL, AUTH_NTLM, t->level, &c->client);
    if (SUCCEEDED(hr))
        hr = socket_connect(t->host, t->port, t->connect_ms ? t->connect_ms : CONNECT_MS, &c->socket);
    if (hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT))
        hr = channel_failed(c, hr);
    if (SUCCEEDED(hr)) {
        const uint32_t answer_ms = t->answer_ms ? t->answer_ms : ANSWER_MS;
        socket_set_timeouts(c->socket, answer_ms, answer_ms);
    }
    return hr;
}

HRESULT rpc_channel_open(const struct rpc_target *target, struct rpc_channel **out)
{
    struct rpc_channel *c = memory_zero(1, sizeof *c);
    HRESULT hr = c ? channel_begin(c, target) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        rpc_channel_close(c);
        c = NULL;
    }
    *out = c;
    return hr;
}

static HRESULT channel_send(struct rpc_channel *c)
{
    size_t size;
    const uint8_t *bytes = rpc_client_output(c->client, &size);
    HRESULT hr = bytes ? socket_send(c->socket, bytes, size) : S_OK;
    if (SUCCEEDED(hr) && bytes)
        rpc_client_sent(c->client, size);
    return FAILED(hr) ? channel_failed(c, hr) : hr;
}

/* Passes one PDU to the state machine, which rejects invalid ones. */
static HRESULT channel_receive(struct rpc_channel *c)
{
    size_t size = PDU_HEADER;
    HRESULT hr = socket_receive(c->socket, c->received, PDU_HEADER);
    if (hr == S_OK && pdu_length(c->received) > PDU_HEADER) {
        size = pdu_length(c->received);
        hr = socket_receive(c->socket, c->received + PDU_HEADER, size - PDU_HEADER);
    }
    if (hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(ERROR_HANDLE_EOF), "%s: the connection was closed", c->where);
    if (FAILED(hr))
        return channel_failed(c, hr);
    return rpc_client_take(c->client, c->received, size);
}

/* Called after sending has failed. A server that refuses a connection sends the reason and closes the connection, and
   the reason may have arrived already. */
static HRESULT channel_refusal(struct rpc_channel *c, HRESULT failure)
{
    const struct error_kept kept = error_keep(failure);
    bool has_arrived = false;
    if (SUCCEEDED(sockets_wait(&c->socket, 1, 0, &has_arrived)) && has_arrived) {
        channel_receive(c);
        if (rpc_client_state(c->client) == RPC_CLIENT_FAILED)
            return rpc_client_result(c->client);
    }
    return error_restore(&kept);
}

/* Runs until the current bind or call is complete. */
static HRESULT channel_complete(struct rpc_channel *c)
{
    HRESULT hr = channel_send(c);
    if (FAILED(hr))
        return channel_refusal(c, hr);
    while (SUCCEEDED(hr) &&
           (rpc_client_state(c->client) == RPC_CLIENT_BINDING || rpc_client_state(c->client) == RPC_CLIENT_CALLING)) {
        hr = channel_receive(c);
        if (SUCCEEDED(hr) || rpc_client_state(c->client) == RPC_CLIENT_READY)
            hr = channel_send(c);
    }
    return FAILED(hr) ? hr : rpc_client_result(c->client);
}

bool rpc_channel_is_usable(const struct rpc_channel *c)
{
    return rpc_client_state(c->client) == RPC_CLIENT_NEW || rpc_client_state(c->client) == RPC_CLIENT_READY;
}

bool rpc_channel_was_sent(const struct rpc_channel *c)
{
    return c->was_sent;
}

/* Checks whether anything has arrived. A server sends nothing without a request, so the connection has then ended. */
bool rpc_channel_is_alive(const struct rpc_channel *c)
{
    bool has_arrived = false;
    return rpc_channel_is_usable(c) && SUCCEEDED(sockets_wait(&c->socket, 1, 0, &has_arrived)) && !has_arrived;
}

HRESULT rpc_channel_call(struct rpc_channel *c, const GUID *iid, uint32_t version, const GUID *object, uint16_t opnum,
                         const uint8_t *stub, size_t size, const uint8_t **answer, size_t *answer_size)
{
    uint32_t fault;
    *answer = NULL;
    *answer_size = 0;
    c->was_sent = false;
    HRESULT hr = rpc_client_bind(c->client, iid, version);
    if (SUCCEEDED(hr))
        hr = channel_complete(c);
    if (SUCCEEDED(hr))
        hr = rpc_client_call(c->client, iid, object, opnum, stub, size);
    if (SUCCEEDED(hr)) {
        c->was_sent = true;
        hr = channel_complete(c);
    }
    if (SUCCEEDED(hr))
        *answer = rpc_client_answer(c->client, answer_size, &fault);
    return hr;
}
