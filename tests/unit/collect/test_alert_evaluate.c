/* SPDX-License-Identifier: MIT */
/* When a value beyond its threshold is an alert: what would wake someone in vain, or not at all. */
#include "engine/pla/collect/alert_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

static const struct alert_threshold above = {.operator_ = '>', .value = 50};
static const struct alert_threshold below = {.operator_ = '<', .value = -50};

/* What becomes of the values, one a second: '.' nothing, '!' an alert, 'c' an all clear. */
static void becomes(const struct alert_rules *rules, const struct alert_threshold *threshold, const double *values,
                    const char *wanted)
{
    static const char signs[] = {'.', '!', 'c'};
    struct alert_state state = {0};
    for (size_t i = 0; wanted[i]; i++) {
        double value = threshold->operator_ == '>' ? values[i] : -values[i]; /* the same, upside down */
        char got = signs[alert_evaluate(rules, threshold, value, 5000 + i * 1000, &state)];
        if (got != wanted[i])
            fail_msg("value %zu, %g: '%c', not '%c' of \"%s\"", i, values[i], got, wanted[i], wanted);
    }
}

static void both(const struct alert_rules *rules, const double *values, const char *wanted)
{
    becomes(rules, &above, values, wanted);
    becomes(rules, &below, values, wanted);
}

static const double wave[] = {10, 60, 70, 50, 51, 20, 90, 90, 90, 10};

static void each_sample_beyond_is_one_as_on_windows(void **state)
{
    (void)state;
    const struct alert_rules rules = {0};
    assert_true(alert_rules_are_plain(&rules));
    both(&rules, wave, ".!!.!.!!!.");
    assert_true(alert_is_beyond(&above, 50.1) && !alert_is_beyond(&above, 50) && !alert_is_beyond(&above, NAN));
    assert_true(alert_is_beyond(&below, -50.1) && !alert_is_beyond(&below, -50) && !alert_is_beyond(&below, NAN));
}

/* 720 mails an hour for one full disk. */
static void only_the_crossing_is_one(void **state)
{
    (void)state;
    both(&(struct alert_rules){.on_crossing = true}, wave, ".!..!.!...");
    both(&(struct alert_rules){.on_crossing = true, .all_clear = true}, wave, ".!.c!c!..c");
}

static void a_peak_is_none(void **state)
{
    (void)state;
    both(&(struct alert_rules){.samples = 1}, wave, ".!!.!.!!!.");
    both(&(struct alert_rules){.samples = 2}, wave, "..!....!!.");
    both(&(struct alert_rules){.samples = 3, .on_crossing = true, .all_clear = true}, wave, "........!c");
}

/* A value that trembles at its threshold. */
static void coming_back_takes_its_distance(void **state)
{
    (void)state;
    static const double trembles[] = {60, 49, 51, 46, 52, 45, 55, 44, 60};
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 5}, trembles, "!.....!.!");
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 10, .relative = true}, trembles, "!.....!.!");
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 5, .all_clear = true}, trembles, "!....c!c!");
    /* A value between is not beyond: no alert where each sample is one. */
    both(&(struct alert_rules){.samples = 1, .hysteresis = 5, .all_clear = true}, trembles, "!.!.!c!c!");
}

static void between_two_there_is_time(void **state)
{
    (void)state;
    static const double high[] = {60, 60, 60, 60, 60, 60, 10, 60};
    both(&(struct alert_rules){.hold_off = 3}, high, "!..!...!");
    static const double returns[] = {60, 10, 60, 60, 60, 60, 10, 10};
    /* The second crossing is within the hold-off: told when that is over, as the value is still beyond. */
    both(&(struct alert_rules){.on_crossing = true, .hold_off = 4, .all_clear = true}, returns, "!c..!.c.");
}

static void no_number_changes_nothing(void **state)
{
    (void)state;
    const double holes[] = {60, NAN, 60, NAN, 10};
    becomes(&(struct alert_rules){.on_crossing = true, .all_clear = true}, &above, holes, "!...c");
    becomes(&(struct alert_rules){.samples = 2}, &above, holes, "..!..");
}

/* A process that ends while it is over its limit would stay an alert for ever. */
static void what_is_gone_has_come_back(void **state)
{
    (void)state;
    const struct alert_rules rules = {.on_crossing = true, .all_clear = true}, quiet = {.on_crossing = true};
    struct alert_state known = {0};
    assert_int_equal(alert_evaluate_gone(&rules, &known), ALERT_NONE);
    assert_int_equal(alert_evaluate(&rules, &above, 60, 1, &known), ALERT_BEYOND);
    assert_int_equal(alert_evaluate_gone(&rules, &known), ALERT_CLEAR);
    assert_int_equal(alert_evaluate(&rules, &above, 60, 2, &known), ALERT_BEYOND);
    assert_int_equal(alert_evaluate_gone(&quiet, &known), ALERT_NONE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_beyond_is_one_as_on_windows),
        cmocka_unit_test(only_the_crossing_is_one),
        cmocka_unit_test(a_peak_is_none),
        cmocka_unit_test(coming_back_takes_its_distance),
        cmocka_unit_test(between_two_there_is_time),
        cmocka_unit_test(no_number_changes_nothing),
        cmocka_unit_test(what_is_gone_has_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
