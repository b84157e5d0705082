/* SPDX-License-Identifier: MIT */
/* The arithmetic of schedules. */
#include "engine/pla/sets/next_start.h"

#include "engine/base/clock.h"

#include <math.h>

#define SECOND      INT64_C(10000000)
#define DAY         (86400 * SECOND)
#define DATE_1601   109205 /* days from DATE 0, 1899-12-30, back to 1601-01-01 */
#define WEEK        7
#define MONDAY_1601 1 /* 1601-01-01 was a Monday; 0 = Sunday */

struct start_rule start_rule_of(const struct set_schedule *s)
{
    struct start_rule rule = {.first_day = INT64_MIN, .last_day = INT64_MAX, .days = s->Days & 0x7F};
    if (s->StartDate.type == VARIANT_DATE)
        rule.first_day = (int64_t)floor(s->StartDate.real) + DATE_1601;
    if (s->EndDate.type == VARIANT_DATE)
        rule.last_day = (int64_t)floor(s->EndDate.real) + DATE_1601;
    if (s->StartTime.type == VARIANT_DATE)
        rule.second = (int32_t)lround(fabs(s->StartTime.real - trunc(s->StartTime.real)) * 86400) % 86400;
    return rule;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t to_local(int64_t utc, const struct start_zone *zone)
{
    return utc - zone->bias(zone->zone, utc) * 60 * SECOND;
}

/* The UTC moment at which the clocks show `local` first, or jump over it. */
static int64_t to_utc(int64_t local, const struct start_zone *zone)
{
    /* The zone's offsets of a day before and after enclose those that can be in force. */
    int64_t early = local + zone->bias(zone->zone, local - DAY) * 60 * SECOND;
    int64_t late = local + zone->bias(zone->zone, local + DAY) * 60 * SECOND;
    if (early > late) {
        int64_t swap = early;
        early = late;
        late = swap;
    }
    if (to_local(early, zone) == local)
        return early;
    if (to_local(late, zone) == local)
        return late;
    /* In a gap: the clocks jump between the two. */
    while (late - early > 1) {
        int64_t middle = early + (late - early) / 2;
        if (to_local(middle, zone) < local)
            early = middle;
        else
            late = middle;
    }
    return late;
}

/* A start of the rule on the local day, NEXT_START_NEVER when the day is left out. */
static int64_t start_on(const struct start_rule *rule, int64_t day, const struct start_zone *zone)
{
    int64_t utc = to_utc(day * DAY + rule->second * SECOND, zone);
    /* Samoa had no 30 December 2011: a jump of a whole day. */
    if (to_local(utc, zone) >= (day + 1) * DAY && to_local(utc - 1, zone) < day * DAY)
        return NEXT_START_NEVER;
    return utc;
}

int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone)
{
    if (!rule->days) {
        int64_t once = rule->first_day == INT64_MIN || rule->first_day > rule->last_day
                           ? NEXT_START_NEVER
                           : start_on(rule, rule->first_day, zone);
        return once > after ? once : NEXT_START_NEVER;
    }
    int64_t day = floor_divide(to_local(after, zone), DAY) - 1;
    if (rule->first_day > day)
        day = rule->first_day;
    /* Two weeks: a day of the week may be one that the calendar leaves out. */
    for (int64_t end = day + 2 * WEEK + 2; day < end && day <= rule->last_day; day++) {
        int weekday = (int)(((day + MONDAY_1601) % WEEK + WEEK) % WEEK);
        int64_t utc = rule->days >> weekday & 1 ? start_on(rule, day, zone) : NEXT_START_NEVER;
        if (utc > after && utc != NEXT_START_NEVER)
            return utc;
    }
    return NEXT_START_NEVER;
}

int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone)
{
    return rule->last_day == INT64_MAX ? NEXT_START_NEVER : to_utc((rule->last_day + 1) * DAY, zone);
}

int64_t start_base(int64_t now, int64_t done, int64_t known)
{
    int64_t base = now - START_GRACE;
    if (known > base && known <= now)
        base = known;
    if (done > base && done <= now + DAY)
        base = done;
    return base;
}
