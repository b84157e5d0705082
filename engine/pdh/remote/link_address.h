/* SPDX-License-Identifier: MIT */
/* Where a computer is asked for its counters. */
#ifndef OPENPLA_PCQ_LINK_ADDRESS_H
#define OPENPLA_PCQ_LINK_ADDRESS_H

#include "engine/base/text.h"

struct link_address {
    char *host; /* a name, or an address without brackets */
    char *port; /* of TCP; NULL: the pipe of that computer */
};
/* "host:port", "[address]:port" or a name; `hosts` (may be NULL) is "NAME=host:port;NAME=host:port" and goes before.
   E_INVALIDARG with a text: a port that is none. E_OUTOFMEMORY. *out is empty on failure. */
HRESULT link_address_find(const char *machine, const char *hosts, struct link_address *out);
/* The same with the setting CounterHosts (environment: OPENPLA_COUNTER_HOSTS). */
HRESULT link_address_of(const char *machine, struct link_address *out);
void link_address_free(struct link_address *a);

#endif
