/* SPDX-License-Identifier: MIT */
/* The links of warnings in a page. A link must lead to the counter that the warning names, and show the limit there. */
#include "engine/report/page/page_parts.h"
#include "tests/unit/scratch_folder.h"

#define PROCESS(items)                                                                                                 \
    "<Section name='s'><Table name='p' source='Process'><Header><Data name='counter'/><Data "                          \
    "name='instance'/></Header>" items "</Table></Section>"
#define TAGGED(tag, counter, instance)                                                                                 \
    "<Item tag='" tag "'><Data name='counter'>" counter "</Data><Data name='instance'>" instance "</Data></Item>"
#define WARNING(attributes) "<Item><Data name='symptom' " attributes ">x</Data></Item>"
#define ADVICE(items)       "<Section name='advice'><Table name='warning'>" items "</Table></Section>"
#define CHART(attributes, all)                                                                                         \
    "<Section name='s'><Chart name='p' source='Process' " attributes ">" all "</Chart></Section>"
#define SERIES(name) "<Series name='" name "'>1 2</Series>"

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    return page_findings_row(about, table, row);
}

static HRESULT on_chart(void *about, const struct report_data *chart)
{
    return page_findings_chart(about, chart);
}

static HRESULT on_series(void *about, const struct report_data *series)
{
    return page_findings_series(about, series);
}

static HRESULT survey(void **state, struct page_findings *f, const char *sections)
{
    static const struct report_handlers handlers = {.row = on_row, .chart_begin = on_chart, .series = on_series};
    struct texts notes = {0};
    char *path = path_join(*state, "report.xml"), *text = text_format("<Report name='r'>%s</Report>", sections);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    *f = (struct page_findings){0};
    const HRESULT hr = report_read(path, &handlers, f, &notes);
    file_delete(path);
    memory_free(text);
    memory_free(path);
    texts_free(&notes);
    return hr;
}

static void test_warnings_of_all_tables_are_numbered_by_severity(void **state)
{
    struct page_findings f;
    unsigned omitted;
    assert_int_equal(survey(state, &f,
                            ADVICE(WARNING("img='warning'") WARNING("img='Green'") WARNING("img='Red'")) ADVICE(
                                WARNING("img='critical'") WARNING("") WARNING("img='info'") WARNING("img='RED'"))),
                     S_OK);
    page_findings_settle(&f, 12, &omitted);
    static const size_t wanted[] = {4, 7, 1, 2, 5, 6, 3}; /* severities can be in any case, or missing */
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(page_findings_number(&f, i), wanted[i]);
    assert_int_equal(page_findings_number(&f, 7), 8); /* this warning was skipped */
    page_findings_free(&f);
}

static void test_warning_charts_are_shown_with_their_warnings(void **state)
{
    struct page_findings f;
    const struct found_warning *about[FINDINGS_MOST_LIMITS];
    unsigned omitted;
    assert_int_equal(
        survey(state, &f,
               PROCESS(TAGGED("h", "Handle Count", "leaky")) CHART("", SERIES("% Processor Time (a)"))
                   CHART("watch='1'", SERIES("Thread Count (leaky)"))
                       CHART("watch='1'", SERIES("Handle Count (a)") SERIES("Handle Count (leaky)"))
                           ADVICE(WARNING("link='h' img='warning' limit='16384'") WARNING("link='h' img='Red'"))),
        S_OK);
    page_findings_settle(&f, 12, &omitted);
    assert_true(f.charts[0].shown && !f.charts[1].shown && f.charts[2].shown);
    assert_int_equal(omitted, 0);
    assert_int_equal(page_findings_about(&f, 0, about), 0);
    assert_int_equal(page_findings_about(&f, 2, about), 1); /* only the more severe warning of the two */
    assert_int_equal(about[0]->number, 1);
    assert_true(page_findings_names(&f, 2, "Handle Count (leaky)") && !page_findings_names(&f, 2, "Handle Count (a)"));
    page_findings_free(&f);
}

/* A process may have too many handles, and their number may still increase. Two rules then warn about one row. Each
   warning needs its line in the chart and its links. */
static void test_all_warnings_of_a_row_are_in_its_chart(void **state)
{
    static const char *const rows[] = {
        TAGGED("grow&#10;too many&#10;grow", "Handle Count", "leaky"),
        "<Item tag='grow'><Data name='counter'>Handle Count</Data><Data name='instance' tag='too "
        "many'>leaky</Data></Item>",
        "<Item><Data name='counter'>Handle Count</Data><Data name='instance' tag='too many'>leaky</Data>"
        "<Data name='mean' tag='grow&#10;&#10;'>1</Data></Item>"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct page_findings f;
        const struct found_warning *about[FINDINGS_MOST_LIMITS];
        unsigned omitted;
        char *text = text_format(PROCESS("%s") CHART("", SERIES("Handle Count (leaky)"))
                                     ADVICE(WARNING("link='grow' img='warning'") WARNING("link='too'")
                                                WARNING("link='too many' img='Red' limit='16384'")),
                                 rows[i]);
        assert_int_equal(survey(state, &f, text), S_OK);
        page_findings_settle(&f, 12, &omitted);
        assert_int_equal(page_findings_about(&f, 0, about), 2);
        assert_ptr_equal(about[0], &f.warnings[2]);
        assert_ptr_equal(about[1], &f.warnings[0]);
        page_findings_free(&f);
        memory_free(text);
    }
}

/* If a row has more warnings than a chart can have lines, the chart must contain the most severe ones. */
static void test_the_worst_warnings_of_a_row_are_in_its_chart(void **state)
{
    struct page_findings f;
    const struct found_warning *about[FINDINGS_MOST_LIMITS];
    struct text_buffer tags = {0}, warnings = {0};
    unsigned omitted;
    for (unsigned i = 0; i < 3 * FINDINGS_MOST_LIMITS; i++) {
        text_buffer_format(&tags, "t%u&#10;", i);
        text_buffer_format(&warnings, WARNING("link='t%u' img='%s'"), i, i % 3 == 2 ? "Red" : "warning");
    }
    char *text =
        text_format(PROCESS("<Item tag='%s'><Data name='counter'>c</Data></Item>") CHART("", SERIES("c")) ADVICE("%s"),
                    tags.text, warnings.text);
    assert_int_equal(survey(state, &f, text), S_OK);
    page_findings_settle(&f, 12, &omitted);
    assert_int_equal(page_findings_about(&f, 0, about), FINDINGS_MOST_LIMITS);
    for (size_t i = 0; i < FINDINGS_MOST_LIMITS; i++)
        assert_ptr_equal(about[i], &f.warnings[3 * i + 2]);
    page_findings_free(&f);
    memory_free(text);
    text_buffer_free(&warnings);
    text_buffer_free(&tags);
}

/* A table's own chart contains only the eight greatest series. If the ninth has a warning, it needs a chart too. */
static void test_the_series_of_a_warning_is_in_a_chart(void **state)
{
    struct page_findings f;
    unsigned omitted;
    assert_int_equal(survey(state, &f,
                            PROCESS(TAGGED("h", "Handle Count", "leaky"))
                                CHART("", SERIES("Handle Count (a)") SERIES("Handle Count (b)"))
                                    CHART("watch='true'", SERIES("Handle Count (leaky)"))
                                        CHART("watch='1'", SERIES("Handle Count (leaky)")) ADVICE(WARNING("link='h'"))),
                     S_OK);
    page_findings_settle(&f, 12, &omitted);
    assert_true(f.charts[0].shown && f.charts[1].shown);
    assert_false(f.charts[2].shown); /* a duplicate */
    page_findings_free(&f);
    /* If no chart contains the series, a chart of the same counter is shown. */
    assert_int_equal(survey(state, &f,
                            PROCESS(TAGGED("h", "Handle Count", "leaky")) CHART("watch='1'", SERIES("Handle Count (a)"))
                                CHART("watch='1'", SERIES("Handle Counts (a)")) ADVICE(WARNING("link='h'"))),
                     S_OK);
    page_findings_settle(&f, 12, &omitted);
    assert_true(f.charts[0].shown && !f.charts[1].shown);
    page_findings_free(&f);
}

static void test_other_charts_are_dropped_first(void **state)
{
    struct page_findings f;
    unsigned omitted;
    assert_int_equal(survey(state, &f,
                            PROCESS(TAGGED("h", "Handle Count", "leaky")) CHART("", SERIES("% Processor Time (a)"))
                                CHART("", SERIES("IO Data Bytes/sec (a)"))
                                    CHART("watch='1'", SERIES("Handle Count (leaky)")) ADVICE(WARNING("link='h'"))),
                     S_OK);
    page_findings_settle(&f, 2, &omitted);
    assert_true(f.charts[0].shown && !f.charts[1].shown && f.charts[2].shown);
    assert_int_equal(omitted, 1);
    page_findings_free(&f);
}

static void test_only_numbers_are_limits(void **state)
{
    static const struct {
        const char *text;
        bool is_limit;
    } cases[] = {{"10", true},   {"0.015", true},  {"-3", true},    {"", false},
                 {"NaN", false}, {"1e999", false}, {"10 %", false}, {"x", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page_findings f;
        char *text = text_format(ADVICE(WARNING("limit='%s'")), cases[i].text);
        assert_int_equal(survey(state, &f, text), S_OK);
        if (f.warnings[0].has_limit != cases[i].is_limit)
            fail_msg("%s", cases[i].text);
        memory_free(text);
        page_findings_free(&f);
    }
}

/* If a report exceeds the limits, the first items of each kind are used. The series of a dropped chart must not be
   assigned to another chart. */
static void test_limits_of_a_report_are_enforced(void **state)
{
    struct page_findings f;
    struct text_buffer b = {0};
    unsigned omitted;
    text_buffer_add(&b, "<Section name='advice'><Table name='warning'>");
    for (unsigned i = 0; i < FINDINGS_MOST_WARNINGS + 5; i++)
        text_buffer_add(&b, WARNING("link='h'"));
    text_buffer_add(&b, "</Table></Section><Section name='s'><Table name='p'>");
    for (unsigned i = 0; i < FINDINGS_MOST_ROWS + 5; i++)
        text_buffer_add(&b, TAGGED("h", "c", "i"));
    text_buffer_add(&b, "</Table>");
    for (unsigned i = 0; i < FINDINGS_MOST_CHARTS + 5; i++) {
        text_buffer_add(&b, "<Chart name='c'>");
        for (unsigned k = 0; k < (i < FINDINGS_MOST_CHARTS - 1 ? FINDINGS_MOST_SERIES + 5 : 1); k++)
            text_buffer_add(&b, SERIES("c (i)"));
        text_buffer_add(&b, "</Chart>");
    }
    text_buffer_add(&b, "</Section>");
    assert_int_equal(survey(state, &f, b.text), S_OK);
    assert_int_equal(f.warning_count, FINDINGS_MOST_WARNINGS);
    assert_int_equal(f.row_count, FINDINGS_MOST_ROWS);
    assert_int_equal(f.chart_count, FINDINGS_MOST_CHARTS);
    assert_int_equal(f.charts[0].series.count, FINDINGS_MOST_SERIES);
    assert_int_equal(f.charts[FINDINGS_MOST_CHARTS - 1].series.count, 1);
    page_findings_settle(&f, 12, &omitted);
    assert_int_equal(omitted, FINDINGS_MOST_CHARTS - 12);
    assert_false(page_findings_names(&f, FINDINGS_MOST_CHARTS, "c (i)"));
    text_buffer_free(&b);
    page_findings_free(&f);
}

/* Each allocation fails in turn; the sanitizers report leaks and invalid accesses. */
static void test_without_memory_it_fails_and_nothing_leaks(void **state)
{
    static const struct report_attribute watch = {"watch", "1"}, tag = {"tag", "h"}, link = {"link", "h"};
    static const struct report_data cells[] = {{"counter", "Handle Count", NULL, 0}, {"instance", "a", NULL, 0}};
    static const struct report_data chart = {"Process", "", &watch, 1}, series = {"Handle Count (a)", "1", NULL, 0};
    static const struct report_row row = {.cells = cells, .cell_count = 2, .attributes = &tag, .attribute_count = 1};
    static const struct report_row warning = {.attributes = &link, .attribute_count = 1};
    static const struct report_table table = {.section = "s", .name = "Process"};
    static const struct report_table advice = {.section = "advice", .name = "warning"};
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct page_findings f = {0};
        memory_fail_at(n);
        HRESULT hr = page_findings_row(&f, &table, &row);
        if (SUCCEEDED(hr))
            hr = page_findings_row(&f, &advice, &warning);
        if (SUCCEEDED(hr))
            hr = page_findings_chart(&f, &chart);
        if (SUCCEEDED(hr))
            hr = page_findings_series(&f, &series);
        const bool failed = memory_count() >= n;
        memory_fail_at(0);
        page_findings_free(&f);
        assert_int_equal(hr, failed ? E_OUTOFMEMORY : S_OK);
        if (!failed)
            break;
        assert_true(n < 100);
    }
}

static int setup(void **state)
{
    *state = scratch_create("page_findings");
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings_of_all_tables_are_numbered_by_severity),
        cmocka_unit_test(test_warning_charts_are_shown_with_their_warnings),
        cmocka_unit_test(test_all_warnings_of_a_row_are_in_its_chart),
        cmocka_unit_test(test_the_worst_warnings_of_a_row_are_in_its_chart),
        cmocka_unit_test(test_the_series_of_a_warning_is_in_a_chart),
        cmocka_unit_test(test_other_charts_are_dropped_first),
        cmocka_unit_test(test_only_numbers_are_limits),
        cmocka_unit_test(test_limits_of_a_report_are_enforced),
        cmocka_unit_test(test_without_memory_it_fails_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, scratch_end);
}
