/* SPDX-License-Identifier: MIT */
/* The proxy and stub of one interface, connected by a wire channel, in front of a recording server. */
#ifndef OPENPLA_WIRE_LINK_H
#define OPENPLA_WIRE_LINK_H

#include "tests/wire/recording_server.h"
#include "tests/wire/wire_channel.h"

struct wire_link {
    struct recording_server server;
    struct wire_channel channel;
    IRpcStubBuffer *stub;
    IRpcProxyBuffer *proxy;
    void *object; /* proxy of the interface, called by the client */
};

/* Setup and teardown of a group of tests: reads the members and initialises COM (MTA). */
int wire_link_open_apartment(void **state);
int wire_link_close_apartment(void **state);

/* Registers our proxies and stubs with COM in this process. *cookie is for CoRevokeClassObject in the same
   apartment. */
HRESULT wire_link_register(DWORD *cookie);

/* Opens the link; asserts success. */
void wire_link_open(struct wire_link *link, const IID *iid);
void wire_link_close(struct wire_link *link);
/* Calls the member through the proxy. `values` has the in parameters, and receives the out parameters. */
HRESULT wire_link_call(struct wire_link *link, const struct member *member, union value *values);

#endif
