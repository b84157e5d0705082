/* SPDX-License-Identifier: MIT */
/* The eight methods of MS-PCQ 3.1.4.1 over the objects of a catalogue. All give Win32 errors. What a client sends is
   taken for hostile; what a method writes is whole or nothing. One lock covers all queries of a server. */
#ifndef OPENPLA_PCQ_METHODS_H
#define OPENPLA_PCQ_METHODS_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/remote/blocks.h"

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
void pcq_server_close(struct pcq_server *s); /* its queries must be closed before; NULL is allowed */

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

#endif
