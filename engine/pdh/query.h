/* SPDX-License-Identifier: MIT */
/* Queries and their counters: what PDH_HQUERY and PDH_HCOUNTER stand for. A query may be used from several threads:
   each function here that is given one locks it, where it does not say otherwise. A counter must not be removed, nor a
   query closed, while another call with it is under way. */
#ifndef OPENPLA_PDH_QUERY_H
#define OPENPLA_PDH_QUERY_H

#include "engine/os/host.h"
#include "engine/pdh/object.h"
#include "engine/pdh/path.h"

/* First words of what the handles point to; cleared on release. */
#define QUERY_MARK   0x51484450u
#define COUNTER_MARK 0x43484450u

/* The values of a wildcard counter in one sample, one for each matching instance. */
struct counter_items {
    struct instance_list *list; /* one reference */
    uint64_t generation;        /* the object's, of the list */
    size_t *positions;          /* of the matching instances in the list */
    PDH_RAW_COUNTER *raw;
    size_t count, capacity, raw_capacity;
};

struct query;
struct counter {
    uint32_t mark;
    uint32_t schema; /* position among the object's counters */
    struct query *query;
    struct counter *next, *previous;
    struct object *object; /* the query's */
    struct counter_path path;
    char *instance; /* as in a path, NULL for an object without instances */
    bool is_wildcard;
    DWORD_PTR user_data;
    LONG scale;
    int64_t time_base;
    /* Of a single instance: */
    uint64_t generation; /* of the instance list in which position and key were found */
    size_t row;          /* SIZE_MAX: not there */
    uint64_t key;
    PDH_RAW_COUNTER newer, older;
    /* Of a wildcard: */
    struct counter_items newer_items, older_items;
};

struct query {
    uint32_t mark;
    struct host_lock lock;
    DWORD_PTR user_data;
    struct source source;
    struct object **objects; /* pdh_provider_count, NULL while no counter needs it */
    uint64_t *wanted;        /* beside them: bits of the counters in use */
    struct counter *first, *last;
};

/* All give PDH statuses. */
PDH_STATUS query_create(DWORD_PTR user_data, struct query **out);
void query_destroy(struct query *q);
/* Adds the counter of an English path; an instance that is not there now is awaited. PDH_CSTATUS_NO_MACHINE, NO_OBJECT,
   NO_COUNTER, BAD_COUNTERNAME, NO_COUNTERNAME; PDH_CSTATUS_NO_INSTANCE when the object has instances and the path names
   none, or the other way round. */
PDH_STATUS query_add(struct query *q, const char *path, DWORD_PTR user_data, struct counter **out);
void query_remove(struct counter *c);
/* Takes one sample of every object in use. *time (may be NULL) becomes the local FILETIME of the first reading.
   PDH_NO_DATA when the query has no counters. What failed stands in the counters' own status. */
PDH_STATUS query_collect(struct query *q, int64_t *time);

void query_enter(struct query *q);
void query_leave(struct query *q);

/* For a caller that holds the query's lock. The counter type. */
DWORD counter_type(const struct counter *c);
/* Name of the i-th value of a wildcard counter, borrowed. */
const char *counter_item_name(const struct counter_items *items, size_t i);
/* The value of the same thing in the sample before, NULL when there is none. */
const PDH_RAW_COUNTER *counter_item_older(const struct counter *c, size_t i);
/* The object of a provider in a query, opened if it was not; PDH_CSTATUS_NO_OBJECT when its source is not there. */
PDH_STATUS query_object(struct query *q, size_t provider, struct object **out);

#endif
