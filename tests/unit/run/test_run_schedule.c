/* SPDX-License-Identifier: MIT */
/* The sampling grid: the times at which samples are due. If a sample is late, the next ones must still be on time. */
#include "engine/pla/run/member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* The first sample must be taken immediately. If samples are late, their delays must not add up. */
static void ticks_stay_on_the_grid(void **state)
{
    (void)state;
    struct tick_grid s = tick_grid_from(1000, 250);
    uint64_t missed = 9;
    assert_false(tick_grid_take(&s, 999, &missed));
    assert_int_equal(missed, 0);
    assert_true(tick_grid_take(&s, 1000, &missed));
    assert_int_equal(tick_grid_next(&s), 1250);
    assert_true(tick_grid_take(&s, 1300, &missed)); /* 50 ms late */
    assert_int_equal(missed, 0);
    assert_int_equal(tick_grid_last(&s), 1250);
    assert_int_equal(tick_grid_next(&s), 1500);
    assert_false(tick_grid_take(&s, 1499, &missed));
}

/* After the computer slept, the log must not get hundreds of samples with the same time. */
static void missed_ticks_are_counted_and_skipped(void **state)
{
    (void)state;
    struct tick_grid s = tick_grid_from(0, 1000);
    uint64_t missed;
    assert_true(tick_grid_take(&s, 0, &missed));
    assert_true(tick_grid_take(&s, 5400, &missed));
    assert_int_equal(missed, 4); /* the ticks 1000 to 4000; this sample is for the tick 5000 */
    assert_false(tick_grid_take(&s, 5400, &missed));
    assert_int_equal(tick_grid_next(&s), 6000);
}

/* If a collector takes no samples, or one in 136 years, the set host process must not use the processor all the time or
   crash. */
static void extreme_intervals_do_not_block_or_crash(void **state)
{
    (void)state;
    struct tick_grid s = tick_grid_from(5, 0);
    uint64_t missed;
    assert_int_equal(tick_grid_next(&s), TICK_NEVER);
    assert_false(tick_grid_take(&s, INT64_MAX - 1, &missed));
    s = tick_grid_from(5, UINT64_C(4294967295) * 1000);
    assert_true(tick_grid_take(&s, 5, &missed));
    assert_int_equal(tick_grid_next(&s), 5 + INT64_C(4294967295) * 1000);
    s = tick_grid_from(INT64_MAX - 10, 20);
    assert_true(tick_grid_take(&s, INT64_MAX - 10, &missed));
    assert_int_equal(tick_grid_next(&s), TICK_NEVER);
}

/* The clock must count milliseconds; otherwise samples would not have the requested interval. */
static void clock_counts_milliseconds(void **state)
{
    (void)state;
    int64_t a = tick_clock(), b = tick_clock();
    assert_true(b >= a && b - a < 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_stay_on_the_grid),
        cmocka_unit_test(missed_ticks_are_counted_and_skipped),
        cmocka_unit_test(extreme_intervals_do_not_block_or_crash),
        cmocka_unit_test(clock_counts_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
