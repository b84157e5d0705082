/* SPDX-License-Identifier: MIT */
/* The calls of one connection: access check, context handles, methods, and memory for the answers. */
#include "engine/pdh/remote/pcq_session.h"

#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/ndr.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_HELD              ((size_t)256 << 20)
/* Initial buffer size for an answer. If the buffer is too small, the method returns the needed size. */
#define USUAL_ANSWER           (64u << 10)
#define MOST_TRIES             3

/* nca_s_*: C706 appendix E. */
#define FAULT_INVALID_BOUND    0x1C000007u
#define FAULT_CONTEXT_MISMATCH 0x1C00001Au

const GUID pcq_interface = {0xDA5A86C5, 0x12C2, 0x4943, {0xAB, 0x30, 0x7F, 0x74, 0xA8, 0x13, 0xD8, 0x53}};

struct handle {
    uint64_t serial; /* 0: free */
    struct pcq_query *query;
};

struct pcq_session {
    struct pcq_service *service;
    const char *address;
    struct handle handles[PCQ_QUERIES_OF_CLIENT];
    uint32_t usual; /* buffer size for the next sample: the size of the last sample plus an eighth */
};

bool pcq_service_serves(void *user, const GUID *iid, uint32_t version)
{
    (void)user;
    return guid_equal(iid, &pcq_interface) && version == PCQ_INTERFACE_VERSION;
}

HRESULT pcq_session_open(struct pcq_service *service, const char *address, struct pcq_session **out)
{
    struct pcq_session *s = memory_zero(1, sizeof *s);
    *out = s;
    if (!s)
        return E_OUTOFMEMORY;
    s->service = service;
    s->address = address;
    return S_OK;
}

/* ---- context handles ---- */

/* Returns a serial that is unique across all connections. */
static uint64_t next_serial(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

static struct handle *session_find_handle(struct pcq_session *s, const uint8_t bytes[NDR_HANDLE_BYTES])
{
    static const uint8_t none[NDR_HANDLE_BYTES];
    const uint64_t serial = get_u64(bytes + 4);
    for (size_t i = 0; serial && i < PCQ_QUERIES_OF_CLIENT; i++)
        if (s->handles[i].serial == serial && !memcmp(bytes, none, 4) && !memcmp(bytes + 12, none, 8))
            return &s->handles[i];
    return NULL;
}

static DWORD session_open_handle(struct pcq_session *s, uint8_t out[NDR_HANDLE_BYTES])
{
    size_t i = 0;
    while (i < PCQ_QUERIES_OF_CLIENT && s->handles[i].serial)
        i++;
    if (i == PCQ_QUERIES_OF_CLIENT)
        return PCQ_NO_RESOURCES;
    DWORD error = pcq_open_query(s->service->server, s->address, &s->handles[i].query);
    if (error == ERROR_SUCCESS) {
        s->handles[i].serial = next_serial();
        put_u64(out + 4, s->handles[i].serial);
    }
    return error;
}

static void close_handle(struct handle *h)
{
    pcq_close_query(h->query);
    *h = (struct handle){0};
}

void pcq_session_close(struct pcq_session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < PCQ_QUERIES_OF_CLIENT; i++)
        close_handle(&s->handles[i]);
    memory_free(s);
}

/* ---- calls ---- */

static DWORD session_run_method(struct pcq_session *s, const struct ndr_call *call, struct pcq_query *q,
                                struct pcq_buffer *out)
{
    struct pcq_server *server = s->service->server;
    switch (call->method) {
    case PCQ_ENUMERATE_SETS:
        return pcq_enumerate_sets(server, out);
    case PCQ_REGISTRATION_INFO:
        return pcq_registration_info(server, &call->set, call->code, call->language, out);
    case PCQ_ENUMERATE_INSTANCES:
        return pcq_enumerate_instances(server, &call->set, out);
    case PCQ_QUERY_INFO:
        return pcq_query_info(q, out);
    default:
        return pcq_query_data(q, out);
    }
}

/* Reserves memory for an answer. False if the total of all connections would exceed the limit. */
static bool service_reserve_memory(struct pcq_service *service, size_t size)
{
    if (atomic_fetch_add(&service->holds, size) + size <= MOST_HELD)
        return true;
    atomic_fetch_sub(&service->holds, size);
    return false;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Runs the method with a buffer that grows to the size of the answer, up to the size that the client offers. *out is
   from memory_alloc and has *held bytes. Returns a fault, or 0. */
static uint32_t session_fill_answer(struct pcq_session *s, const struct ndr_call *call, struct pcq_query *q,
                                    struct pcq_buffer *out, DWORD *error, size_t *held)
{
    const size_t unit = call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    uint32_t most = smaller(call->room, (uint32_t)(PCQ_ANSWER_MOST - NDR_HANDLE_BYTES - 4));
    uint32_t room = smaller(most, call->method == PCQ_QUERY_DATA && s->usual ? s->usual : USUAL_ANSWER);
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        memory_free(out->bytes);
        atomic_fetch_sub(&s->service->holds, *held);
        *out = (struct pcq_buffer){.room = room};
        *held = 0;
        if (!service_reserve_memory(s->service, (size_t)room * unit))
            return RPC_FAULT_NO_MEMORY;
        *held = (size_t)room * unit;
        out->bytes = memory_alloc(*held + 1);
        if (!out->bytes)
            return RPC_FAULT_NO_MEMORY;
        *error = session_run_method(s, call, q, out);
        if (*error != PCQ_NOT_ENOUGH_MEMORY || room == most || out->needed <= room)
            break;
        room = out->needed > most ? most : smaller(most, out->needed + out->needed / 8);
    }
    if (call->method == PCQ_QUERY_DATA && *error == ERROR_SUCCESS)
        s->usual = out->needed + out->needed / 8;
    return 0;
}

static uint32_t write_reply(const struct ndr_call *call, const struct ndr_reply *reply, struct ndr_writer *stub)
{
    uint8_t *bytes;
    size_t size;
    if (FAILED(ndr_write_reply(call, reply, &bytes, &size)))
        return RPC_FAULT_NO_MEMORY;
    ndr_write_bytes(stub, bytes, size);
    memory_free(bytes);
    return 0;
}

/* Runs the methods without an output buffer. */
static uint32_t session_call_simple(struct pcq_session *s, const struct ndr_call *call, struct handle *h, DWORD access,
                                    struct ndr_writer *stub)
{
    struct ndr_reply reply = {.status = access};
    uint8_t *data = call->method == PCQ_VALIDATE_COUNTERS ? memory_copy(call->data, call->size) : NULL;
    if (call->method == PCQ_VALIDATE_COUNTERS && !data)
        return RPC_FAULT_NO_MEMORY;
    if (access == ERROR_SUCCESS && call->method == PCQ_OPEN_QUERY)
        reply.status = session_open_handle(s, reply.handle);
    else if (access == ERROR_SUCCESS && call->method == PCQ_CLOSE_QUERY)
        close_handle(h);
    else if (access == ERROR_SUCCESS)
        reply.status = pcq_validate_counters(h->query, data, call->size, call->add);
    reply.data = data;
    const uint32_t fault = write_reply(call, &reply, stub);
    memory_free(data);
    return fault;
}

static uint32_t session_call_sized(struct pcq_session *s, const struct ndr_call *call, struct pcq_query *q,
                                   DWORD access, struct ndr_writer *stub)
{
    struct pcq_buffer out = {0};
    struct ndr_reply reply = {0};
    size_t held = 0;
    DWORD error = access;
    uint32_t fault = access == ERROR_SUCCESS ? session_fill_answer(s, call, q, &out, &error, &held) : 0;
    reply.status = error;
    reply.needed = out.needed;
    reply.data = out.bytes;
    reply.size = (size_t)out.written * (call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1);
    if (!fault)
        fault = write_reply(call, &reply, stub);
    memory_free(out.bytes);
    atomic_fetch_sub(&s->service->holds, held);
    return fault;
}

static uint32_t session_call(struct pcq_session *s, const struct rpc_call *c, struct ndr_writer *stub)
{
    struct ndr_call call;
    struct handle *h = NULL;
    if (c->opnum >= PCQ_METHODS)
        return RPC_FAULT_OPNUM;
    HRESULT hr = ndr_read_request((enum pcq_method)c->opnum, c->stub, c->size, &call);
    if (FAILED(hr))
        return hr == E_INVALIDARG ? FAULT_INVALID_BOUND : RPC_FAULT_BAD_STUB;
    if (call.method > PCQ_OPEN_QUERY && !(h = session_find_handle(s, call.handle)))
        return FAULT_CONTEXT_MISMATCH;
    const DWORD access = pcq_access_check(&(struct pcq_call){.by_port = true,
                                                             .level_known = true,
                                                             .level = (uint32_t)c->level,
                                                             .address = s->address,
                                                             .account = c->account},
                                          s->service->settings);
    if (call.method == PCQ_OPEN_QUERY || call.method == PCQ_CLOSE_QUERY || call.method == PCQ_VALIDATE_COUNTERS)
        return session_call_simple(s, &call, h, access, stub);
    return session_call_sized(s, &call, h ? h->query : NULL, access, stub);
}

uint32_t pcq_session_call(void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    TRACE_STEP(rpc, "method %u: %zu bytes of parameters", (unsigned)call->opnum, call->size);
    const uint32_t fault = session_call(session, call, stub);
    if (fault)
        TRACE_STEP(rpc, "method %u: fault 0x%08X", (unsigned)call->opnum, (unsigned)fault);
    return fault;
}
