/* SPDX-License-Identifier: MIT */
/* When a schedule starts its set next: MS-PLA 3.2.4.12, behaviour 15. Pure functions of rule, moment and zone. */
#ifndef OPENPLA_NEXT_START_H
#define OPENPLA_NEXT_START_H

#include "engine/pla/model.h"

#define NEXT_START_NEVER INT64_MAX

/* A time zone: minutes to add to local time to have UTC, at the UTC moment (clock_bias_minutes). */
typedef int (*zone_bias)(const void *zone, int64_t utc);
struct start_zone {
    zone_bias bias;
    const void *zone; /* passed to it */
};

/* Days are counted from 1601-01-01. */
struct start_rule {
    int64_t first_day; /* INT64_MIN: none is given */
    int64_t last_day;  /* INT64_MAX: for ever */
    int32_t second;    /* of the day */
    uint32_t days;     /* WeekDays; 0: once, on the first day */
};
struct start_rule start_rule_of(const struct set_schedule *schedule);

/* The first start after `after`, NEXT_START_NEVER if there is none; FILETIMEs in UTC. A time of day that the clocks
   leave out is taken at the moment they jump; one that they show twice counts the first time only. A day that the
   calendar of the zone leaves out has no start. A rule without days and first day never starts. */
int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone);
/* The end of the last day of the rule, local midnight; NEXT_START_NEVER without EndDate. */
int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone);

/* From when on starts are looked for: what was due within START_GRACE before `now` is still made up, unless it has been
   started already. `done` is the moment of the latest start that was made (0: none), `known` since when the rule is in
   force. A clock that was set back by up to a day finds its starts made; by more, the earlier clock was wrong, and they
   come again. */
#define START_GRACE (300 * INT64_C(10000000))
int64_t start_base(int64_t now, int64_t done, int64_t known);

#endif
