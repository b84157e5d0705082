/* SPDX-License-Identifier: MIT */
/* Countersets of Perflib V2 providers in shared memory: each provider has a section of its own, a directory names the
   providers that live. The provider's process writes, every process reads. */
#ifndef OPENPLA_PDH_COUNTERSET_SHARE_H
#define OPENPLA_PDH_COUNTERSET_SHARE_H

#include "engine/os/process.h"

enum { COUNTERSET_NAME_BYTES = 128, COUNTERSET_INSTANCE_BYTES = 256, COUNTERSET_PROVIDERS = 256 };

struct counterset_counter {
    uint32_t id, type, detail;
    int32_t scale;
    char name[COUNTERSET_NAME_BYTES]; /* UTF-8, as the instances' and countersets' */
};

/* In the section; records follow each other and stay where they are. */
struct counterset_record {
    uint32_t size; /* bytes to the next record */
    uint32_t kind; /* 1 counterset, 2 instance */
    uint32_t live; /* atomic; 0: it is not there any more */
    uint32_t set;  /* of an instance: offset of its counterset */
    uint32_t id;   /* of an instance */
    uint32_t count;
    GUID guid;               /* of a counterset */
    uint32_t single, unused; /* a counterset without instances */
    char name[COUNTERSET_INSTANCE_BYTES];
    /* A counterset: struct counterset_counter[count]; an instance: int64_t[count], atomic, in the same order. */
};
#define COUNTERSET_KIND_SET      1u
#define COUNTERSET_KIND_INSTANCE 2u

/* The provider's side. Not locked. */
struct counterset_provider;
HRESULT counterset_provider_open(struct counterset_provider **out);
/* `set` in *offset. E_OUTOFMEMORY: the section is full. */
HRESULT counterset_provider_add(struct counterset_provider *p, const GUID *guid, const char *name, bool single,
                                const struct counterset_counter *counters, uint32_t count, uint32_t *offset);
HRESULT counterset_provider_create_instance(struct counterset_provider *p, uint32_t set, const char *name, uint32_t id,
                                            uint32_t *offset);
void counterset_provider_delete(struct counterset_provider *p, uint32_t offset);
struct counterset_record *counterset_provider_record(struct counterset_provider *p, uint32_t offset);
int64_t *counterset_provider_values(struct counterset_provider *p, uint32_t offset); /* of an instance */
void counterset_provider_close(struct counterset_provider *p);                       /* NULL is allowed */

/* The reader's side: the live providers' sections. Zero-initialise. */
struct counterset_view {
    uint32_t process;
    uint64_t process_start;
    uint32_t serial;
    struct section *section;
};
struct counterset_views {
    struct counterset_view *items;
    size_t count, capacity;
};
/* Adds the providers that came and drops those that ended. E_OUTOFMEMORY. */
HRESULT counterset_views_update(struct counterset_views *v);
/* The record behind `at` (NULL: the first) of a provider; NULL at the end, or where the section is damaged. */
const struct counterset_record *counterset_next(const struct counterset_view *v, const struct counterset_record *at);
/* The live counterset of a live instance, NULL when it has none. */
const struct counterset_record *counterset_of(const struct counterset_view *v,
                                              const struct counterset_record *instance);
const struct counterset_counter *counterset_counters(const struct counterset_record *set);
const int64_t *counterset_values(const struct counterset_record *instance);
bool counterset_is_live(const struct counterset_record *r);
void counterset_views_close(struct counterset_views *v);

#endif
