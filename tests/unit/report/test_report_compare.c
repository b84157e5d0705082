/* SPDX-License-Identifier: MIT */
/* Compares two configurations. Changed rows must be reported, but not rows that were only moved or columns that always
   change. */
#include "engine/report/report_compare.h"
#include "tests/unit/report/report_text.h"

/* Writes a difference as a line: "+ table key", "- table key" or "~ table key column:before>after". */
static HRESULT put_difference(void *about, const struct report_difference *d)
{
    static const char marks[] = {[REPORT_CAME] = '+', [REPORT_WENT] = '-', [REPORT_CHANGED] = '~'};
    struct text_buffer *b = about;
    text_buffer_format(b, "%c %s%s%s", marks[d->kind], d->table_name, *d->source ? ":" : "", d->source);
    if (*d->outer)
        text_buffer_format(b, " in(%s)", d->outer);
    text_buffer_add(b, d->table ? " table" : "");
    for (size_t i = 0; i < d->cell_count; i++)
        if (d->cells[i].key || d->kind != REPORT_CHANGED)
            text_buffer_format(b, " %s%s=%s", d->cells[i].key ? "*" : "", d->cells[i].column, d->cells[i].text);
    for (size_t i = 0; i < d->change_count; i++) {
        const struct report_change *c = &d->changes[i];
        text_buffer_format(b, " %s:%s>%s", c->column, c->before, c->after);
        if (strcmp(c->type_before, c->type_after) != 0)
            text_buffer_format(b, "(%s>%s)", c->type_before, c->type_after);
    }
    text_buffer_add(b, "\n");
    return b->failed ? E_OUTOFMEMORY : S_OK;
}

static void expect_differences(void **state, const char *before, const char *after, struct report_compare how,
                               const char *wanted)
{
    struct text_buffer b = {0};
    struct report_compared compared;
    char *first = report_section_file(*state, "before.xml", before);
    char *second = report_section_file(*state, "after.xml", after);
    how.difference = put_difference;
    how.about = &b;
    HRESULT hr = report_compare(first, second, &how, &compared);
    if (FAILED(hr))
        print_error("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
    assert_string_equal(b.text ? b.text : "", wanted);
    report_compared_free(&compared);
    text_buffer_free(&b);
    memory_free(first);
    memory_free(second);
}

static void differ(void **state, const char *before, const char *after, const char *wanted)
{
    expect_differences(state, before, after, (struct report_compare){0}, wanted);
}

#define KEYED(rows)      "<Table name='t'><Header><Data name='v'/><Data name='k' key='1'/></Header>" rows "</Table>"
#define ROW(k, v)        "<Item><Data name='v'>" v "</Data><Data name='k'>" k "</Data></Item>"
#define TYPED(k, v)      "<Item><Data name='v' type='REG_DWORD'>" v "</Data><Data name='k'>" k "</Data></Item>"
#define TABLE(c, rows)   "<Table name='t'><Header>" c "</Header>" rows "</Table>"
#define COLUMN(name)     "<Data name='" name "'/>"
#define CELL(name, text) "<Data name='" name "'>" text "</Data>"

static void rows_are_identified_by_their_keys(void **state)
{
    differ(state, KEYED(ROW("a", "1") ROW("b", "2") ROW("c", "3")), KEYED(ROW("c", "3") ROW("a", "1") ROW("b", "2")),
           "");
    differ(state, KEYED(ROW("a", "1") ROW("b", "2") ROW("d", "4")), KEYED(ROW("c", "3") ROW("b", "9") ROW("a", "1")),
           "~ t *k=b v:2>9\n+ t v=3 *k=c\n- t v=4 *k=d\n");
    /* Two values with the same string but different types differ. */
    differ(state, KEYED(ROW("a", "1")), KEYED(TYPED("a", "1")), "~ t *k=a v:1>1(>REG_DWORD)\n");
    /* Case is ignored when keys are compared, as in Windows. If only the case of a key changes, the row has changed. */
    differ(state, KEYED(ROW("\xC3\xA4", "1")), KEYED(ROW("\xC3\x84", "1")), "~ t *k=\xC3\x84 k:\xC3\xA4>\xC3\x84\n");
    differ(state, KEYED(ROW("a", "1") ROW("A", "2")), KEYED(ROW("A", "2") ROW("a", "1")), "");
    /* If two rows have the same key, both are compared. */
    differ(state, KEYED(ROW("a", "1") ROW("a", "2")), KEYED(ROW("a", "1") ROW("a", "3") ROW("a", "4")),
           "~ t *k=a v:2>3\n+ t v=4 *k=a\n");
    differ(state, KEYED(ROW("", "1") ROW("a", "2")), KEYED(ROW("a", "2")), "- t v=1 *k=\n");
}

/* Documents of other programs do not declare which columns are keys. */
static void keys_are_found_by_their_names(void **state)
{
    static const struct {
        const char *key, *second;
    } known[] = {{"path", NULL},      {"Key", "Name"},    {"key", NULL},           {"__PATH", NULL},
                 {"__RELPATH", NULL}, {"DeviceID", NULL}, {"counter", "instance"}, {"Name", NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *second = known[i].second ? known[i].second : "other";
        char *texts[3];
        for (int n = 0; n < 2; n++)
            texts[n] =
                text_format("<Table name='t'><Header><Data name='%s'/><Data name='%s'/><Data name='x'/></Header>"
                            "<Item><Data name='%s'>a</Data><Data name='%s'>b</Data><Data name='x'>%d</Data></Item>"
                            "</Table>",
                            known[i].key, second, known[i].key, second, n);
        texts[2] = known[i].second ? text_format("~ t *%s=a *%s=b x:0>1\n", known[i].key, second)
                                   : text_format("~ t *%s=a x:0>1\n", known[i].key);
        differ(state, texts[0], texts[1], texts[2]);
        for (int n = 0; n < 3; n++)
            memory_free(texts[n]);
    }
    /* If a table has no key column, the whole row is the key. */
    differ(state, TABLE(COLUMN("x"), "<Item>" CELL("x", "1") "</Item><Item>" CELL("x", "2") "</Item>"),
           TABLE(COLUMN("x"), "<Item>" CELL("x", "3") "</Item><Item>" CELL("x", "1") "</Item>"), "- t x=2\n+ t x=3\n");
}

#define VOLATILE                                                                                                       \
    "<Table name='disks'><Header><Data name='k' key='1'/><Data name='free' volatile='1'/><Data name='size'/></Header>"
#define DISK(k, free, size) "<Item>" CELL("k", k) CELL("free", free) CELL("size", size) "</Item>"

static void columns_that_always_change_do_not_count(void **state)
{
    const char *before = VOLATILE DISK("c", "10", "100") DISK("d", "5", "50") "</Table>";
    const char *after = VOLATILE DISK("c", "11", "100") DISK("d", "5", "60") "</Table>";
    differ(state, before, after, "~ disks *k=d size:50>60\n");
    expect_differences(state, before, after, (struct report_compare){.volatile_too = true},
                       "~ disks *k=c free:10>11\n~ disks *k=d size:50>60\n");
    static const char *const patterns[] = {"S?ze", "disks/siz*", "*"};
    for (size_t i = 0; i < 3; i++) {
        struct texts ignore = {0};
        assert_int_equal(texts_add(&ignore, patterns[i]), S_OK);
        expect_differences(state, before, after, (struct report_compare){.ignore = &ignore}, "");
        texts_free(&ignore);
    }
    struct texts other = {0};
    assert_int_equal(texts_add(&other, "cpus/size"), S_OK);
    expect_differences(state, before, after, (struct report_compare){.ignore = &other}, "~ disks *k=d size:50>60\n");
    texts_free(&other);
    /* A document from an older version does not declare that a column is volatile. */
    differ(state, VOLATILE DISK("c", "10", "1") "</Table>",
           "<Table name='disks'><Header><Data name='k' key='1'/><Data name='size'/></Header>"
           "<Item>" CELL("k", "c") CELL("size", "1") "</Item></Table>",
           "");
}

static void columns_can_be_added_and_removed(void **state)
{
    differ(state, TABLE(COLUMN("name") COLUMN("a"), "<Item>" CELL("name", "x") CELL("a", "1") "</Item>"),
           TABLE(COLUMN("b") COLUMN("name"), "<Item>" CELL("b", "2") CELL("name", "x") "</Item>"),
           "~ t *name=x a:1> b:>2\n");
    /* A missing value equals an empty one. */
    differ(state, TABLE(COLUMN("name") COLUMN("a"), "<Item>" CELL("name", "x") CELL("a", "") "</Item>"),
           TABLE(COLUMN("name"), "<Item>" CELL("name", "x") "</Item>"), "");
}

#define SOURCE(s, rows) "<Table name='q' source='" s "'><Header><Data name='name'/></Header>" rows "</Table>"
#define NAMED(n)        "<Item>" CELL("name", n) "</Item>"

static void tables_are_identified_by_name_and_source(void **state)
{
    differ(state, SOURCE("one", NAMED("a")) SOURCE("two", NAMED("b")),
           SOURCE("two", NAMED("b")) SOURCE("one", NAMED("a")), "");
    differ(state, SOURCE("one", NAMED("a")) SOURCE("two", NAMED("b")),
           SOURCE("one", NAMED("a")) SOURCE("ones", NAMED("b")),
           "+ q:ones table\n+ q:ones *name=b\n- q:two table\n- q:two *name=b\n");
    struct texts chosen = {0};
    assert_int_equal(texts_add(&chosen, "T*"), S_OK);
    expect_differences(state, SOURCE("one", NAMED("a")) KEYED(ROW("a", "1")),
                       SOURCE("one", NAMED("b")) KEYED(ROW("a", "2")), (struct report_compare){.tables = &chosen},
                       "~ t *k=a v:1>2\n");
    texts_free(&chosen);
}

#define PROCESS(name, threads) "<Item>" CELL("name", name) TABLE(COLUMN("path") COLUMN("v"), threads) "</Item>"
#define PROCESSES(items)       "<Table name='p'><Header>" COLUMN("name") "</Header>" items "</Table>"
#define THREAD(path, v)        "<Item>" CELL("path", path) CELL("v", v) "</Item>"

static void tables_in_rows_belong_to_their_row(void **state)
{
    differ(state, PROCESSES(PROCESS("a", THREAD("1", "x")) PROCESS("b", THREAD("1", "y"))),
           PROCESSES(PROCESS("b", THREAD("1", "z")) PROCESS("a", THREAD("1", "x") THREAD("2", "n"))),
           "+ t in(name=a) *path=2 v=n\n~ t in(name=b) *path=1 v:y>z\n");
    /* Rows without keys are identified by all their columns. */
    differ(state, TABLE(COLUMN("x"), "<Item>" CELL("x", "1") SOURCE("", NAMED("a")) "</Item>"),
           TABLE(COLUMN("x"), "<Item>" CELL("x", "1") SOURCE("", NAMED("b")) "</Item>"),
           "- q in(x=1) *name=a\n+ q in(x=1) *name=b\n");
}

/* The documents exceed the memory limit (32 MB, in report_compare.c). Their rows are in opposite orders. */
static void large_documents_are_compared(void **state)
{
    enum { ROWS = 15000, FILLER = 2500 };
    struct text_buffer b = {0}, found = {0};
    char *paths[2], *filler = memory_zero(1, FILLER + 1);
    struct report_compared compared;
    memset(filler, 'f', FILLER);
    for (unsigned n = 0; n < 2; n++) {
        text_buffer_add(&b, "<Table name='t'><Header><Data name='path' key='1'/><Data name='v'/></Header>");
        for (unsigned i = 0; i < ROWS; i++) {
            const unsigned row = n ? ROWS - 1 - i : i;
            text_buffer_format(
                &b, "<Item><Data name='path'>%u</Data><Data name='v'>%u</Data><Data name='w'>%s</Data></Item>", row,
                n && row % 5000 == 7 ? 1 : 0, filler);
        }
        text_buffer_add(&b, "</Table>");
        assert_false(b.failed);
        paths[n] = report_section_file(*state, n ? "after.xml" : "before.xml", b.text);
        b.length = 0;
    }
    const struct report_compare how = {.difference = put_difference, .about = &found};
    assert_int_equal(report_compare(paths[0], paths[1], &how, &compared), S_OK);
    assert_string_equal(found.text, "~ t *path=10007 v:0>1\n~ t *path=5007 v:0>1\n~ t *path=7 v:0>1\n");
    assert_int_equal(compared.same, ROWS - 3);
    report_compared_free(&compared);
    text_buffer_free(&b);
    text_buffer_free(&found);
    memory_free(filler);
    for (unsigned n = 0; n < 2; n++)
        memory_free(paths[n]);
}

/* The valid part of a corrupt file is compared. Warnings report that the rest of this file is missing. */
static void corruption_of_either_file_is_reported(void **state)
{
    struct report_compared compared;
    const struct report_compare how = {0};
    const char *cut = "<Report name='r'><Section name='s'>" KEYED(ROW("a", "1"));
    char *whole = report_section_file(*state, "whole.xml", KEYED(ROW("a", "1")));
    char *damaged = report_file(*state, "cut.xml", cut, strlen(cut));
    assert_int_equal(report_compare(whole, damaged, &how, &compared), S_OK);
    assert_int_equal(compared.same, 1);
    assert_int_equal(compared.warnings[0].count, 0);
    assert_int_equal(compared.warnings[1].count, 1);
    report_compared_free(&compared);
    assert_int_equal(report_compare(whole, "none.xml", &how, &compared), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)), "none.xml"));
    report_compared_free(&compared);
    memory_free(whole);
    memory_free(damaged);
}

static void memory_may_run_out(void **state)
{
    char *before =
        report_section_file(*state, "before.xml", KEYED(ROW("a", "1")) PROCESSES(PROCESS("a", THREAD("1", "x"))));
    char *after =
        report_section_file(*state, "after.xml", KEYED(ROW("b", "1")) PROCESSES(PROCESS("a", THREAD("1", "y"))));
    HRESULT hr = E_OUTOFMEMORY;
    unsigned fail_at = 0;
    struct texts ignore = {0};
    assert_int_equal(texts_add(&ignore, "none"), S_OK);
    while (hr == E_OUTOFMEMORY && ++fail_at < 20000) {
        const struct report_compare how = {.ignore = &ignore};
        struct report_compared compared;
        memory_fail_at(fail_at);
        hr = report_compare(before, after, &how, &compared);
        memory_fail_at(0);
        if (hr == S_OK)
            assert_true(compared.came == 1 && compared.went == 1 && compared.changed == 1 && compared.same == 1);
        report_compared_free(&compared);
    }
    assert_int_equal(hr, S_OK);
    assert_true(fail_at > 100);
    texts_free(&ignore);
    memory_free(before);
    memory_free(after);
}

static int set_up(void **state)
{
    *state = scratch_create("test_report_compare");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_identified_by_their_keys),
        cmocka_unit_test(keys_are_found_by_their_names),
        cmocka_unit_test(columns_that_always_change_do_not_count),
        cmocka_unit_test(columns_can_be_added_and_removed),
        cmocka_unit_test(tables_are_identified_by_name_and_source),
        cmocka_unit_test(tables_in_rows_belong_to_their_row),
        cmocka_unit_test(large_documents_are_compared),
        cmocka_unit_test(corruption_of_either_file_is_reported),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_end);
}
