/* SPDX-License-Identifier: MIT */
/* A channel without a network between a proxy and a stub, which keeps the bytes between them. New buffers are filled
   with bytes cc, so that unwritten padding shows. */
#ifndef OPENPLA_WIRE_CHANNEL_H
#define OPENPLA_WIRE_CHANNEL_H

#include "tests/wire/values.h"

struct wire_channel {
    IRpcChannelBuffer channel;
    LONG references;
    IRpcStubBuffer *stub; /* NULL: the answer is canned_reply */
    struct wire canned_reply;
    struct wire request, reply; /* of the last call */
    unsigned opnum;
    HRESULT stub_result;
};

void wire_channel_init(struct wire_channel *channel, IRpcStubBuffer *stub);
/* Passes a request to a stub like a server's runtime. The reply is in channel->reply. */
HRESULT wire_channel_invoke(struct wire_channel *channel, unsigned opnum, const BYTE *bytes, size_t size);

#endif
