/* SPDX-License-Identifier: MIT */
/* Evaluates the rules of a TIME_ZONE_INFORMATION: each change is given in the local time that ends with it. */
#include "engine/logs/core/zone_rules.h"

#include "engine/base/clock.h"

#define MINUTE INT64_C(600000000)
#define DAY    (24 * 60 * MINUTE)

enum { LAST_YEAR = 9999 };

/* The local FILETIME of the change in that year. */
static int64_t change_in_year(const struct zone_change *c, int year)
{
    struct calendar_time t = {.year = c->year != 0 ? c->year : year,
                              .month = c->month,
                              .day = c->year != 0 ? c->day : 1,
                              .hour = c->hour,
                              .minute = c->minute,
                              .second = c->second,
                              .millisecond = c->millisecond};
    int64_t when = clock_from_calendar(&t);
    if (c->year != 0)
        return when;
    const int first = clock_calendar(when).weekday;
    when += (int64_t)((c->weekday + 7 - first) % 7) * DAY;
    for (int week = 1; week < c->day; week++) {
        if (clock_calendar(when + 7 * DAY).month != c->month)
            break;
        when += 7 * DAY;
    }
    return when;
}

static bool is_a_change(const struct zone_change *c)
{
    return c->month >= 1 && c->month <= 12 && c->weekday <= 6 && c->day >= 1 && c->day <= (c->year != 0 ? 31 : 5) &&
           (c->year == 0 || (c->year >= 1601 && c->year <= LAST_YEAR)) && c->hour <= 23 && c->minute <= 59 &&
           c->second <= 59 && c->millisecond <= 999;
}

int32_t zone_bias_minutes(const struct zone_rules *rules, int64_t local, bool later)
{
    const int64_t standard = (int64_t)rules->bias + rules->standard_bias;
    const int64_t daylight = (int64_t)rules->bias + rules->daylight_bias;
    const int year = clock_calendar(local).year;
    if (!is_a_change(&rules->to_standard) || !is_a_change(&rules->to_daylight) || local < 0 || year > LAST_YEAR)
        return rules->bias;
    const int64_t to_daylight = change_in_year(&rules->to_daylight, year);
    int64_t to_standard = change_in_year(&rules->to_standard, year);
    if (later)
        to_standard -= (standard - daylight) * MINUTE;
    const bool in_daylight = to_daylight < to_standard ? local >= to_daylight && local < to_standard
                                                       : local >= to_daylight || local < to_standard;
    return (int32_t)(in_daylight ? daylight : standard);
}

static int64_t add_minutes(int64_t time, int64_t minutes)
{
    return (int64_t)((uint64_t)time + (uint64_t)(minutes * MINUTE));
}

int64_t zone_to_utc(const struct zone_rules *rules, int64_t local, int64_t not_before)
{
    const int64_t utc = add_minutes(local, zone_bias_minutes(rules, local, false));
    return utc >= not_before ? utc : add_minutes(local, zone_bias_minutes(rules, local, true));
}

int64_t zone_to_local(const struct zone_rules *rules, int64_t utc)
{
    const int32_t bias = zone_bias_minutes(rules, add_minutes(utc, -(int64_t)rules->bias), true);
    const int64_t local = add_minutes(utc, -(int64_t)bias);
    if (zone_bias_minutes(rules, local, false) == bias || zone_bias_minutes(rules, local, true) == bias)
        return local;
    return add_minutes(utc, -(int64_t)zone_bias_minutes(rules, local, true));
}
