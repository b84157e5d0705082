/* SPDX-License-Identifier: MIT */
/* Uses objects of another computer through DCOM: activation, calls by vtable and by name, references and pings. Calls
   block. Several threads may use all functions, and calls to one object run in parallel, each on a separate
   connection. */
#ifndef OPENPLA_RPC_ORPC_CLIENT_H
#define OPENPLA_RPC_ORPC_CLIENT_H

#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc.h"

#define ORPC_PORT "135"

struct orpc_target {
    const char *host, *port;                    /* port NULL: ORPC_PORT */
    const struct auth_credentials *credentials; /* copied; all calls have packet privacy */
    uint32_t ping_ms;                           /* 0 means 2 minutes (MS-DCOM 3.1.1.6) */
};

/* Another computer, used under one account; reference-counted. The first call connects to the computer. */
struct orpc_peer;
HRESULT orpc_peer_open(const struct orpc_target *target, struct orpc_peer **out);
void orpc_peer_release(struct orpc_peer *p); /* NULL is allowed; each object keeps its peer alive */

/* An interface of an object on that computer; reference-counted. The peer pings the object as long as the orpc_object
   exists. */
struct orpc_object;
/* Creates an object. Fails with a network error and a message that names the computer, with E_ACCESSDENIED (the logon
   was refused), or with the activation's HRESULT. */
HRESULT orpc_activate(struct orpc_peer *p, const GUID *clsid, const GUID *iid, struct orpc_object **out);
struct orpc_object *orpc_object_reference(struct orpc_object *o);
/* The last call also releases the object on the server. NULL is allowed. */
void orpc_object_release(struct orpc_object *o);
HRESULT orpc_object_query(struct orpc_object *o, const GUID *iid, struct orpc_object **out);
/* Returns the object to which a reference in an answer of `o` refers, and takes ownership of the reference. Fails with
   E_INVALIDARG if the reference is not a standard reference, or if the reference belongs to another server. */
HRESULT orpc_object_adopt(struct orpc_object *o, const struct objref *reference, struct orpc_object **out);

/* ---- calls by vtable ---- */

/* Begins a request with ORPCTHIS. */
HRESULT orpc_request_begin(struct ndr_writer *request);
struct orpc_answer {
    uint8_t *bytes;
    struct ndr_reader reader; /* after ORPCTHAT */
    struct ndr_arena arena;   /* memory for decoded data */
};
/* Calls the method, at most once: if the connection ends before the answer, orpc_call fails with a message that the
   method may have been executed. Always frees the request; the caller must always free *answer. Returns a transport
   failure or the fault. The method's own HRESULT is at the end of the answer. */
HRESULT orpc_call(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer);
/* Like orpc_call, for a method that only reads: the call is repeated if the connection ends. */
HRESULT orpc_call_again(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, struct orpc_answer *answer);
void orpc_answer_free(struct orpc_answer *answer);

/* ---- calls by name, of an object whose interface is IDispatch or derived from it ---- */

/* MS-OAUT 2.2.14. ORPC_REPEATABLE is added to ORPC_METHOD for a method that may run twice without harm. */
enum { ORPC_METHOD = 1, ORPC_GET = 2, ORPC_PUT = 4, ORPC_REPEATABLE = 0x10000 };
/* Calls the member, whose id is requested once for each object. `arguments` are in the order of the call, at most
   DISPATCH_ARGUMENTS_MOST. Properties are read again if the connection ends; other calls are made at most once, as by
   orpc_call. *value is valid until *answer is freed; the caller must always free *answer. Pass an object in *value to
   orpc_object_adopt. If `value` is NULL, the returned value is released. A failure of the member is returned with the
   server's error message. */
HRESULT orpc_invoke(struct orpc_object *o, const char *member, uint32_t flags, const struct ndr_variant *arguments,
                    size_t count, struct orpc_answer *answer, struct ndr_variant *value);

#endif
