/* SPDX-License-Identifier: MIT */
/* Takes a copy of a provider's section apart. */
#include "engine/pdh/extension/counterset_record.h"

#include <string.h>

/* The record at the offset if it is whole. */
static const struct counterset_record *record_at(const struct counterset_bytes *b, uint64_t offset)
{
    if (offset < COUNTERSET_FIRST_RECORD || offset % 8 || offset > b->size ||
        b->size - offset < sizeof(struct counterset_record))
        return NULL;
    const struct counterset_record *r = (const struct counterset_record *)(const void *)(b->bytes + offset);
    uint64_t each = r->kind == COUNTERSET_KIND_SET ? sizeof(struct counterset_counter) : sizeof(int64_t);
    bool fits = r->size <= b->size - offset && r->size % 8 == 0 && r->count <= COUNTERSET_MOST_COUNTERS;
    return fits && sizeof *r + r->count * each <= r->size ? r : NULL;
}

const struct counterset_record *counterset_next(const struct counterset_bytes *b, const struct counterset_record *at)
{
    return record_at(b, at ? (uint64_t)((const uint8_t *)at - b->bytes) + at->size : COUNTERSET_FIRST_RECORD);
}

const struct counterset_record *counterset_of(const struct counterset_bytes *b,
                                              const struct counterset_record *instance)
{
    const struct counterset_record *r = record_at(b, instance->set);
    return r && r->live && r->kind == COUNTERSET_KIND_SET && r->count == instance->count ? r : NULL;
}

const struct counterset_counter *counterset_counters(const struct counterset_record *r)
{
    return (const struct counterset_counter *)(const void *)(r + 1);
}

const int64_t *counterset_values(const struct counterset_record *r)
{
    return (const int64_t *)(const void *)(r + 1);
}

char *counterset_text(const char *name, size_t bytes)
{
    const char *end = memchr(name, 0, bytes);
    return text_copy_n(name, end ? (size_t)(end - name) : 0);
}
