/* SPDX-License-Identifier: MIT */
/* The programs that show and compare reports can read a configuration collector's output, also while it is written. If
   they could not, they would show an error or too few rows for a running or killed collection. */
#include "engine/pla/collect/configuration_source.h"
#include "engine/report/report_compare.h"
#include "tests/unit/scratch_folder.h"

static const struct configuration_column columns[] = {
    {"path", COLUMN_KEY}, {"value", COLUMN_PLAIN}, {"when", COLUMN_VOLATILE}};

struct found {
    unsigned rows, errors;
    bool marked;
};

static HRESULT on_table(void *about, const struct report_table *t)
{
    struct found *f = about;
    f->marked = t->column_count == 5 &&
                report_attribute(t->columns[0].attributes, t->columns[0].attribute_count, "key") &&
                report_attribute(t->columns[2].attributes, t->columns[2].attribute_count, "volatile") &&
                !strcmp(report_attribute(t->attributes, t->attribute_count, "source"), "a <query>\n");
    return S_OK;
}

static HRESULT on_row(void *about, const struct report_table *t, const struct report_row *row)
{
    struct found *f = about;
    char path[32];
    (void)t;
    snprintf(path, sizeof path, "C:\\<&>\"%u", f->rows++);
    assert_string_equal(report_find(row->cells, row->cell_count, "path", 0)->text, path);
    const char *result = report_find(row->cells, row->cell_count, "result", 4)->text;
    f->errors += !strcmp(result, "0x80070002");
    assert_true(!*result || !strcmp(result, "0x80070002"));
    return S_OK;
}

static void add_row(struct configuration_document *d, unsigned i, unsigned value, unsigned when)
{
    char path[32];
    snprintf(path, sizeof path, "C:\\<&>\"%u", i);
    configuration_begin_item(d);
    configuration_data(d, "path", NULL, path);
    configuration_data_number(d, "value", "uint32", value);
    configuration_data_number(d, "when", NULL, when);
    if (i % 10 == 3)
        configuration_data_error(d, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(configuration_end_item(d), S_OK);
    assert_int_equal(configuration_put_out(d), S_OK);
}

static void check_report(const char *path, unsigned rows, const char *warning)
{
    static const struct report_handlers handlers = {.table_begin = on_table, .row = on_row};
    struct found f = {0};
    struct texts warnings = {0};
    assert_int_equal(report_read(path, &handlers, &f, &warnings), S_OK);
    assert_int_equal(f.rows, rows);
    assert_int_equal(f.errors, (rows + 6) / 10);
    assert_true(f.marked);
    assert_int_equal(warnings.count, warning ? 1 : 0);
    if (warning)
        assert_non_null(strstr(warnings.items[0], warning));
    texts_free(&warnings);
}

/* Writes a report and returns its path, from memory_alloc; row `changed` has another value, and every row another
   time. */
static char *collect(const char *folder, const char *name, unsigned changed, bool look)
{
    char *path = path_join(folder, name);
    struct file *file;
    struct configuration_document *d;
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &file), S_OK);
    assert_int_equal(configuration_document_begin(file, &d), S_OK);
    configuration_fact(d, "computer", "A");
    configuration_begin_section(d, "s");
    configuration_begin_table(d, "t", "a <query>\n", columns, sizeof columns / sizeof *columns);
    for (unsigned i = 0; i < 500; i++) {
        add_row(d, i, i == changed ? 7 : 1, changed);
        if (look && i % 7 == 0)
            check_report(path, i + 1, "stopped before it was complete");
    }
    configuration_end_table(d);
    configuration_end_section(d);
    assert_int_equal(configuration_document_end(d, true), S_OK);
    file_close(file);
    return path;
}

static void all_written_rows_are_readable_at_any_time(void **state)
{
    char *path = collect(*state, "a.xml", 0, true);
    check_report(path, 500, NULL);
    memory_free(path);
}

static HRESULT count_changes(void *about, const struct report_difference *d)
{
    *(size_t *)about += d->change_count;
    return S_OK;
}

/* Key columns and columns that always change have the marks that the comparison expects. */
static void comparison_finds_only_the_changed_value(void **state)
{
    char *before = collect(*state, "before.xml", 500, false), *after = collect(*state, "after.xml", 17, false);
    size_t changes = 0;
    struct report_compared compared;
    const struct report_compare how = {.difference = count_changes, .about = &changes};
    assert_int_equal(report_compare(before, after, &how, &compared), S_OK);
    assert_int_equal(compared.changed, 1);
    assert_int_equal(compared.same, 499);
    assert_int_equal(changes, 1);
    report_compared_free(&compared);
    memory_free(before);
    memory_free(after);
}

static int set_up(void **state)
{
    *state = scratch_create("test_configuration_read");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_written_rows_are_readable_at_any_time),
        cmocka_unit_test(comparison_finds_only_the_changed_value),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_end);
}
