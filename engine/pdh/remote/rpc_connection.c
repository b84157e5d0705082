/* SPDX-License-Identifier: MIT */
/* One connection of the server: binding, fragmented requests, context handles, answers and faults (C706 12.6, 9.3). */
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/rpc.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_REQUEST  ((size_t)1 << 20)
#define MOST_ANSWER   (64u << 20)
#define MOST_HELD     ((size_t)256 << 20)
#define MOST_CONTEXTS 8 /* presentation contexts: a client of one interface needs one */
/* First buffer size for an answer. If it is too small the method says how much it needs. */
#define USUAL_ANSWER  (64u << 10)
#define MOST_TRIES    3

struct handle {
    uint64_t serial; /* 0: free */
    struct pcq_query *query;
};

struct connection {
    struct rpc_service *service;
    const struct pdu_stream *stream;
    const char *address;
    size_t fragment; /* that the client accepts */
    uint16_t contexts[MOST_CONTEXTS];
    size_t context_count;
    struct handle handles[PCQ_QUERIES_OF_CLIENT];
    uint32_t usual; /* size of the last sample plus a reserve */
    bool asking;    /* a request has begun, with: */
    uint32_t call;
    uint16_t context, method;
    struct byte_buffer parameters;
};

static HRESULT send(struct connection *c, struct byte_buffer *w)
{
    HRESULT hr = w->failed ? E_OUTOFMEMORY : c->stream->send(c->stream->user, w->bytes, w->size);
    memory_free(w->bytes);
    return hr;
}

/* ---- binding: C706 12.6.4.3, 12.6.4.4 ---- */

enum { ACCEPTED = 0, REJECTED = 2, NO_INTERFACE = 1, NO_SYNTAX = 2 };

/* `at` points to the syntaxes of one context. */
static void bind_context(struct connection *c, uint16_t id, const uint8_t *at, size_t syntaxes, struct byte_buffer *w)
{
    static const uint8_t none[sizeof pdu_ndr];
    bool known = memcmp(at, pdu_perflib, sizeof pdu_perflib) == 0, ndr = false;
    for (size_t i = 1; i <= syntaxes; i++)
        ndr = ndr || memcmp(at + i * sizeof pdu_ndr, pdu_ndr, sizeof pdu_ndr) == 0;
    bool good = known && ndr && c->context_count < MOST_CONTEXTS;
    if (good)
        c->contexts[c->context_count++] = id;
    byte_buffer_u16(w, good ? ACCEPTED : REJECTED);
    byte_buffer_u16(w, good ? 0 : known ? NO_SYNTAX : NO_INTERFACE);
    byte_buffer_put(w, good ? pdu_ndr : none, sizeof pdu_ndr);
}

static HRESULT connection_bind(struct connection *c, const struct pdu *p)
{
    if (p->size < 12)
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    const bool alter = p->type == PDU_ALTER_CONTEXT;
    const size_t takes = get_u16(p->bytes + 2), count = p->bytes[8];
    if (!alter)
        c->fragment = takes < PDU_LEAST_FRAGMENT ? PDU_LEAST_FRAGMENT : takes > PDU_FRAGMENT ? PDU_FRAGMENT : takes;
    struct byte_buffer w = {0};
    const size_t begin = pdu_begin(&w, alter ? PDU_ALTER_CONTEXT_ACK : PDU_BIND_ACK, PDU_FIRST | PDU_LAST, p->call);
    byte_buffer_u16(&w, PDU_FRAGMENT);
    byte_buffer_u16(&w, PDU_FRAGMENT);
    byte_buffer_u32(&w, 1); /* association group */
    byte_buffer_u32(&w, 0); /* no secondary address, and padding for the results */
    byte_buffer_u32(&w, (uint32_t)count);
    size_t at = 12;
    for (size_t i = 0; i < count; i++) {
        const size_t syntaxes = p->size - at >= 4 ? p->bytes[at + 2] : 0, size = 4 + (syntaxes + 1) * sizeof pdu_ndr;
        if (p->size - at < size) {
            memory_free(w.bytes);
            return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
        }
        bind_context(c, get_u16(p->bytes + at), p->bytes + at + 4, syntaxes, &w);
        at += size;
    }
    pdu_end(&w, begin);
    return send(c, &w);
}

/* ---- context handles ---- */

/* Unique across all connections. */
static uint64_t next_serial(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

static struct handle *find_handle(struct connection *c, const uint8_t bytes[NDR_HANDLE_BYTES])
{
    static const uint8_t none[NDR_HANDLE_BYTES];
    const uint64_t serial = get_u64(bytes + 4);
    for (size_t i = 0; serial && i < PCQ_QUERIES_OF_CLIENT; i++)
        if (c->handles[i].serial == serial && !memcmp(bytes, none, 4) && !memcmp(bytes + 12, none, 8))
            return &c->handles[i];
    return NULL;
}

static DWORD open_handle(struct connection *c, uint8_t out[NDR_HANDLE_BYTES])
{
    size_t i = 0;
    while (i < PCQ_QUERIES_OF_CLIENT && c->handles[i].serial)
        i++;
    if (i == PCQ_QUERIES_OF_CLIENT)
        return PCQ_NO_RESOURCES;
    DWORD error = pcq_open_query(c->service->server, c->address, &c->handles[i].query);
    if (error == ERROR_SUCCESS) {
        c->handles[i].serial = next_serial();
        put_u64(out + 4, c->handles[i].serial);
    }
    return error;
}

static void close_handle(struct handle *h)
{
    pcq_close_query(h->query);
    *h = (struct handle){0};
}

/* ---- calls ---- */

static DWORD connection_run_method(struct connection *c, const struct ndr_call *call, struct pcq_query *q,
                                   struct pcq_buffer *out)
{
    switch (call->method) {
    case PCQ_ENUMERATE_SETS:
        return pcq_enumerate_sets(c->service->server, out);
    case PCQ_REGISTRATION_INFO:
        return pcq_registration_info(c->service->server, &call->set, call->code, call->language, out);
    case PCQ_ENUMERATE_INSTANCES:
        return pcq_enumerate_instances(c->service->server, &call->set, out);
    case PCQ_QUERY_INFO:
        return pcq_query_info(q, out);
    default:
        return pcq_query_data(q, out);
    }
}

/* Reserves memory for an answer. False if all connections together would exceed the limit. */
static bool connection_reserve_memory(struct connection *c, size_t size)
{
    if (atomic_fetch_add(&c->service->holds, size) + size <= MOST_HELD)
        return true;
    atomic_fetch_sub(&c->service->holds, size);
    return false;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Runs the method with a buffer of the size that the answer needs, whatever the client offers. *out is from
   memory_alloc and has *held bytes. Returns a fault, or 0. */
static uint32_t connection_fill_answer(struct connection *c, const struct ndr_call *call, struct pcq_query *q,
                                       struct pcq_buffer *out, DWORD *error, size_t *held)
{
    const size_t unit = call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    uint32_t most = smaller(call->room, MOST_ANSWER);
    uint32_t room = smaller(most, call->method == PCQ_QUERY_DATA && c->usual ? c->usual : USUAL_ANSWER);
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        memory_free(out->bytes);
        atomic_fetch_sub(&c->service->holds, *held);
        *out = (struct pcq_buffer){.room = room};
        *held = 0;
        if (!connection_reserve_memory(c, (size_t)room * unit))
            return FAULT_NO_MEMORY;
        *held = (size_t)room * unit;
        out->bytes = memory_alloc(*held + 1);
        if (!out->bytes)
            return FAULT_NO_MEMORY;
        *error = connection_run_method(c, call, q, out);
        if (*error != PCQ_NOT_ENOUGH_MEMORY || room == most || out->needed <= room)
            break;
        room = out->needed > most ? most : smaller(most, out->needed + out->needed / 8);
    }
    if (call->method == PCQ_QUERY_DATA && *error == ERROR_SUCCESS)
        c->usual = out->needed + out->needed / 8;
    return 0;
}

static DWORD connection_check_access(const struct connection *c)
{
    return pcq_access_check(&(struct pcq_call){.address = c->address}, c->service->from);
}

static HRESULT answer_fault(struct connection *c, uint32_t fault)
{
    TRACE_STEP(rpc, "method %u: fault 0x%08X", (unsigned)c->method, (unsigned)fault);
    struct byte_buffer w = {0};
    const size_t begin = pdu_begin(&w, PDU_FAULT, PDU_FIRST | PDU_LAST, c->call);
    byte_buffer_u32(&w, 0);
    byte_buffer_u16(&w, c->context);
    byte_buffer_u16(&w, 0);
    byte_buffer_u32(&w, fault);
    byte_buffer_u32(&w, 0);
    pdu_end(&w, begin);
    return send(c, &w);
}

static HRESULT connection_send_answer(struct connection *c, const struct ndr_call *call, const struct ndr_reply *reply)
{
    uint8_t *bytes;
    size_t size;
    struct byte_buffer w = {0};
    HRESULT hr = ndr_write_reply(call, reply, &bytes, &size);
    if (FAILED(hr))
        return answer_fault(c, FAULT_NO_MEMORY);
    pdu_put_call(&w, PDU_RESPONSE, c->call, c->context, 0, bytes, size, c->fragment);
    memory_free(bytes);
    return send(c, &w);
}

/* The methods without an output buffer. */
static void handle_call(struct connection *c, const struct ndr_call *call, struct handle *h, struct ndr_reply *reply,
                        uint8_t *data)
{
    reply->status = connection_check_access(c);
    if (reply->status != ERROR_SUCCESS)
        return;
    if (call->method == PCQ_OPEN_QUERY)
        reply->status = open_handle(c, reply->handle);
    else if (call->method == PCQ_CLOSE_QUERY)
        close_handle(h);
    else
        reply->status = pcq_validate_counters(h->query, data, call->size, call->add);
}

static HRESULT serve_simple(struct connection *c, const struct ndr_call *call, struct handle *h)
{
    struct ndr_reply reply = {0};
    uint8_t *data = call->method == PCQ_VALIDATE_COUNTERS ? memory_copy(call->data, call->size) : NULL;
    if (call->method == PCQ_VALIDATE_COUNTERS && !data)
        return answer_fault(c, FAULT_NO_MEMORY);
    handle_call(c, call, h, &reply, data);
    reply.data = data;
    HRESULT hr = connection_send_answer(c, call, &reply);
    memory_free(data);
    return hr;
}

static HRESULT serve_sized(struct connection *c, const struct ndr_call *call, struct pcq_query *q)
{
    struct pcq_buffer out = {0};
    struct ndr_reply reply = {0};
    size_t held = 0;
    DWORD error = connection_check_access(c);
    uint32_t fault = error == ERROR_SUCCESS ? connection_fill_answer(c, call, q, &out, &error, &held) : 0;
    reply.status = error;
    reply.needed = out.needed;
    reply.data = out.bytes;
    reply.size = (size_t)out.written * (call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1);
    HRESULT hr = fault ? answer_fault(c, fault) : connection_send_answer(c, call, &reply);
    memory_free(out.bytes);
    atomic_fetch_sub(&c->service->holds, held);
    return hr;
}

static bool is_bound(const struct connection *c, uint16_t context)
{
    size_t i = 0;
    while (i < c->context_count && c->contexts[i] != context)
        i++;
    return i < c->context_count;
}

static HRESULT serve_call(struct connection *c)
{
    struct ndr_call call;
    struct handle *h = NULL;
    TRACE_STEP(rpc, "method %u: %zu bytes of parameters", (unsigned)c->method, c->parameters.size);
    if (!is_bound(c, c->context))
        return answer_fault(c, FAULT_NO_INTERFACE);
    if (c->method >= PCQ_METHODS)
        return answer_fault(c, FAULT_NO_SUCH_METHOD);
    HRESULT hr = ndr_read_request((enum pcq_method)c->method, c->parameters.bytes, c->parameters.size, &call);
    if (FAILED(hr))
        return answer_fault(c, hr == E_INVALIDARG ? FAULT_INVALID_BOUND : FAULT_BAD_PARAMETERS);
    if (call.method > PCQ_OPEN_QUERY && !(h = find_handle(c, call.handle)))
        return answer_fault(c, FAULT_CONTEXT_MISMATCH);
    if (call.method == PCQ_OPEN_QUERY || call.method == PCQ_CLOSE_QUERY || call.method == PCQ_VALIDATE_COUNTERS)
        return serve_simple(c, &call, h);
    return serve_sized(c, &call, h ? h->query : NULL);
}

/* Adds one fragment of a request, and serves the request after the last one. */
static HRESULT take_request(struct connection *c, const struct pdu *p)
{
    const size_t head = PDU_CALL_HEADER + (p->flags & PDU_OBJECT ? sizeof(GUID) : 0);
    const bool first = p->flags & PDU_FIRST;
    if (p->size < head || first == c->asking || (!first && p->call != c->call))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (first) {
        c->asking = true;
        c->call = p->call;
        c->context = get_u16(p->bytes + 4);
        c->method = get_u16(p->bytes + 6);
        c->parameters.size = 0;
    }
    if (c->parameters.size + p->size - head > MOST_REQUEST) {
        answer_fault(c, FAULT_PROTOCOL);
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
    byte_buffer_put(&c->parameters, p->bytes + head, p->size - head);
    if (c->parameters.failed)
        return E_OUTOFMEMORY;
    if (!(p->flags & PDU_LAST))
        return S_OK;
    c->asking = false;
    HRESULT hr = serve_call(c);
    if (c->parameters.capacity > USUAL_ANSWER) { /* do not keep a large buffer */
        memory_free(c->parameters.bytes);
        c->parameters = (struct byte_buffer){0};
    }
    return hr;
}

static HRESULT connection_take_pdu(struct connection *c, const struct pdu *p)
{
    switch (p->type) {
    case PDU_BIND:
    case PDU_ALTER_CONTEXT:
        return connection_bind(c, p);
    case PDU_REQUEST:
        return take_request(c, p);
    case PDU_ORPHANED:
        c->asking = false;
        return S_OK;
    case PDU_CANCEL: /* the call was answered already */
        return S_OK;
    default:
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
}

void rpc_connection_serve(struct rpc_service *service, const struct pdu_stream *stream, const char *address)
{
    struct connection *c = memory_zero(1, sizeof *c);
    struct pdu *p = memory_alloc(sizeof *p);
    if (c && p) {
        c->service = service;
        c->stream = stream;
        c->address = address;
        c->fragment = PDU_LEAST_FRAGMENT;
        while (pdu_receive(stream, p) == S_OK && SUCCEEDED(connection_take_pdu(c, p)))
            ;
        for (size_t i = 0; i < PCQ_QUERIES_OF_CLIENT; i++)
            close_handle(&c->handles[i]);
        memory_free(c->parameters.bytes);
    }
    memory_free(c);
    memory_free(p);
}
