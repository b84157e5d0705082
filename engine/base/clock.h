/* SPDX-License-Identifier: MIT */
/* Clocks, calendar dates and time zones. "FILETIME" values are int64 counts of 100 ns units since 1601-01-01. */
#ifndef OPENPLA_CLOCK_H
#define OPENPLA_CLOCK_H

#include "engine/base/wintypes.h"

struct calendar_time {
    int year, month, day, weekday /* 0 = Sunday */, day_of_year /* 1..366 */;
    int hour, minute, second, millisecond;
};

int64_t clock_utc(void);       /* FILETIME, UTC, precise */
int64_t clock_ticks(void);     /* the performance counter */
int64_t clock_frequency(void); /* ticks per second of the performance counter */
uint64_t clock_monotonic_ms(void);
/* One time on three clocks. */
struct clock_reading {
    int64_t ticks, utc; /* clock_ticks and clock_utc */
    uint64_t cycles;    /* processor_cycles */
};
/* Reads the three clocks together. If the thread is interrupted between the readings, the function reads all clocks
   again. The readings therefore differ by at most 10 us, unless the thread is interrupted in all 16 attempts. */
struct clock_reading clock_read(void);
/* Returns the first processor's speed in MHz as the host OS reports it, otherwise the performance counter's rate. The
   result is never 0, because log readers divide by it. */
uint32_t clock_cpu_mhz(void);
/* Returns the time between two readings of clock_monotonic_ms. If another process took the reading `since`, `since` can
   be later than `now`; the result is then 0. */
static inline uint64_t clock_passed_ms(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}
int64_t clock_boot_utc(void); /* the host OS's start time as FILETIME */

/* Returns the bias in force at the time `utc`, in minutes: UTC = local + bias (Pacific daylight time: 420). */
int clock_bias_minutes(int64_t utc);
int64_t clock_utc_to_local(int64_t utc);
/* Converts the times of many samples to local time without asking the system for its zone each time (0.4 ms a call
   under Wine). Zones change their bias only at quarter-hours of UTC, so one answer is valid for a quarter of an hour. A
   change of the zone setting takes effect in the next quarter-hour. Zero-initialise, or set `fixed` and the offset. */
struct clock_zone {
    bool known, fixed; /* fixed: one offset for all times */
    int64_t quarter, offset;
};
/* Converts like clock_utc_to_local, or with the fixed offset if the zone has one. */
int64_t clock_local(struct clock_zone *zone, int64_t utc);
/* Returns the zone's standard name, which newer versions of Windows write in logs. UTF-8, from memory_alloc. */
char *clock_zone_name(void);
/* Splits a FILETIME value, local or UTC, without conversion. */
struct calendar_time clock_calendar(int64_t filetime);
int64_t clock_from_calendar(const struct calendar_time *t); /* uses only the members from year to millisecond */

#endif
