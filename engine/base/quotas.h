/* SPDX-License-Identifier: MIT */
/* The table of quotas.def, and how its numbers are changed on one machine. */
#ifndef OPENPLA_QUOTAS_H
#define OPENPLA_QUOTAS_H

#include "engine/base/wintypes.h"

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
/* Reads it anew. E_INVALIDARG with a text that names the part which is no settable quota and a number of 1 to 2^32-1;
   then all stand as in the table. */
HRESULT quotas_read(void);

uint32_t quota_limit(enum quota which);
const char *quota_name(enum quota which);
/* The failure of who would have more than the quota: its error with a text that names `whose`, what it is, the number
   and the quota. Without effect on anything. `whose` may be "". */
HRESULT quota_exceeded(enum quota which, const char *whose);

#endif
