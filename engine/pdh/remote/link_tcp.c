/* SPDX-License-Identifier: MIT */
/* Calls to a remote computer by TCP without authentication, and the addresses of computers. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/rpc.h"

#include <string.h>

void link_address_free(struct link_address *a)
{
    memory_free(a->host);
    memory_free(a->port);
    *a = (struct link_address){0};
}

/* Returns the value of "machine=" in the list, without blanks around it; NULL if it is not listed. */
static const char *find_named(const char *hosts, const char *machine, size_t *length)
{
    const size_t named = strlen(machine);
    for (const char *at = hosts; at && *at; at += strspn(at, ";")) {
        at += strspn(at, " ");
        const size_t entry = strcspn(at, ";");
        const char *equals = memchr(at, '=', entry);
        char *name = equals ? text_copy_n(at, (size_t)(equals - at)) : NULL;
        bool same = name && strlen(name) >= named && text_equal_nocase(name, machine);
        memory_free(name);
        if (same) {
            equals += 1 + strspn(equals + 1, " ");
            *length = (size_t)(at + entry - equals);
            return equals;
        }
        at += entry;
    }
    return NULL;
}

/* Finds the colon before the port. An address without brackets contains only its own colons. */
static const char *find_colon(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length), *bracket = memchr(text, ']', length);
    if (*text == '[')
        return bracket && bracket + 1 < text + length && bracket[1] == ':' ? bracket + 1 : NULL;
    return colon && !memchr(colon + 1, ':', (size_t)(text + length - colon - 1)) ? colon : NULL;
}

HRESULT link_address_find(const char *machine, const char *hosts, struct link_address *out)
{
    size_t length = strlen(machine);
    const char *named = find_named(hosts, machine, &length), *text = named ? named : machine;
    const char *colon = find_colon(text, length);
    const bool brackets = *text == '[' && colon;
    const char *host = text + brackets, *end = colon ? colon - brackets : text + length;
    *out = (struct link_address){0};
    out->host = text_copy_n(host, (size_t)(end - host));
    if (out->host && colon)
        out->port = text_copy_n(colon + 1, (size_t)(text + length - colon - 1));
    uint64_t port = 0;
    HRESULT hr = !out->host || (colon && !out->port) ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && colon && (!text_to_u64(out->port, &port) || port < 1 || port > 65535))
        hr = error_set(E_INVALIDARG, "computer '%s': invalid port '%s': expected a number from 1 to 65535", machine,
                       out->port);
    if (FAILED(hr))
        link_address_free(out);
    return hr;
}

HRESULT link_address_of(const char *machine, struct link_address *out)
{
    char *hosts = environment_setting("OPENPLA_COUNTER_HOSTS", "CounterHosts");
    HRESULT hr = link_address_find(machine, hosts, out);
    memory_free(hosts);
    return hr;
}

/* Calls PerflibV2 by TCP without authentication, with our own packets. Wine's runtime would lose a thread for every
   computer that disappears without closing its connection. */

#define CONNECT_MS  5000
#define ANSWER_MS   60000              /* for the next bytes of an answer */
#define MOST_ANSWER ((size_t)80 << 20) /* a little more than our server returns */

struct tcp {
    struct link link; /* first */
    struct socket_end *socket;
    struct pdu_stream stream;
    struct pdu *packet;
    uint32_t call;
    size_t fragment; /* fragment size that the server accepts */
};

/* The errors of the host OS' RPC that callers know. */
#define SERVER_UNAVAILABLE 1722 /* RPC_S_SERVER_UNAVAILABLE */
#define CALL_FAILED        1726 /* RPC_S_CALL_FAILED */

static HRESULT as_rpc(HRESULT hr, unsigned code)
{
    return hr == E_OUTOFMEMORY ? hr : error_set(HRESULT_FROM_WIN32(code), "%s", error_text(hr));
}

static HRESULT no_rpc(void)
{
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

static void close_tcp(struct link *l)
{
    struct tcp *t = (struct tcp *)l;
    socket_close(t->socket);
    memory_free(t->packet);
    memory_free(t);
}

static HRESULT send(struct tcp *t, struct byte_buffer *w)
{
    HRESULT hr = w->failed ? E_OUTOFMEMORY : t->stream.send(t->stream.user, w->bytes, w->size);
    memory_free(w->bytes);
    return hr;
}

static HRESULT tcp_receive_pdu(struct tcp *t)
{
    HRESULT hr = pdu_receive(&t->stream, t->packet);
    if (hr == S_FALSE)
        return HRESULT_FROM_WIN32(ERROR_HANDLE_EOF);
    return SUCCEEDED(hr) && t->packet->call != t->call ? no_rpc() : hr;
}

/* C706 12.6.4.3: one context. */
static HRESULT tcp_bind_interface(struct tcp *t)
{
    struct byte_buffer w = {0};
    const size_t begin = pdu_begin(&w, PDU_BIND, PDU_FIRST | PDU_LAST, ++t->call);
    byte_buffer_u16(&w, PDU_FRAGMENT);
    byte_buffer_u16(&w, PDU_FRAGMENT);
    byte_buffer_u32(&w, 0);
    byte_buffer_u32(&w, 1);
    byte_buffer_u32(&w, 1u << 16); /* context 0 with one syntax */
    byte_buffer_put(&w, pdu_perflib, sizeof pdu_perflib);
    byte_buffer_put(&w, pdu_ndr, sizeof pdu_ndr);
    pdu_end(&w, begin);
    HRESULT hr = send(t, &w);
    if (SUCCEEDED(hr))
        hr = tcp_receive_pdu(t);
    if (FAILED(hr))
        return hr;
    const struct pdu *p = t->packet;
    /* The result of the only context comes last: result, reason, syntax. */
    if (p->type != PDU_BIND_ACK || p->size < 8 + sizeof pdu_ndr + 4 || get_u16(p->bytes + p->size - 24))
        return no_rpc();
    const size_t takes = get_u16(p->bytes + 2);
    t->fragment = takes < PDU_LEAST_FRAGMENT ? PDU_LEAST_FRAGMENT : takes > PDU_FRAGMENT ? PDU_FRAGMENT : takes;
    return S_OK;
}

HRESULT link_tcp_open(const struct link_address *a, struct link **out)
{
    struct tcp *t = memory_zero(1, sizeof *t);
    HRESULT hr = E_OUTOFMEMORY;
    *out = NULL;
    if (!t)
        return hr;
    t->link.kind = &link_tcp;
    t->packet = memory_alloc(sizeof *t->packet);
    if (t->packet)
        hr = socket_connect(a->host, a->port, CONNECT_MS, &t->socket);
    if (SUCCEEDED(hr)) {
        socket_set_timeouts(t->socket, ANSWER_MS, ANSWER_MS);
        t->stream = pdu_stream_socket(t->socket);
        hr = tcp_bind_interface(t);
    }
    if (FAILED(hr)) {
        close_tcp(&t->link);
        return as_rpc(hr, SERVER_UNAVAILABLE);
    }
    *out = &t->link;
    return S_OK;
}

static HRESULT receive_answer(struct tcp *t, struct byte_buffer *w)
{
    for (bool last = false; !last && !w->failed;) {
        HRESULT hr = tcp_receive_pdu(t);
        const struct pdu *p = t->packet;
        if (FAILED(hr))
            return hr;
        if (p->type == PDU_FAULT && p->size >= PDU_CALL_HEADER + 4)
            return error_set(no_rpc(), "the remote computer returned the RPC fault 0x%08lX",
                             (unsigned long)get_u32(p->bytes + PDU_CALL_HEADER));
        last = p->flags & PDU_LAST;
        /* Without this check, empty parts that are not the last one could continue forever. */
        if (p->type != PDU_RESPONSE || p->size < PDU_CALL_HEADER + (last ? 0u : 1u) || w->size + p->size > MOST_ANSWER)
            return no_rpc();
        byte_buffer_put(w, p->bytes + PDU_CALL_HEADER, p->size - PDU_CALL_HEADER);
    }
    return w->failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT call_tcp(struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply,
                        size_t *reply_size)
{
    struct tcp *t = (struct tcp *)l;
    struct byte_buffer w = {0}, answer = {0};
    pdu_put_call(&w, PDU_REQUEST, ++t->call, 0, (uint16_t)opnum, request, size, t->fragment);
    HRESULT hr = send(t, &w);
    if (SUCCEEDED(hr))
        hr = receive_answer(t, &answer);
    if (FAILED(hr))
        memory_free(answer.bytes);
    *reply = SUCCEEDED(hr) ? answer.bytes : NULL;
    *reply_size = SUCCEEDED(hr) ? answer.size : 0;
    return FAILED(hr) ? as_rpc(hr, CALL_FAILED) : S_OK;
}

static HRESULT open_tcp(const char *machine, struct link **out)
{
    struct link_address address;
    HRESULT hr = link_address_of(machine, &address);
    *out = NULL;
    if (SUCCEEDED(hr) && !address.port)
        hr = HRESULT_FROM_WIN32(ERROR_BAD_NETPATH);
    if (SUCCEEDED(hr))
        hr = link_tcp_open(&address, out);
    link_address_free(&address);
    return hr;
}

const struct link_kind link_tcp = {open_tcp, call_tcp, close_tcp};
