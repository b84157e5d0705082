/* SPDX-License-Identifier: MIT */
/* Queries, their counters and their logs, and the handles by which programs name them. */
#ifndef OPENPLA_PDH_QUERY_H
#define OPENPLA_PDH_QUERY_H

#include "engine/base/host.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"
#include "engine/pdh/core/catalogue.h"

#include <stdbool.h>

/* The handles that programs hold: which of the addresses they may pass are alive. A closed or invented handle must be
   told from a live one without touching what it points to. Threads may call at the same time. */

/* False: out of memory. */
bool handle_add(const void *handle);
/* Nothing happens when it is not alive. */
void handle_remove(const void *handle);
bool handle_is_alive(const void *handle);

/* Queries and their counters: what PDH_HQUERY and PDH_HCOUNTER stand for. A query may be used from several threads:
   each function here that is given one locks it, where it does not say otherwise. A counter must not be removed, nor a
   query closed, while another call with it is under way. */

/* First member of all that a handle stands for. */
enum handle_kind { QUERY_HANDLE, COUNTER_HANDLE, LOG_HANDLE, CONSUMER_HANDLE };

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
    enum handle_kind kind;
    uint64_t serial; /* counters of a query are in the order of these */
    uint32_t schema; /* position among the object's counters */
    struct query *query;
    struct counter *next, *previous;
    struct counter_object *object; /* the query's */
    size_t position;               /* of the object in the query */
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

/* An object of the query's catalogue, and who needs it. */
struct query_object {
    struct counter_object *object; /* NULL until it is asked for */
    uint32_t *uses;                /* per counter: how many of the query's counters need it */
    size_t use_count, use_capacity;
    uint64_t wanted; /* OBJECT_BIT of those */
};

struct query {
    enum handle_kind kind;
    struct host_lock lock;
    DWORD_PTR user_data;
    struct source source;
    struct catalogue *catalogue;
    struct query_object *objects; /* as many as the catalogue had at the last look */
    size_t object_count, object_capacity;
    struct counter_object_use *uses; /* room for a sample's */
    size_t use_capacity;
    struct counter *first, *last;
    uint64_t serial;    /* of the last counter that was added */
    int64_t sample_utc; /* of the last sample's first reading, FILETIME */
    /* Who collects by itself every few seconds (PdhCollectQueryDataEx): ended by query_destroy. */
    void *collecting;
    void (*end_collecting)(struct query *q);
};

/* All give PDH statuses. */

/* Takes over the catalogue, also when it fails. */
PDH_STATUS query_create(DWORD_PTR user_data, struct catalogue *catalogue, struct query **out);
void query_destroy(struct query *q);
/* Adds the counter of an English path; an instance that is not there now is awaited. PDH_CSTATUS_NO_MACHINE, NO_OBJECT,
   NO_COUNTER, BAD_COUNTERNAME, NO_COUNTERNAME; PDH_CSTATUS_NO_INSTANCE when the object has instances and the path names
   none, or the other way round. */
PDH_STATUS query_add(struct query *q, const char *path, DWORD_PTR user_data, struct counter **out);
void query_remove(struct counter *c);
/* Takes one sample of every object in use. *time (may be NULL) becomes the local FILETIME of the first reading.
   PDH_NO_DATA when the query has no counters, PDH_NO_MORE_DATA at the end of a log file. What failed stands in the
   counters' own status. */
PDH_STATUS query_collect(struct query *q, int64_t *time);

void query_enter(struct query *q);
void query_leave(struct query *q);

/* For a caller that holds the query's lock. The counter type. */
DWORD counter_type(const struct counter *c);
/* Name of the i-th value of a wildcard counter as in a path, borrowed. */
const char *counter_item_name(const struct counter_items *items, size_t i);
/* The same without its number ("svchost" of "svchost#1"), *length bytes of it. */
const char *counter_item_bare_name(const struct counter_items *items, size_t i, size_t *length);
/* Position of the newest value of the instance called `name`, SIZE_MAX when it has none. */
size_t counter_item_find(const struct counter *c, const char *name);
/* The value of the same thing in the sample before, NULL when there is none. */
const PDH_RAW_COUNTER *counter_item_older(const struct counter *c, size_t i);
/* The object at `position` in the catalogue of a query, opened if it was not; PDH_CSTATUS_NO_OBJECT when its source is
 * not there. */
PDH_STATUS query_object(struct query *q, size_t position, struct counter_object **out);

/* A query's samples written to a log file. */
struct query_log;
/* Creates (options->append: continues) the log with the counters that the query has now. In CSV and TSV a wildcard
   counter becomes one column for each instance of this moment. `circular`: a log that
   reached its limit makes room for the newest samples: a binary one in place, a text one by starting over.
   PDH_FILE_ALREADY_EXISTS, PDH_ACCESS_DENIED, PDH_LOG_FILE_CREATE_ERROR, PDH_UNMATCHED_APPEND_COUNTER,
   PDH_UNKNOWN_LOG_FORMAT, PDH_INVALID_DATASOURCE (SQL), PDH_NO_COUNTERS, PDH_MEMORY_ALLOCATION_FAILURE; the error's
   text (engine/base/error.h) says more. */
PDH_STATUS query_log_create(struct query *q, const struct log_format_traits *format, const char *path,
                            const struct log_options *options, bool circular, struct query_log **out);
/* Takes a sample and writes it, to the disk's cache at least. PDH_END_OF_LOG_FILE: the limit is reached, nothing was
   written; a counter that was removed meanwhile has no values. Otherwise the statuses of query_collect and
   PDH_LOG_FILE_CREATE_ERROR for a failed write. */
PDH_STATUS query_log_update(struct query_log *l);
uint64_t query_log_size(const struct query_log *l);
/* Completes the file, frees l also when that fails. NULL is allowed. */
PDH_STATUS query_log_close(struct query_log *l);

#endif
