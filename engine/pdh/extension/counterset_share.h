/* SPDX-License-Identifier: MIT */
/* Perflib V2 countersets in shared memory: the records of a provider's section, the provider's side and the reader's.
 */
#ifndef OPENPLA_PDH_COUNTERSET_SHARE_H
#define OPENPLA_PDH_COUNTERSET_SHARE_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* What the section of a Perflib V2 provider holds, and how a copy of it is taken apart. Another process wrote it and
   may write on: nothing is looked at but the copy, and there only what fits into it. */

enum {
    COUNTERSET_NAME_BYTES = 128,
    COUNTERSET_INSTANCE_BYTES = 256,
    COUNTERSET_MOST_COUNTERS = 4095, /* of one counterset */
};

struct counterset_counter {
    uint32_t id, type, detail;
    int32_t scale;
    char name[COUNTERSET_NAME_BYTES]; /* UTF-8, as the instances' and countersets' */
};

/* At the section's beginning. */
struct counterset_head {
    uint32_t version;
    uint32_t used; /* offset behind the last record; atomic */
};
#define COUNTERSET_VERSION      3u
#define COUNTERSET_FIRST_RECORD 64u

/* Records follow each other and stay where they are. */
struct counterset_record {
    uint32_t generation; /* atomic; another each time that the room is used anew. A copy takes it first, and at once
                            with `live` */
    uint32_t live;       /* atomic; 0: it is not there any more */
    uint32_t size;       /* bytes to the next record, a multiple of 8 */
    uint32_t kind;       /* 1 counterset, 2 instance */
    uint32_t set;        /* of an instance: offset of its counterset */
    uint32_t id;         /* of an instance */
    uint32_t count;
    GUID guid;       /* of a counterset */
    uint32_t single; /* a counterset without instances */
    char name[COUNTERSET_INSTANCE_BYTES];
    /* A counterset: struct counterset_counter[count]; an instance: int64_t[count], atomic, in the same order. */
};
#define COUNTERSET_KIND_SET      1u
#define COUNTERSET_KIND_INSTANCE 2u

/* A section's bytes up to the end of its last record, 8-aligned and this process' own. */
struct counterset_bytes {
    const uint8_t *bytes;
    size_t size;
};

/* The record behind `at` (NULL: the first); NULL at the end, or where the bytes are damaged. */
const struct counterset_record *counterset_next(const struct counterset_bytes *b, const struct counterset_record *at);
/* The live counterset of a live instance, NULL when it has none. */
const struct counterset_record *counterset_of(const struct counterset_bytes *b,
                                              const struct counterset_record *instance);
const struct counterset_counter *counterset_counters(const struct counterset_record *set);
const int64_t *counterset_values(const struct counterset_record *instance);
/* A copy of a name's bytes as UTF-8, from memory_alloc; "" for one without an end. */
char *counterset_text(const char *name, size_t bytes);

/* Countersets of Perflib V2 providers in shared memory: each provider has a section of its own, a directory names the
   providers that live. The provider's process writes, every process reads, and none trusts what it finds there: a
   reader copies a section before it looks, a provider keeps in its own memory what it must know. */
enum { COUNTERSET_PROVIDERS = 256 };

/* The provider's side. Not locked. */
struct counterset_provider;
HRESULT counterset_provider_open(struct counterset_provider **out);
/* `set` in *offset. E_OUTOFMEMORY: the section is full. */
HRESULT counterset_provider_add(struct counterset_provider *p, const GUID *guid, const char *name, bool single,
                                const struct counterset_counter *counters, uint32_t count, uint32_t *offset);
HRESULT counterset_provider_create_instance(struct counterset_provider *p, uint32_t set, const char *name, uint32_t id,
                                            uint32_t *offset);
void counterset_provider_delete(struct counterset_provider *p, uint32_t offset);
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
    uint64_t *copy; /* what counterset_view_copy gave last */
    size_t copy_capacity;
};
/* Adds the providers that came and drops those that ended. E_OUTOFMEMORY. */
HRESULT counterset_views_update(struct counterset_views *v);
/* Copies the section of view number `i`, borrowed until the next call: without bytes where it says nonsense of its
   size. A record that the provider makes meanwhile is not live in it. E_OUTOFMEMORY. */
HRESULT counterset_view_copy(struct counterset_views *v, size_t i, struct counterset_bytes *out);
void counterset_views_close(struct counterset_views *v);

#endif
