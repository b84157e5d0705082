/* SPDX-License-Identifier: MIT */
/* Performance objects: what one is called and made of, and one sample of all its instances. An object has two sides, of
   one type: the one that a provider fills, on a thread with a limit of time, and the one that the query reads, which is
   the last sample that ended. */
#ifndef OPENPLA_PDH_COUNTER_OBJECT_H
#define OPENPLA_PDH_COUNTER_OBJECT_H

#include "engine/logs/pdh_types.h"
#include "engine/pdh/core/source.h"

#include <stdatomic.h>

/* A value that has no true source in this instance or at this moment. */
#define VALUE_ABSENT        INT64_MIN
/* Bits of `wanted` and `present`: each counter has its own, those from the 64th on share the last. */
#define OBJECT_BIT(counter) (1ull << ((counter) < 63 ? (counter) : 63))

/* What _Total shows of the instances' values. */
enum counter_total { TOTAL_SUM, TOTAL_MEAN, TOTAL_NONE };

struct counter_schema {
    const char *name; /* Windows' English name */
    const char *help;
    DWORD type;         /* PERF_* counter type */
    DWORD detail;       /* PERF_DETAIL_* */
    LONG scale;         /* suggested power of ten for a chart */
    uint32_t base;      /* fractions: which value of the row is the denominator */
    uint32_t index;     /* of the name among Windows' well-known ones (the help's is one more), 0 when it has none */
    const char *source; /* of a table's counters: what the value is made of, as table.h says */
    enum counter_total total;
};

/* The instances of a sample. Never changed once made; shared by those who remember values by its positions. */
struct instance {
    char *name;         /* as in a path: "svchost#1" */
    size_t base_length; /* of "svchost" */
    size_t bare_length; /* the same, also of a name that came with its number, as logs have it */
    uint32_t base_hash; /* of the base name, without case */
    uint32_t hash;      /* of the whole name */
    uint64_t key;       /* what it really is: another key under the same name is another thing */
    uint32_t next;      /* of the same bucket, as in `buckets` */
};
struct instance_list {
    atomic_size_t references;
    size_t count;
    struct instance *items;
    uint32_t *buckets; /* by the whole name's hash: position + 1 of the first item, 0 for none */
    size_t mask;       /* number of buckets - 1, a power of two less one */
};

struct counter_object;
struct table;
struct counter_object_type {
    const char *name, *help;
    uint32_t index;      /* of the name, as a counter's */
    const char *machine; /* of a log file, without backslashes; NULL: this computer */
    const GUID *guid;    /* of a Perflib V2 counterset, with its own ids of the values; NULL: it has neither */
    const uint32_t *value_ids;
    const GUID *maker;      /* the Perflib V2 provider that a counterset is registered for; NULL: it is not known */
    const char *maker_name; /* where there is a `maker` */
    bool has_instances;
    const struct counter_schema *counters;
    uint32_t counter_count;
    uint32_t value_count; /* per instance: the counters' values in their order, then hidden bases */
    /* Never waits: it is sampled by the caller itself, without a limit of time. A provider that is not a constant must
       be so, since a sampling may outlive all else. */
    bool at_once;
    /* Takes one sample of the values whose bits are in `wanted`: calls counter_object_row for each instance and sets
       o->time, o->present and, when they changed, the instances. Others may be left VALUE_ABSENT. Not on two threads at
       a time. The sample before is *o->last. */
    HRESULT (*sample)(struct counter_object *o, struct source *source, uint64_t wanted);
    /* Where the defaults of counter_object_raw and counter_object_time_base do not fit; NULL for most. Only for a row
     * that is there. */
    void (*raw)(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out);
    int64_t (*time_base)(const struct counter_object *o, uint32_t counter);
    size_t state_size;                       /* of what the object keeps between samples; zero at first */
    void (*close)(struct counter_object *o); /* frees what o->state owns; may be NULL */
    const struct table *table;               /* of objects that are tables (table.h) */
};

extern const struct counter_object_type *const counter_object_types[];
extern const size_t counter_object_type_count;

struct counter_object {
    const struct counter_object_type *type; /* borrowed, constant */
    void *state;                            /* the provider's, state_size bytes */
    struct instance_list *instances;        /* NULL for an object without instances */
    uint64_t generation;                    /* changes with `instances` */
    int64_t *values;                        /* row after row; see counter_object_row */
    size_t capacity, rows;
    uint64_t present; /* counters that have a source on this host */
    struct source_time time;
    FILETIME local_time; /* of the sample, as PDH stamps it: local */
    HRESULT result;      /* of the last sample; HRESULT_FROM_WIN32(ERROR_TIMEOUT) when it has not ended in time */
    struct counter_object_work *work;  /* the query's side: who fills the other one */
    const struct counter_object *last; /* the provider's side: the query's as it was before this sample */
    struct source_hold hold;           /* the provider's side: what it reads now */
};

/* Opens the object with a first sample; fails when its source is not there. One whose source does not answer in time
   is open with all counters of its provider and a `result` that says so. */
HRESULT counter_object_open(const struct counter_object_type *type, struct source *source, struct counter_object **out);
struct counter_object_use {
    struct counter_object *object;
    uint64_t wanted; /* OBJECT_BIT of the counters to sample */
};
/* Takes a sample of each object. All have the same limit of time, and one that does not keep it does not hold up the
   others: its sample is missing, those after it too until it has ended. What failed stands in the objects' `result`. */
void counter_objects_sample(const struct counter_object_use *uses, size_t count, struct source *source);
void counter_object_close(struct counter_object *o); /* NULL is allowed */

/* The raw value of a counter in a row of the last sample; when that failed, its status. */
void counter_object_raw(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out);
/* Ticks per second of a counter's clock. */
int64_t counter_object_time_base(const struct counter_object *o, uint32_t counter);
/* Does the counter have a source on this host? */
static inline bool counter_object_has_counter(const struct counter_object *o, uint32_t counter)
{
    return (o->present & OBJECT_BIT(counter)) != 0;
}
/* Position of the counter called `name` (without case) that has a source here; counter_count when there is none. */
uint32_t counter_object_find_counter(const struct counter_object *o, const char *name);
/* Position of the instance called `name` as in a path, without case; SIZE_MAX when it is not there. */
size_t instance_list_find(const struct instance_list *list, const char *name);
void instance_list_release(struct instance_list *list); /* NULL is allowed */

/* For providers. Starts a new set of rows, all absent. */
HRESULT counter_object_set_rows(struct counter_object *o, size_t rows);
int64_t *counter_object_row(struct counter_object *o, size_t row);
/* Makes a list of `count` instances; names are copied, doubles get "#1", "#2" in their order; characters that a path
   gives a meaning become others: ( ) [ ], / \ # _. NULL when out of memory. */
struct instance_list *instance_list_create(size_t count, const char *const *names, const uint64_t *keys);
/* The same with names that are as in a path already: only doubles get their number. */
struct instance_list *instance_list_create_ready(size_t count, const char *const *names, const uint64_t *keys);
/* Replaces the characters that a path gives a meaning: ( ) [ ], / \ # _. */
void instance_name_make_safe(char *name);
/* Takes over `list` as the object's instances. */
void counter_object_set_instances(struct counter_object *o, struct instance_list *list);

/* The PDH status that stands for a failed sample or a missing source: another computer's is one already. */
PDH_STATUS pdh_status_of(HRESULT hr, DWORD otherwise);

#endif
