/* SPDX-License-Identifier: MIT */
/* A channel without a network: a proxy on one side, a stub on the other, and the bytes between them kept. Fresh buffers
   are full of cc bytes, so that padding that nobody wrote shows. */
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
/* Gives a request to a stub as the runtime of a server does; the reply is in channel->reply. */
HRESULT wire_channel_invoke(struct wire_channel *channel, unsigned opnum, const BYTE *bytes, size_t size);

#endif
