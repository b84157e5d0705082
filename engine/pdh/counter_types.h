/* SPDX-License-Identifier: MIT */
/* Names of the types of counters, as winperf.h has them. */
#ifndef OPENPLA_PDH_COUNTER_TYPES_H
#define OPENPLA_PDH_COUNTER_TYPES_H

#include "engine/logs/pdh_types.h"

#include <stdbool.h>

/* "PERF_COUNTER_BULK_COUNT"; NULL for a type without a name, and for bases, which are never shown. */
const char *counter_type_name(DWORD type);
/* The type of that name, of bases too, in any case. False: there is none. */
bool counter_type_find(const char *name, DWORD *type);
/* Is it the divisor of another counter? */
static inline bool counter_type_is_base(DWORD type)
{
    return (type & PERF_DISPLAY_NOSHOW) && (type & 0x00070000) == PERF_COUNTER_BASE;
}
/* Does it need one? */
static inline bool counter_type_is_fraction(DWORD type)
{
    return (type & PERF_TYPE_COUNTER) && (type & 0x00070000) == PERF_COUNTER_FRACTION;
}

#endif
