/* SPDX-License-Identifier: MIT */
/* Time. "FILETIME" values are int64: 100 ns since 1601-01-01. */
#ifndef OPENPLA_CLOCK_H
#define OPENPLA_CLOCK_H

#include "engine/base/wintypes.h"

struct calendar_time {
    int year, month, day, weekday /* 0 = Sunday */, day_of_year /* 1..366 */;
    int hour, minute, second, millisecond;
};

int64_t clock_utc(void);       /* FILETIME, UTC, precise */
int64_t clock_ticks(void);     /* the performance counter */
int64_t clock_frequency(void); /* its ticks per second */
uint64_t clock_monotonic_ms(void);
/* Of the first processor, as the host tells it, in MHz; where it does not, the performance counter's rate. Never 0:
   readers of logs divide by it. */
uint32_t clock_cpu_mhz(void);
/* Between two readings of clock_monotonic_ms, the earlier of which may be another process's that was taken after ours:
   then nothing has passed. */
static inline uint64_t clock_passed_ms(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}
int64_t clock_boot_utc(void); /* FILETIME of the host's boot */

/* The bias in force at the UTC time: UTC = local + bias, in minutes (Pacific daylight 420). */
int clock_bias_minutes(int64_t utc);
int64_t clock_utc_to_local(int64_t utc);
/* Local time of many samples, without asking the system for its zone each time (0.4 ms a call under Wine). Zones change
   their bias at quarters of an hour of UTC only, so one answer serves for one; a change of the zone takes effect from
   the next. Zero-initialise, or set `fixed` and the offset. */
struct clock_zone {
    bool known, fixed; /* fixed: one offset for all times */
    int64_t quarter, offset;
};
/* clock_utc_to_local, or in the fixed zone. */
int64_t clock_local(struct clock_zone *zone, int64_t utc);
/* Name of the zone as Windows' newer systems write it in logs: the standard name. UTF-8, from memory_alloc. */
char *clock_zone_name(void);
/* Splits a FILETIME value (local or UTC alike, no conversion). */
struct calendar_time clock_calendar(int64_t filetime);
int64_t clock_from_calendar(const struct calendar_time *t); /* year..millisecond only */

#endif
