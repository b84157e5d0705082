/* SPDX-License-Identifier: MIT */
/* Serves this computer's counters to remote computers (MS-PCQ): the settings, the access check, the eight methods and
   the TCP port. */
#ifndef OPENPLA_PDH_PCQ_SERVER_H
#define OPENPLA_PDH_PCQ_SERVER_H

#include "engine/base/security.h"
#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/remote/blocks.h"

/* The settings come from the environment variables OPENPLA_COUNTER_QUERY_PORT, _FROM and _UNAUTHENTICATED, or otherwise
   from the values CounterQueryPort (string or number), CounterQueryFrom and CounterQueryUnauthenticated of
   HKLM\Software\OpenPLA. */
#define PCQ_PORT_VALUE            "CounterQueryPort"
#define PCQ_FROM_VALUE            "CounterQueryFrom"
#define PCQ_UNAUTHENTICATED_VALUE "CounterQueryUnauthenticated"
#define PCQ_FROM_HERE             "127.0.0.1 ::1" /* the default: only this computer */
struct pcq_settings {
    uint16_t port;        /* TCP port; 0: only the named pipe and local calls */
    char *from;           /* addresses separated by spaces or commas, with the wildcards * and ? */
    bool unauthenticated; /* the port of counter_port_open accepts callers without an account */
};
/* Reads the settings. S_FALSE if no port is set: this computer then does not serve counters. Fails with E_INVALIDARG
   and a message that names the setting and its value, or E_OUTOFMEMORY. *out is empty unless the result is S_OK. */
HRESULT pcq_settings_read(struct pcq_settings *out);
void pcq_settings_free(struct pcq_settings *s);

/* The facts about a call that the access check uses. */
struct pcq_call {
    bool by_port;        /* the call came through counter_port_open, otherwise through the host OS' RPC */
    bool level_known;    /* false for Wine's RPC, which never reports the level (behaviour 21) */
    uint32_t level;      /* RPC_C_AUTHN_LEVEL_* */
    const char *address; /* the client's address for calls by TCP; NULL: the call came by named pipe or from this
                            computer */
    const char *account; /* if by_port is set: the account that logged on; NULL: none */
    struct caller caller;
};
/* Decides whether a call is allowed; returns ERROR_SUCCESS or ERROR_ACCESS_DENIED. A call is allowed only if all of the
   following conditions are met. The address of a TCP client must match settings->from. Every caller except an
   unauthenticated one must use packet privacy if the level is known (MS-PCQ 3.1.4). Callers through the port must have
   logged on with an account of this computer's store, unless the settings admit unauthenticated callers; every account
   may read counters. Callers through the host OS' RPC must be administrators or members of Performance Monitor Users,
   or must call from this process. */
uint32_t pcq_access_check(const struct pcq_call *call, const struct pcq_settings *settings);

/* The eight methods of MS-PCQ 3.1.4.1 over the objects of a catalogue. All methods return Win32 errors. The methods do
   not trust any input, and their output is either complete or empty. One lock protects all queries of a server. */

/* Errors that the specification names. */
#define PCQ_NOT_ENOUGH_MEMORY  8 /* the buffer is too small */
#define PCQ_OUT_OF_MEMORY      14
#define PCQ_SAMPLE_FAILED      31 /* sampling an object failed with an error that is not a Win32 error */
#define PCQ_NO_RESOURCES       1450
#define PCQ_LANGUAGE_NOT_FOUND 1815
#define PCQ_GUID_NOT_FOUND     4200
#define PCQ_INSTANCE_NOT_FOUND 4201
#define PCQ_ITEM_NOT_FOUND     4202

/* This computer's counters, for all clients. */
struct pcq_server;
/* Takes ownership of the catalogue, even on failure. Fails with E_OUTOFMEMORY. */
HRESULT pcq_server_open(struct catalogue *catalogue, struct pcq_server **out);

/* The output buffer of a method, with a capacity of `room` units. After the call `written` units are valid, and
   `needed` is the size of the whole output. If the room is too small, the method fails with PCQ_NOT_ENOUGH_MEMORY and
   leaves the buffer unchanged. */
struct pcq_buffer {
    void *bytes; /* NULL is allowed if the room is 0 */
    uint32_t room, written, needed;
};
/* Writes the GUIDs of all countersets. The units are GUIDs. */
DWORD pcq_enumerate_sets(struct pcq_server *s, struct pcq_buffer *out);
/* Writes the information that `request` (enum pcq_request) selects. Fails with ERROR_INVALID_PARAMETER,
   PCQ_GUID_NOT_FOUND, PCQ_ITEM_NOT_FOUND, or PCQ_LANGUAGE_NOT_FOUND for languages other than English. */
DWORD pcq_registration_info(struct pcq_server *s, const GUID *set, uint32_t request, uint32_t lcid,
                            struct pcq_buffer *out);
/* Writes a pcq_instances header and a pcq_instance per instance. For a counterset without instances it writes one
   instance with the name "". Fails with PCQ_GUID_NOT_FOUND or PCQ_INSTANCE_NOT_FOUND. */
DWORD pcq_enumerate_instances(struct pcq_server *s, const GUID *set, struct pcq_buffer *out);

/* The counters that a client samples repeatedly. */
struct pcq_query;
enum { PCQ_QUERIES_OF_CLIENT = 64, PCQ_QUERIES = 1024, PCQ_COUNTERS_OF_QUERY = 4096 };
/* Maximum size of all instance names of a query, in bytes of UTF-8. Patterns are included in this size, even if they
   match nothing. */
#define PCQ_NAMES_OF_QUERY (1u << 20)
/* Opens a query. `client` is any string that identifies the client. Fails with PCQ_OUT_OF_MEMORY, or with
   PCQ_NO_RESOURCES if the client already has PCQ_QUERIES_OF_CLIENT queries or the server already has PCQ_QUERIES
   queries. */
DWORD pcq_open_query(struct pcq_server *s, const char *client, struct pcq_query **out);
void pcq_close_query(struct pcq_query *q); /* NULL is allowed */

/* `bytes` contains `size` bytes of pcq_identifiers. Adds or removes the counters of these identifiers, and stores the
   status of each counter in its block. Fails with ERROR_INVALID_PARAMETER, without any change, if a block extends
   beyond `size` bytes. */
DWORD pcq_validate_counters(struct pcq_query *q, void *bytes, uint32_t size, bool add);
/* Writes a pcq_identifier for each counter of the query, with the position of its block in the data. */
DWORD pcq_query_info(struct pcq_query *q, struct pcq_buffer *out);
/* Takes a sample and writes pcq_data with a pcq_block per counter. */
DWORD pcq_query_data(struct pcq_query *q, struct pcq_buffer *out);

/* The TCP port on which this computer serves counters without the host OS' RPC. */

/* Maximum number of simultaneous connections from permitted addresses. The server immediately closes further
   connections. */
#define COUNTER_PORT_CONNECTIONS 256

/* Listens on settings->port until the process exits, with one thread per connection. Clients log on by NTLM with
   `accounts` (NULL: nobody can log on). The threads of the connections call `report` (may be NULL), possibly several at
   the same time. All arguments are borrowed for the life of the process. Fails with the system's error and a message
   that names the port. */
struct auth_accounts;
struct rpc_port_event; /* engine/rpc/port.h */
HRESULT counter_port_open(struct pcq_server *server, const struct pcq_settings *settings,
                          const struct auth_accounts *accounts, void (*report)(const struct rpc_port_event *event));

#endif
