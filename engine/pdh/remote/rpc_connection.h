/* SPDX-License-Identifier: MIT */
/* PerflibV2 for one client by TCP: its packets become calls of engine/pdh/methods.h, as the host's RPC would make them.
   Wine's runtime gives an answer up for ever when two threads wait for one socket (DECISIONS 110). */
#ifndef OPENPLA_PCQ_RPC_CONNECTION_H
#define OPENPLA_PCQ_RPC_CONNECTION_H

#include "engine/pdh/methods.h"
#include "engine/pdh/remote/pdu.h"

/* What all connections of a server share. */
struct rpc_service {
    struct pcq_server *server;
    const char *from;     /* addresses that may ask: pcq_gate; borrowed */
    _Atomic size_t holds; /* bytes of answers that are made now */
};

/* Answers a client until it ends or is no client of this interface; `address` is where it comes from. Its queries are
   closed then. Nothing it sends costs others more than a call of theirs may: a request has 1 MB, an answer 64 MB, all
   answers together 256 MB. */
void rpc_connection_serve(struct rpc_service *service, const struct pdu_stream *stream, const char *address);

#endif
