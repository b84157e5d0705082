/* SPDX-License-Identifier: MIT */
/* Countersets of Perflib V2 providers in shared memory: each provider has a section of its own, a directory names the
   providers that live. The provider's process writes, every process reads, and none trusts what it finds there: a
   reader copies a section before it looks, a provider keeps in its own memory what it must know. */
#ifndef OPENPLA_PDH_COUNTERSET_SHARE_H
#define OPENPLA_PDH_COUNTERSET_SHARE_H

#include "engine/base/process.h"
#include "engine/pdh/extension/counterset_record.h"

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
