/* SPDX-License-Identifier: MIT */
/* Calculated schedule starts, compared with a minute-by-minute search of whole years. An error here would cost a night
   of data. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/sets/supervised_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define SECOND INT64_C(10000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* ---- zones ---- */

static int64_t utc_at(int year, int month, int day, int hour, int minute)
{
    struct calendar_time t = {.year = year, .month = month, .day = day, .hour = hour, .minute = minute};
    return clock_from_calendar(&t);
}

/* Returns the nth Sunday of the month (5: the last one) at this hour, in UTC. */
static int64_t sunday(int year, int month, int nth, int hour)
{
    static int64_t known[200][13][6]; /* cached results, for 1990 and later years, at midnight */
    assert_in_range(year, 1990, 2189);
    int64_t *t = &known[year - 1990][month][nth];
    if (!*t) {
        int64_t first = utc_at(year, month, 1, 0, 0);
        *t = first + (7 - clock_calendar(first).weekday) % 7 * DAY + (nth - 1) * 7 * DAY;
        if (clock_calendar(*t).month != month)
            *t -= 7 * DAY;
    }
    return *t + hour * HOUR;
}

static int fixed(const void *zone, int64_t utc)
{
    (void)utc;
    return *(const int *)zone;
}

static int berlin(const void *zone, int64_t utc)
{
    int year = clock_calendar(utc).year;
    (void)zone;
    return utc >= sunday(year, 3, 5, 1) && utc < sunday(year, 10, 5, 1) ? -120 : -60;
}

static int pacific(const void *zone, int64_t utc)
{
    int year = clock_calendar(utc).year;
    (void)zone;
    return utc >= sunday(year, 3, 2, 10) && utc < sunday(year, 11, 1, 9) ? 420 : 480;
}

/* In summer, clocks are only half an hour ahead. This island is in the southern hemisphere: summer time is from the
   first Sunday of October to the first Sunday of April, 02:00 local time. */
static int lord_howe(const void *zone, int64_t utc)
{
    int year = clock_calendar(utc).year;
    (void)zone;
    return utc >= sunday(year, 4, 1, 0) - 9 * HOUR && utc < sunday(year, 10, 1, 0) - 8 * HOUR - 30 * MINUTE ? -630
                                                                                                            : -660;
}

/* On the day when summer time begins, midnight does not exist. */
static int havana(const void *zone, int64_t utc)
{
    int year = clock_calendar(utc).year;
    (void)zone;
    return utc >= sunday(year, 3, 2, 5) && utc < sunday(year, 11, 1, 5) ? 240 : 300;
}

/* Here, 30 December 2011 does not exist. */
static int samoa(const void *zone, int64_t utc)
{
    (void)zone;
    return utc < utc_at(2011, 12, 30, 10, 0) ? 600 : -840;
}

/* ---- the minute-by-minute search ---- */

#define DAYS_MAX 1200
static int64_t starts[DAYS_MAX]; /* the start time in each local day, or NEXT_START_NEVER */

static int64_t local_of(const struct start_zone *zone, int64_t utc)
{
    return utc - zone->bias(zone->zone, utc) * MINUTE;
}

/* For each of `days` local days, beginning with first_day, finds the first minute at which local clocks show this time
   of day or a later one. */
static void search(const struct start_zone *zone, int64_t first_day, int days, int minute_of_day)
{
    int64_t utc = first_day * DAY - 30 * HOUR;
    for (int d = 0; d < days; d++) {
        int64_t target = (first_day + d) * DAY + minute_of_day * MINUTE;
        while (local_of(zone, utc) < target)
            utc += MINUTE;
        bool skipped =
            local_of(zone, utc) >= (first_day + d + 1) * DAY && local_of(zone, utc - MINUTE) < (first_day + d) * DAY;
        starts[d] = skipped ? NEXT_START_NEVER : utc;
        utc -= 3 * HOUR; /* goes back, because the next day's midnight may be in a gap */
        if (utc < first_day * DAY - 30 * HOUR)
            utc = first_day * DAY - 30 * HOUR;
    }
}

static void check_year(const struct start_zone *zone, int year, int days, int minute_of_day, bool every_mask)
{
    int64_t first_day = utc_at(year, 1, 1, 0, 0) / DAY;
    search(zone, first_day, days, minute_of_day);
    for (uint32_t mask = 1; mask < 128; mask++) {
        if (!every_mask && mask != 0x7F && mask != 0x09)
            continue;
        struct start_rule rule = {first_day, first_day + days - 1, minute_of_day * 60, mask};
        int64_t after = first_day * DAY - 2 * DAY;
        for (int d = 0; d < days; d++) {
            int weekday = clock_calendar((first_day + d) * DAY).weekday;
            if (!(mask >> weekday & 1) || starts[d] == NEXT_START_NEVER || starts[d] <= after)
                continue;
            int64_t next = next_start(&rule, after, zone);
            if (next != starts[d])
                fail_msg("year %d day %d minute %d mask 0x%02X: %lld minutes off", year, d, minute_of_day,
                         (unsigned)mask, (long long)(next - starts[d]) / MINUTE);
            /* The result must also be right for a time just before the start. */
            assert_true(next_start(&rule, next - 1, zone) == next);
            after = next;
        }
        assert_true(next_start(&rule, after, zone) == NEXT_START_NEVER);
    }
}

/* Tests every mask of days, in zones whose clocks change by 30 minutes or an hour, at midnight, and by a whole day. */
static void every_day_mask_is_correct_for_years(void **state)
{
    static const int biases[] = {0, -345 /* Kathmandu */, 720, -840};
    static const struct {
        zone_bias bias;
        int year, days;
    } zones[] = {
        {berlin, 2028, 366}, /* a leap year */
        {pacific, 2026, 365}, {lord_howe, 2028, 366}, {havana, 2026, 365}, {samoa, 2011, 365},
    };
    static const int minutes[] = {0, 30, 120, 150, 1439};
    (void)state;
    for (size_t m = 0; m < sizeof minutes / sizeof minutes[0]; m++) {
        for (size_t z = 0; z < sizeof zones / sizeof zones[0]; z++)
            check_year(&(struct start_zone){zones[z].bias, NULL}, zones[z].year, zones[z].days, minutes[m], m % 5 == z);
        check_year(&(struct start_zone){fixed, &biases[m % 4]}, 2100, 365, minutes[m], false); /* not a leap year */
    }
}

/* Some cases with literal times. */
static void clock_changes_start_each_set_once(void **state)
{
    const struct start_zone zone = {berlin, NULL};
    struct start_rule rule = {INT64_MIN, INT64_MAX, 2 * 3600 + 1800, 0x7F}; /* 02:30 */
    (void)state;
    /* 29 March 2026: 03:00 follows 02:00; it is 01:00 UTC. */
    assert_true(next_start(&rule, utc_at(2026, 3, 28, 2, 0), &zone) == utc_at(2026, 3, 29, 1, 0));
    assert_true(next_start(&rule, utc_at(2026, 3, 29, 1, 0), &zone) == utc_at(2026, 3, 30, 0, 30));
    /* 25 October 2026: 02:30 occurs at 00:30 and 01:30 UTC; the set starts once. */
    assert_true(next_start(&rule, utc_at(2026, 10, 24, 12, 0), &zone) == utc_at(2026, 10, 25, 0, 30));
    assert_true(next_start(&rule, utc_at(2026, 10, 25, 0, 30), &zone) == utc_at(2026, 10, 26, 1, 30));
}

/* The start and end dates, and plaRunOnce (MS-PLA 3.2.4.12). */
static void start_dates_and_single_runs_are_respected(void **state)
{
    static const int utc_bias = 0;
    const struct start_zone zone = {fixed, &utc_bias};
    int64_t monday = utc_at(2026, 11, 23, 0, 0);
    struct start_rule rule = {monday / DAY, monday / DAY + 7, 3600, 0x02};
    (void)state;
    assert_true(next_start(&rule, 0, &zone) == monday + HOUR);
    assert_true(next_start(&rule, monday + HOUR, &zone) == monday + 7 * DAY + HOUR); /* the end date counts */
    assert_true(next_start(&rule, monday + 8 * DAY, &zone) == NEXT_START_NEVER);
    assert_true(start_rule_end(&rule, &zone) == monday + 8 * DAY);
    rule.last_day = monday / DAY - 1;
    assert_true(next_start(&rule, 0, &zone) == NEXT_START_NEVER);
    rule = (struct start_rule){monday / DAY, INT64_MAX, 3600, 0};
    assert_true(next_start(&rule, 0, &zone) == monday + HOUR);
    assert_true(next_start(&rule, monday + HOUR - 1, &zone) == monday + HOUR);
    assert_true(next_start(&rule, monday + HOUR, &zone) == NEXT_START_NEVER);
    assert_true(start_rule_end(&rule, &zone) == NEXT_START_NEVER);
    rule.first_day = INT64_MIN; /* the schedule has no start date */
    assert_true(next_start(&rule, 0, &zone) == NEXT_START_NEVER);
    rule = (struct start_rule){monday / DAY, monday / DAY - 1, 0, 0};
    assert_true(next_start(&rule, 0, &zone) == NEXT_START_NEVER);
}

static struct start_rule rule_from(const char *start_date, const char *end_date, const char *time, uint32_t days)
{
    struct object *schedule;
    struct start_rule rule;
    struct value v = {.kind = PROPERTY_DATE};
    const struct class *class = &set_schedule_class;
    assert_int_equal(object_create(class, NULL, &schedule), S_OK);
    v.variant.type = VARIANT_DATE;
    if (start_date) {
        assert_true(date_from_text(start_date, &v.variant.real));
        assert_int_equal(object_put(schedule, class_property(class, "StartDate"), &v), S_OK);
    }
    if (end_date) {
        assert_true(date_from_text(end_date, &v.variant.real));
        assert_int_equal(object_put(schedule, class_property(class, "EndDate"), &v), S_OK);
    }
    if (time) {
        v.kind = PROPERTY_TIME;
        assert_true(time_from_text(time, &v.variant.real));
        assert_int_equal(object_put(schedule, class_property(class, "StartTime"), &v), S_OK);
    }
    struct value flags = {.kind = PROPERTY_FLAGS, .u32 = days};
    assert_int_equal(object_put(schedule, class_property(class, "Days"), &flags), S_OK);
    rule = start_rule_of((struct set_schedule *)schedule);
    object_release(schedule);
    return rule;
}

/* The model stores a date as the number of days since 1899, and a time as a fraction of a day. Each second must be
   converted exactly. */
static void rules_of_schedules(void **state)
{
    (void)state;
    struct start_rule rule = rule_from("8/17/2014", "2/29/2028", "4:00:01 AM", 0x7F);
    assert_true(rule.first_day == utc_at(2014, 8, 17, 0, 0) / DAY);
    assert_true(rule.last_day == utc_at(2028, 2, 29, 0, 0) / DAY);
    assert_int_equal(rule.second, 4 * 3600 + 1);
    assert_int_equal(rule.days, 0x7F);
    rule = rule_from(NULL, NULL, NULL, 0);
    assert_true(rule.first_day == INT64_MIN && rule.last_day == INT64_MAX && rule.second == 0);
    for (int second = 0; second < 86400; second += 7) {
        char text[16];
        snprintf(text, sizeof text, "%02d:%02d:%02d", second / 3600, second / 60 % 60, second % 60);
        assert_int_equal(rule_from("1/1/2026", NULL, text, 1).second, second);
    }
}

/* Simulates the service for years, in which it sleeps and restarts, and clocks change. Each start must occur once. */
struct simulation {
    int64_t now, done, known;
    size_t made;
    int64_t last;
};

static void look(struct simulation *s, const struct start_rule *rule, const struct start_zone *zone)
{
    int64_t due = next_start(rule, start_base(s->now, s->done, s->known), zone);
    if (due > s->now)
        return;
    s->made++;
    s->last = s->done = due;
}

static void missed_and_repeated_start_times(void **state)
{
    const struct start_zone zone = {berlin, NULL};
    const struct start_rule rule = {INT64_MIN, INT64_MAX, 12 * 3600, 0x7F};
    int64_t noon = utc_at(2026, 6, 1, 10, 0);
    struct simulation s = {.now = noon - HOUR, .known = noon - HOUR};
    (void)state;
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 0);
    s.now = noon; /* exactly the time of the start */
    look(&s, &rule, &zone);
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 1);
    s.now = noon - 10 * MINUTE; /* the clock was set back: this start has already occurred */
    look(&s, &rule, &zone);
    s.now = noon + SECOND;
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 1);
    s.now = noon + DAY + 4 * MINUTE; /* the service did not run for a day, but runs again in the grace period */
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 2);
    s.now = noon + 2 * DAY + 6 * MINUTE; /* too late, so this start is missed */
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 2);
    s.now = noon + 3650 * DAY; /* the clock is wrongly set ten years ahead, which causes a start */
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 3);
    s.now = noon + 3 * DAY; /* the clock is correct again: the set starts on this day */
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 4);
    s.known = s.now = noon + 4 * DAY + SECOND; /* the set is committed one second after the start time */
    s.done = 0;
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 4);
    s.known = noon + 5 * DAY; /* the set was committed while the clock was ahead */
    s.now = noon + 4 * DAY + 2 * SECOND;
    look(&s, &rule, &zone);
    assert_int_equal(s.made, 5);
}

/* Simulates 20 years, with a check at least every six hours. Sometimes the clock is slewed or set by some seconds. */
static void schedule_is_correct_for_twenty_years(void **state)
{
    const struct start_zone zone = {pacific, NULL};
    const struct start_rule rule = {INT64_MIN, INT64_MAX, 2 * 3600 + 1800, 0x7F};
    int64_t begin = utc_at(2026, 1, 1, 12, 0), end = utc_at(2046, 1, 1, 12, 0);
    struct simulation s = {.now = begin, .known = begin};
    (void)state;
    srand(1);
    while (s.now < end) {
        size_t before = s.made;
        int64_t last = s.last;
        look(&s, &rule, &zone);
        if (s.made > before && last)
            assert_true(s.last - last >= 22 * HOUR && s.last - last <= 26 * HOUR);
        int64_t due = next_start(&rule, start_base(s.now, s.done, s.known), &zone);
        int64_t step = (1 + rand() % 21600) * SECOND;
        s.now += due > s.now && due - s.now < step ? due - s.now : step;
        if (rand() % 50 == 0)
            s.now += (rand() % 241 - 120) * SECOND;
    }
    assert_int_equal(s.made, (end - begin) / DAY);
}

/* A set may have several schedules, some of them with the same time. At each time it must start once. The simulated
   years have summer time, clock changes in both directions, and restarts of the service, which reads the record. */
static void several_schedules_are_correct_for_years(void **state)
{
    const struct start_zone zone = {pacific, NULL};
    int64_t begin = utc_at(2026, 1, 1, 12, 0), end = utc_at(2038, 1, 1, 12, 0), missed;
    int64_t last_day = utc_at(2037, 6, 30, 0, 0) / DAY;
    struct start_rule rules[] = {
        {INT64_MIN, INT64_MAX, 2 * 3600 + 1800, 0x7F},                     /* in spring's gap, twice in autumn */
        {INT64_MIN, INT64_MAX, 2 * 3600 + 1800, 0x3E},                     /* the same on weekdays */
        {utc_at(2030, 3, 10, 0, 0) / DAY, INT64_MAX, 3 * 3600, 0},         /* once, at the end of the gap */
        {utc_at(2028, 2, 29, 0, 0) / DAY, last_day, 1 * 3600 + 1799, 0x41} /* weekends, for some years */
    };
    struct supervised_set set = {.rules = rules, .rule_count = 4, .known = begin, .stop_at_expiry = true};
    size_t made = 0;
    (void)state;
    srand(2);
    for (int64_t now = begin, expected = begin; now < end;) {
        assert_int_equal(supervised_set_plan(&set, now, &zone, &missed), S_OK);
        assert_true(set.expiry == NEXT_START_NEVER); /* two of the schedules have no end date */
        if (set.due <= now) {
            int64_t next = NEXT_START_NEVER;
            for (size_t i = 0; i < 4; i++) {
                int64_t of_rule = next_start(&rules[i], expected, &zone);
                next = of_rule < next ? of_rule : next;
            }
            assert_true(set.due == next);
            expected = set.done = set.due;
            made++;
            if (rand() % 100 == 0)
                set.known = 0; /* the service restarts, but the record still contains `done` */
            continue;
        }
        int64_t step = (1 + rand() % 21600) * SECOND;
        now += set.due - now < step ? set.due - now : step;
        if (rand() % 50 == 0)
            now += (rand() % 241 - 120) * SECOND;
    }
    assert_true(made > 12 * 365 + 9 * 100);
    set.rules = rules + 3; /* a set expires when its last schedule expires */
    set.rule_count = 1;
    assert_int_equal(supervised_set_plan(&set, end, &zone, &missed), S_OK);
    assert_true(set.due == NEXT_START_NEVER && set.expiry == utc_at(2037, 7, 1, 7, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_changes_start_each_set_once),
        cmocka_unit_test(start_dates_and_single_runs_are_respected),
        cmocka_unit_test(rules_of_schedules),
        cmocka_unit_test(missed_and_repeated_start_times),
        cmocka_unit_test(every_day_mask_is_correct_for_years),
        cmocka_unit_test(schedule_is_correct_for_twenty_years),
        cmocka_unit_test(several_schedules_are_correct_for_years),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
