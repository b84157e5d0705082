/* SPDX-License-Identifier: MIT */
/* The server's sets: the objects of its catalogue, found by their GUIDs, opened when they are asked for. All is for who
   holds the lock of s->query. */
#ifndef OPENPLA_PCQ_SETS_H
#define OPENPLA_PCQ_SETS_H

#include "engine/pdh/core/query.h"
#include "engine/pdh/members.h"
#include "engine/pdh/methods.h"

struct pcq_server {
    struct query *query;         /* catalogue, objects, source and lock; it has no counters */
    struct pcq_members *members; /* of the objects by their positions */
    size_t member_count, member_capacity;
    uint64_t looked; /* clock_monotonic_ms of the last look for new objects, 0: never */
    struct pcq_query *queries;
    size_t query_count;
};

/* Positions of sets among the catalogue's objects. */
struct pcq_set {
    size_t position;
    struct counter_object *object;
    const struct pcq_members *members; /* valid until the next call with another set */
};
/* Looks for objects that came since; at most once a second, as a client could ask for it without end. E_OUTOFMEMORY;
   what an extension does not answer is no failure. */
HRESULT pcq_sets_refresh(struct pcq_server *s);
/* The set at a position; S_FALSE: its source is not there. */
HRESULT pcq_set_at(struct pcq_server *s, size_t position, struct pcq_set *out);
/* The set of that GUID, looked for anew if it is not known. ERROR_SUCCESS, PCQ_GUID_NOT_FOUND, PCQ_OUT_OF_MEMORY. */
DWORD pcq_set_find(struct pcq_server *s, const GUID *guid, struct pcq_set *out);
/* Takes a sample of the objects. */
void pcq_sets_sample(struct pcq_server *s, const struct counter_object_use *uses, size_t count);
/* The Win32 error for a sample that failed. */
DWORD pcq_error_of(HRESULT hr);

#endif
