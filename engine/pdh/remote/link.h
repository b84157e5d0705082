/* SPDX-License-Identifier: MIT */
/* RPC connections to the PerflibV2 interface of another computer: the address, and the bytes of a call and its answer.
 */
#ifndef OPENPLA_PDH_LINK_H
#define OPENPLA_PDH_LINK_H

#include "engine/base/text.h"

/* Where a computer is asked for its counters. */

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

/* The way to the PerflibV2 interface of one computer: the bytes of a call there, the bytes of its answer back. */

/* First member of each kind's own struct. One call at a time. */
struct link;
struct link_kind {
    /* `machine` without backslashes. May be content before anything was connected. Waits as long as the host makes it
       wait. */
    HRESULT (*open)(const char *machine, struct link **out);
    /* *reply from memory_alloc. A failure ends the link: what was asked may or may not have been done. */
    HRESULT(*call)
    (struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply, size_t *reply_size);
    void (*close)(struct link *l);
};
struct link {
    const struct link_kind *kind;
};

/* By TCP without authentication and without the host's RPC: "name:port", or a name in the setting CounterHosts that has
   one. A computer that says nothing within a minute of a call has failed. Failures are those of the host's RPC:
   RPC_S_SERVER_UNAVAILABLE of opening, RPC_S_CALL_FAILED of a call, with a text that says why. */
extern const struct link_kind link_tcp;
/* The same for an address with a port. */
HRESULT link_tcp_open(const struct link_address *a, struct link **out);

#ifdef _WIN32
/* By the host's RPC, with packet privacy or not at all: "name:port" is TCP there; a name in the setting CounterHosts is
   where that says; any other one is the pipe \PIPE\winreg of that computer (MS-PCQ 1.9). Under Wine, which has neither
   that pipe nor privacy, a port is link_tcp. */
extern const struct link_kind link_remote;
#endif

#endif
