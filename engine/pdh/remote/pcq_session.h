/* SPDX-License-Identifier: MIT */
/* PerflibV2 for the client of one connection of engine/rpc: access check, context handles, and the methods of
   engine/pdh/pcq_server.h. Wine's RPC runtime cannot serve TCP, because it loses an answer forever if two threads wait
   for the same socket (decision 110). */
#ifndef OPENPLA_PDH_PCQ_SESSION_H
#define OPENPLA_PDH_PCQ_SESSION_H

#include "engine/pdh/pcq_server.h"
#include "engine/rpc/connection.h"
#include "engine/rpc/ndr.h"

/* The interface's id and version (MS-PCQ 1.9); the version is minor << 16 | major. */
extern const GUID pcq_interface;
#define PCQ_INTERFACE_VERSION 1u

#define PCQ_REQUEST_MOST      ((size_t)1 << 20)
/* Slightly less than engine/rpc can send in one answer. All answers that a service is building are limited to 256 MB in
   total. */
#define PCQ_ANSWER_MOST       ((size_t)63 << 20)

/* The state that all connections of a server share. */
struct pcq_service {
    struct pcq_server *server;
    const struct pcq_settings *settings; /* for pcq_access_check; borrowed */
    _Atomic size_t holds;                /* total size in bytes of the answers under construction */
};
/* The function `serves` of struct rpc_service. */
bool pcq_service_serves(void *user, const GUID *iid, uint32_t version);

struct pcq_session;
/* Opens the session of a connection. `address` is the client's address; borrowed. Fails with E_OUTOFMEMORY. */
HRESULT pcq_session_open(struct pcq_service *service, const char *address, struct pcq_session **out);
void pcq_session_close(struct pcq_session *s); /* closes its queries; NULL is allowed */
/* The function `call` of struct rpc_methods. */
uint32_t pcq_session_call(void *session, const struct rpc_call *call, struct ndr_writer *stub);

#endif
