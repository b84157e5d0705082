/* SPDX-License-Identifier: MIT */
/* The server side of a connection. A client may negotiate many presentation contexts (interfaces) and many security
   contexts (logons); each PDU names its presentation context and its security context by numbers that the client has
   chosen. impacket logs on again for each interface, so a connection has a table of 64 contexts of each kind. In a full
   table, the oldest context is replaced. A request that is being collected refers to its security context by a serial
   number, because a bind in the meantime may replace that context.

       bind, alter_context   results per interface, and the next token of the logon
       auth3                 the last token; no answer
       request               fragments up to the last one, then the call is pending and no more input is processed
       anything else         ends the connection */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/rpc/connection.h"
#include "engine/rpc/pdu/pdu.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_REQUEST           ((size_t)1 << 20)
#define DEFAULT_ANONYMOUS_REQUEST ((size_t)16 << 10)
#define DEFAULT_RESPONSE          ((size_t)8 << 20)
#define DEFAULT_LOGON_MS          30000u
#define DEFAULT_SILENCE_MS        900000u

enum { ACCEPTED = 0, PROVIDER_REJECTION = 2, REASON_INTERFACE = 1, REASON_SYNTAX = 2 };
enum { NAK_AUTH_TYPE = 8, NAK_CHECKSUM = 9 }; /* MS-RPCE 2.2.2.5 */

struct presentation {
    bool is_used;
    uint16_t id;
    GUID iid;
};

struct security_context {
    struct auth_context *auth; /* NULL: free */
    uint32_t id;
    uint8_t type, level;
    uint64_t serial;
};

struct request {
    bool has_begun, is_pending;
    uint32_t call;
    uint16_t context, opnum;
    bool has_object;
    GUID object, iid;
    uint64_t security; /* a serial number; 0: not authenticated */
    struct ndr_writer stub;
};

struct rpc_connection {
    const struct rpc_service *service;
    struct pdu_input in;
    struct ndr_writer out;
    size_t sent;
    uint64_t progress_ms; /* time of the last call or, after a logon, of the last PDU */
    bool is_bound, is_over, logon_failed, has_logon;
    const char *failure;
    char account[AUTH_NAME_BYTES]; /* account of the failed logon */
    size_t fragment;
    uint32_t group;
    size_t next_presentation;
    struct presentation presentations[PDU_CONTEXTS];
    struct security_context securities[PDU_CONTEXTS];
    uint64_t serials;
    struct request request;
};

static void connection_end(struct rpc_connection *c, const char *why)
{
    c->is_over = true;
    if (!c->failure)
        c->failure = why;
}

HRESULT rpc_connection_open(const struct rpc_service *service, uint64_t now_ms, struct rpc_connection **out)
{
    uint8_t bytes[4];
    *out = NULL;
    struct rpc_connection *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    HRESULT hr = os_random(bytes, sizeof bytes);
    if (FAILED(hr)) {
        memory_free(c);
        return hr;
    }
    c->group = ndr_load_u32(bytes) | 1;
    c->service = service;
    c->progress_ms = now_ms;
    c->fragment = PDU_FRAGMENT;
    *out = c;
    return S_OK;
}

static void security_free(struct security_context *s)
{
    auth_close(s->auth);
    *s = (struct security_context){0};
}

void rpc_connection_close(struct rpc_connection *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < PDU_CONTEXTS; i++)
        security_free(&c->securities[i]);
    if (c->request.stub.bytes)
        memory_wipe(c->request.stub.bytes, c->request.stub.size); /* it can contain passwords */
    ndr_writer_free(&c->request.stub);
    ndr_writer_free(&c->out);
    memory_wipe(c->in.bytes, sizeof c->in.bytes);
    memory_free(c);
}

/* ---- tables ---- */

static struct presentation *presentation_find(struct rpc_connection *c, uint16_t id)
{
    for (size_t i = 0; i < PDU_CONTEXTS; i++)
        if (c->presentations[i].is_used && c->presentations[i].id == id)
            return &c->presentations[i];
    return NULL;
}

static void presentation_set(struct rpc_connection *c, uint16_t id, const GUID *iid)
{
    struct presentation *p = presentation_find(c, id);
    if (!p)
        p = &c->presentations[c->next_presentation++ % PDU_CONTEXTS];
    *p = (struct presentation){.is_used = true, .id = id, .iid = *iid};
}

static struct security_context *security_find(struct rpc_connection *c, uint32_t id)
{
    for (size_t i = 0; i < PDU_CONTEXTS; i++)
        if (c->securities[i].auth && c->securities[i].id == id)
            return &c->securities[i];
    return NULL;
}

static struct security_context *security_by_serial(struct rpc_connection *c, uint64_t serial)
{
    for (size_t i = 0; serial && i < PDU_CONTEXTS; i++)
        if (c->securities[i].auth && c->securities[i].serial == serial)
            return &c->securities[i];
    return NULL;
}

static HRESULT security_create(struct rpc_connection *c, const struct pdu *p, struct security_context **out)
{
    struct security_context *s = &c->securities[0];
    for (size_t i = 0; i < PDU_CONTEXTS && s->auth; i++)
        if (!c->securities[i].auth || c->securities[i].serial < s->serial)
            s = &c->securities[i];
    security_free(s);
    HRESULT hr = auth_accept(p->auth_type, c->service->accounts, &s->auth);
    if (FAILED(hr))
        return hr;
    s->id = p->auth_id;
    s->type = p->auth_type;
    s->level = p->auth_level;
    s->serial = ++c->serials;
    *out = s;
    return S_OK;
}

/* ---- logons ---- */

/* Passes the PDU's token to the security context; the answer is from memory_alloc. False: the logon was refused. */
static bool connection_log_on(struct rpc_connection *c, struct security_context *s, const struct pdu *p,
                              uint8_t **answer, size_t *answer_size)
{
    HRESULT hr = auth_step(s->auth, p->trailer + PDU_TRAILER, p->token_size, answer, answer_size);
    if (hr == S_OK && s->level == AUTH_LEVEL_PRIVACY && !auth_can_seal(s->auth)) {
        memory_free(*answer);
        *answer = NULL;
        hr = E_ACCESSDENIED;
    }
    if (hr == S_OK)
        c->has_logon = true;
    if (SUCCEEDED(hr))
        return true;
    if (hr == E_ACCESSDENIED) {
        const char *why = auth_refusal(s->auth);
        c->logon_failed = true;
        memcpy(c->account, auth_account(s->auth), sizeof c->account);
        connection_end(c, *why ? why : "the client offers no encryption");
    } else
        connection_end(c, "out of memory, or no random bytes are available");
    security_free(s);
    return false;
}

static void connection_reject_bind(struct rpc_connection *c, uint32_t call, uint16_t reason, const char *why)
{
    static const uint8_t versions[3] = {1, 5, 0};
    struct ndr_writer p = {0};
    pdu_start(&p, PDU_BIND_NAK, PDU_FIRST | PDU_LAST, call);
    ndr_write_u16(&p, reason);
    ndr_write_bytes(&p, versions, sizeof versions);
    pdu_finish(&p, 0, 0);
    ndr_write_bytes(&c->out, p.bytes, p.size);
    ndr_writer_free(&p);
    connection_end(c, why);
}

/* Performs the logon part of a bind or alter_context. False: the connection is over, and the client was answered. */
static bool bind_log_on(struct rpc_connection *c, const struct pdu *p, struct ndr_writer *w)
{
    const bool is_bind = p->type == PDU_BIND;
    uint8_t *answer = NULL;
    size_t answer_size = 0;
    if ((p->auth_type != AUTH_NTLM && p->auth_type != AUTH_SPNEGO) || !c->service->accounts ||
        (p->auth_level != AUTH_LEVEL_INTEGRITY && p->auth_level != AUTH_LEVEL_PRIVACY)) {
        if (is_bind)
            connection_reject_bind(c, p->call, NAK_AUTH_TYPE, "unsupported authentication type or level");
        else
            connection_end(c, "unsupported authentication type or level");
        return false;
    }
    struct security_context *s = security_find(c, p->auth_id);
    if (s && is_bind) { /* a bind starts the logon again: impacket sends one for each activation */
        security_free(s);
        s = NULL;
    }
    if (s && auth_is_done(s->auth))
        return true;
    if (!s && FAILED(security_create(c, p, &s))) {
        connection_end(c, "no memory");
        return false;
    }
    if (s->type != p->auth_type || s->level != p->auth_level) {
        connection_end(c, "authentication type or level changed during the logon");
        return false;
    }
    const uint32_t id = s->id;
    if (!connection_log_on(c, s, p, &answer, &answer_size)) {
        if (is_bind)
            connection_reject_bind(c, p->call, NAK_CHECKSUM, "logon refused");
        else
            pdu_write_fault(&c->out, p->call, 0, RPC_FAULT_DENIED);
        return false;
    }
    pdu_write_token(w, 0, p->auth_type, p->auth_level, id, answer, answer_size);
    pdu_finish(w, 0, answer_size);
    memory_free(answer);
    return true;
}

/* ---- bind and alter_context: C706 12.6.4.3, 12.6.4.1 ---- */

/* Reads one interface and the syntaxes that the client offers for it, and writes the result. */
static void bind_interface(struct rpc_connection *c, struct ndr_reader *r, struct ndr_writer *w)
{
    const uint16_t id = ndr_read_u16(r);
    const uint8_t syntaxes = ndr_read_u8(r);
    ndr_read_u8(r);
    const GUID iid = ndr_read_guid(r);
    const uint32_t version = ndr_read_u32(r);
    bool has_ndr = false;
    for (unsigned i = 0; i < syntaxes; i++) {
        const uint8_t *syntax = ndr_take(r, 4, PDU_SYNTAX_BYTES);
        has_ndr = has_ndr || (syntax && memcmp(syntax, pdu_ndr_syntax, PDU_SYNTAX_BYTES) == 0);
    }
    if (r->fault)
        return;
    const bool is_served = c->service->serves(c->service->user, &iid, version), is_accepted = is_served && has_ndr;
    if (is_accepted)
        presentation_set(c, id, &iid);
    ndr_write_u16(w, is_accepted ? ACCEPTED : PROVIDER_REJECTION);
    ndr_write_u16(w, is_accepted ? 0 : is_served ? REASON_SYNTAX : REASON_INTERFACE);
    uint8_t *syntax = ndr_add(w, 1, PDU_SYNTAX_BYTES);
    if (syntax && is_accepted)
        memcpy(syntax, pdu_ndr_syntax, PDU_SYNTAX_BYTES);
}

static void connection_bind(struct rpc_connection *c, const struct pdu *p)
{
    const bool is_bind = p->type == PDU_BIND;
    struct ndr_reader r = ndr_reader_over(p->bytes, p->body_end);
    struct ndr_writer w = {0};
    ndr_take(&r, 1, PDU_HEADER + 2);
    const uint16_t takes = ndr_read_u16(&r);
    const uint32_t group = ndr_read_u32(&r);
    const uint8_t count = ndr_read_u8(&r);
    ndr_take(&r, 1, 3);
    if (r.fault || count > PDU_CONTEXTS || (!is_bind && !c->is_bound)) {
        connection_end(c, "malformed bind");
        return;
    }
    if (is_bind) {
        c->fragment = takes < PDU_LEAST_FRAGMENT ? PDU_LEAST_FRAGMENT : takes > PDU_FRAGMENT ? PDU_FRAGMENT : takes;
        c->group = group ? group : c->group;
        c->is_bound = true;
    }
    pdu_start(&w, is_bind ? PDU_BIND_ACK : PDU_ALTER_CONTEXT_ACK,
              (uint8_t)(PDU_FIRST | PDU_LAST | (p->flags & PDU_HEADER_SIGNING)), p->call);
    ndr_write_u16(&w, PDU_FRAGMENT);
    ndr_write_u16(&w, PDU_FRAGMENT);
    ndr_write_u32(&w, c->group);
    char port[8] = "";
    if (is_bind)
        snprintf(port, sizeof port, "%u", c->service->port);
    ndr_write_u16(&w, is_bind ? (uint16_t)(strlen(port) + 1) : 0);
    if (is_bind)
        ndr_write_bytes(&w, port, strlen(port) + 1);
    ndr_add(&w, 4, 0);
    ndr_write_u8(&w, count);
    ndr_add(&w, 1, 3);
    for (unsigned i = 0; i < count && !r.fault; i++)
        bind_interface(c, &r, &w);
    if (r.fault)
        connection_end(c, "malformed bind");
    else {
        pdu_finish(&w, 0, 0);
        if (!p->trailer || bind_log_on(c, p, &w)) {
            ndr_write_bytes(&c->out, w.bytes, w.size);
            c->out.failed = c->out.failed || w.failed;
        }
    }
    ndr_writer_free(&w);
}

static void connection_auth3(struct rpc_connection *c, const struct pdu *p)
{
    struct security_context *s = p->trailer ? security_find(c, p->auth_id) : NULL;
    uint8_t *answer = NULL;
    size_t answer_size;
    if (!s || s->type != p->auth_type || s->level != p->auth_level)
        connection_end(c, "received an auth3 without a logon");
    else if (!connection_log_on(c, s, p, &answer, &answer_size))
        pdu_write_fault(&c->out, p->call, 0, RPC_FAULT_DENIED);
    else if (!auth_is_done(s->auth)) /* an auth3 has no answer, so its token must end the logon */
        connection_end(c, "auth3 does not contain the last token of the logon");
    memory_free(answer);
}

/* ---- requests ---- */

static void request_refuse(struct rpc_connection *c, const struct pdu *p, uint32_t status, const char *why)
{
    pdu_write_fault(&c->out, p->call, ndr_load_u16(p->bytes + 20), status);
    connection_end(c, why);
}

static void request_begin(struct request *q, const struct pdu *p, uint64_t security)
{
    if (q->stub.bytes)
        memory_wipe(q->stub.bytes, q->stub.size);
    q->stub.size = 0;
    q->stub.failed = false;
    q->has_begun = true;
    q->call = p->call;
    q->context = ndr_load_u16(p->bytes + 20);
    q->opnum = ndr_load_u16(p->bytes + 22);
    q->security = security;
    q->has_object = p->flags & PDU_OBJECT;
    if (q->has_object) {
        struct ndr_reader r = ndr_reader_over(p->bytes + PDU_CALL_HEADER, 16);
        q->object = ndr_read_guid(&r);
    }
}

static void connection_request(struct rpc_connection *c, struct pdu *p)
{
    struct request *q = &c->request;
    uint64_t serial = 0;
    if (p->trailer) {
        struct security_context *s = security_find(c, p->auth_id);
        if (!s || !auth_is_done(s->auth)) {
            request_refuse(c, p, RPC_FAULT_DENIED, "received a request before the end of the logon");
            return;
        }
        const struct pdu_security security = {.auth = s->auth, .type = s->type, .level = s->level, .id = s->id};
        if (!pdu_unseal(p, &security)) {
            request_refuse(c, p, RPC_FAULT_SECURITY, "wrong signature");
            return;
        }
        serial = s->serial;
    }
    if (p->flags & PDU_FIRST)
        request_begin(q, p, serial);
    else if (!q->has_begun || q->call != p->call || q->security != serial ||
             q->context != ndr_load_u16(p->bytes + 20)) {
        request_refuse(c, p, RPC_FAULT_PROTOCOL, "the fragment belongs to another request");
        return;
    }
    size_t size;
    const uint8_t *stub = pdu_stub(p, &size);
    const struct rpc_limits *l = &c->service->limits;
    const size_t most = serial ? (l->request ? l->request : DEFAULT_REQUEST)
                               : (l->anonymous_request ? l->anonymous_request : DEFAULT_ANONYMOUS_REQUEST);
    if (size > most - q->stub.size) {
        request_refuse(c, p, RPC_FAULT_NO_MEMORY, "the request is too long");
        return;
    }
    ndr_write_bytes(&q->stub, stub, size);
    if (q->stub.failed) {
        request_refuse(c, p, RPC_FAULT_NO_MEMORY, "no memory");
        return;
    }
    if (!(p->flags & PDU_LAST))
        return;
    q->has_begun = false;
    const struct presentation *x = presentation_find(c, q->context);
    if (!x) {
        pdu_write_fault(&c->out, q->call, q->context, RPC_FAULT_CONTEXT);
        return;
    }
    q->iid = x->iid;
    q->is_pending = true;
}

static void connection_pdu(struct rpc_connection *c, struct pdu *p)
{
    switch (p->type) {
    case PDU_BIND:
    case PDU_ALTER_CONTEXT:
        connection_bind(c, p);
        break;
    case PDU_AUTH3:
        connection_auth3(c, p);
        break;
    case PDU_REQUEST:
        connection_request(c, p);
        break;
    case PDU_ORPHANED:
        if (c->request.call == p->call)
            c->request.has_begun = false;
        break;
    case PDU_CANCEL: /* calls are not interrupted */
        break;
    default:
        connection_end(c, "unexpected PDU");
    }
    if (c->out.failed)
        connection_end(c, "no memory");
}

size_t rpc_connection_take(struct rpc_connection *c, const uint8_t *bytes, size_t size, uint64_t now_ms)
{
    size_t at = 0;
    while (!c->is_over && !c->request.is_pending) {
        struct pdu p;
        size_t taken;
        const enum pdu_progress progress = pdu_collect(&c->in, bytes + at, size - at, &taken, &p);
        at += taken;
        if (progress == PDU_INCOMPLETE)
            return at;
        if (progress == PDU_MALFORMED)
            connection_end(c, "malformed PDU");
        else
            connection_pdu(c, &p);
        if (c->has_logon || c->request.is_pending)
            c->progress_ms = now_ms;
    }
    return c->is_over ? size : at;
}

bool rpc_connection_call(const struct rpc_connection *c, struct rpc_call *out)
{
    const struct request *q = &c->request;
    if (!q->is_pending || c->is_over)
        return false;
    *out = (struct rpc_call){.iid = q->iid,
                             .has_object = q->has_object,
                             .object = q->object,
                             .opnum = q->opnum,
                             .stub = q->stub.bytes,
                             .size = q->stub.size,
                             .level = AUTH_LEVEL_NONE};
    for (size_t i = 0; q->security && i < PDU_CONTEXTS; i++)
        if (c->securities[i].auth && c->securities[i].serial == q->security) {
            out->account = auth_account(c->securities[i].auth);
            out->level = c->securities[i].level;
        }
    return true;
}

void rpc_connection_answer(struct rpc_connection *c, uint32_t fault, const uint8_t *stub, size_t size)
{
    struct request *q = &c->request;
    const size_t most = c->service->limits.response ? c->service->limits.response : DEFAULT_RESPONSE;
    assert(q->is_pending);
    q->is_pending = false;
    if (!fault && size > most)
        fault = RPC_FAULT_NO_MEMORY;
    if (fault)
        pdu_write_fault(&c->out, q->call, q->context, fault);
    else {
        struct security_context *s = security_by_serial(c, q->security);
        struct pdu_security security = {0};
        if (s)
            security = (struct pdu_security){.auth = s->auth, .type = s->type, .level = s->level, .id = s->id};
        pdu_write_call(&c->out, PDU_RESPONSE, q->call, q->context, 0, NULL, stub, size, c->fragment, &security);
    }
    if (q->stub.bytes)
        memory_wipe(q->stub.bytes, q->stub.size);
    ndr_writer_free(&q->stub); /* an idle connection keeps no large buffer */
    if (c->out.failed)
        connection_end(c, "no memory");
}

const uint8_t *rpc_connection_output(const struct rpc_connection *c, size_t *size)
{
    *size = c->out.failed ? 0 : c->out.size - c->sent;
    return *size ? c->out.bytes + c->sent : NULL;
}

void rpc_connection_sent(struct rpc_connection *c, size_t size)
{
    assert(size <= c->out.size - c->sent);
    c->sent += size;
    if (c->sent == c->out.size) {
        ndr_writer_free(&c->out);
        c->sent = 0;
    }
}

bool rpc_connection_is_over(const struct rpc_connection *c)
{
    return c->is_over;
}

const char *rpc_connection_failure(const struct rpc_connection *c)
{
    return c->failure ? c->failure : "";
}

bool rpc_connection_logon_failed(const struct rpc_connection *c, const char **account)
{
    *account = c->account;
    return c->logon_failed;
}

uint64_t rpc_connection_deadline_ms(const struct rpc_connection *c)
{
    const struct rpc_limits *l = &c->service->limits;
    const uint32_t logon_ms = l->logon_ms ? l->logon_ms : DEFAULT_LOGON_MS;
    const uint32_t silence_ms = l->silence_ms ? l->silence_ms : DEFAULT_SILENCE_MS;
    return c->progress_ms + (c->has_logon ? silence_ms : logon_ms);
}
