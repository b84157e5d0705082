/* SPDX-License-Identifier: MIT */
/* This computer's counters for other computers (MS-PCQ): the settings, the access check, the eight methods and the TCP
   port. */
#ifndef OPENPLA_PDH_PCQ_SERVER_H
#define OPENPLA_PDH_PCQ_SERVER_H

#include "engine/base/security.h"
#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/remote/blocks.h"

/* Who may ask for this computer's counters by RPC, and where they are offered. */

/* The settings: the environment's OPENPLA_COUNTER_QUERY_PORT and OPENPLA_COUNTER_QUERY_FROM, or the values
   CounterQueryPort (text or number) and CounterQueryFrom of HKLM\Software\OpenPLA. */
#define PCQ_PORT_VALUE "CounterQueryPort"
#define PCQ_FROM_VALUE "CounterQueryFrom"
#define PCQ_FROM_HERE  "127.0.0.1 ::1" /* where it is not set: this computer alone */
struct pcq_settings {
    uint16_t port; /* of TCP; 0: only the named pipe and local calls */
    char *from;    /* addresses with blanks or commas between, * and ? for what may stand there */
};
/* S_FALSE: there is no port, so counters are offered nowhere. E_INVALIDARG with a text that names the setting and the
   value; E_OUTOFMEMORY. *out is empty unless S_OK. */
HRESULT pcq_settings_read(struct pcq_settings *out);
void pcq_settings_free(struct pcq_settings *s);

/* What is known of a call. */
struct pcq_call {
    bool level_known;    /* Wine never tells (behaviour 21) */
    uint32_t level;      /* RPC_C_AUTHN_LEVEL_* */
    const char *address; /* where it came from by TCP; NULL: it came by a pipe or from this computer */
    struct caller caller;
};
/* ERROR_SUCCESS or ERROR_ACCESS_DENIED: packet privacy is asked for where the level is known (MS-PCQ 3.1.4), and an
   administrator or a member of Performance Monitor Users; of TCP the address must be among `from`, and decides alone
   where nothing tells who it is. */
uint32_t pcq_access_check(const struct pcq_call *call, const char *from);

/* The eight methods of MS-PCQ 3.1.4.1 over the objects of a catalogue. All give Win32 errors. What a client sends is
   taken for hostile; what a method writes is whole or nothing. One lock covers all queries of a server. */

/* Errors that the specification names and no page of ours has had yet. */
#define PCQ_NOT_ENOUGH_MEMORY  8 /* the buffer is too small */
#define PCQ_OUT_OF_MEMORY      14
#define PCQ_SAMPLE_FAILED      31 /* of an object, for another reason than a Win32 error */
#define PCQ_NO_RESOURCES       1450
#define PCQ_LANGUAGE_NOT_FOUND 1815
#define PCQ_GUID_NOT_FOUND     4200
#define PCQ_INSTANCE_NOT_FOUND 4201
#define PCQ_ITEM_NOT_FOUND     4202

/* The counters of one computer, for all clients. */
struct pcq_server;
/* Takes the catalogue over, also when it fails. E_OUTOFMEMORY. */
HRESULT pcq_server_open(struct catalogue *catalogue, struct pcq_server **out);

/* Where a method writes: a buffer of `room` units. Afterwards `written` of them are there and all of it takes
   `needed`. Too little room is PCQ_NOT_ENOUGH_MEMORY, and the buffer is as it was. */
struct pcq_buffer {
    void *bytes; /* NULL with a room of 0 */
    uint32_t room, written, needed;
};
/* GUIDs of all sets; the units are GUIDs. */
DWORD pcq_enumerate_sets(struct pcq_server *s, struct pcq_buffer *out);
/* `request` is an enum pcq_request. ERROR_INVALID_PARAMETER, PCQ_GUID_NOT_FOUND, PCQ_ITEM_NOT_FOUND,
   PCQ_LANGUAGE_NOT_FOUND for other languages than English. */
DWORD pcq_registration_info(struct pcq_server *s, const GUID *set, uint32_t request, uint32_t lcid,
                            struct pcq_buffer *out);
/* pcq_instance and pcq_instance ... PCQ_GUID_NOT_FOUND, PCQ_INSTANCE_NOT_FOUND; of a set without instances it is one
   with the name "". */
DWORD pcq_enumerate_instances(struct pcq_server *s, const GUID *set, struct pcq_buffer *out);

/* What one client asks for again and again. */
struct pcq_query;
enum { PCQ_QUERIES_OF_CLIENT = 64, PCQ_QUERIES = 1024, PCQ_COUNTERS_OF_QUERY = 4096 };
/* Bytes in UTF-8 of all its instances' names; patterns need not be names of anything. */
#define PCQ_NAMES_OF_QUERY (1u << 20)
/* `client` says who it is, in any words that are the same each time. PCQ_OUT_OF_MEMORY; PCQ_NO_RESOURCES beyond
   PCQ_QUERIES_OF_CLIENT of one client or PCQ_QUERIES of all. */
DWORD pcq_open_query(struct pcq_server *s, const char *client, struct pcq_query **out);
void pcq_close_query(struct pcq_query *q); /* NULL is allowed */

/* Adds what the pcq_identifiers in `size` bytes name, or takes it away, and notes in each its own status.
   ERROR_INVALID_PARAMETER, and nothing has changed: a block does not fit into its bytes. */
DWORD pcq_validate_counters(struct pcq_query *q, void *bytes, uint32_t size, bool add);
/* A pcq_identifier for each counter of the query, with the position of its block in the data. */
DWORD pcq_query_info(struct pcq_query *q, struct pcq_buffer *out);
/* Takes a sample: pcq_data and a pcq_block for each. */
DWORD pcq_query_data(struct pcq_query *q, struct pcq_buffer *out);

/* The TCP port where this computer's counters are offered without the host's RPC. */

/* At most so many connections at once of addresses that may ask; one more is ended at once. */
#define COUNTER_PORT_CONNECTIONS 256

/* Listens at settings->port from now on until the process ends, each connection with a thread of its own; both
   arguments are borrowed for good. The system's reason with a text that names the port. */
HRESULT counter_port_open(struct pcq_server *server, const struct pcq_settings *settings);

#endif
