/* SPDX-License-Identifier: MIT */
/* Computes displayed values from raw values: the formula of each counter type. */
#ifndef OPENPLA_PDH_FORMULA_H
#define OPENPLA_PDH_FORMULA_H

#include "engine/logs/pdh_types.h"

/* Returns true if `format` requests exactly one of LONG, DOUBLE and LARGE, without contradicting flags. */
bool formula_format_is_valid(DWORD format);
/* Returns true if the formula of the type needs two samples. */
bool formula_needs_two(DWORD type);
/* Returns true if the value is divided by another value of the same row (its base). */
bool formula_is_fraction(DWORD type);
/* Returns the number of the type's time units per second: 10,000,000 for 100 ns types, otherwise the frequency of the
   performance counter. */
int64_t formula_time_base(DWORD type);

/* Computes the displayed value of `newer` as `format` requests. `older` may be NULL for types that need one sample.
   The value is multiplied by 10^scale, unless PDH_FMT_NOSCALE is set. Percentages are limited to 100 unless
   PDH_FMT_NOCAP100 is set. `format` must be valid. The result is also stored in out->CStatus. The result is
   PDH_CSTATUS_VALID_DATA, PDH_CALC_NEGATIVE_*, the status of an invalid sample (PDH_CSTATUS_INVALID_DATA if the older
   sample is missing), or PDH_INVALID_ARGUMENT for a type that has no displayed value (bases and text types). On failure
   the value is 0. */
DWORD formula_format(DWORD type, DWORD format, int64_t time_base, int scale, const PDH_RAW_COUNTER *newer,
                     const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *out);

/* Computes minimum, maximum and mean of a ring of `count` raw values; the oldest is at `first`. Values that cannot be
   computed are skipped; types that need two samples yield one value per pair of adjacent samples. `time_base` and
   `scale` are as in formula_format. The status of each result and the function's result are PDH_CSTATUS_VALID_DATA, or
   the status of the last sample if there is no value. out->count is the number of values. */
DWORD formula_statistics(DWORD type, DWORD format, int64_t time_base, int scale, size_t first, size_t count,
                         const PDH_RAW_COUNTER *ring, PDH_STATISTICS *out);

#endif
