/* SPDX-License-Identifier: MIT */
/* Connection-oriented RPC (C706 12.6) without authentication: packets, and the server's side of a connection. */
#ifndef OPENPLA_PDH_RPC_H
#define OPENPLA_PDH_RPC_H

#include "engine/base/network.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"

/* The packets of connection-oriented RPC (C706 12.6) that PerflibV2 without authentication needs. Numbers are
   little-endian; received lengths are limited to the bytes that exist. */

enum pdu_type {
    PDU_REQUEST = 0,
    PDU_RESPONSE = 2,
    PDU_FAULT = 3,
    PDU_BIND = 11,
    PDU_BIND_ACK = 12,
    PDU_ALTER_CONTEXT = 14,
    PDU_ALTER_CONTEXT_ACK = 15,
    PDU_CANCEL = 18,
    PDU_ORPHANED = 19
};
#define PDU_FIRST              1
#define PDU_LAST               2
#define PDU_OBJECT             0x80 /* a GUID precedes the parameters of a request */

#define PDU_HEADER             16
#define PDU_CALL_HEADER        8    /* in requests and responses, after the header */
#define PDU_FRAGMENT           5840 /* maximum packet size that both of our sides accept */
#define PDU_LEAST_FRAGMENT     1432 /* minimum that everybody must accept: C706 12.6.3.1, MustRecvFragSize */

/* nca_s_*: C706 appendix E. */
#define FAULT_NO_SUCH_METHOD   0x1C010002u
#define FAULT_NO_INTERFACE     0x1C010003u
#define FAULT_PROTOCOL         0x1C01000Bu
#define FAULT_INVALID_BOUND    0x1C000007u
#define FAULT_CONTEXT_MISMATCH 0x1C00001Au
#define FAULT_NO_MEMORY        0x1C00001Bu
#define FAULT_BAD_PARAMETERS   0x000006F7u /* RPC_X_BAD_STUB_DATA, as Windows sends it */

/* The transport of packets. */
struct pdu_stream {
    void *user;
    HRESULT (*send)(void *user, const void *bytes, size_t size);
    /* Receives exactly `size` bytes. S_FALSE if the other side closed the connection before the first byte. */
    HRESULT (*receive)(void *user, void *bytes, size_t size);
};
/* The packets of a TCP connection. */
struct pdu_stream pdu_stream_socket(struct socket_end *s);

struct pdu {
    uint8_t type, flags;
    uint32_t call;
    uint8_t bytes[PDU_FRAGMENT]; /* after the header */
    size_t size;
};
/* Receives the next packet. S_FALSE if the other side closed the connection. Fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) unless the packet is RPC 5.0 with little-endian numbers, at most PDU_FRAGMENT
   bytes long and not authenticated. */
HRESULT pdu_receive(const struct pdu_stream *s, struct pdu *out);

/* Begins a packet. pdu_end takes the result and writes the packet's length. */
size_t pdu_begin(struct byte_buffer *w, enum pdu_type type, uint8_t flags, uint32_t call);
void pdu_end(struct byte_buffer *w, size_t begin);
/* Writes the packets of a request (with its method) or a response (0) with the parameters, each at most `fragment`
   bytes long. */
void pdu_put_call(struct byte_buffer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t method,
                  const uint8_t *parameters, size_t size, size_t fragment);

/* The interface PerflibV2 1.0 and the transfer syntax NDR 2.0, 20 bytes each. */
extern const uint8_t pdu_perflib[20], pdu_ndr[20];

/* Serves PerflibV2 to one TCP client: decodes its packets and calls the methods of engine/pdh/pcq_server.h, as the host
   OS' RPC does. Wine's runtime cannot be used for this, because it loses an answer forever if two threads wait for one
   socket (decision 110). */

/* The state that all connections of a server share. */
struct rpc_service {
    struct pcq_server *server;
    const char *from;     /* permitted addresses, for pcq_access_check; borrowed */
    _Atomic size_t holds; /* bytes of the answers under construction */
};

/* Serves a client until it closes the connection or violates the protocol, and closes its queries. `address` is the
   client's. A request is limited to 1 MB, an answer to 64 MB, and all answers together to 256 MB. */
void rpc_connection_serve(struct rpc_service *service, const struct pdu_stream *stream, const char *address);

#endif
