/* SPDX-License-Identifier: MIT */
/* Connection-oriented RPC (C706 12.6) without authentication: packets, and the server's side of a connection. */
#ifndef OPENPLA_PDH_RPC_H
#define OPENPLA_PDH_RPC_H

#include "engine/base/network.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"

/* The packets of connection-oriented RPC (C706 12.6), as far as PerflibV2 without authentication needs them: numbers
   are little endian, of what comes the lengths are held to what there is. */

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
#define PDU_OBJECT             0x80 /* a GUID stands before the parameters of a request */

#define PDU_HEADER             16
#define PDU_CALL_HEADER        8    /* of request and response, behind the header */
#define PDU_FRAGMENT           5840 /* bytes of a packet that both sides of ours take */
#define PDU_LEAST_FRAGMENT     1432 /* that everybody must take: C706 12.6.3.1, MustRecvFragSize */

/* nca_s_*: C706 appendix E. */
#define FAULT_NO_SUCH_METHOD   0x1C010002u
#define FAULT_NO_INTERFACE     0x1C010003u
#define FAULT_PROTOCOL         0x1C01000Bu
#define FAULT_INVALID_BOUND    0x1C000007u
#define FAULT_CONTEXT_MISMATCH 0x1C00001Au
#define FAULT_NO_MEMORY        0x1C00001Bu
#define FAULT_BAD_PARAMETERS   0x000006F7u /* RPC_X_BAD_STUB_DATA, as Windows has it */

/* Where packets go and come from. */
struct pdu_stream {
    void *user;
    HRESULT (*send)(void *user, const void *bytes, size_t size);
    /* Exactly so many bytes; S_FALSE: the other side has ended before the first. */
    HRESULT (*receive)(void *user, void *bytes, size_t size);
};
/* Through a connection. */
struct pdu_stream pdu_stream_socket(struct socket_end *s);

struct pdu {
    uint8_t type, flags;
    uint32_t call;
    uint8_t bytes[PDU_FRAGMENT]; /* behind the header */
    size_t size;
};
/* The next packet. S_FALSE: the other side has ended. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): no RPC 5.0 with little
   endian numbers, or longer than PDU_FRAGMENT, or authenticated. */
HRESULT pdu_receive(const struct pdu_stream *s, struct pdu *out);

/* Begins a packet; its length is written by pdu_end, which takes what pdu_begin gave. */
size_t pdu_begin(struct byte_buffer *w, enum pdu_type type, uint8_t flags, uint32_t call);
void pdu_end(struct byte_buffer *w, size_t begin);
/* Packets of a request (with its method) or a response (0) that carry the parameters, none longer than `fragment`. */
void pdu_put_call(struct byte_buffer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t method,
                  const uint8_t *parameters, size_t size, size_t fragment);

/* The one context of PerflibV2 1.0 in NDR 2.0: 20 bytes each. */
extern const uint8_t pdu_perflib[20], pdu_ndr[20];

/* PerflibV2 for one client by TCP: its packets become calls of engine/pdh/pcq_server.h, as the host's RPC would make
   them. Wine's runtime gives an answer up for ever when two threads wait for one socket (DECISIONS 110). */

/* What all connections of a server share. */
struct rpc_service {
    struct pcq_server *server;
    const char *from;     /* addresses that may ask: pcq_access_check; borrowed */
    _Atomic size_t holds; /* bytes of answers that are made now */
};

/* Answers a client until it ends or is no client of this interface; `address` is where it comes from. Its queries are
   closed then. Nothing it sends costs others more than a call of theirs may: a request has 1 MB, an answer 64 MB, all
   answers together 256 MB. */
void rpc_connection_serve(struct rpc_service *service, const struct pdu_stream *stream, const char *address);

#endif
