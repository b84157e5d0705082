/* SPDX-License-Identifier: MIT */
/* Objects of another computer by DCOM: activation, calls by vtable and by name, references and pings. Calls block;
 several threads may use all functions, and calls of one object run at the same time, each on a separate connection. */
#ifndef OPENPLA_RPC_ORPC_CLIENT_H
#define OPENPLA_RPC_ORPC_CLIENT_H

#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc.h"

#define ORPC_PORT "135"

struct orpc_target {
    const char *host, *port;                    /* port NULL: ORPC_PORT */
    const struct auth_credentials *credentials; /* copied; all calls have packet privacy */
    uint32_t ping_ms;                           /* 0: 2 minutes, MS-DCOM 3.1.1.6 */
};

/* Another computer as seen by one account; counted. Connects when it is first needed. */
struct orpc_peer;
HRESULT orpc_peer_open(const struct orpc_target *target, struct orpc_peer **out);
void orpc_peer_release(struct orpc_peer *p); /* NULL is allowed; objects keep their peer */

/* An interface of an object there; counted. While one exists, the peer pings the object. */
struct orpc_object;
/* Errors: the network's with a message that names the computer, E_ACCESSDENIED (the logon was refused), and the
   activation's HRESULT. */
HRESULT orpc_activate(struct orpc_peer *p, const GUID *clsid, const GUID *iid, struct orpc_object **out);
struct orpc_object *orpc_object_reference(struct orpc_object *o);
void orpc_object_release(struct orpc_object *o); /* the last release also releases it at the server; NULL is allowed */
HRESULT orpc_object_query(struct orpc_object *o, const GUID *iid, struct orpc_object **out);
/* The object that an answer of `o` refers to; takes over the reference. E_INVALIDARG: not a standard reference, or one
   of another server. */
HRESULT orpc_object_adopt(struct orpc_object *o, const struct objref *reference, struct orpc_object **out);

/* ---- calls by vtable ---- */

/* Begins a request with ORPCTHIS. */
HRESULT orpc_request_begin(struct ndr_writer *request);
struct orpc_answer {
    uint8_t *bytes;
    struct ndr_reader reader; /* behind ORPCTHAT */
    struct ndr_arena arena;   /* memory for decoded data */
};
/* Calls the method, at most once: if the connection ends before the answer, the call fails, and the message says that
   it may have been executed. Frees the request in any case; free *answer in any case. Returns the failure of the
   transport or the fault; the method's HRESULT is the end of the answer. */
HRESULT orpc_call(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer);
/* The same for a method that only reads: it is repeated if the connection ends. */
HRESULT orpc_call_again(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer);
void orpc_answer_free(struct orpc_answer *answer);

/* ---- calls by name, of an object whose interface is IDispatch or derived from it ---- */

/* MS-OAUT 2.2.14; with ORPC_REPEATABLE for a method that may run twice without harm. */
enum { ORPC_METHOD = 1, ORPC_GET = 2, ORPC_PUT = 4, ORPC_REPEATABLE = 0x10000 };
/* Calls the member; its id is requested once for each object. Arguments in the order of the call, at most
   DISPATCH_ARGUMENTS_MOST. Properties are read again if the connection ends; other calls are made at most once, as by
   orpc_call. *value is valid until *answer is freed, which must be done in any case; pass an object in it
   to orpc_object_adopt. `value` NULL: the returned value is released. A failure of the member is returned with the
   server's error message. */
HRESULT orpc_invoke(struct orpc_object *o, const char *member, uint32_t flags, const struct ndr_variant *arguments,
                    size_t count, struct orpc_answer *answer, struct ndr_variant *value);

#endif
