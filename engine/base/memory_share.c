/* SPDX-License-Identifier: MIT */
/* Shares of memory. */
#include "engine/base/memory_share.h"

#include "engine/base/memory.h"
#include "engine/base/quotas.h"

#include <stdatomic.h>

struct memory_share {
    atomic_uint references;
    _Atomic int64_t bytes;
};

/* Whether any thread has ever served a share: a thread's own variables are slow to come by with some compilers. */
static atomic_bool used;
static _Thread_local struct memory_share *served;

struct memory_share *memory_share_create(void)
{
    struct memory_share *s = memory_zero(1, sizeof *s);
    if (s)
        atomic_init(&s->references, 1);
    return s;
}

struct memory_share *memory_share_reference(struct memory_share *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

void memory_share_release(struct memory_share *s)
{
    if (s && atomic_fetch_sub(&s->references, 1) == 1)
        memory_free(s);
}

void memory_share_serve(struct memory_share *s)
{
    if (s)
        atomic_store_explicit(&used, true, memory_order_relaxed);
    if (atomic_load_explicit(&used, memory_order_relaxed))
        served = s;
}

struct memory_share *memory_share_served(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed) ? served : NULL;
}

uint64_t memory_share_bytes(const struct memory_share *s)
{
    const int64_t bytes = s ? atomic_load(&s->bytes) : 0;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

HRESULT memory_share_room(const struct memory_share *s, size_t bytes)
{
    const uint64_t limit = s ? quota_limit(QUOTA_memory) : 0;
    return !s || (bytes <= limit && memory_share_bytes(s) <= limit - bytes) ? S_OK : quota_exceeded(QUOTA_memory, "");
}

void memory_share_count(struct memory_share *s, int64_t bytes)
{
    if (s)
        atomic_fetch_add(&s->bytes, bytes);
}
