/* SPDX-License-Identifier: MIT */
/* Connection-oriented RPC (C706 12, MS-RPCE) as state machines without sockets: bytes go in, bytes and calls come out.
   Only one thread at a time uses a connection. */
#ifndef OPENPLA_RPC_CONNECTION_H
#define OPENPLA_RPC_CONNECTION_H

#include "engine/rpc/auth.h"

/* ---- server ---- */

/* 0 means the default, which each comment gives last. */
struct rpc_limits {
    size_t request;           /* bytes of an authenticated request; 1 MB */
    size_t anonymous_request; /* bytes of an unauthenticated request; 16 KB */
    size_t response;          /* bytes of a response; 8 MB */
    uint32_t logon_ms;   /* time within which a client must log on or, without a logon, complete its next call; 30 s */
    uint32_t silence_ms; /* time within which a client that has logged on must send a whole PDU; 15 min */
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
    GUID iid; /* interface of the presentation context */
    bool has_object;
    GUID object;
    uint16_t opnum;
    const uint8_t *stub; /* valid until the answer */
    size_t size;
    const char *account; /* NULL: not authenticated */
    enum auth_level level;
};

struct rpc_connection;
/* Times are from one monotonic clock, in milliseconds. */
HRESULT rpc_connection_open(const struct rpc_service *service, uint64_t now_ms, struct rpc_connection **out);
void rpc_connection_close(struct rpc_connection *c); /* NULL is allowed */
/* Processes bytes from the client and returns their number, which is less than `size` only if a call waits for its
   answer. Send the output before you pass more bytes, because the output grows until it is sent. */
size_t rpc_connection_take(struct rpc_connection *c, const uint8_t *bytes, size_t size, uint64_t now_ms);
/* Returns the call that waits for its answer; false if no call is waiting. */
bool rpc_connection_call(const struct rpc_connection *c, struct rpc_call *out);
/* Answers the call. If `fault` is not 0, the answer is this fault; otherwise the answer is the stub. */
void rpc_connection_answer(struct rpc_connection *c, uint32_t fault, const uint8_t *stub, size_t size);
/* Returns bytes for the client, valid until the next call. Report how many you have sent with rpc_connection_sent. */
const uint8_t *rpc_connection_output(const struct rpc_connection *c, size_t *size);
void rpc_connection_sent(struct rpc_connection *c, size_t size);
/* Whether the connection adds no more output. If this is true, send the remaining output, and then close the
   connection. */
bool rpc_connection_is_over(const struct rpc_connection *c);
/* Returns why the connection has ended, for a log and never for the client; "" if it has not ended. Static text. */
const char *rpc_connection_failure(const struct rpc_connection *c);
/* Returns whether the connection has ended because of a refused logon; *account is the account (borrowed). If the logon
   was refused, the caller should delay the next logon from this address. */
bool rpc_connection_logon_failed(const struct rpc_connection *c, const char **account);
/* Returns the time at which the connection must be closed if it makes no progress until then. Single bytes are not
   progress, so a client gains no time by sending slowly. */
uint64_t rpc_connection_deadline_ms(const struct rpc_connection *c);

/* ---- client ---- */

enum rpc_client_state { RPC_CLIENT_NEW, RPC_CLIENT_BINDING, RPC_CLIENT_READY, RPC_CLIENT_CALLING, RPC_CLIENT_FAILED };

struct rpc_client;
/* `credentials` are borrowed until the client is closed; NULL: no authentication. */
HRESULT rpc_client_open(const struct auth_credentials *credentials, enum auth_type type, enum auth_level level,
                        struct rpc_client **out);
void rpc_client_close(struct rpc_client *c); /* NULL is allowed */
/* Begins to negotiate an interface. The first call also authenticates the connection. When the state is READY again,
   rpc_client_result returns whether the server offers the interface. At most 64 interfaces. */
HRESULT rpc_client_bind(struct rpc_client *c, const GUID *iid, uint32_t version);
/* Begins a call of a negotiated interface; `object` may be NULL. */
HRESULT rpc_client_call(struct rpc_client *c, const GUID *iid, const GUID *object, uint16_t opnum, const uint8_t *stub,
                        size_t size);
/* Processes all bytes from the server. A failure (also from rpc_client_result) makes the connection unusable. */
HRESULT rpc_client_take(struct rpc_client *c, const uint8_t *bytes, size_t size);
enum rpc_client_state rpc_client_state(const struct rpc_client *c);
/* Returns the result of the last bind or call. E_NOINTERFACE: the server does not offer the interface. E_ACCESSDENIED:
   the server refused the logon. If the server returned a fault, the result is this fault as an HRESULT. */
HRESULT rpc_client_result(const struct rpc_client *c);
/* Returns the stub of the last response, valid until the next call. There is a stub only if *fault is 0. */
const uint8_t *rpc_client_answer(const struct rpc_client *c, size_t *size, uint32_t *fault);
const uint8_t *rpc_client_output(const struct rpc_client *c, size_t *size);
void rpc_client_sent(struct rpc_client *c, size_t size);

#endif
