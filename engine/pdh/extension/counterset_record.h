/* SPDX-License-Identifier: MIT */
/* What the section of a Perflib V2 provider holds, and how a copy of it is taken apart. Another process wrote it and
   may write on: nothing is looked at but the copy, and there only what fits into it. */
#ifndef OPENPLA_PDH_COUNTERSET_RECORD_H
#define OPENPLA_PDH_COUNTERSET_RECORD_H

#include "engine/base/text.h"

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

#endif
