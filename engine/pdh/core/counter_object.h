/* SPDX-License-Identifier: MIT */
/* Counter objects: the description of an object (its type) and one sample of all its instances. Each object of a query
   has two structs counter_object, called sides. The type's `sample` fills the sampling side on a thread with a time
   limit. The query's side contains the last completed sample. */
#ifndef OPENPLA_PDH_COUNTER_OBJECT_H
#define OPENPLA_PDH_COUNTER_OBJECT_H

#include "engine/logs/pdh_types.h"
#include "engine/pdh/core/source.h"

#include <stdatomic.h>

/* Marks a value that the instance never has, or does not have now. */
#define VALUE_ABSENT        INT64_MIN
/* The bits of `wanted` and `present`. Each counter has its own bit; counters from the 64th on share the last bit. */
#define OBJECT_BIT(counter) (1ull << ((counter) < 63 ? (counter) : 63))

/* How _Total combines the values of the instances. */
enum counter_total { TOTAL_SUM, TOTAL_MEAN, TOTAL_NONE };

struct counter_schema {
    const char *name; /* Windows' English name */
    const char *help;
    DWORD type;         /* PERF_* counter type */
    DWORD detail;       /* PERF_DETAIL_* */
    LONG scale;         /* suggested power of ten for charts */
    uint32_t base;      /* for fractions: index of the denominator in the row */
    uint32_t index;     /* well-known index of the name on Windows; the help has the next index; 0: none */
    const char *source; /* for counters of tables: the formula of the value, see table.h */
    enum counter_total total;
};

/* The instances of a sample. A list never changes after its creation. Therefore several readers can share a list and
   remember positions in the list. */
struct instance {
    char *name;         /* name as in a path: "svchost#1" */
    size_t base_length; /* length of the name that the source reported, without a "#1" that was appended because of a
                           duplicate */
    size_t bare_length; /* length of "svchost", even if the source's name already has a number, as in logs */
    uint32_t base_hash; /* hash of the base name, ignoring case */
    uint32_t hash;      /* hash of the whole name */
    uint64_t key;  /* identity: another key means another process, device and so on, even if the name is the same */
    uint32_t next; /* position + 1 of the next item in the same bucket; 0: none */
};
struct instance_list {
    atomic_size_t references;
    size_t count;
    struct instance *items;
    uint32_t *buckets; /* hash table by the whole name: position + 1 of the bucket's first item; 0: none */
    size_t mask;       /* number of buckets (a power of two) - 1 */
};

struct counter_object;
struct table;
struct counter_object_type {
    const char *name, *help;
    uint32_t index;      /* well-known index of the name, as for counters */
    const char *machine; /* the computer of objects from log files and remote computers, without backslashes; NULL: this
                            computer */
    const GUID *guid; /* the GUID of a Perflib V2 counterset, and the ids of its values; NULL: not such a counterset */
    const uint32_t *value_ids;
    const GUID *provider_guid; /* the Perflib provider that registered the counterset; NULL: unknown */
    const char *provider_name; /* set if provider_guid is set */
    bool has_instances;
    const struct counter_schema *counters;
    uint32_t counter_count;
    uint32_t value_count; /* number of values per instance: one per counter, in the order of the counters, then the
                             hidden bases */
    /* The object limits its waits itself, so the caller samples it directly, without a time limit. Types that are not
       constant must set this, because a delayed sample can outlive the type. */
    bool at_once;
    /* The object can be sampled on the query's thread, because it calls source_may_wait before it waits. Sampling on
       the query's thread avoids waking another thread, which would then wake the query's thread. */
    bool tries_at_once;
    /* Takes one sample of the values whose bits are in `wanted`; other values may be VALUE_ABSENT. Calls
       counter_object_row for each instance and sets o->time, o->present and, if they changed, the instances. Never runs
       on two threads at the same time. *o->last is the previous sample. */
    HRESULT (*sample)(struct counter_object *o, struct source *source, uint64_t wanted);
    /* Replace the defaults of counter_object_raw and counter_object_time_base; NULL for most types. Called only for
       existing rows. */
    void (*raw)(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out);
    int64_t (*time_base)(const struct counter_object *o, uint32_t counter);
    size_t state_size; /* size of the state that is kept between samples; at first, all its bytes are zero */
    void (*close)(struct counter_object *o); /* frees what o->state owns; may be NULL */
    const struct table *table;               /* set for objects that are tables (table.h) */
};

extern const struct counter_object_type *const counter_object_types[];
extern const size_t counter_object_type_count;

struct counter_object {
    const struct counter_object_type *type; /* borrowed, constant */
    void *state;                            /* state_size bytes that belong to the type */
    struct instance_list *instances;        /* NULL for an object without instances */
    uint64_t generation;                    /* changes whenever `instances` changes */
    int64_t *values;                        /* the rows, one after another; see counter_object_row */
    size_t capacity, rows;
    uint64_t present; /* OBJECT_BIT of the counters that have a source on this host OS */
    struct source_time time;
    FILETIME local_time; /* local time of the sample: the TimeStamp that PDH returns */
    HRESULT result;      /* result of the last sample; HRESULT_FROM_WIN32(ERROR_TIMEOUT) if the sample exceeded the time
                            limit */
    struct counter_object_work *work;  /* points to the sampling side; set only on the query's side */
    const struct counter_object *last; /* points to the last completed sample; used only on the sampling side */
    struct source_hold hold;           /* used only on the sampling side: the shared files that it currently uses */
};

/* Opens the object and takes a first sample. Fails if its source does not exist. If the source does not respond within
   the time limit, the object opens with all counters of its type, and `result` reports the timeout. */
HRESULT counter_object_open(const struct counter_object_type *type, struct source *source, struct counter_object **out);
struct counter_object_use {
    struct counter_object *object;
    uint64_t wanted; /* OBJECT_BIT of the counters to sample */
};
/* Takes a sample of each object. All objects share one time limit. An object that exceeds the limit does not delay the
   others: it has no values in this sample, nor in later samples until its delayed sample is complete. Each object's
   `result` reports its failures. */
void counter_objects_sample(const struct counter_object_use *uses, size_t count, struct source *source);
void counter_object_close(struct counter_object *o); /* NULL is allowed */

/* Returns the raw value of a counter in a row of the last sample, or the status if that sample failed. */
void counter_object_raw(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out);
/* Returns the ticks per second of the counter's clock. */
int64_t counter_object_time_base(const struct counter_object *o, uint32_t counter);
/* Returns true if the counter has a source on this host OS. */
static inline bool counter_object_has_counter(const struct counter_object *o, uint32_t counter)
{
    return (o->present & OBJECT_BIT(counter)) != 0;
}
/* Returns the position of the counter called `name` (ignoring case); counter_count if no such counter has a source
   here. */
uint32_t counter_object_find_counter(const struct counter_object *o, const char *name);
/* Returns the position of the instance called `name`, as in a path, ignoring case; SIZE_MAX if it does not exist. */
size_t instance_list_find(const struct instance_list *list, const char *name);
/* Like instance_list_find, for a caller that keeps the hash of the name. */
uint32_t instance_name_hash(const char *name);
size_t instance_list_find_hashed(const struct instance_list *list, const char *name, uint32_t hash);
void instance_list_release(struct instance_list *list); /* NULL is allowed */

/* For implementations of `sample`. Starts a new set of rows with all values absent. */
HRESULT counter_object_set_rows(struct counter_object *o, size_t rows);
int64_t *counter_object_row(struct counter_object *o, size_t row);
/* Creates a list of `count` instances and copies their names. Duplicate names get "#1", "#2" ... in the order of the
   list. Characters that are special in paths are replaced as in instance_name_make_safe. NULL if memory runs out. */
struct instance_list *instance_list_create(size_t count, const char *const *names, const uint64_t *keys);
/* Like instance_list_create, for names that are already valid in paths: changes names only by adding numbers to
   duplicates. */
struct instance_list *instance_list_create_ready(size_t count, const char *const *names, const uint64_t *keys);
/* Replaces the characters that are special in paths: "(" becomes "[", ")" becomes "]", and "/", "\" and "#" become
   "_". */
void instance_name_make_safe(char *name);
/* Makes `list` the object's instances and takes ownership of it. */
void counter_object_set_instances(struct counter_object *o, struct instance_list *list);

/* Returns the PDH status for a failed sample or a missing source. Statuses of remote computers pass through
   unchanged. */
PDH_STATUS pdh_status_of(HRESULT hr, DWORD otherwise);

#endif
