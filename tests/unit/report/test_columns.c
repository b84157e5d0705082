/* SPDX-License-Identifier: MIT */
/* The columns of copied logs: how counters with the same name are assigned to columns, and what this costs. */
#include "engine/base/file.h"
#include "engine/logs/counter_names.h"
#include "engine/report/columns.h"
#include "tests/unit/scratch_folder.h"

static char *folder;
static uint64_t compared; /* number of compared names since the last reset */

bool __real_text_equal_nocase(const char *a, const char *b);
bool __wrap_text_equal_nocase(const char *a, const char *b);
bool __wrap_text_equal_nocase(const char *a, const char *b)
{
    compared++;
    return __real_text_equal_nocase(a, b);
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_columns");
    return 0;
}

/* Writes a log with one sample and `count` columns of the same name, with the values first, first + 1 ... */
static char *write_log(const char *name, unsigned count, unsigned first)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "\"(PDH-CSV 4.0) (Test Time)(0)\"");
    for (unsigned i = 0; i < count; i++)
        text_buffer_add(&b, ",\"\\\\BOX\\Memory\\Free\"");
    text_buffer_format(&b, "\r\n\"01/02/2024 03:04:%02u.000\"", first % 60);
    for (unsigned i = 0; i < count; i++)
        text_buffer_format(&b, ",\"%u\"", first + i);
    text_buffer_add(&b, "\r\n");
    char *text = text_buffer_take(&b), *path = path_join(folder, name);
    assert_non_null(text);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    memory_free(text);
    return path;
}

struct copied {
    struct filter filter;
    struct columns columns;
    struct inputs inputs;
};

static void open_logs(struct copied *c, const struct texts *paths)
{
    *c = (struct copied){.columns = {.values = true}};
    c->columns.filter = &c->filter;
    assert_int_equal(inputs_open(&c->inputs, paths), S_OK);
    assert_int_equal(columns_begin(&c->columns, &c->inputs), S_OK);
    c->inputs.to = INT64_MAX;
}

static void close_logs(struct copied *c)
{
    columns_free(&c->columns);
    filter_free(&c->filter);
    inputs_close(&c->inputs);
}

/* Columns with the same name keep their order. If a log has more of them, columns are added at the end. If it has
   fewer, the last ones have no values. */
static void equal_names_keep_their_order(void **state)
{
    (void)state;
    char *items[] = {write_log("two.csv", 2, 10), write_log("four.csv", 4, 20), write_log("one.csv", 1, 30)};
    const struct texts paths = {.count = 3, .items = items};
    static const unsigned firsts[] = {10, 20, 30}, counts[] = {2, 4, 1};
    struct copied c;
    size_t at;
    open_logs(&c, &paths);
    assert_int_equal(c.columns.counters.count, 4);
    assert_int_equal(columns_arrange(&c.columns), S_OK);
    assert_int_equal(inputs_rewind(&c.inputs), S_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(inputs_next(&c.inputs, &at), S_OK);
        assert_int_equal(at, i);
        assert_int_equal(columns_fill(&c.columns, &c.inputs, at), S_OK);
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(c.columns.cells[k].has_value, k < counts[i]);
            assert_true(k >= counts[i] || c.columns.cells[k].value == firsts[i] + k);
        }
    }
    close_logs(&c);
    for (size_t i = 0; i < 3; i++)
        memory_free(items[i]);
}

/* Returns the number of name comparisons needed to find a log's columns. */
static uint64_t comparisons_of(unsigned count)
{
    char *path = write_log("many.csv", count, 0);
    const struct texts paths = {.count = 1, .items = &path};
    struct copied c;
    compared = 0;
    open_logs(&c, &paths);
    const uint64_t comparisons = compared;
    assert_int_equal(c.columns.counters.count, count);
    close_logs(&c);
    memory_free(path);
    return comparisons;
}

/* The log of a server has tens of thousands of columns, and equal names once took minutes. Sixteen times as many
   columns may take sixteen times as long, but not 256 times. */
static void cost_grows_linearly_with_equal_names(void **state)
{
    (void)state;
    const uint64_t few = comparisons_of(1000), many = comparisons_of(16000);
    print_message("%llu, %llu\n", (unsigned long long)few, (unsigned long long)many);
    assert_true(few > 0 && many < 32 * few);
}

static bool matches(const struct counter_names *names, const char *pattern, const struct log_counter *counter,
                    bool *translated)
{
    struct filter f = {.names = names};
    bool found;
    assert_int_equal(filter_add(&f, pattern), S_OK);
    assert_int_equal(filter_matches(&f, counter, NULL, &found), S_OK);
    *translated = f.patterns->translated;
    filter_free(&f);
    return found;
}

/* A script with English names must also work with a German log, and a script with German names with an English log. */
static void patterns_match_in_either_language(void **state)
{
    const struct log_counter german = {.object = "Prozessor",
                                       .instance = "_Total",
                                       .counter = "Prozessorzeit (%)",
                                       .english_object = "Processor",
                                       .english_counter = "% Processor Time"};
    const struct log_counter english = {.object = "Processor", .instance = "_Total", .counter = "% Processor Time"};
    struct counter_names *n;
    bool translated;
    (void)state;
    assert_int_equal(counter_names_create(NULL, &n), S_OK);
    assert_true(matches(n, "\\Prozessor(_Total)\\Prozessorzeit*", &german, &translated) && !translated);
    assert_true(matches(n, "\\Processor(*)\\% *", &german, &translated) && translated);
    assert_true(matches(n, "\\Prozessor(*)\\Prozessorzeit (%)", &english, &translated) && translated);
    assert_true(matches(n, "\\Processeur(*)\\*", &german, &translated) && translated);
    assert_true(matches(n, "\\Processor(*)\\% Processor Time", &english, &translated) && !translated);
    assert_true(matches(n, "*Processor Time", &german, &translated) && translated); /* not a complete path */
    assert_false(matches(n, "\\Processor(0)\\*", &german, &translated));
    assert_false(matches(n, "\\Processor(*)\\% User Time", &german, &translated));
    assert_false(matches(n, "\\Prozessor(*)\\Benutzerzeit (%)", &english, &translated));
    assert_false(matches(NULL, "\\Prozessor(*)\\*", &english, &translated));
    counter_names_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_keep_their_order),
        cmocka_unit_test(cost_grows_linearly_with_equal_names),
        cmocka_unit_test(patterns_match_in_either_language),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}
