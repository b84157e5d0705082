/* SPDX-License-Identifier: MIT */
/* The client side of a connection. A connection has one logon, and performs one call at a time. Further interfaces are
   negotiated with alter_context.

       NTLM     bind + NEGOTIATE -> bind_ack + CHALLENGE -> auth3 + AUTHENTICATE (no answer)
       SPNEGO   bind + NegTokenInit -> bind_ack + CHALLENGE -> alter_context + AUTHENTICATE, MIC -> ack + MIC

   A response without a valid signature is never accepted. An unsigned fault is accepted, because some
   servers do not sign faults, and a fault contains no data. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/connection.h"
#include "engine/rpc/pdu/pdu.h"

#include <string.h>

#define RESPONSE_MOST ((size_t)64 << 20)
#define AUTH_ID       1

struct rpc_client {
    enum rpc_client_state state;
    HRESULT result;
    struct pdu_input in;
    struct ndr_writer out, answer;
    size_t sent;
    struct pdu_security security;
    bool logs_on, is_bound;
    size_t fragment;
    uint32_t call, fault;
    bool has_begun; /* a response */
    size_t interface_count;
    struct {
        GUID iid;
        bool is_accepted;
    } interfaces[PDU_CONTEXTS];
    uint32_t versions[PDU_CONTEXTS];
};

static HRESULT client_fail(struct rpc_client *c, HRESULT hr)
{
    c->state = RPC_CLIENT_FAILED;
    c->result = hr;
    return hr;
}

HRESULT rpc_client_open(const struct auth_credentials *credentials, enum auth_type type, enum auth_level level,
                        struct rpc_client **out)
{
    *out = NULL;
    struct rpc_client *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->fragment = PDU_FRAGMENT;
    if (credentials) {
        HRESULT hr = auth_initiate(type, credentials, &c->security.auth);
        if (FAILED(hr)) {
            memory_free(c);
            return hr;
        }
        c->security.type = (uint8_t)type;
        c->security.level = (uint8_t)level;
        c->security.id = AUTH_ID;
        c->logs_on = true;
    }
    *out = c;
    return S_OK;
}

void rpc_client_close(struct rpc_client *c)
{
    if (!c)
        return;
    auth_close(c->security.auth);
    ndr_writer_free(&c->out);
    ndr_writer_free(&c->answer);
    memory_wipe(c->in.bytes, sizeof c->in.bytes);
    memory_free(c);
}

/* Writes a bind or alter_context for one interface; `token` may be NULL. */
static void client_write_bind(struct rpc_client *c, enum pdu_type type, size_t interface, const uint8_t *token,
                              size_t token_size)
{
    struct ndr_writer p = {0};
    pdu_start(&p, type, PDU_FIRST | PDU_LAST | (type == PDU_BIND ? PDU_HEADER_SIGNING : 0), c->call);
    ndr_write_u16(&p, PDU_FRAGMENT);
    ndr_write_u16(&p, PDU_FRAGMENT);
    ndr_write_u32(&p, 0);
    ndr_write_u32(&p, 1); /* interfaces */
    ndr_write_u16(&p, (uint16_t)interface);
    ndr_write_u16(&p, 1); /* syntaxes */
    ndr_write_guid(&p, &c->interfaces[interface].iid);
    ndr_write_u32(&p, c->versions[interface]);
    ndr_write_bytes(&p, pdu_ndr_syntax, PDU_SYNTAX_BYTES);
    pdu_write_token(&p, 0, c->security.type, c->security.level, c->security.id, token, token_size);
    pdu_finish(&p, 0, token_size);
    ndr_write_bytes(&c->out, p.bytes, p.size);
    c->out.failed = c->out.failed || p.failed;
    ndr_writer_free(&p);
}

static HRESULT client_flushed(struct rpc_client *c)
{
    return c->out.failed ? client_fail(c, E_OUTOFMEMORY) : S_OK;
}

HRESULT rpc_client_bind(struct rpc_client *c, const GUID *iid, uint32_t version)
{
    if (c->state != RPC_CLIENT_NEW && c->state != RPC_CLIENT_READY)
        return E_UNEXPECTED;
    for (size_t i = 0; i < c->interface_count; i++)
        if (guid_equal(&c->interfaces[i].iid, iid)) {
            c->result = c->interfaces[i].is_accepted ? S_OK : E_NOINTERFACE;
            return S_OK;
        }
    if (c->interface_count == PDU_CONTEXTS)
        return HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA);
    uint8_t *token = NULL;
    size_t token_size = 0;
    if (!c->is_bound && c->logs_on) {
        HRESULT hr = auth_step(c->security.auth, NULL, 0, &token, &token_size);
        if (FAILED(hr))
            return client_fail(c, hr);
    }
    c->interfaces[c->interface_count].iid = *iid;
    c->versions[c->interface_count++] = version;
    c->call++;
    client_write_bind(c, c->is_bound ? PDU_ALTER_CONTEXT : PDU_BIND, c->interface_count - 1, token, token_size);
    memory_free(token);
    c->state = RPC_CLIENT_BINDING;
    return client_flushed(c);
}

HRESULT rpc_client_call(struct rpc_client *c, const GUID *iid, const GUID *object, uint16_t opnum, const uint8_t *stub,
                        size_t size)
{
    size_t i = 0;
    while (i < c->interface_count && !(c->interfaces[i].is_accepted && guid_equal(&c->interfaces[i].iid, iid)))
        i++;
    if (c->state != RPC_CLIENT_READY || i == c->interface_count)
        return E_UNEXPECTED;
    ndr_writer_free(&c->answer);
    c->answer.most = RESPONSE_MOST;
    c->fault = 0;
    c->has_begun = false;
    c->call++;
    pdu_write_call(&c->out, PDU_REQUEST, c->call, (uint16_t)i, opnum, object, stub, size, c->fragment, &c->security);
    c->state = RPC_CLIENT_CALLING;
    return client_flushed(c);
}

/* ---- answers ---- */

/* Processes the server's token and sends the next one, in an auth3 or an alter_context. */
static HRESULT client_log_on(struct rpc_client *c, const struct pdu *p)
{
    uint8_t *token = NULL;
    size_t size = 0;
    if (!p->trailer || p->auth_id != AUTH_ID || p->auth_type != c->security.type)
        return client_fail(c, E_ACCESSDENIED);
    HRESULT hr = auth_step(c->security.auth, p->trailer + PDU_TRAILER, p->token_size, &token, &size);
    if (FAILED(hr))
        return client_fail(c, hr);
    if (hr == S_OK && c->security.level == AUTH_LEVEL_PRIVACY && !auth_can_seal(c->security.auth))
        hr = client_fail(c, E_ACCESSDENIED);
    else if (hr == S_OK && size) {
        struct ndr_writer w = {0};
        pdu_start(&w, PDU_AUTH3, PDU_FIRST | PDU_LAST, c->call);
        ndr_write_u32(&w, 0); /* padding */
        pdu_write_token(&w, 0, c->security.type, c->security.level, c->security.id, token, size);
        pdu_finish(&w, 0, size);
        ndr_write_bytes(&c->out, w.bytes, w.size);
        c->out.failed = c->out.failed || w.failed;
        ndr_writer_free(&w);
    } else if (hr == S_FALSE)
        client_write_bind(c, PDU_ALTER_CONTEXT, c->interface_count - 1, token, size);
    memory_free(token);
    if (SUCCEEDED(hr) && FAILED(client_flushed(c)))
        return E_OUTOFMEMORY;
    return hr;
}

static HRESULT client_bound(struct rpc_client *c, const struct pdu *p)
{
    struct ndr_reader r = ndr_reader_over(p->bytes, p->body_end);
    ndr_take(&r, 1, PDU_HEADER + 2);
    const uint16_t takes = ndr_read_u16(&r);
    ndr_read_u32(&r);
    const uint16_t address = ndr_read_u16(&r);
    ndr_take(&r, 1, address);
    const uint32_t count = ndr_read_u32(&r) & 0xFF;
    const uint16_t result = ndr_read_u16(&r);
    if (r.fault || count != 1)
        return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    if (!c->is_bound && takes >= PDU_LEAST_FRAGMENT && takes < c->fragment)
        c->fragment = takes;
    c->is_bound = true;
    c->interfaces[c->interface_count - 1].is_accepted = result == 0;
    if (c->logs_on && !auth_is_done(c->security.auth)) {
        HRESULT hr = client_log_on(c, p);
        if (hr != S_OK)
            return hr == S_FALSE ? S_OK : hr;
    }
    c->result = result == 0 ? S_OK : E_NOINTERFACE;
    c->state = RPC_CLIENT_READY;
    return S_OK;
}

static HRESULT client_response(struct rpc_client *c, struct pdu *p)
{
    size_t size;
    if (c->security.auth && (p->auth_id != AUTH_ID || !pdu_unseal(p, &c->security)))
        return client_fail(c, HRESULT_FROM_WIN32(0x721));
    if (c->has_begun != !(p->flags & PDU_FIRST))
        return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    c->has_begun = true;
    const uint8_t *stub = pdu_stub(p, &size);
    if (!size && !(p->flags & PDU_LAST)) /* empty fragments could continue forever */
        return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    ndr_write_bytes(&c->answer, stub, size);
    if (c->answer.failed)
        return client_fail(c, E_OUTOFMEMORY);
    if (p->flags & PDU_LAST) {
        c->state = RPC_CLIENT_READY;
        c->result = S_OK;
    }
    return S_OK;
}

/* Converts a fault to an HRESULT. RPC's own status codes are not HRESULTs, but DCOM's are. */
static HRESULT client_fault_result(uint32_t fault)
{
    return fault & 0x80000000u ? (HRESULT)fault
           : fault <= 0xFFFF   ? HRESULT_FROM_WIN32(fault ? fault : 0x6BE)
                               : HRESULT_FROM_WIN32(0x6BE); /* RPC_S_CALL_FAILED */
}

static HRESULT client_fault(struct rpc_client *c, const struct pdu *p)
{
    if (p->body_end < PDU_CALL_HEADER + 4)
        return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    c->fault = ndr_load_u32(p->bytes + PDU_CALL_HEADER);
    if (!c->fault)
        c->fault = RPC_FAULT_PROTOCOL;
    ndr_writer_free(&c->answer);
    if (c->state == RPC_CLIENT_BINDING)
        return client_fail(c, client_fault_result(c->fault));
    c->result = client_fault_result(c->fault);
    c->state = RPC_CLIENT_READY;
    return S_OK;
}

static HRESULT client_pdu(struct rpc_client *c, struct pdu *p)
{
    const bool is_binding = c->state == RPC_CLIENT_BINDING, is_calling = c->state == RPC_CLIENT_CALLING;
    if (p->type == PDU_BIND_NAK && is_binding)
        return client_fail(c, E_ACCESSDENIED);
    /* A server that accepts an auth3 sends no answer. A server that refuses the auth3 sends a fault with the bind's
       number, either immediately or before its first answer to a call. */
    const bool is_early = c->state == RPC_CLIENT_READY || (is_calling && p->call == c->call - 1);
    if (p->type == PDU_FAULT && c->logs_on && is_early)
        return client_fail(c, E_ACCESSDENIED);
    if (p->call == c->call && is_binding && (p->type == PDU_BIND_ACK || p->type == PDU_ALTER_CONTEXT_ACK))
        return client_bound(c, p);
    if (p->call == c->call && is_calling && p->type == PDU_RESPONSE)
        return client_response(c, p);
    if (p->call == c->call && (is_binding || is_calling) && p->type == PDU_FAULT)
        return client_fault(c, p);
    return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
}

HRESULT rpc_client_take(struct rpc_client *c, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; c->state != RPC_CLIENT_FAILED;) {
        struct pdu p;
        size_t taken;
        const enum pdu_progress progress = pdu_collect(&c->in, bytes + at, size - at, &taken, &p);
        at += taken;
        if (progress == PDU_INCOMPLETE)
            return S_OK;
        if (progress == PDU_MALFORMED)
            return client_fail(c, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
        client_pdu(c, &p);
    }
    return c->result;
}

enum rpc_client_state rpc_client_state(const struct rpc_client *c)
{
    return c->state;
}

HRESULT rpc_client_result(const struct rpc_client *c)
{
    return c->result;
}

const uint8_t *rpc_client_answer(const struct rpc_client *c, size_t *size, uint32_t *fault)
{
    *size = c->answer.size;
    *fault = c->fault;
    return c->answer.bytes;
}

const uint8_t *rpc_client_output(const struct rpc_client *c, size_t *size)
{
    *size = c->out.failed ? 0 : c->out.size - c->sent;
    return *size ? c->out.bytes + c->sent : NULL;
}

void rpc_client_sent(struct rpc_client *c, size_t size)
{
    c->sent += size;
    if (c->sent == c->out.size) {
        ndr_writer_free(&c->out);
        c->sent = 0;
    }
}
