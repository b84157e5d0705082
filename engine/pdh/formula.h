/* SPDX-License-Identifier: MIT */
/* From raw values to what a user sees: the formula of each counter type. */
#ifndef OPENPLA_PDH_FORMULA_H
#define OPENPLA_PDH_FORMULA_H

#include "engine/logs/pdh_types.h"

/* True when `format` asks for exactly one of LONG, DOUBLE, LARGE and nothing that excludes each other. */
bool formula_format_is_valid(DWORD format);
/* Does the type need two samples? */
bool formula_needs_two(DWORD type);
/* Is the value divided by another one of its row, its base? */
bool formula_is_fraction(DWORD type);
/* Seconds' worth of the type's time values: 10,000,000 for 100 ns types, else the performance counter's frequency. */
int64_t formula_time_base(DWORD type);

/* Computes the displayed value of `newer` (with `older`, which may be NULL for types that need one sample) as `format`
   asks. `scale` is a power of ten, not applied with PDH_FMT_NOSCALE. Percentages are cut at 100 unless
   PDH_FMT_NOCAP100. out->CStatus and the result are PDH_CSTATUS_VALID_DATA, the status of the sample that is not valid
   (PDH_CSTATUS_INVALID_DATA for a missing older one), PDH_CALC_NEGATIVE_*, or PDH_INVALID_ARGUMENT for a type that
   stands for no displayed value (bases, texts). The value is 0 then. `format` must be valid. */
DWORD formula_format(DWORD type, DWORD format, int64_t time_base, int scale, const PDH_RAW_COUNTER *newer,
                     const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *out);

/* Least, greatest and mean value of a ring of `count` raw values whose oldest is at `first`. What has no value is
   passed over; for types that need two samples each pair of neighbours gives one. `time_base` and `scale` as above. The
   status of each of the three, and the result, are PDH_CSTATUS_VALID_DATA, or that of the last sample when none has a
   value; out->count is the number of values. */
DWORD formula_statistics(DWORD type, DWORD format, int64_t time_base, int scale, size_t first, size_t count,
                         const PDH_RAW_COUNTER *ring, PDH_STATISTICS *out);

#endif
