/* SPDX-License-Identifier: MIT */
/* How much memory what is made for one who asks holds: the quota "memory". A server has a share for each client, and
   what it makes or changes while it serves one is counted there until it goes. */
#ifndef OPENPLA_MEMORY_SHARE_H
#define OPENPLA_MEMORY_SHARE_H

#include "engine/base/wintypes.h"

#include <stddef.h>
#include <stdint.h>

struct memory_share;
/* With one reference; NULL: out of memory. A share that has gone from its client stays as long as something counts in
   it. */
struct memory_share *memory_share_create(void);
struct memory_share *memory_share_reference(struct memory_share *s); /* NULL is allowed, here and below: nobody's */
void memory_share_release(struct memory_share *s);

/* What this thread makes from now on is counted there; NULL: nowhere. Borrowed. */
void memory_share_serve(struct memory_share *s);
struct memory_share *memory_share_served(void);

/* Whether so many bytes more may be had: HRESULT of ERROR_NOT_ENOUGH_QUOTA. */
HRESULT memory_share_room(const struct memory_share *s, size_t bytes);
/* Counts so many bytes more, or fewer, whatever the bound says. */
void memory_share_count(struct memory_share *s, int64_t bytes);
uint64_t memory_share_bytes(const struct memory_share *s);

#endif
