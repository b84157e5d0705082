/* SPDX-License-Identifier: MIT */
/* A TCP port that serves RPC: accepts connections from permitted addresses, serves them on worker threads, applies the
   time limits and the delays after failed logons, and passes calls to a handler. */
#ifndef OPENPLA_RPC_PORT_H
#define OPENPLA_RPC_PORT_H

#include "engine/rpc/admission.h"
#include "engine/rpc/connection.h"
#include "engine/rpc/ndr.h"

enum rpc_port_event_kind {
    RPC_PORT_REFUSED,      /* a new connection was closed immediately */
    RPC_PORT_LOGON_FAILED, /* counts against the address (engine/rpc/admission.h) */
    RPC_PORT_LOGGED_ON,    /* the first call of an account on a connection */
    RPC_PORT_FAILED,       /* no connection can be accepted, or a connection broke the protocol */
};
/* Strings are borrowed. */
struct rpc_port_event {
    enum rpc_port_event_kind kind;
    const char *address, *account, *reason; /* account "": unknown */
};

/* Called by worker threads, several of them in parallel. */
struct rpc_port_handler {
    void *user;
    /* Opens a session for a new connection; `own` is the connection's local address, in digits. *session is passed to
       the functions below. A failure closes the connection. */
    HRESULT (*open)(void *user, const char *address, const char *own, void **session);
    /* Returns 0 and the stub of the answer, or a fault. */
    uint32_t (*call)(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub);
    void (*close)(void *user, void *session);
    void (*report)(void *user, const struct rpc_port_event *event); /* NULL: events are not reported */
};

struct rpc_port_settings {
    const char *address; /* the address to listen at, in digits; NULL: all addresses of this computer */
    uint16_t port;       /* 0: any free port */
    const char *from;    /* patterns of addresses that may connect (ip_address_matches) */
    struct admission_limits limits;
    struct rpc_limits rpc_limits;
};

/* Listens until the process exits. `settings`, `handler` and `accounts` are borrowed permanently. `serves` is used as
   rpc_service.serves, and receives the handler's `user`. *port is the port that was opened. Fails with E_INVALIDARG if
   the address is invalid, or with the system's error; the message names the port. */
HRESULT rpc_port_open(const struct rpc_port_settings *settings, const struct auth_accounts *accounts,
                      bool (*serves)(void *user, const GUID *iid, uint32_t version),
                      const struct rpc_port_handler *handler, uint16_t *port);

#endif
