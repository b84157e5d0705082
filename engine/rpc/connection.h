/* SPDX-License-Identifier: MIT */
/* Connection-oriented RPC (C706 12, MS-RPCE) as state machines without sockets: bytes go in, bytes and calls come out.
   Only one thread at a time uses a connection. */
#ifndef OPENPLA_RPC_CONNECTION_H
#define OPENPLA_RPC_CONNECTION_H

#include "engine/rpc/auth.h"

/* ---- server ---- */

/* 0 stands for the default. */
struct rpc_limits {
    size_t request;           /* bytes of an authenticated request; 1 MB */
    size_t anonymous_request; /* of another; 16 KB */
    size_t response;          /* 8 MB */
    uint32_t logon_ms;        /* until the logon, or without one until the next whole call; 30 s */
    uint32_t silence_ms;      /* after a logon, until the next whole packet; 15 min */
};

/* The state that all connections of a server share; borrowed for their lifetime. */
struct rpc_service {
    const struct auth_accounts *accounts; /* NULL: nobody can authenticate */
    void *user;
    /* Whether the interface is offered in this version (minor << 16 | major). */
    bool (*serves)(void *user, const GUID *iid, uint32_t version);
    uint16_t port; /* sent as the secondary address in bind_ack */
    struct rpc_limits limits;
};

struct rpc_call {
    GUID iid; /* of the presentation context */
    bool has_object;
    GUID object;
    uint16_t opnum;
    const uint8_t *stub; /* until the answer */
    size_t size;
    const char *account; /* NULL: not authenticated */
    enum auth_level level;
};

struct rpc_connection;
/* Times are from one monotonic clock, in milliseconds. */
HRESULT rpc_connection_open(const struct rpc_service *service, uint64_t now_ms, struct rpc_connection **out);
void rpc_connection_close(struct rpc_connection *c); /* NULL is allowed */
/* Takes bytes from the client and returns their number: fewer than `size` only if a call waits for its answer. Send the
   output before you pass more bytes: it grows until it is sent. */
size_t rpc_connection_take(struct rpc_connection *c, const uint8_t *bytes, size_t size, uint64_t now_ms);
/* Returns the call that waits for its answer; false if no call is waiting. */
bool rpc_connection_call(const struct rpc_connection *c, struct rpc_call *out);
/* Answers the call with `fault`, or with these bytes if `fault` is 0. */
void rpc_connection_answer(struct rpc_connection *c, uint32_t fault, const uint8_t *stub, size_t size);
/* Bytes for the client, valid until the next call; report the sent ones with rpc_connection_sent. */
const uint8_t *rpc_connection_output(const struct rpc_connection *c, size_t *size);
void rpc_connection_sent(struct rpc_connection *c, size_t size);
/* No more output follows: send the rest and close. */
bool rpc_connection_is_over(const struct rpc_connection *c);
/* The reason for the end of the connection, for a log, never for the client; "" if it has not ended. Static text. */
const char *rpc_connection_failure(const struct rpc_connection *c);
/* Whether the reason is a refused logon, and the account (borrowed): the next logon from this address should be
   delayed. */
bool rpc_connection_logon_failed(const struct rpc_connection *c, const char **account);
/* The time at which to close the connection if it makes no progress until then. Single bytes are not progress, so a
   client gains no time by sending slowly. */
uint64_t rpc_connection_deadline_ms(const struct rpc_connection *c);

/* ---- client ---- */

enum rpc_client_state { RPC_CLIENT_NEW, RPC_CLIENT_BINDING, RPC_CLIENT_READY, RPC_CLIENT_CALLING, RPC_CLIENT_FAILED };

struct rpc_client;
/* NULL `credentials`: without authentication. They are borrowed until the client is closed. */
HRESULT rpc_client_open(const struct auth_credentials *credentials, enum auth_type type, enum auth_level level,
                        struct rpc_client **out);
void rpc_client_close(struct rpc_client *c); /* NULL is allowed */
/* Begins to negotiate an interface. The first interface needs authentication, others on the same connection do not.
   When the state is READY again, rpc_client_result returns whether the server offers the interface. At most 64. */
HRESULT rpc_client_bind(struct rpc_client *c, const GUID *iid, uint32_t version);
/* Begins a call of a negotiated interface; `object` may be NULL. */
HRESULT rpc_client_call(struct rpc_client *c, const GUID *iid, const GUID *object, uint16_t opnum, const uint8_t *stub,
                        size_t size);
/* Takes all bytes from the server. A failure (also from rpc_client_result) makes the connection unusable. */
HRESULT rpc_client_take(struct rpc_client *c, const uint8_t *bytes, size_t size);
enum rpc_client_state rpc_client_state(const struct rpc_client *c);
/* Of the last bind or call: S_OK; E_NOINTERFACE: not offered; E_ACCESSDENIED: logon refused; a fault as an HRESULT. */
HRESULT rpc_client_result(const struct rpc_client *c);
/* The response of the last call, valid until the next call. *fault 0: there is a stub. */
const uint8_t *rpc_client_answer(const struct rpc_client *c, size_t *size, uint32_t *fault);
const uint8_t *rpc_client_output(const struct rpc_client *c, size_t *size);
void rpc_client_sent(struct rpc_client *c, size_t size);

#endif
