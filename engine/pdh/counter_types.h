/* SPDX-License-Identifier: MIT */
/* The names of counter types, as in winperf.h. */
#ifndef OPENPLA_PDH_COUNTER_TYPES_H
#define OPENPLA_PDH_COUNTER_TYPES_H

#include "engine/logs/pdh_types.h"

#include <stdbool.h>

/* Returns the name of a type, such as "PERF_COUNTER_BULK_COUNT". NULL for an unknown type and for bases, which are
   never displayed. */
const char *counter_type_name(DWORD type);
/* Finds the type with this name, ignoring case. Bases are types, too. False if the name is unknown. */
bool counter_type_find(const char *name, DWORD *type);
/* Returns true if the counter is the divisor of another counter. */
static inline bool counter_type_is_base(DWORD type)
{
    return (type & PERF_DISPLAY_NOSHOW) && (type & 0x00070000) == PERF_COUNTER_BASE;
}
/* Returns true if the counter needs a base. */
static inline bool counter_type_is_fraction(DWORD type)
{
    return (type & PERF_TYPE_COUNTER) && (type & 0x00070000) == PERF_COUNTER_FRACTION;
}

#endif
