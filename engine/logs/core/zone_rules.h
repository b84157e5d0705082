/* SPDX-License-Identifier: MIT */
/* The time zone that a log carries with it: TIME_ZONE_INFORMATION, and what UTC a local time of that zone is. */
#ifndef OPENPLA_ZONE_RULES_H
#define OPENPLA_ZONE_RULES_H

#include "engine/base/wintypes.h"

/* A moment of change: of `year` itself, or (year 0) the day-th `weekday` (0 = Sunday) of the month each year, 5 = the
   last. month 0: the zone has no such moment. */
struct zone_change {
    uint16_t year, month, weekday, day, hour, minute, second, millisecond;
};

struct zone_rules {
    int32_t bias; /* minutes: UTC = local + bias + standard_bias or daylight_bias */
    struct zone_change to_standard, to_daylight;
    int32_t standard_bias, daylight_bias;
};

/* Minutes to add to the local FILETIME to have UTC. `later`: of the hour that clocks show twice take the second; it
   makes no difference elsewhere. */
int32_t zone_bias_minutes(const struct zone_rules *rules, int64_t local, bool later);
/* FILETIMEs. Of a local time that clocks show twice zone_to_utc takes the second when the first would be before
   `not_before`. */
int64_t zone_to_utc(const struct zone_rules *rules, int64_t local, int64_t not_before);
int64_t zone_to_local(const struct zone_rules *rules, int64_t utc);

#endif
