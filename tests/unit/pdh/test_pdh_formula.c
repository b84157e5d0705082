/* SPDX-License-Identifier: MIT */
/* The displayed value of two raw samples, calculated by hand for each counter type. */
#include "engine/pdh/formula.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#define G32 0x100000000LL
static const struct {
    const char *what;
    DWORD type;
    int64_t base, n0, d0, n1, d1;
    DWORD parts, status;
    double value;
} table[] = {
    {"raw 32", PERF_COUNTER_RAWCOUNT, 1000, 5, 0, 7, 0, 1, 0, 7},
    {"raw 32 is unsigned", PERF_COUNTER_RAWCOUNT, 1000, 0, 0, -1, 0, 1, 0, 4294967295.0},
    {"raw 64", PERF_COUNTER_LARGE_RAWCOUNT, 1000, 0, 0, 3 * G32, 0, 1, 0, 12884901888.0},
    {"raw hex", PERF_COUNTER_RAWCOUNT_HEX, 1000, 0, 0, 255, 0, 1, 0, 255},
    {"raw hex 64", PERF_COUNTER_LARGE_RAWCOUNT_HEX, 1000, 0, 0, 255 * G32, 0, 1, 0, 1095216660480.0},
    {"delta 32 over 2^32", PERF_COUNTER_DELTA, 1000, 0xFFFFFFFE, 0, 3, 0, 1, 0, 5},
    {"delta", PERF_COUNTER_LARGE_DELTA, 1000, 5, 0, 12, 0, 1, 0, 7},
    {"delta backwards", PERF_COUNTER_LARGE_DELTA, 1000, 12, 0, 5, 0, 1, PDH_CALC_NEGATIVE_VALUE, 0},
    /* 300 in 2 s of a 1,000 Hz clock */
    {"rate", PERF_COUNTER_COUNTER, 1000, 100, 5000, 400, 7000, 1, 0, 150},
    {"rate over 2^32", PERF_COUNTER_COUNTER, 1000, 0xFFFFFF00, 0, 0x100, 1000, 1, 0, 512},
    {"rate 64", PERF_COUNTER_BULK_COUNT, 10, 100, 0, 100 + G32, 20, 1, 0, 2147483648.0},
    {"rate 64 backwards", PERF_COUNTER_BULK_COUNT, 10, 100, 0, 90, 20, 1, PDH_CALC_NEGATIVE_VALUE, 0},
    {"rate, no time", PERF_COUNTER_COUNTER, 1000, 100, 5000, 400, 5000, 1, PDH_CALC_NEGATIVE_TIMEBASE, 0},
    {"rate, time backwards", PERF_COUNTER_COUNTER, 1000, 100, 5000, 400, 4000, 1, PDH_CALC_NEGATIVE_TIMEBASE, 0},
    {"sample counter", PERF_SAMPLE_COUNTER, 1000, 0, 0, 30, 10000, 1, 0, 3},
    /* 0.25 s of 1 s */
    {"timer 100 ns", PERF_100NSEC_TIMER, 10000000, 0, 0, 2500000, 10000000, 1, 0, 25},
    {"timer ticks", PERF_COUNTER_TIMER, 1000, 0, 0, 250, 500, 1, 0, 50},
    {"timer of the object", PERF_OBJ_TIME_TIMER, 1000, 0, 0, 100, 500, 1, 0, 20},
    {"timer above 100", PERF_100NSEC_TIMER, 10000000, 0, 0, 15000000, 10000000, 1, 0, 100},
    {"inverse", PERF_100NSEC_TIMER_INV, 10000000, 0, 0, 2500000, 10000000, 1, 0, 75},
    {"inverse, idle a tick too long", PERF_100NSEC_TIMER_INV, 10000000, 0, 0, 10100000, 10000000, 1, 0, 0},
    {"inverse, idle a tick back", PERF_100NSEC_TIMER_INV, 10000000, 100000, 0, 0, 10000000, 1, 0, 100},
    {"inverse ticks", PERF_COUNTER_TIMER_INV, 1000, 0, 0, 100, 1000, 1, 0, 90},
    {"precision", PERF_PRECISION_100NS_TIMER, 10000000, 0, 100, 300, 1100, 1, 0, 30},
    {"precision system", PERF_PRECISION_SYSTEM_TIMER, 1000, 0, 100, 400, 1100, 1, 0, 40},
    {"precision of the object", PERF_PRECISION_OBJECT_TIMER, 500, 0, 0, 150, 600, 1, 0, 25},
    /* 2 of 4 processors busy for 3/4 of 2 s of a 1,000 Hz clock */
    {"multi ticks", PERF_COUNTER_MULTI_TIMER, 1000, 1000, 0, 4000, 2000, 4, 0, 37.5},
    {"multi ticks inverse", PERF_COUNTER_MULTI_TIMER_INV, 1000, 0, 0, 7200, 2000, 4, 0, 40},
    {"multi without a number of parts", PERF_100NSEC_MULTI_TIMER, 10000000, 0, 0, 5000000, 10000000, 0, 0, 50},
    {"multi", PERF_100NSEC_MULTI_TIMER, 10000000, 0, 0, 12000000, 10000000, 4, 0, 30},
    {"multi inverse", PERF_100NSEC_MULTI_TIMER_INV, 10000000, 0, 0, 35000000, 10000000, 4, 0, 50},
    /* 3 waited for 1 s of 2 s: 1.5 on average; the clock's frequency is irrelevant */
    {"queue length, ticks", PERF_COUNTER_QUEUELEN_TYPE, 1000, 0, 0, 3000, 2000, 1, 0, 1.5},
    {"queue length, ticks over 2^32", PERF_COUNTER_QUEUELEN_TYPE, 1000, 0xFFFFFF00, 0, 0x100, 1024, 1, 0, 0.5},
    {"queue length, ticks 64", PERF_COUNTER_LARGE_QUEUELEN_TYPE, 1000, 0, 0, 6 * G32, 2 * G32, 1, 0, 3},
    {"queue length, object time", PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, 77, 0, 0, 500, 2000, 1, 0, 0.25},
    {"queue length", PERF_COUNTER_100NS_QUEUELEN_TYPE, 10000000, 0, 0, 25000000, 10000000, 1, 0, 2.5},
    {"fraction", PERF_RAW_FRACTION, 1000, 0, 0, 30, 120, 1, 0, 25},
    {"fraction 64", PERF_LARGE_RAW_FRACTION, 1000, 0, 0, G32, 4 * G32, 1, 0, 25},
    {"fraction of nothing", PERF_RAW_FRACTION, 1000, 0, 0, 30, 0, 1, PDH_CALC_NEGATIVE_DENOMINATOR, 0},
    {"fraction of samples", PERF_SAMPLE_FRACTION, 1000, 10, 100, 40, 200, 1, 0, 30},
    /* 600 ticks for 3 operations: 200 ticks each of 1,000 a second */
    {"average time", PERF_AVERAGE_TIMER, 1000, 100, 7, 700, 10, 1, 0, 0.2},
    {"average bytes", PERF_AVERAGE_BULK, 1000, 0, 0, 4096, 2, 1, 0, 2048},
    {"average of nothing", PERF_AVERAGE_BULK, 1000, 9, 5, 9, 5, 1, 0, 0},
    {"elapsed", PERF_ELAPSED_TIME, 10000000, 0, 0, 50000000, 125000000, 1, 0, 7.5},
    {"elapsed, started later", PERF_ELAPSED_TIME, 10000000, 0, 0, 50000000, 0, 1, PDH_CALC_NEGATIVE_VALUE, 0},
    {"fraction of samples over 2^32", PERF_SAMPLE_FRACTION, 1, 0xFFFFFFFF, 0xFFFFFFFE, 1, 2, 1, 0, 50},
    {"average time over 2^32", PERF_AVERAGE_TIMER, 1000, 0xFFFFFFFF, 1, 499, 2, 1, 0, 0.5},
    {"average bytes backwards", PERF_AVERAGE_BULK, 1000, 4096, 0, 0, 2, 1, PDH_CALC_NEGATIVE_VALUE, 0},
    {"a base", PERF_LARGE_RAW_BASE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"a base 32", PERF_RAW_BASE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"a sample base", PERF_SAMPLE_BASE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"an average base", PERF_AVERAGE_BASE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"a multi base", PERF_COUNTER_MULTI_BASE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"nothing", PERF_COUNTER_NODATA, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"a histogram", PERF_COUNTER_HISTOGRAM_TYPE, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"a text", PERF_COUNTER_TEXT, 1000, 0, 0, 1, 1, 1, PDH_INVALID_ARGUMENT, 0},
    {"no clock", PERF_COUNTER_COUNTER, 0, 0, 0, 1, 1, 1, PDH_CALC_NEGATIVE_TIMEBASE, 0},
};

/* A wrong formula would make every log with that type wrong. */
static void each_type_has_its_formula(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        PDH_RAW_COUNTER older = {.FirstValue = table[i].n0, .SecondValue = table[i].d0, .MultiCount = table[i].parts};
        PDH_RAW_COUNTER newer = {.FirstValue = table[i].n1, .SecondValue = table[i].d1, .MultiCount = table[i].parts};
        PDH_FMT_COUNTERVALUE v;
        print_message("%s\n", table[i].what);
        DWORD status = formula_format(table[i].type, PDH_FMT_DOUBLE, table[i].base, 0, &newer, &older, &v);
        assert_int_equal(status, table[i].status);
        assert_int_equal(v.CStatus, table[i].status);
        assert_true(fabs(v.doubleValue - table[i].value) < 1e-9 * (1 + fabs(table[i].value)));
    }
}

/* Each type must have a value calculated by hand, or an error in its formula would not be noticed. The list is from
   winperf.h; PERF_PRECISION_TIMESTAMP has the value of PERF_LARGE_RAW_BASE. */
static void every_type_is_tested(void **state)
{
    (void)state;
    static const DWORD types[] = {
        PERF_COUNTER_COUNTER,
        PERF_COUNTER_TIMER,
        PERF_COUNTER_QUEUELEN_TYPE,
        PERF_COUNTER_LARGE_QUEUELEN_TYPE,
        PERF_COUNTER_100NS_QUEUELEN_TYPE,
        PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE,
        PERF_COUNTER_BULK_COUNT,
        PERF_COUNTER_TEXT,
        PERF_COUNTER_RAWCOUNT,
        PERF_COUNTER_LARGE_RAWCOUNT,
        PERF_COUNTER_RAWCOUNT_HEX,
        PERF_COUNTER_LARGE_RAWCOUNT_HEX,
        PERF_SAMPLE_FRACTION,
        PERF_SAMPLE_COUNTER,
        PERF_COUNTER_NODATA,
        PERF_COUNTER_TIMER_INV,
        PERF_SAMPLE_BASE,
        PERF_AVERAGE_TIMER,
        PERF_AVERAGE_BASE,
        PERF_AVERAGE_BULK,
        PERF_OBJ_TIME_TIMER,
        PERF_100NSEC_TIMER,
        PERF_100NSEC_TIMER_INV,
        PERF_COUNTER_MULTI_TIMER,
        PERF_COUNTER_MULTI_TIMER_INV,
        PERF_COUNTER_MULTI_BASE,
        PERF_100NSEC_MULTI_TIMER,
        PERF_100NSEC_MULTI_TIMER_INV,
        PERF_RAW_FRACTION,
        PERF_LARGE_RAW_FRACTION,
        PERF_RAW_BASE,
        PERF_LARGE_RAW_BASE,
        PERF_ELAPSED_TIME,
        PERF_COUNTER_HISTOGRAM_TYPE,
        PERF_COUNTER_DELTA,
        PERF_COUNTER_LARGE_DELTA,
        PERF_PRECISION_SYSTEM_TIMER,
        PERF_PRECISION_100NS_TIMER,
        PERF_PRECISION_OBJECT_TIMER,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t row = 0;
        while (row < sizeof table / sizeof *table && table[row].type != types[i])
            row++;
        if (row == sizeof table / sizeof *table)
            print_error("0x%08X has no row\n", (unsigned)types[i]);
        assert_in_range(row, 0, sizeof table / sizeof *table - 1);
    }
}

/* The lowest, highest and average value in a report. The oldest sample is in the middle of the ring, as after a
   wraparound. */
static void statistics_follow_the_ring(void **state)
{
    (void)state;
    /* From the oldest sample: 0, 100, missing, 400, 500, 800, one second apart. The rates are 100, -, -, 100, 300. */
    PDH_RAW_COUNTER ring[6] = {
        {.FirstValue = 400, .SecondValue = 3000}, {.FirstValue = 500, .SecondValue = 4000},
        {.FirstValue = 800, .SecondValue = 5000}, {.FirstValue = 0, .SecondValue = 0},
        {.FirstValue = 100, .SecondValue = 1000}, {.CStatus = PDH_CSTATUS_NO_INSTANCE},
    };
    PDH_STATISTICS s;
    assert_int_equal(formula_statistics(PERF_COUNTER_COUNTER, PDH_FMT_DOUBLE, 1000, 0, 3, 6, ring, &s), 0);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.dwFormat, PDH_FMT_DOUBLE);
    assert_true(s.min.doubleValue == 100 && s.max.doubleValue == 300);
    assert_true(fabs(s.mean.doubleValue - 500.0 / 3) < 1e-9);
    assert_int_equal(formula_statistics(PERF_COUNTER_RAWCOUNT, PDH_FMT_LONG, 1000, 1, 3, 6, ring, &s), 0);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.min.longValue, 0);
    assert_int_equal(s.max.longValue, 8000);
    assert_int_equal(s.mean.longValue, 3600);
    assert_int_equal(formula_statistics(PERF_COUNTER_RAWCOUNT, PDH_FMT_LARGE, 1000, 0, 0, 1, &ring[5], &s),
                     PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.mean.CStatus, PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(formula_statistics(PERF_COUNTER_COUNTER, PDH_FMT_DOUBLE, 1000, 0, 0, 1, ring, &s),
                     PDH_CSTATUS_INVALID_DATA);
}

/* A chart must not begin with an invented 0. */
static void a_rate_needs_two_samples(void **state)
{
    (void)state;
    PDH_RAW_COUNTER valid = {.FirstValue = 1, .SecondValue = 1}, bad = {.CStatus = PDH_CSTATUS_NO_INSTANCE};
    PDH_FMT_COUNTERVALUE v;
    assert_int_equal(formula_format(PERF_COUNTER_COUNTER, PDH_FMT_DOUBLE, 1, 0, &valid, NULL, &v),
                     PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(formula_format(PERF_COUNTER_COUNTER, PDH_FMT_DOUBLE, 1, 0, &valid, &bad, &v),
                     PDH_CSTATUS_INVALID_DATA);
    assert_int_equal(formula_format(PERF_COUNTER_COUNTER, PDH_FMT_DOUBLE, 1, 0, &bad, &valid, &v),
                     PDH_CSTATUS_NO_INSTANCE);
    assert_int_equal(formula_format(PERF_COUNTER_RAWCOUNT, PDH_FMT_DOUBLE, 1, 0, &valid, NULL, &v), 0);
    assert_true(formula_needs_two(PERF_100NSEC_TIMER) && !formula_needs_two(PERF_ELAPSED_TIME));
}

/* A program can request whole numbers, values multiplied by 1,000, or values above 100 %. */
static void formats_and_scale_apply(void **state)
{
    (void)state;
    PDH_RAW_COUNTER older = {.CStatus = 0}, newer = {.FirstValue = 15000000, .SecondValue = 10000000, .MultiCount = 1};
    PDH_RAW_COUNTER large = {.FirstValue = 9007199254740993LL}, huge = {.FirstValue = 5 * G32};
    PDH_FMT_COUNTERVALUE v;
    formula_format(PERF_100NSEC_TIMER, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100, 10000000, 0, &newer, &older, &v);
    assert_true(v.doubleValue == 150);
    formula_format(PERF_100NSEC_TIMER, PDH_FMT_LONG, 10000000, 0, &newer, &older, &v);
    assert_int_equal(v.longValue, 100);
    /* 2^53 + 1 has no exact double */
    formula_format(PERF_COUNTER_LARGE_RAWCOUNT, PDH_FMT_LARGE, 1, 0, &large, NULL, &v);
    assert_true(v.largeValue == 9007199254740993LL);
    formula_format(PERF_COUNTER_LARGE_RAWCOUNT, PDH_FMT_LONG, 1, 0, &huge, NULL, &v);
    assert_int_equal(v.longValue, INT32_MAX);
    PDH_RAW_COUNTER seven = {.FirstValue = 7};
    formula_format(PERF_COUNTER_RAWCOUNT, PDH_FMT_LARGE | PDH_FMT_1000, 1, 0, &seven, NULL, &v);
    assert_true(v.largeValue == 7000);
    formula_format(PERF_COUNTER_RAWCOUNT, PDH_FMT_LARGE, 1, 2, &seven, NULL, &v);
    assert_true(v.largeValue == 700);
    formula_format(PERF_COUNTER_RAWCOUNT, PDH_FMT_DOUBLE, 1, -1, &seven, NULL, &v);
    assert_true(fabs(v.doubleValue - 0.7) < 1e-12);
    formula_format(PERF_COUNTER_RAWCOUNT, PDH_FMT_DOUBLE | PDH_FMT_NOSCALE, 1, -1, &seven, NULL, &v);
    assert_true(v.doubleValue == 7);
}

static void contradicting_formats_are_invalid(void **state)
{
    (void)state;
    assert_true(formula_format_is_valid(PDH_FMT_DOUBLE | PDH_FMT_NOSCALE | PDH_FMT_NOCAP100));
    assert_false(formula_format_is_valid(0));
    assert_false(formula_format_is_valid(PDH_FMT_DOUBLE | PDH_FMT_LARGE));
    assert_false(formula_format_is_valid(PDH_FMT_LONG | PDH_FMT_NOSCALE | PDH_FMT_1000));
    assert_false(formula_format_is_valid(PDH_FMT_RAW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_formula),  cmocka_unit_test(every_type_is_tested),
        cmocka_unit_test(statistics_follow_the_ring), cmocka_unit_test(a_rate_needs_two_samples),
        cmocka_unit_test(formats_and_scale_apply),    cmocka_unit_test(contradicting_formats_are_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
