/* SPDX-License-Identifier: MIT */
/* Local times in logs from other time zones. In the nights when clocks change, no sample may be an hour off or out of
   order. */
#include "engine/base/clock.h"
#include "engine/logs/etl_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MINUTE INT64_C(600000000)
#define HOUR   (60 * MINUTE)

/* The rules of the Pacific zone are from a log that Windows wrote. The rules of Sydney are reconstructed. */
static const struct zone_rules pacific = {.bias = 480,
                                          .to_standard = {.month = 11, .weekday = 0, .day = 1, .hour = 2},
                                          .to_daylight = {.month = 3, .weekday = 0, .day = 2, .hour = 2},
                                          .daylight_bias = -60};
static const struct zone_rules sydney = {.bias = -600,
                                         .to_standard = {.month = 4, .weekday = 0, .day = 1, .hour = 3},
                                         .to_daylight = {.month = 10, .weekday = 0, .day = 1, .hour = 2},
                                         .daylight_bias = -60};

static int64_t at(int year, int month, int day, int hour, int minute)
{
    const struct calendar_time t = {.year = year, .month = month, .day = day, .hour = hour, .minute = minute};
    return clock_from_calendar(&t);
}

static void time_zone_changes_on_the_right_day(void **state)
{
    (void)state;
    /* 2013: March 10 and November 3 are the Sundays */
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 3, 10, 1, 59), false), 480);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 3, 10, 2, 0), false), 420);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 7, 1, 0, 0), false), 420);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 11, 3, 0, 59), true), 420);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 11, 3, 1, 30), false), 420);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 11, 3, 1, 30), true), 480);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 11, 3, 2, 0), false), 480);
    assert_int_equal(zone_bias_minutes(&pacific, at(2013, 12, 31, 0, 0), false), 480);
    assert_int_equal(zone_bias_minutes(&sydney, at(2021, 1, 1, 0, 0), false), -660);
    assert_int_equal(zone_bias_minutes(&sydney, at(2021, 4, 4, 1, 59), true), -660);
    assert_int_equal(zone_bias_minutes(&sydney, at(2021, 4, 4, 3, 0), false), -600);
    assert_int_equal(zone_bias_minutes(&sydney, at(2021, 10, 3, 2, 0), false), -660);
}

static void last_means_the_last_of_the_month(void **state)
{
    struct zone_rules europe = pacific;
    (void)state;
    europe.bias = -60;
    europe.to_standard = (struct zone_change){.month = 10, .weekday = 0, .day = 5, .hour = 3};
    europe.to_daylight = (struct zone_change){.month = 3, .weekday = 0, .day = 5, .hour = 2};
    assert_int_equal(zone_bias_minutes(&europe, at(2020, 3, 29, 1, 59), false), -60);
    assert_int_equal(zone_bias_minutes(&europe, at(2020, 3, 29, 2, 0), false), -120);
    assert_int_equal(zone_bias_minutes(&europe, at(2020, 10, 25, 1, 59), true), -120);
    assert_int_equal(zone_bias_minutes(&europe, at(2020, 10, 25, 3, 0), false), -60);
    europe.to_standard = (struct zone_change){.year = 2020, .month = 10, .day = 7, .hour = 3};
    assert_int_equal(zone_bias_minutes(&europe, at(2020, 10, 8, 0, 0), false), -60);
}

/* Converting UTC to local time and back must give the same time. The test does this throughout a year, and every minute
   in the nights when clocks change. */
static void round_trip_keeps_the_time(void **state)
{
    static const struct zone_rules fixed = {.bias = -330};
    const struct zone_rules *const zones[] = {&pacific, &sydney, &fixed};
    (void)state;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        int64_t before = 0;
        for (int64_t utc = at(2021, 1, 1, 0, 0); utc < at(2022, 1, 1, 0, 0); utc += 7 * MINUTE) {
            const int64_t local = zone_to_local(zones[i], utc);
            const int64_t back = zone_to_utc(zones[i], local, before);
            assert_int_equal(back, utc);
            before = back;
        }
    }
}

static void invalid_zone_rules_are_ignored(void **state)
{
    struct zone_rules odd = pacific;
    (void)state;
    odd.to_standard.month = 13;
    assert_int_equal(zone_bias_minutes(&odd, at(2013, 7, 1, 0, 0), false), 480);
    odd = pacific;
    odd.to_daylight.day = 0;
    assert_int_equal(zone_bias_minutes(&odd, at(2013, 7, 1, 0, 0), false), 480);
    odd = pacific;
    odd.bias = INT32_MAX;
    odd.daylight_bias = odd.standard_bias = INT32_MAX;
    (void)zone_to_utc(&odd, INT64_MAX, INT64_MAX);
    (void)zone_to_local(&odd, INT64_MIN);
    assert_int_equal(zone_bias_minutes(&odd, INT64_MIN, true), INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_zone_changes_on_the_right_day),
        cmocka_unit_test(last_means_the_last_of_the_month),
        cmocka_unit_test(round_trip_keeps_the_time),
        cmocka_unit_test(invalid_zone_rules_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
