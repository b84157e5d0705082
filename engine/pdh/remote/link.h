/* SPDX-License-Identifier: MIT */
/* RPC connections ("links") to the PerflibV2 interface of a remote computer: the address, and the bytes of a call and
   its answer. */
#ifndef OPENPLA_PDH_LINK_H
#define OPENPLA_PDH_LINK_H

#include "engine/base/text.h"

/* The address at which a computer serves its counters. */

struct link_address {
    char *host; /* a name, or an address without brackets */
    char *port; /* TCP port; NULL means the computer's named pipe */
};
/* Parses "host:port", "[address]:port" or a name. `hosts` ("NAME=host:port;NAME=host:port", may be NULL) can contain an
   entry for the machine; this entry takes precedence. Fails with E_INVALIDARG and a message if the port is invalid, or
   E_OUTOFMEMORY; *out is then empty. */
HRESULT link_address_find(const char *machine, const char *hosts, struct link_address *out);
/* Like link_address_find, with the setting CounterHosts (environment: OPENPLA_COUNTER_HOSTS) as `hosts`. */
HRESULT link_address_of(const char *machine, struct link_address *out);
void link_address_free(struct link_address *a);

/* A connection to the PerflibV2 interface of one computer. The link sends the bytes of a call and returns the bytes of
   the answer. */

/* The first member of each type of link. A link carries one call at a time. */
struct link;
struct link_kind {
    /* `machine` has no backslashes. Waits until the remote computer answers, but may also succeed without a
       connection. */
    HRESULT (*open)(const char *machine, struct link **out);
    /* *reply is from memory_alloc. After a failure the link is unusable, and the call may or may not have been
       executed. */
    HRESULT(*call)
    (struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply, size_t *reply_size);
    void (*close)(struct link *l);
};
struct link {
    const struct link_kind *kind;
};

/* Connects by TCP, without the host OS' RPC, to "name:port" or to a name that has a port in the setting CounterHosts.
   Logs on by NTLM with packet privacy and the account that remote_account_find returns for the computer
   (engine/rpc/remote_account.h), or without authentication if there is no account. A computer that does not answer
   within a minute counts as failed. Errors are those of the host OS' RPC, with a message that gives the reason:
   RPC_S_SERVER_UNAVAILABLE when opening, RPC_S_CALL_FAILED when calling, and ERROR_ACCESS_DENIED for a refused
   logon. */
extern const struct link_kind link_tcp;
/* Opens a link of the kind link_tcp to an address with a port; `machine` selects the account. */
HRESULT link_tcp_open(const char *machine, const struct link_address *a, struct link **out);

#ifdef _WIN32
/* Uses the host OS' RPC, always with packet privacy. "name:port" means TCP. If the setting CounterHosts contains the
   name, the link connects to the address in this setting. Any other name means the pipe \PIPE\winreg of the computer
   with this name (MS-PCQ 1.9). Wine supports neither that pipe nor privacy, so under Wine an address with a port uses
   link_tcp. */
extern const struct link_kind link_remote;
#endif

#endif
