/* SPDX-License-Identifier: MIT */
/* Queries, their counters and their logs, and the handles that programs use for them. */
#ifndef OPENPLA_PDH_QUERY_H
#define OPENPLA_PDH_QUERY_H

#include "engine/base/os.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"
#include "engine/pdh/core/catalogue.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The set of live handles. Handles are addresses. A closed or invalid handle must be recognized without a read from its
   address. Thread-safe. */

/* Adds a handle. False if memory runs out. */
bool handle_add(const void *handle);
/* Does nothing if the handle is not alive. */
void handle_remove(const void *handle);
bool handle_is_alive(const void *handle);
/* Frees the set's memory. Called when the module is unloaded; all handles become invalid. */
void handles_free(void);

/* Queries and their counters: the objects behind PDH_HQUERY and PDH_HCOUNTER. Several threads may use a query: each
   function that takes a query locks it unless stated otherwise. Do not remove a counter or close a query while another
   call uses it. */

/* The first member of every object behind a handle. */
enum handle_kind { QUERY_HANDLE, COUNTER_HANDLE, LOG_HANDLE, CONSUMER_HANDLE };

/* The values of a wildcard counter in one sample, one per matching instance. */
struct counter_items {
    struct instance_list *list; /* one reference */
    uint64_t generation;        /* generation of the object's instances when `list` was current */
    size_t *positions;          /* positions of the matching instances in `list` */
    PDH_RAW_COUNTER *raw;
    size_t count, capacity, raw_capacity;
};

/* A raw value as words that are stored and loaded one by one: see counter_get. */
#define RAW_WORDS (sizeof(PDH_RAW_COUNTER) / sizeof(uint64_t))
union raw_value {
    PDH_RAW_COUNTER raw; /* used only while the query's lock is held */
    _Atomic uint64_t words[RAW_WORDS];
};
_Static_assert(sizeof(PDH_RAW_COUNTER) % sizeof(uint64_t) == 0, "the words of raw_value cover a PDH_RAW_COUNTER");

struct query;
struct counter {
    /* A sample uses only the members up to `raw`. These members fit in two cache lines. */
    enum handle_kind kind;
    uint32_t schema; /* index of the counter in its object type */
    struct query *query;
    struct counter *next;
    struct counter_object *object; /* owned by the query */
    bool is_wildcard;
    bool has_instance;
    DWORD type; /* PERF_* counter type */
    /* For a single instance: */
    uint64_t generation; /* generation of the instance list in which row and key were found */
    size_t row;          /* SIZE_MAX: not found */
    uint64_t key;
    union raw_value raw[2]; /* the values of the last two samples: see counter_newer */

    uint64_t serial; /* increases in the order in which counters were added to the query */
    struct counter *previous;
    size_t position; /* index of the object in the query */
    struct counter_path path;
    char *instance; /* as in a path; NULL for an object without instances */
    uint32_t instance_hash;
    DWORD_PTR user_data;
    _Atomic LONG scale;
    int64_t time_base;
    /* For a wildcard: */
    struct counter_items newer_items, older_items;
};

/* An object of the query's catalogue and its use by counters. */
struct query_object {
    struct counter_object *object; /* NULL until it is needed */
    uint32_t *uses;                /* for each counter of the object: how many counters of the query use it */
    size_t use_count, use_capacity;
    uint64_t wanted; /* OBJECT_BIT of the counters in use */
};

struct query {
    enum handle_kind kind;
    struct lock lock;
    DWORD_PTR user_data;
    struct source source;
    struct catalogue *catalogue;
    struct query_object *objects; /* in the order of the catalogue; the array may be shorter than the catalogue */
    size_t object_count, object_capacity;
    struct counter_object_use *uses; /* reusable array for one sample */
    size_t use_capacity;
    struct counter *first, *last;
    unsigned now;       /* index of the newest value in every counter's `raw` */
    atomic_uint turns;  /* odd while counters receive new values */
    uint64_t serial;    /* serial of the last counter that was added */
    int64_t sample_utc; /* UTC FILETIME at which the last sample read its first object */
    /* The thread that collects every few seconds (PdhCollectQueryDataEx). query_destroy ends it. */
    void *collecting;
    void (*end_collecting)(struct query *q);
};

/* All functions return PDH statuses. */

/* Takes ownership of the catalogue, even on failure. */
PDH_STATUS query_create(DWORD_PTR user_data, struct catalogue *catalogue, struct query **out);
void query_destroy(struct query *q);
/* Adds the counter that an English path names. The instance need not exist yet. Fails with PDH_CSTATUS_NO_MACHINE,
   NO_OBJECT, NO_COUNTER, BAD_COUNTERNAME or NO_COUNTERNAME. Fails with PDH_CSTATUS_NO_INSTANCE if the path has an
   instance although the object has no instances, or has no instance although the object has instances. */
PDH_STATUS query_add(struct query *q, const char *path, DWORD_PTR user_data, struct counter **out);
void query_remove(struct counter *c);
/* Takes one sample of every object in use. *time (may be NULL) is the local FILETIME at which the first object was
   read. Fails with PDH_NO_DATA if the query has no counters, and PDH_NO_MORE_DATA at the end of a log file. Failures of
   single counters are in the counters' own status. */
PDH_STATUS query_collect(struct query *q, int64_t *time);

void query_enter(struct query *q);
void query_leave(struct query *q);

/* Copies the values of the last two samples (`older` may be NULL). Takes the lock only while values are being
   stored. */
void counter_get(struct counter *c, PDH_RAW_COUNTER *newer, PDH_RAW_COUNTER *older);

/* The following functions require that the caller holds the query's lock. */
static inline const PDH_RAW_COUNTER *counter_newer(const struct counter *c)
{
    return &c->raw[c->query->now].raw;
}
static inline const PDH_RAW_COUNTER *counter_older(const struct counter *c)
{
    return &c->raw[!c->query->now].raw;
}
/* Returns the name of the i-th value of a wildcard counter, as in a path; borrowed. */
const char *counter_item_name(const struct counter_items *items, size_t i);
/* Like counter_item_name, without the instance's number ("svchost" for "svchost#1"). The name is the first *length
   bytes of the result. */
const char *counter_item_bare_name(const struct counter_items *items, size_t i, size_t *length);
/* Returns the position of the newest value of the instance called `name`; SIZE_MAX if the instance has no value. */
size_t counter_item_find(const struct counter *c, const char *name);
/* Returns the value of item `i` in the previous sample; NULL if it had no value, or if its name belonged to another
   process or device. */
const PDH_RAW_COUNTER *counter_item_older(const struct counter *c, size_t i);
/* Returns the object at `position` in the query's catalogue, and opens it if necessary. Fails with
   PDH_CSTATUS_NO_OBJECT if the object's source does not exist. */
PDH_STATUS query_object(struct query *q, size_t position, struct counter_object **out);

/* Writes the samples of a query to a log file. */
struct query_log;
/* Creates a log with the current counters of the query. If options->append is set, continues an existing log. In CSV
   and TSV a wildcard counter becomes one column per instance that exists now. `circular` means that the log makes room
   for the newest samples at its size limit: a binary log overwrites its oldest samples, a text log starts over. Fails
   with PDH_FILE_ALREADY_EXISTS, PDH_ACCESS_DENIED, PDH_LOG_FILE_CREATE_ERROR, PDH_UNMATCHED_APPEND_COUNTER,
   PDH_UNKNOWN_LOG_FORMAT, PDH_INVALID_DATASOURCE (SQL), PDH_NO_COUNTERS or PDH_MEMORY_ALLOCATION_FAILURE; the error's
   message (engine/base/error.h) has details. */
PDH_STATUS query_log_create(struct query *q, const struct log_format_traits *format, const char *path,
                            const struct log_options *options, bool circular, struct query_log **out);
/* Takes a sample and writes it to the file, possibly only to the operating system's cache. Counters that were removed
   since the log was created have no values. Fails with PDH_END_OF_LOG_FILE if the size limit is reached and nothing was
   written, with PDH_LOG_FILE_CREATE_ERROR if writing fails, or with the errors of query_collect. */
PDH_STATUS query_log_update(struct query_log *l);
uint64_t query_log_size(const struct query_log *l);
/* Completes the file and frees `l`, even on failure. NULL is allowed. */
PDH_STATUS query_log_close(struct query_log *l);

#endif
