/* SPDX-License-Identifier: MIT */
/* Quotas: the table of quotas.def, how its numbers are changed on a machine, and the shares of the quota "memory". */
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
/* The table's numbers as constants, for example for array sizes. Use only the constants of FIXED quotas, because the
   other quotas can be changed. */
enum quota_number {
#define QUOTA(name, number, change, error, of, why) QUOTA_NUMBER_##name = number,
#include "engine/base/quotas.def"
#undef QUOTA
};

/* The environment variable that changes quotas, such as "sets=20;bytes=1000000". The variable must be set in the
   process that enforces the quotas. It is read once, at the first query, or by quotas_read. */
#define QUOTAS_VARIABLE "OPENPLA_QUOTAS"
/* Reads the variable again. Each part must set a settable quota to a number from 1 to 2^32-1. Fails with E_INVALIDARG
   if a part does not; the error text names this part, and all quotas keep the table's numbers. */
HRESULT quotas_read(void);

uint32_t quota_limit(enum quota which);
/* Sets and returns the error of a request that exceeds the quota. The error text contains `whose` (may be ""), the
   limit, what it limits (for example, objects), and the quota's name. */
HRESULT quota_exceeded(enum quota which, const char *whose);

/* ---- shares of memory ----
   The quota "memory" limits how much memory a client's objects use. A server has a share for each client. When the
   server allocates or changes memory while it serves a client, this memory counts toward the client's share until the
   memory is freed. */

struct memory_share;
/* Creates a share with one reference; NULL: out of memory. A share whose client is gone stays as long as memory counts
   toward it. */
struct memory_share *memory_share_create(void);
struct memory_share *memory_share_reference(struct memory_share *s); /* NULL (no share) is allowed here and below */
void memory_share_release(struct memory_share *s);

/* From now on, everything that this thread creates counts toward the share; NULL: toward no share. The share is
   borrowed. */
void memory_share_serve(struct memory_share *s);
struct memory_share *memory_share_served(void);

/* Checks whether the share may grow by this many bytes. Fails with HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA) if
   not. */
HRESULT memory_share_room(const struct memory_share *s, size_t bytes);
/* Adds `bytes` (subtracts them if negative), regardless of the limit. */
void memory_share_count(struct memory_share *s, int64_t bytes);
uint64_t memory_share_bytes(const struct memory_share *s);

#endif
