/* SPDX-License-Identifier: MIT */
/* Rules must be able to check the largest possible reports, because these need rules most. */
#include "engine/base/xml_document.h"
#include "engine/report/make/report_document.h"
#include "tests/unit/rules/rules_report.h"

#define CELL_BYTES ((size_t)1 << 20)
#define RULES                                                                                                          \
    "<Rules><Group name='g'><Rule name='r'><Step select=\"//Item[Data[@name='n'] &gt; 40]\" sortType='first'>"         \
    "<Exists><Otherwise><Warning><Item><Data name='symptom'>found</Data></Item></Warning></Otherwise></Exists>"        \
    "</Step></Rule></Group></Rules>"

/* Writes a report of the maximum size. It has a few rows with long strings. */
static uint64_t write_report(const char *path, uint64_t *omitted)
{
    static const struct report_column_head columns[] = {{.name = "n"}, {.name = "text"}};
    const struct report_table_head head = {.name = "t", .columns = columns, .column_count = 2};
    struct report_document *d;
    char *text = memory_alloc(CELL_BYTES + 1);
    uint64_t rows = 0;
    assert_non_null(text);
    memset(text, 'x', CELL_BYTES);
    text[CELL_BYTES] = 0;
    assert_int_equal(report_document_create(path, &(struct report_head){.name = "r"}, &d), S_OK);
    report_section_begin(d, "s", NULL, NULL);
    report_table_begin(d, &head);
    while (report_row_begin(d)) {
        report_cell_number(d, (double)rows++);
        report_cell(d, text);
        report_row_end(d);
    }
    report_table_end(d, omitted);
    report_section_end(d);
    assert_int_equal(report_document_close(d), S_OK);
    memory_free(text);
    return rows;
}

static void rules_run_over_the_largest_possible_report(void **state)
{
    char *path = path_join(*state, "report.xml");
    struct rules *rules = rules_create();
    struct rules_outcome outcome = {0};
    uint64_t omitted;
    assert_int_equal(write_report(path, &omitted), REPORT_MOST_BYTES / CELL_BYTES);
    assert_int_equal(omitted, 1);
    assert_int_equal(rules_add(rules, "Rules", RULES, strlen(RULES)), S_OK);
    HRESULT hr = rules_apply(&(struct rules_job){.rules = rules, .report = path, .output = path}, &outcome);
    if (FAILED(hr))
        fail_msg("%s", error_keep(hr).text);
    assert_int_equal(outcome.warning_count, 1);
    rules_outcome_free(&outcome);
    /* The report, which is now larger, is still accepted. */
    assert_int_equal(rules_apply(&(struct rules_job){.rules = rules, .report = path}, &outcome), S_OK);
    assert_int_equal(outcome.warning_count, 1);
    rules_outcome_free(&outcome);
    rules_free(rules);
    memory_free(path);
}

/* Rules must accept every report that OpenPLA creates. Their memory limit is 16 bytes for each byte of the report. */
static void cells_take_no_more_memory_than_rules_have(void **state)
{
    (void)state;
    static const char *const cells[] = {"<Data name=\"a\"/>", "<Data name=\"mean\">5</Data>",
                                        "<Data name=\"instance\">a longer text of a cell</Data>"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct text_buffer b = {0};
        struct xml_document d;
        text_buffer_add(&b, "<Report><Section><Table>");
        for (int row = 0; row < 20000; row++)
            text_buffer_format(&b, "<Item>%s%s%s%s%s%s</Item>\n", cells[i], cells[i], cells[i], cells[i], cells[i],
                               cells[i]);
        text_buffer_add(&b, "</Table></Section></Report>");
        assert_false(b.failed);
        const struct xml_limits limits = {.bytes = b.length, .memory = 16 * b.length, .shared_texts = true};
        assert_int_equal(xml_document_open_within(b.text, b.length, &limits, &d), S_OK);
        xml_document_close(&d);
        text_buffer_free(&b);
    }
}

/* Attributes with the same value share memory. If one is changed, the others must not change. */
static void attributes_with_equal_values_are_changed_separately(void **state)
{
    struct ruled r;
    rules_write_file(*state, "report.xml",
                     "<Report name='r'><Section name='s'><Table name='t'><Item a='x' b='x' c='&amp;x'/><Item a='x'/>"
                     "</Table></Section></Report>");
    rules_run_over(&r, *state,
                   "<Rules><Group name='g'><Rule name='r'>"
                   "<Step select=\"//Item[@a = 'x'][@b = @a][@c = '&amp;x']\"><Exists><Otherwise>"
                   "<Insert><Attribute name='a' value='y'/></Insert></Otherwise></Exists></Step>"
                   "<Step select='//@*' sortType='max' sortDataType='string' sortNode='string(.)'><Variable name='v' "
                   "expression='.'/>"
                   "<Exists><Otherwise><Insert select='/Report'><Attribute name='last' value='{v}'/></Insert>"
                   "</Otherwise></Exists></Step></Rule></Group></Rules>");
    assert_no_fault(&r);
    assert_has(&r, "<Item a=\"y\" b=\"x\" c=\"&amp;x\" rules=\"a\"/><Item a=\"x\"/>");
    assert_has(&r, " last=\"y\"");
    ruled_free(&r);
}

/* Runs two steps that select the report. The first has a variable with the expression `away`, which may exceed a limit.
   The second reports the value of the expression `next`. */
static void run_variables(struct ruled *r, void **state, const char *away, const char *next)
{
    char *rules = text_format("<Rules><Group name='g'><Rule name='r'><Step select='/Report'><Variable name='a' "
                              "expression='%s'/></Step><Step select='/Report'><Variable name='n' expression='%s'/>"
                              "<Exists><Otherwise><Notify>{n}</Notify></Otherwise></Exists></Step></Rule></Group>"
                              "</Rules>",
                              away, next);
    assert_non_null(rules);
    rules_run_limited(r, *state, rules, 0, false);
    assert_int_equal(r->hr, S_OK);
    memory_free(rules);
}

/* If these expressions were not stopped, they would compare all pairs of nodes, for minutes or hours. */
static void nodes_in_pairs_are_bounded(void **state)
{
    static const char *const many[] = {"count(//X/..)", "//X/preceding-sibling::X", "//X/..//X"};
    struct text_buffer b = {0};
    struct ruled r;
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 50000; i++)
        text_buffer_add(&b, "<X/>");
    text_buffer_add(&b, "</Report>");
    rules_write_file(*state, "report.xml", b.text);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        run_variables(&r, state, many[i], "count(//X[not(@a)])");
        assert_message(&r.outcome.errors, "limited to 40960 nodes in a list");
        assert_int_equal(r.outcome.notice_count, 1);
        assert_string_equal(r.outcome.notices[0].text, "50000");
        ruled_free(&r);
    }
    text_buffer_free(&b);
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 600; i++)
        text_buffer_add(&b, "<X/>");
    text_buffer_add(&b, "</Report>");
    rules_write_file(*state, "report.xml", b.text);
    run_variables(&r, state, "count(//X[count(//X/..) &gt; 0])", "count(//X/..) + count(//X | //Y)");
    assert_message(&r.outcome.errors, "limited to 250000 operations");
    assert_int_equal(r.outcome.notice_count, 1);
    assert_string_equal(r.outcome.notices[0].text, "601");
    ruled_free(&r);
    text_buffer_free(&b);
}

/* The time for comparisons grows linearly with the lists, so even the largest reports need no limit for them. */
static void lists_are_compared_by_hashing(void **state)
{
    struct text_buffer b = {0};
    struct ruled r;
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 60000; i++)
        text_buffer_format(&b, "<X>the same beginning %u</X><Y>the same beginning %u</Y>", i, i + 60000);
    text_buffer_add(&b, "<X>1</X><Y>2</Y></Report>");
    rules_write_file(*state, "report.xml", b.text);
    run_variables(&r, state, "1",
                  "concat(//X = //Y, //X[1] = //X, //X != //Y, //X &lt; //Y, //X &gt;= //Y, count(//X | //Y))");
    assert_int_equal(r.outcome.errors.count, 0);
    assert_string_equal(r.outcome.notices[0].text, "falsetruetruetruefalse120002");
    ruled_free(&r);
    run_variables(&r, state, "//X[//X = //Y]", "1"); /* the comparison is made for each node */
    assert_message(&r.outcome.errors, "needs more than 20000000 operations");
    ruled_free(&r);
    text_buffer_free(&b);
}

/* A stop callback, like that of the console. It is called often, and stops at the 2,000th call after the first rule, in
   the middle of the slow expression. */
struct stopping {
    const struct rules_outcome *outcome; /* NULL: stops immediately */
    unsigned asked;
};
static bool stop_later(void *context)
{
    struct stopping *s = context;
    s->asked += !s->outcome || s->outcome->notice_count;
    return !s->outcome || s->asked >= 2000;
}

/* For each row, the expression visits all cells, which contain no text. This counts as one operation, so the expression
   takes minutes. */
static struct rules *slow_rules(const char *folder, char **path)
{
    static const char text[] =
        "<Rules><Group name='g'><Rule name='before'><Step select='/Report'><Exists><Otherwise>"
        "<Notify>said before</Notify></Otherwise></Exists></Step></Rule><Rule name='the slow one'>"
        "<Step select=\"//X[/ = 'x']\"/></Rule><Rule name='after'><Step select='/Report'/></Rule>"
        "</Group></Rules>";
    struct text_buffer b = {0};
    struct rules *rules = rules_create();
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 100000; i++)
        text_buffer_add(&b, "<X/>");
    text_buffer_add(&b, "</Report>");
    rules_write_file(folder, "report.xml", b.text);
    text_buffer_free(&b);
    *path = path_join(folder, "report.xml");
    assert_int_equal(rules_add(rules, "Rules", text, sizeof text - 1), S_OK);
    return rules;
}

/* Ctrl+C must not wait until libxml2 has evaluated the whole expression. */
static void expression_is_stopped_in_the_middle(void **state)
{
    char *path;
    struct rules *rules = slow_rules(*state, &path);
    struct rules_outcome outcome = {0};
    struct stopping stopping = {.outcome = &outcome};
    const struct rules_job job = {
        .rules = rules, .report = path, .output = path, .stop = stop_later, .context = &stopping};
    char *before = NULL, *after = NULL;
    size_t size_before, size_after;
    assert_int_equal(file_load(path, UINT64_MAX, &before, &size_before), S_OK);
    const HRESULT hr = rules_apply(&job, &outcome);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_CANCELLED));
    assert_string_equal(error_keep(hr).text,
                        "the rules were stopped while rule 'the slow one' ran; the report is unchanged");
    assert_int_equal(file_load(path, UINT64_MAX, &after, &size_after), S_OK);
    assert_string_equal(before, after);
    memory_free(before);
    memory_free(after);
    rules_outcome_free(&outcome);
    stopping.outcome = NULL;
    assert_int_equal(rules_apply(&job, &outcome), HRESULT_FROM_WIN32(ERROR_CANCELLED)); /* while it reads the report */
    rules_outcome_free(&outcome);
    rules_free(rules);
    memory_free(path);
}

static void rules_that_run_too_long_are_named(void **state)
{
    char *path;
    struct rules *rules = slow_rules(*state, &path);
    struct rules_outcome outcome = {0};
    assert_int_equal(rules_apply(&(struct rules_job){.rules = rules, .report = path, .seconds = 1}, &outcome), S_OK);
    assert_message(&outcome.errors, "rule 'the slow one': step 1: all rules together ran longer than 1 seconds");
    assert_int_equal(outcome.notice_count, 1); /* the result of the first rule is kept */
    assert_true(outcome.unfinished);
    assert_false(rules_know_nothing(&outcome));
    rules_outcome_free(&outcome);
    rules_free(rules);
    memory_free(path);
}

static int make(void **state)
{
    *state = scratch_create("rules_large");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_run_over_the_largest_possible_report),
        cmocka_unit_test(cells_take_no_more_memory_than_rules_have),
        cmocka_unit_test(attributes_with_equal_values_are_changed_separately),
        cmocka_unit_test(nodes_in_pairs_are_bounded),
        cmocka_unit_test(lists_are_compared_by_hashing),
        cmocka_unit_test(expression_is_stopped_in_the_middle),
        cmocka_unit_test(rules_that_run_too_long_are_named),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
