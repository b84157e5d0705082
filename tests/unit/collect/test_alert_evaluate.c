/* SPDX-License-Identifier: MIT */
/* Checks which values beyond a threshold are alerts. An error would alert someone needlessly, or not at all. */
#include "engine/pla/collect/alert_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

static const struct alert_threshold above = {.operator_ = '>', .value = 50};
static const struct alert_threshold below = {.operator_ = '<', .value = -50};

/* Expects the results for one value per second: '.' nothing, '!' an alert, 'c' an all-clear. */
static void expect_results(const struct alert_rules *rules, const struct alert_threshold *threshold,
                           const double *values, const char *wanted)
{
    static const char signs[] = {'.', '!', 'c'};
    struct alert_state state = {0};
    for (size_t i = 0; wanted[i]; i++) {
        double value = threshold->operator_ == '>' ? values[i] : -values[i]; /* mirrored for the lower threshold */
        char got = signs[alert_evaluate(rules, threshold, value, 5000 + i * 1000, &state)];
        if (got != wanted[i])
            fail_msg("value %zu, %g: '%c', not '%c' of \"%s\"", i, values[i], got, wanted[i], wanted);
    }
}

static void both(const struct alert_rules *rules, const double *values, const char *wanted)
{
    expect_results(rules, &above, values, wanted);
    expect_results(rules, &below, values, wanted);
}

static const double wave[] = {10, 60, 70, 50, 51, 20, 90, 90, 90, 10};

static void each_sample_beyond_is_an_alert_as_on_windows(void **state)
{
    (void)state;
    const struct alert_rules rules = {0};
    assert_true(alert_rules_are_plain(&rules));
    both(&rules, wave, ".!!.!.!!!.");
    assert_true(alert_is_beyond(&above, 50.1) && !alert_is_beyond(&above, 50) && !alert_is_beyond(&above, NAN));
    assert_true(alert_is_beyond(&below, -50.1) && !alert_is_beyond(&below, -50) && !alert_is_beyond(&below, NAN));
}

/* If each sample beyond the threshold were an alert, one full disk would send 720 mails an hour. */
static void only_the_crossing_is_an_alert(void **state)
{
    (void)state;
    both(&(struct alert_rules){.on_crossing = true}, wave, ".!..!.!...");
    both(&(struct alert_rules){.on_crossing = true, .all_clear = true}, wave, ".!.c!c!..c");
}

static void short_peak_is_not_an_alert(void **state)
{
    (void)state;
    both(&(struct alert_rules){.samples = 1}, wave, ".!!.!.!!!.");
    both(&(struct alert_rules){.samples = 2}, wave, "..!....!!.");
    both(&(struct alert_rules){.samples = 3, .on_crossing = true, .all_clear = true}, wave, "........!c");
}

/* A value that oscillates around its threshold. */
static void alert_clears_only_beyond_hysteresis(void **state)
{
    (void)state;
    static const double trembles[] = {60, 49, 51, 46, 52, 45, 55, 44, 60};
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 5}, trembles, "!.....!.!");
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 10, .relative = true}, trembles, "!.....!.!");
    both(&(struct alert_rules){.on_crossing = true, .hysteresis = 5, .all_clear = true}, trembles, "!....c!c!");
    /* Here each sample beyond the threshold is an alert. A value that is only within the hysteresis is not. */
    both(&(struct alert_rules){.samples = 1, .hysteresis = 5, .all_clear = true}, trembles, "!.!.!c!c!");
}

static void hold_off_separates_alerts(void **state)
{
    (void)state;
    static const double high[] = {60, 60, 60, 60, 60, 60, 10, 60};
    both(&(struct alert_rules){.hold_off = 3}, high, "!..!...!");
    static const double returns[] = {60, 10, 60, 60, 60, 60, 10, 10};
    /* The second crossing is within the hold-off time. It is reported when that time ends, because the value is still
       beyond the threshold. */
    both(&(struct alert_rules){.on_crossing = true, .hold_off = 4, .all_clear = true}, returns, "!c..!.c.");
}

static void missing_value_changes_nothing(void **state)
{
    (void)state;
    const double holes[] = {60, NAN, 60, NAN, 10};
    expect_results(&(struct alert_rules){.on_crossing = true, .all_clear = true}, &above, holes, "!...c");
    expect_results(&(struct alert_rules){.samples = 2}, &above, holes, "..!..");
}

/* A process may exit while its value is beyond the threshold. Its alert must be cleared, although no more values
   arrive. */
static void disappeared_instance_clears_its_alert(void **state)
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
        cmocka_unit_test(each_sample_beyond_is_an_alert_as_on_windows),
        cmocka_unit_test(only_the_crossing_is_an_alert),
        cmocka_unit_test(short_peak_is_not_an_alert),
        cmocka_unit_test(alert_clears_only_beyond_hysteresis),
        cmocka_unit_test(hold_off_separates_alerts),
        cmocka_unit_test(missing_value_changes_nothing),
        cmocka_unit_test(disappeared_instance_clears_its_alert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
