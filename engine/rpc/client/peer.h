/* SPDX-License-Identifier: MIT */
/* Private header of the DCOM client: the peer, its connections, and the sets of objects that it pings. */
#ifndef OPENPLA_RPC_CLIENT_PEER_H
#define OPENPLA_RPC_CLIENT_PEER_H

#include "engine/base/thread.h"
#include "engine/rpc/channel.h"
#include "engine/rpc/orpc_client.h"

enum { PEER_IDLE_CHANNELS = 4, PEER_PORT_BYTES = 8, PING_SET_OBJECTS = 128 };

/* A ping set of the server (MS-DCOM 3.1.1.1.3). */
struct ping_set {
    struct ping_set *next;
    uint64_t id; /* 0: the server does not have the set */
    uint16_t sequence;
    bool is_changed;
    uint64_t oids[PING_SET_OBJECTS];
    unsigned uses[PING_SET_OBJECTS]; /* number of held interfaces per object */
    size_t count;
    uint64_t gone[PING_SET_OBJECTS]; /* objects to be removed from the server's set; objects beyond this number stay
                                        until the server drops the set */
    size_t gone_count;
};

struct idle_channel {
    struct rpc_channel *channel; /* NULL: free */
    char port[PEER_PORT_BYTES];
};

struct orpc_peer {
    _Atomic unsigned references;
    char *host, *user, *domain;
    char port[PEER_PORT_BYTES];
    struct auth_credentials credentials;
    bool has_credentials;
    uint32_t ping_ms;
    struct lock lock; /* protects the members below */
    struct idle_channel idle[PEER_IDLE_CHANNELS];
    struct ping_set *sets;
    struct thread *pinger; /* NULL: no object has been held yet */
    struct wakeup *end;
};

/* An idle connection can end during a call, after the server may have received the request. PEER_REPEAT: the request is
   then sent again on a new connection, because a repetition does no harm. PEER_ONCE: the call fails. */
enum peer_repeat { PEER_ONCE, PEER_REPEAT };
/* Calls a method on an idle or new connection to the port. *answer is from memory_alloc. */
HRESULT peer_call(struct orpc_peer *p, const char *port, const GUID *iid, const GUID *object, uint16_t opnum,
                  const struct ndr_writer *request, enum peer_repeat repeat, uint8_t **answer, size_t *size);
/* These functions add and remove a use of an object. The object is pinged while it has a use. The first peer_hold
   starts the pinger. peer_hold fails with E_OUTOFMEMORY, or as thread_start does. */
HRESULT peer_hold(struct orpc_peer *p, uint64_t oid);
void peer_drop(struct orpc_peer *p, uint64_t oid);

#endif
