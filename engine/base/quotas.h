/* SPDX-License-Identifier: MIT */
/* Quotas: the table of quotas.def, how its numbers are changed on one machine, and the shares of the quota "memory". */
#ifndef OPENPLA_QUOTAS_H
#define OPENPLA_QUOTAS_H

#include "engine/base/wintypes.h"

#include <stddef.h>
#include <stdint.h>

enum quota {
#define QUOTA(name, number, change, error, of, why) QUOTA_##name,
#include "engine/base/quotas.def"
#undef QUOTA
    QUOTAS
};
/* For array bounds and the like of what is FIXED. */
enum quota_number {
#define QUOTA(name, number, change, error, of, why) QUOTA_NUMBER_##name = number,
#include "engine/base/quotas.def"
#undef QUOTA
};

/* The environment variable of whoever runs the process that keeps them: "sets=20;bytes=1000000". It is read once, at
   the first question, or by quotas_read. */
#define QUOTAS_VARIABLE "OPENPLA_QUOTAS"
/* Reads it again. E_INVALIDARG with a text that names the part which is no settable quota and a number of 1 to 2^32-1;
   then all stand as in the table. */
HRESULT quotas_read(void);

uint32_t quota_limit(enum quota which);
/* The failure of who would have more than the quota: its error with a text that names `whose`, what it is, the number
   and the quota. Without effect on anything. `whose` may be "". */
HRESULT quota_exceeded(enum quota which, const char *whose);

/* ---- shares of memory ----
   How much memory what is made for one who asks holds: the quota "memory". A server has a share for each client, and
   what it makes or changes while it serves one is counted there until it goes. */

struct memory_share;
/* With one reference; NULL: out of memory. A share that has gone from its client stays as long as something counts in
   it. */
struct memory_share *memory_share_create(void);
struct memory_share *memory_share_reference(struct memory_share *s); /* NULL is allowed, here and below: no share */
void memory_share_release(struct memory_share *s);

/* Counts what this thread creates from now on in the share; NULL: in none. Borrowed. */
void memory_share_serve(struct memory_share *s);
struct memory_share *memory_share_served(void);

/* Whether so many bytes more may be had: HRESULT of ERROR_NOT_ENOUGH_QUOTA. */
HRESULT memory_share_room(const struct memory_share *s, size_t bytes);
/* Counts so many bytes more, or fewer, whatever the limit is. */
void memory_share_count(struct memory_share *s, int64_t bytes);
uint64_t memory_share_bytes(const struct memory_share *s);

#endif
