/* SPDX-License-Identifier: MIT */
/* Perflib V2 countersets in shared memory: the format of a Perflib provider's section, and the functions for the
   provider and for readers. counterset_share.c describes the protocol. */
#ifndef OPENPLA_PDH_COUNTERSET_SHARE_H
#define OPENPLA_PDH_COUNTERSET_SHARE_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* The format of a Perflib provider's section, and functions that parse a copy of it. Another process may write the
   section at any time, so readers check only a copy, and ignore all inconsistent content. */

enum {
    COUNTERSET_NAME_BYTES = 128,
    COUNTERSET_INSTANCE_BYTES = 256,
    COUNTERSET_MOST_COUNTERS = 4095, /* maximum per counterset */
};

struct counterset_counter {
    uint32_t id, type, detail;
    int32_t scale;
    char name[COUNTERSET_NAME_BYTES]; /* UTF-8, like the names of instances and countersets */
};

/* The first bytes of the section. */
struct counterset_head {
    uint32_t version;
    uint32_t used; /* offset of the end of the last record; atomic */
};
#define COUNTERSET_VERSION      3u
#define COUNTERSET_FIRST_RECORD 64u

/* Records follow each other and never move. */
struct counterset_record {
    uint32_t generation; /* atomic; changes whenever the record's room is reused. Copied first, together with `live` */
    uint32_t live;       /* atomic; 0: deleted */
    uint32_t size;       /* bytes to the next record, a multiple of 8 */
    uint32_t kind;       /* COUNTERSET_KIND_SET or COUNTERSET_KIND_INSTANCE */
    uint32_t set;        /* in an instance: offset of its counterset */
    uint32_t id;         /* in an instance: its number */
    uint32_t count;
    GUID guid;       /* in a counterset: its GUID */
    uint32_t single; /* in a counterset: 1 if it has no instances */
    char name[COUNTERSET_INSTANCE_BYTES];
    /* Followed by struct counterset_counter[count] for a counterset, or by int64_t[count] (atomic, in the same order)
       for an instance. */
};
#define COUNTERSET_KIND_SET      1u
#define COUNTERSET_KIND_INSTANCE 2u

/* The copied bytes of a section up to the end of its last record, aligned to 8 bytes. */
struct counterset_bytes {
    const uint8_t *bytes;
    size_t size;
};

/* Returns the record after `at`, or the first record if `at` is NULL. Returns NULL at the end or at corrupt bytes. */
const struct counterset_record *counterset_next(const struct counterset_bytes *b, const struct counterset_record *at);
/* Returns the live counterset to which a live instance belongs; NULL if it does not exist. */
const struct counterset_record *counterset_of(const struct counterset_bytes *b,
                                              const struct counterset_record *instance);
const struct counterset_counter *counterset_counters(const struct counterset_record *set);
const int64_t *counterset_values(const struct counterset_record *instance);
/* Copies a name as UTF-8, from memory_alloc; "" if the name is not terminated. */
char *counterset_text(const char *name, size_t bytes);

/* The countersets of running Perflib providers. Each provider has a section, and a directory lists the providers. The
   provider's process writes its section, and every process can read it. Neither side trusts the shared memory: readers
   copy a section before they check it, and providers keep their bookkeeping in private memory. */
enum { COUNTERSET_PROVIDERS = 256 };

/* Functions for the provider. Not thread-safe. */
struct counterset_provider;
HRESULT counterset_provider_open(struct counterset_provider **out);
/* Adds a counterset. *offset identifies it in later calls. Fails with E_OUTOFMEMORY if the section is full. */
HRESULT counterset_provider_add(struct counterset_provider *p, const GUID *guid, const char *name, bool single,
                                const struct counterset_counter *counters, uint32_t count, uint32_t *offset);
HRESULT counterset_provider_create_instance(struct counterset_provider *p, uint32_t set, const char *name, uint32_t id,
                                            uint32_t *offset);
void counterset_provider_delete(struct counterset_provider *p, uint32_t offset);
int64_t *counterset_provider_values(struct counterset_provider *p, uint32_t offset); /* values of the instance at
                                                                                        `offset` */
void counterset_provider_close(struct counterset_provider *p);                       /* NULL is allowed */

/* Functions for readers. The views are the sections of running providers. Zero-initialise. */
struct counterset_view {
    uint32_t process;
    uint64_t process_start;
    uint32_t serial;
    struct section *section;
};
struct counterset_views {
    struct counterset_view *items;
    size_t count, capacity;
    uint64_t *copy; /* the copy that the last call of counterset_view_copy made */
    size_t copy_capacity;
};
/* Adds the views of new providers, and drops the views of providers that have exited. Fails with E_OUTOFMEMORY. */
HRESULT counterset_views_update(struct counterset_views *v);
/* Copies the section of view `i`, borrowed until the next call. The copy is empty if the section's size is invalid. If
   the provider recreates a record during the copy, the record is marked as not live in the copy. Fails with
   E_OUTOFMEMORY. */
HRESULT counterset_view_copy(struct counterset_views *v, size_t i, struct counterset_bytes *out);
void counterset_views_close(struct counterset_views *v);

#endif
