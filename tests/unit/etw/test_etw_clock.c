/* SPDX-License-Identifier: MIT */
/* Conversion of timestamps to the session's clock. The test supplies the clock readings, so all results are exact. */
#include "engine/base/clock.h"
#include "engine/etw/session/session_drain.h"
#include "engine/logs/etl_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* 2.6 GHz and 10 MHz: 260 cycles per tick. */
enum { RATE = 260, SECOND = 10000000 };
#define START UINT64_C(1000000000000)
#define FIRST INT64_C(500000)

static struct session_anchor at(int64_t ticks)
{
    return (struct session_anchor){START + (uint64_t)ticks * RATE, FIRST + ticks};
}

static struct session_clock clock_from(int64_t first)
{
    struct session_clock c = {.clock = ETL_CLOCK_TICKS, .source = SESSION_STAMP_CYCLES};
    session_clock_add(&c, at(first));
    session_clock_add(&c, at(first + 2000));
    return c;
}

static void assert_near(const struct session_clock *c, int64_t ticks, int64_t off)
{
    const int64_t time = session_clock_time(c, at(ticks).cycles);
    assert_true(time - (FIRST + ticks) <= off && time - (FIRST + ticks) >= -off);
}

static void times_are_exact_between_and_outside_readings(void **state)
{
    (void)state;
    struct session_clock c = clock_from(0);
    assert_near(&c, -1000, 1);
    assert_near(&c, 1000, 1);
    assert_near(&c, SECOND, 1);
    for (int64_t i = 1; i < 200; i++)
        session_clock_add(&c, at(i * SECOND));
    for (int64_t i = -5; i < 205; i++)
        assert_near(&c, i * SECOND + 777, 1);
}

static void next_reading_corrects_a_wrong_one(void **state)
{
    (void)state;
    struct session_clock c = clock_from(0);
    struct session_anchor late = at(SECOND);
    late.time += 1000; /* 0.1 ms */
    session_clock_add(&c, late);
    session_clock_add(&c, at(2 * SECOND));
    assert_near(&c, SECOND / 2, 501);
    assert_near(&c, 3 * SECOND, 1100);
    session_clock_add(&c, at(3 * SECOND));
    assert_near(&c, 5 * SECOND / 2, 1);
    int64_t before = INT64_MIN;
    for (int64_t i = 0; i < 3 * SECOND; i += 9973) { /* times never go backwards */
        const int64_t time = session_clock_time(&c, at(i).cycles);
        assert_true(time >= before);
        before = time;
    }
}

static void setting_the_clock_keeps_its_rate(void **state)
{
    (void)state;
    static const int64_t jumps[] = {-3600LL * SECOND, 3600LL * SECOND};
    for (int i = 0; i < 2; i++) {
        struct session_clock c = clock_from(0);
        struct session_anchor set = at(SECOND);
        set.time += jumps[i];
        session_clock_add(&c, set);
        assert_near(&c, SECOND / 2, 1); /* a time before the clock was set */
        const int64_t passed = session_clock_time(&c, at(SECOND + 500).cycles) - set.time;
        assert_in_range(passed, 499, 501);
    }
}

static void other_sources_need_no_conversion(void **state)
{
    (void)state;
    struct session_clock c;
    session_clock_start(&c, ETL_CLOCK_TICKS, SESSION_STAMP_TICKS);
    assert_true(session_clock_time(&c, 12345) == 12345);
    session_clock_start(&c, ETL_CLOCK_CYCLES, SESSION_STAMP_CYCLES);
    assert_true(session_clock_time(&c, 12345) == 12345);
    session_clock_start(&c, ETL_CLOCK_SYSTEM, SESSION_STAMP_SYSTEM);
    int64_t time;
    const int64_t before = clock_utc();
    (void)session_clock_now(&c, &time);
    assert_true(time > before - SECOND && time <= clock_utc());
}

static void running_clock_matches_the_system_time(void **state)
{
    (void)state;
    static const uint32_t clocks[] = {ETL_CLOCK_TICKS, ETL_CLOCK_SYSTEM};
    for (int i = 0; i < 2; i++) {
        struct session_clock c;
        session_clock_start(&c, clocks[i], SESSION_STAMP_CYCLES);
        for (int k = 0; k < 20; k++) {
            const int64_t before = i == 0 ? clock_ticks() : clock_utc();
            int64_t time;
            (void)session_clock_now(&c, &time);
            const int64_t after = i == 0 ? clock_ticks() : clock_utc();
            assert_true(time >= before - 100 && time <= after + 100); /* 10 us */
            session_clock_keep(&c);
        }
    }
}

static void continued_session_keeps_its_times(void **state)
{
    (void)state;
    struct session_clock c = clock_from(SECOND);
    session_clock_resume(&c, at(0));
    assert_int_equal(c.count, 2);
    assert_near(&c, SECOND / 3, 1);
    assert_near(&c, 2 * SECOND, 1);
    struct session_anchor lie = at(0);
    lie.time += SECOND;
    c = clock_from(SECOND);
    session_clock_resume(&c, lie);
    assert_near(&c, SECOND / 3, 1);
    session_clock_resume(&c, at(5 * SECOND)); /* a reading from the future is ignored */
    assert_near(&c, SECOND / 3, 1);
}

/* The calculation for 32-bit processors, where compilers have no 128-bit product, gives the same results. */
static void split_multiplication_gives_the_same_results(void **state)
{
    static const uint64_t numbers[] = {
        1, 3, 0xFFFFFFFF, UINT64_C(1) << 32, UINT64_C(0x123456789ABCDEF0), UINT64_MAX, UINT64_MAX - 1};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            const uint64_t a = numbers[i], b = numbers[k];
            assert_true(fraction_of_halves(a, b) == fraction_of(a, b));
            if (a < b)
                assert_true(fraction_by_bits(a, b) == fraction(a, b));
        }
    }
    assert_true(fraction_of_halves(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    assert_true(fraction_by_bits(1, 2) == UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_exact_between_and_outside_readings),
        cmocka_unit_test(next_reading_corrects_a_wrong_one),
        cmocka_unit_test(setting_the_clock_keeps_its_rate),
        cmocka_unit_test(other_sources_need_no_conversion),
        cmocka_unit_test(running_clock_matches_the_system_time),
        cmocka_unit_test(continued_session_keeps_its_times),
        cmocka_unit_test(split_multiplication_gives_the_same_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
