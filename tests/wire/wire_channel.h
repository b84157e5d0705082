/* SPDX-License-Identifier: MIT */
/* A channel without a network between a proxy and a stub, which stores the exchanged bytes. New buffers are filled with
   0xCC, so that unwritten padding is visible. */
#ifndef OPENPLA_WIRE_CHANNEL_H
#define OPENPLA_WIRE_CHANNEL_H

#include "tests/wire/values.h"

struct wire_channel {
    IRpcChannelBuffer channel;
    LONG references;
    IRpcStubBuffer *stub; /* NULL: the reply is canned_reply */
    struct wire canned_reply;
    struct wire request, reply; /* bytes of the last call */
    unsigned opnum;
    HRESULT stub_result;
};

void wire_channel_init(struct wire_channel *channel, IRpcStubBuffer *stub);
/* Passes a request to a stub, as a server's runtime does. The reply is in channel->reply. */
HRESULT wire_channel_invoke(struct wire_channel *channel, unsigned opnum, const BYTE *bytes, size_t size);

#endif
