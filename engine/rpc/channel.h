/* SPDX-License-Identifier: MIT */
/* A blocking client of RPC over TCP: moves the bytes of engine/rpc/connection.h through a socket. A channel belongs to
   one thread at a time. */
#ifndef OPENPLA_RPC_CHANNEL_H
#define OPENPLA_RPC_CHANNEL_H

#include "engine/rpc/connection.h"

/* The server, and the account for the logon. */
struct rpc_target {
    const char *host, *port;
    const struct auth_credentials *credentials; /* NULL: no authentication; copied */
    enum auth_level level;                      /* with credentials */
    /* Limits for connecting to each address (0: 5 s), and for each wait for bytes (0: 60 s). */
    uint32_t connect_ms, answer_ms;
};

struct rpc_channel;
/* Connects; the first call logs on. Fails with the network's error and a message that names host and port. */
HRESULT rpc_channel_open(const struct rpc_target *target, struct rpc_channel **out);
void rpc_channel_close(struct rpc_channel *c); /* wipes the credentials; NULL is allowed */
/* Calls a method, and negotiates the interface first if it is new to this connection. *answer is borrowed until the
   next call. E_NOINTERFACE: the server does not offer the interface. E_ACCESSDENIED: the logon was refused. A fault
   becomes its HRESULT and may leave the channel usable (rpc_channel_is_usable); all other failures end it. */
HRESULT rpc_channel_call(struct rpc_channel *c, const GUID *iid, uint32_t version, const GUID *object, uint16_t opnum,
                         const uint8_t *stub, size_t size, const uint8_t **answer, size_t *answer_size);
bool rpc_channel_is_usable(const struct rpc_channel *c);
/* Whether the server may have received (and therefore executed) the latest call. */
bool rpc_channel_was_sent(const struct rpc_channel *c);
/* Whether an idle channel is usable, that is, this computer has not noticed that the server closed it. */
bool rpc_channel_is_alive(const struct rpc_channel *c);

#endif
