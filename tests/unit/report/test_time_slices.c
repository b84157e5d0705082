/* SPDX-License-Identifier: MIT */
/* Time slices. A sustained load must be found wherever it begins, and a trend must not depend on a single slice. */
#include "engine/report/make/report_counters.h"
#include "tests/unit/scratch_folder.h"

#include <math.h>

#define SECOND INT64_C(10000000)
#define BEGIN  (INT64_C(13416000000) * SECOND) /* a full hour */
#define MINUTE (60 * SECOND)

static struct slice_series sampled(int64_t begin, int64_t interval, size_t count, size_t hot, size_t hot_count)
{
    struct slice_series s = {0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(slice_series_add(&s, begin + (int64_t)i * interval,
                                          i >= hot && i < hot + hot_count ? 100 : (double)(5 + i % 11)),
                         S_OK);
    return s;
}

/* A load of 20 minutes in eight hours may begin at any sample. At least three slices must be completely within it, its
   begin and end may be wrong by at most one slice, and no sample may be lost. */
static void load_of_twenty_minutes_is_found_anywhere(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < 80; offset++) {
        const size_t hot = 900 + offset;
        struct slice_series s = sampled(BEGIN, 15 * SECOND, 1920, hot, 80);
        size_t full = 0, first = 0, last = 0;
        uint64_t values = 0;
        assert_int_equal(s.width, 5 * MINUTE);
        assert_int_equal(s.count, 96);
        for (size_t i = 0; i < s.count; i++) {
            values += s.items[i].count;
            if (s.items[i].mean <= 80)
                continue;
            assert_int_equal(s.items[i].greatest, 100);
            first = full++ ? first : i;
            last = i;
        }
        assert_int_equal(values, 1920);
        assert_true(full >= 3 && full <= 5);
        assert_int_equal(last - first + 1, full);
        assert_true(first * 20 + 20 > hot && first * 20 < hot + 20);
        assert_true((last + 1) * 20 + 20 > hot + 80 && (last + 1) * 20 < hot + 80 + 20);
        slice_series_free(&s);
    }
}

/* A log has at most 98 slices, which begin at multiples of their length. Each possible length is a multiple of the
   shorter ones. */
static void slice_length_depends_on_the_log(void **state)
{
    static const struct {
        int64_t interval, seconds, width;
    } logs[] = {{1, 600, 10}, {1, 3600, 60}, {15, 28800, 300}, {1, 86400, 900}, {60, 7 * 86400, 7200}};
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        const size_t count = (size_t)(logs[i].seconds / logs[i].interval);
        struct slice_series s = sampled(BEGIN + 7 * SECOND, logs[i].interval * SECOND, count, 0, 0);
        uint64_t values = 0;
        for (size_t k = 0; k < s.count; k++)
            values += s.items[k].count;
        assert_int_equal(s.width, logs[i].width * SECOND);
        assert_int_equal(values, count);
        assert_true(s.count <= SLICES_MOST);
        assert_true(s.first * s.width <= BEGIN + 7 * SECOND);
        slice_series_free(&s);
    }
}

/* Two series with the same slice length have the same boundaries. A length given by the user is kept as long as there
   are not too many slices. */
static void slices_become_wider_without_losing_values(void **state)
{
    (void)state;
    struct slice_series s = sampled(BEGIN + 30 * SECOND, 10 * SECOND, 12, 0, 6);
    assert_int_equal(s.width, 10 * SECOND);
    slice_series_widen(&s, 45 * SECOND);
    assert_int_equal(s.width, MINUTE);
    assert_int_equal(s.first, BEGIN / MINUTE);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.items[0].count, 3);
    assert_int_equal(s.items[1].count, 6);
    assert_int_equal(s.items[0].mean, 100);
    assert_int_equal(s.items[1].least, 11);
    slice_series_free(&s);
    s.fixed = 7 * SECOND;
    for (int64_t i = 0; i < 2100; i++)
        assert_int_equal(slice_series_add(&s, BEGIN + i * 7 * SECOND, 1), S_OK);
    assert_int_equal(s.width, 28 * SECOND);
    assert_true(s.count <= SLICES_MOST_FIXED);
    slice_series_free(&s);
}

/* A hostile log can contain any timestamps. */
static void times_may_be_any(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MAX - 1, BEGIN, INT64_MIN + 1};
    (void)state;
    struct slice_series s = {0};
    uint64_t values = 0;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(slice_series_add(&s, times[i], 1), S_OK);
    for (size_t i = 0; i < s.count; i++)
        values += s.items[i].count;
    assert_int_equal(values, sizeof times / sizeof *times);
    slice_series_widen(&s, INT64_MAX);
    assert_true(isnan(slice_series_trend(&s)) || isfinite(slice_series_trend(&s)));
    slice_series_free(&s);
}

/* The value increases by 60 per hour. Gaps and the last slice must not change the trend. If the log is shorter than one
   hour or has fewer than twelve slices, the trend is not a number. */
static void trend_uses_all_slices(void **state)
{
    (void)state;
    struct slice_series s = {0};
    assert_true(isnan(slice_series_trend(&s)));
    for (int64_t minute = 0; minute < 480; minute++)
        if (minute % 100 < 90)
            assert_int_equal(slice_series_add(&s, BEGIN + minute * MINUTE, (double)minute), S_OK);
    assert_true(fabs(slice_series_trend(&s) - 60) < 0.5);
    assert_int_equal(slice_series_add(&s, BEGIN + 480 * MINUTE, 0), S_OK); /* the first and the last slice have the
                                                                              same value, 0 */
    assert_true(slice_series_trend(&s) > 50);
    slice_series_free(&s);
    s = sampled(BEGIN, SECOND, 3500, 0, 0);
    assert_true(isnan(slice_series_trend(&s)));
    slice_series_free(&s);
    s = sampled(BEGIN, 1200 * SECOND, 11, 0, 0);
    assert_true(isnan(slice_series_trend(&s)));
    slice_series_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_of_twenty_minutes_is_found_anywhere),
        cmocka_unit_test(slice_length_depends_on_the_log),
        cmocka_unit_test(slices_become_wider_without_losing_values),
        cmocka_unit_test(times_may_be_any),
        cmocka_unit_test(trend_uses_all_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
