/* SPDX-License-Identifier: MIT */
/* Performance objects: what one is called and made of, and one sample of all its instances. */
#ifndef OPENPLA_PDH_OBJECT_H
#define OPENPLA_PDH_OBJECT_H

#include "engine/os/pdh_types.h"
#include "engine/pdh/source.h"

/* A value that has no true source in this instance or at this moment. */
#define VALUE_ABSENT        INT64_MIN
/* At most this many counters (and hidden bases) per object: bits of `wanted` and `present`. */
#define OBJECT_MAX_COUNTERS 64

struct counter_schema {
    const char *name; /* Windows' English name */
    const char *help;
    DWORD type;    /* PERF_* counter type */
    DWORD detail;  /* PERF_DETAIL_* */
    LONG scale;    /* suggested power of ten for a chart */
    uint32_t base; /* fractions: which value of the row is the denominator */
};

/* The instances of a sample. Never changed once made; shared by those who remember values by its positions. */
struct instance {
    char *name;         /* as in a path: "svchost#1" */
    size_t base_length; /* of "svchost" */
    uint32_t base_hash; /* of the base name, without case */
    uint32_t hash;      /* of the whole name */
    uint64_t key;       /* what it really is: another key under the same name is another thing */
};
struct instance_list {
    size_t references, count;
    struct instance *items;
};

struct object;
struct provider {
    const char *name, *help;
    bool has_instances;
    const struct counter_schema *counters;
    uint32_t counter_count;
    uint32_t value_count; /* per instance: the counters' values in their order, then hidden bases */
    /* Takes one sample of the values whose bits are in `wanted`: calls object_row for each instance and sets o->time,
       o->present and, when they changed, the instances. Others may be left VALUE_ABSENT. */
    HRESULT (*sample)(struct object *o, struct source *source, uint64_t wanted);
    size_t state_size;               /* of what the object keeps between samples; zero at first */
    void (*close)(struct object *o); /* frees what o->state owns; may be NULL */
};

extern const struct provider *const pdh_providers[];
extern const size_t pdh_provider_count;
extern const struct provider pdh_processor, pdh_memory, pdh_system, pdh_process;

struct object {
    const struct provider *provider; /* borrowed, constant */
    void *state;                     /* the provider's, state_size bytes */
    struct instance_list *instances; /* NULL for an object without instances */
    uint64_t generation;             /* changes with `instances` */
    int64_t *values;                 /* row after row; see object_row */
    size_t capacity, rows;
    uint64_t present; /* counters that have a source on this host */
    struct source_time time;
    FILETIME local_time; /* of the sample, as PDH stamps it: local */
    HRESULT result;      /* of the last sample */
};

/* Opens the object with a first sample; fails when its source is not there. */
HRESULT object_open(const struct provider *provider, struct source *source, struct object **out);
HRESULT object_sample(struct object *o, struct source *source, uint64_t wanted);
void object_close(struct object *o); /* NULL is allowed */

/* The raw value of a counter in a row of the last sample; when that failed, its status. */
void object_raw(const struct object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out);
/* Position of the counter called `name` (without case) that has a source here; counter_count when there is none. */
uint32_t object_find_counter(const struct object *o, const char *name);
/* Position of the instance called `name` as in a path, without case; SIZE_MAX when it is not there. */
size_t instance_list_find(const struct instance_list *list, const char *name);
void instance_list_release(struct instance_list *list); /* NULL is allowed */

/* For providers. Starts a new set of rows, all absent. */
HRESULT object_set_rows(struct object *o, size_t rows);
int64_t *object_row(struct object *o, size_t row);
/* Makes a list of `count` instances; names are copied, doubles get "#1", "#2" in their order; characters that a path
   gives a meaning become others: ( ) [ ], / \ # _. NULL when out of memory. */
struct instance_list *instance_list_create(size_t count, const char *const *names, const uint64_t *keys);
/* Takes over `list` as the object's instances. */
void object_set_instances(struct object *o, struct instance_list *list);

/* The PDH status that stands for a failed sample or a missing source. */
PDH_STATUS pdh_status_of(HRESULT hr, DWORD otherwise);

#endif
