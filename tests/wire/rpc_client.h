/* SPDX-License-Identifier: MIT */
/* A DCE RPC client independent of rpcrt4: connection-oriented PDUs (C706 12.6) over a socket or a named pipe, and
   MS-PCQ's parameters in NDR, little-endian. */
#ifndef OPENPLA_RPC_CLIENT_H
#define OPENPLA_RPC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <winsock2.h>

struct rpc_client {
    SOCKET socket; /* INVALID_SOCKET: uses the pipe */
    HANDLE pipe;
    uint32_t call;
};
/* Returns false if nobody listens on the port or the interface is rejected. */
bool rpc_connect_port(struct rpc_client *c, uint16_t port);
bool rpc_connect_pipe(struct rpc_client *c, const char *name);
void rpc_disconnect(struct rpc_client *c);
/* Sends the bytes. Returns false if the connection has ended. */
bool rpc_send(struct rpc_client *c, const void *bytes, size_t size);

/* The parameters of a request or a reply, large enough for the tests' requests. */
struct ndr {
    uint8_t *bytes;
    size_t size, at, room;
};
void ndr_align(struct ndr *n, size_t to);
void ndr_put(struct ndr *n, const void *bytes, size_t size);
void ndr_put_number(struct ndr *n, uint32_t number); /* aligned */
void ndr_put_text(struct ndr *n, const char *text);  /* a conformant varying string of wchar_t */
uint32_t ndr_number(struct ndr *n);
const uint8_t *ndr_take(struct ndr *n, size_t size);

/* Makes one call. Returns 0 or the status of the fault; UINT32_MAX if the connection has ended. `fragment` is the
   maximum number of parameter bytes in one PDU. */
uint32_t rpc_call(struct rpc_client *c, uint16_t opnum, const struct ndr *in, size_t fragment, struct ndr *out);

#endif
