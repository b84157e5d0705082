/* SPDX-License-Identifier: MIT */
/* Compares two runs. A slowdown must be found, but noise and drift must not look like a slowdown. */
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/run_compare.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <math.h>

#define COUNTERS 300
#define SAMPLES  480 /* two hours at 15 s */

static uint64_t seed;

/* Returns a random number with a normal distribution. The sequence is the same on every host OS. */
static double deviate(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(seed >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Creates one side of a comparison. The noise of its counters has this autocorrelation, and their values are shifted by
   this number of standard deviations. */
static void make_side(struct run_side *s, double correlation, double shift)
{
    s->series = memory_zero(COUNTERS, sizeof *s->series);
    s->count = COUNTERS;
    s->end = 15.0 * (SAMPLES - 1);
    for (size_t i = 0; i < COUNTERS; i++) {
        struct run_series *x = &s->series[i];
        double value = deviate();
        *x = (struct run_series){.object = text_copy("Object"),
                                 .counter = text_format("Counter %03u", (unsigned)i),
                                 .instance = text_copy(""),
                                 .step = 15,
                                 .count = SAMPLES,
                                 .values = memory_zero(SAMPLES, sizeof *x->values)};
        for (size_t k = 0; k < SAMPLES; k++) {
            value = correlation * value + sqrt(1 - correlation * correlation) * deviate();
            const float at = (float)(10 + value + shift);
            x->values[k] = (struct chart_value){at, at, at};
        }
    }
}

/* Returns how many counters are reported as changed. */
static size_t changed(double correlation, double shift, size_t *undecided)
{
    struct run_comparison c = {0};
    const struct run_compare_options options = {.least_change = 5};
    make_side(&c.sides[0], correlation, 0);
    make_side(&c.sides[1], correlation, shift);
    assert_int_equal(run_compare(&c, &options), S_OK);
    assert_int_equal(c.count, COUNTERS);
    const size_t count = c.verdicts[RUN_CHANGED];
    *undecided = c.verdicts[RUN_UNDECIDED];
    assert_int_equal(c.verdicts[RUN_WORSE] + c.verdicts[RUN_MUCH_WORSE] + c.verdicts[RUN_BETTER], 0);
    run_comparison_free(&c);
    return count;
}

/* These counters are unchanged. If the comparison treated samples as independent, it would report more than half of the
   counters as changed. */
static void drifting_counters_are_not_called_changed(void **state)
{
    static const double correlations[] = {0, 0.9, 0.98, 0.995};
    (void)state;
    seed = 42;
    for (size_t i = 0; i < sizeof correlations / sizeof *correlations; i++) {
        size_t undecided;
        const size_t count = changed(correlations[i], 0, &undecided);
        printf("correlation %.3f: %zu of %d changed, %zu undecided\n", correlations[i], count, COUNTERS, undecided);
        assert_true(count <= 2);
    }
}

static void changed_counters_are_found(void **state)
{
    size_t undecided;
    (void)state;
    seed = 7;
    assert_true(changed(0, 1, &undecided) > COUNTERS * 9 / 10);
    assert_true(changed(0.9, 1, &undecided) > COUNTERS * 3 / 4);
    changed(0.995, 1, &undecided); /* no decision is possible, because the drift takes longer than the runs */
    assert_true(undecided > COUNTERS / 4);
}

static void ranks_and_rates_are_those_of_the_textbook(void **state)
{
    static const double a[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {9, 10, 11, 12, 13, 14, 15, 16},
                        p[] = {0.04, 0.001, 0.02, 0.5};
    double effect, room[16];
    (void)state;
    assert_true(fabs(run_rank_test(a, 8, b, 8, 1, &effect, room) - 0.000939) < 1e-5); /* U = 0, continuity correction */
    assert_true(fabs(effect - 1) < 1e-12);
    assert_true(fabs(run_rank_test(b, 8, a, 8, 4, &effect, room) - 0.0982) < 1e-3);
    assert_true(fabs(effect + 1) < 1e-12);
    assert_true(run_rank_test(a, 8, a, 8, 1, &effect, room) >= 1 && fabs(effect) < 1e-12);
    assert_true(run_rank_test(a, 0, a, 8, 1, &effect, room) >= 1);
    assert_true(fabs(run_discovery_limit(p, 4, 0.05, room) - 0.02) < 1e-12);
    assert_true(run_discovery_limit(p, 0, 0.05, room) < 0);
    assert_true(run_correlation(a, 8) > 0.8 && run_correlation(a, 2) < 1e-12);
}

/* ---- reports ---- */

#define PART                                                                                                           \
    "<Report name='r' version='1'><Header><Data name='start'>2026-01-0%dT03:00:00.000Z</Data></Header><Section "       \
    "name='s'>"
#define ROW                                                                                                            \
    "<Table name='t' source='Disk'><Header><Data name='counter' align='left'/><Data name='instance' align='left'/>"    \
    "<Data name='mean'/><Data name='max'/><Data name='p95'/></Header><Item><Data name='counter'>Avg. Disk "            \
    "sec/Read</Data>"                                                                                                  \
    "<Data name='instance'>0 C:</Data><Data name='mean'>%s</Data><Data name='max'>1</Data><Data name='p95'>0.5</Data>" \
    "</Item></Table><Chart name='t' source='Disk' start='2026-01-0%dT03:00:00.000Z' duration='400'>"                   \
    "<Series name='Avg. Disk sec/Read (0 C:)' first='0' step='10'>"

static void add_report(struct text_buffer *b, int day, const char *mean, double value, const char *more)
{
    text_buffer_format(b, PART, day);
    text_buffer_format(b, ROW, mean, day);
    for (int i = 0; i < 40; i++)
        text_buffer_format(b, "%g:%g:%g ", value, value + 0.001 * (i % 3), value + 1);
    text_buffer_format(b, "</Series>%s</Chart></Section></Report>", more);
}

static void read_into(struct run_comparison *c, const char *folder, unsigned side, struct text_buffer *b)
{
    char *path = path_join(folder, "run.xml");
    assert_int_equal(file_store(path, b->text, b->length), S_OK);
    assert_int_equal(run_side_read(path, &c->sides[side], &c->notes), S_OK);
    memory_free(path);
    text_buffer_free(b);
}

static void reports_are_paired_by_name_and_become_a_page(void **state)
{
    struct run_comparison c = {0};
    struct text_buffer b = {0};
    const struct run_compare_options options = {.least_change = 5};
    add_report(&b, 1, "0.011", 0.01, "<Series name='Only A'>1 2 3</Series><Series name='Bad' step='x'>- -</Series>");
    read_into(&c, *state, 0, &b);
    add_report(&b, 2, "0.051", 0.05, "<Series name='Only B' first='0' step='10'>1 2 3</Series>");
    read_into(&c, *state, 1, &b);
    assert_int_equal(run_compare(&c, &options), S_OK);
    assert_int_equal(c.count, 1);
    const struct run_change *x = &c.changes[0];
    assert_string_equal(x->counter, "Avg. Disk sec/Read");
    assert_string_equal(x->instance, "0 C:");
    assert_int_equal(x->verdict, RUN_MUCH_WORSE);
    assert_true(fabs(x->difference - 0.04) < 1e-9 && fabs(x->percent - 100 * 0.04 / 0.011) < 1e-6 && x->effect > 0.99);
    assert_int_equal(c.only[0].count, 1);
    assert_string_equal(c.only[0].items[0], "\\Disk\\Only A");
    assert_string_equal(c.only[1].items[0], "\\Disk\\Only B");
    char *report = path_join(*state, "compare.xml"), *page = path_join(*state, "compare.html");
    static const char *const names[2] = {"<quiet>", "loaded"};
    assert_int_equal(run_compare_write(&c, names, false, report), S_OK);
    assert_int_equal(page_make(&(struct page_make){.report = report, .output = page}, &c.notes), S_OK);
    char *text = scratch_read(page);
    static const char *const wanted[] = {"Disk: Avg. Disk sec/Read, 0 C: is much worse: +364 %",
                                         "&lt;quiet&gt;",
                                         "Mean 51 ms, was 11 ms",
                                         "Only in A",
                                         ">A</li>",
                                         "id=\"c1\""};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("the page lacks %s", wanted[i]);
    memory_free(text);
    memory_free(report);
    memory_free(page);
    run_comparison_free(&c);
}

static void runs_are_aligned_by_start_or_clock(void **state)
{
    struct run_comparison c = {0};
    struct text_buffer b = {0};
    (void)state;
    seed = 3;
    make_side(&c.sides[0], 0, 0);
    make_side(&c.sides[1], 0, 0);
    c.sides[1].begin = 86400 + 3600; /* the second run began one day and one hour after the first */
    c.sides[1].end += c.sides[1].begin;
    for (size_t i = 0; i < COUNTERS; i++)
        c.sides[1].series[i].begin = c.sides[1].begin;
    assert_int_equal(run_compare(&c, &(struct run_compare_options){.skip = 60}), S_OK);
    assert_true(fabs(c.span - (15.0 * (SAMPLES - 1) - 60)) < 1e-6);
    memory_free(c.changes);
    c.changes = NULL;
    c.count = 0;
    assert_int_equal(run_compare(&c, &(struct run_compare_options){.by_clock = true}), S_OK);
    assert_true(fabs(c.span - (15.0 * (SAMPLES - 1) - 3600)) < 1e-6);
    memory_free(c.changes);
    c.changes = NULL;
    c.count = 0;
    assert_int_equal(run_compare(&c, &(struct run_compare_options){.skip = 1e6}), S_FALSE);
    assert_non_null(strstr(c.nothing, "no time in common"));
    run_comparison_free(&c);
    text_buffer_free(&b);
}

static void without_memory_nothing_leaks(void **state)
{
    struct text_buffer b = {0};
    char *path = path_join(*state, "run.xml");
    add_report(&b, 1, "0.011", 0.01, "");
    assert_int_equal(file_store(path, b.text, b.length), S_OK);
    for (uint64_t n = 1;; n++) {
        struct run_comparison c = {0};
        memory_fail_at(n);
        HRESULT hr = run_side_read(path, &c.sides[0], &c.notes);
        if (SUCCEEDED(hr))
            hr = run_side_read(path, &c.sides[1], &c.notes);
        if (SUCCEEDED(hr))
            hr = run_compare(&c, &(struct run_compare_options){.least_change = 5});
        const bool reached = memory_count() >= n;
        memory_fail_at(0);
        run_comparison_free(&c);
        if (!reached) {
            assert_int_equal(hr, S_OK);
            break;
        }
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
    memory_free(path);
    text_buffer_free(&b);
}

static int setup(void **state)
{
    *state = scratch_create("run_compare");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drifting_counters_are_not_called_changed),
        cmocka_unit_test(changed_counters_are_found),
        cmocka_unit_test(ranks_and_rates_are_those_of_the_textbook),
        cmocka_unit_test(reports_are_paired_by_name_and_become_a_page),
        cmocka_unit_test(runs_are_aligned_by_start_or_clock),
        cmocka_unit_test(without_memory_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, scratch_end);
}
