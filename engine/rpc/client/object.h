/* SPDX-License-Identifier: MIT */
/* Private header of the DCOM client: an interface of an object. */
#ifndef OPENPLA_RPC_CLIENT_OBJECT_H
#define OPENPLA_RPC_CLIENT_OBJECT_H

#include "engine/rpc/client/peer.h"

/* The object exporter that receives the calls of an object. */
struct orpc_exporter {
    uint64_t oxid;
    GUID rem_unknown;
    char port[PEER_PORT_BYTES];
};

struct orpc_object {
    _Atomic unsigned references;
    struct orpc_peer *peer;
    struct orpc_exporter exporter;
    GUID iid, ipid;
    uint64_t oid;
    uint32_t held; /* references held on the server */
    struct lock lock;
    struct {
        char *name;
        int32_t id;
    } * ids; /* ids of members that were called by name */
    size_t id_count, id_capacity;
};

/* Like orpc_call, but repeats the call if `repeat` allows it. */
HRESULT object_call(struct orpc_object *o, uint16_t opnum, struct ndr_writer *request, enum peer_repeat repeat,
                    struct orpc_answer *answer);
/* Returns the error for an answer that the reader could not parse. */
HRESULT answer_malformed(uint32_t fault);

#endif
