/* SPDX-License-Identifier: MIT */
/* Schema files. If a template names a file of Windows, it gets the built-in file, which a user can replace. */
#include "engine/report/report_schema.h"
#include "tests/unit/scratch_folder.h"

static void put(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name), *parent = path_folder(path);
    assert_int_equal(folder_create(parent), S_OK);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    memory_free(parent);
    memory_free(path);
}

/* Existing templates import these names, which they spell in various ways. */
static void imports_of_templates_are_found(void **state)
{
    static const char *const names[] = {
        "%systemroot%\\pla\\reports\\Report.System.Common.xml",
        "%systemroot%\\pla\\reports\\Report.System.Summary.xml",
        "%SystemRoot%\\PLA\\Reports\\report.system.performance.XML",
        "%systemroot%/pla/reports/Report.System.CPU.xml",
        "%systemroot%\\pla\\reports\\Report.System.Network.xml",
        "%systemroot%\\pla\\reports\\Report.System.Disk.xml",
        "%systemroot%\\pla\\reports\\Report.System.Memory.xml",
        "%systemroot%\\pla\\reports\\Report.System.Configuration.xml",
        "%systemroot%\\pla\\Reports\\Report.AD.xml",
        "Report.General.xml",
    };
    scratch_environment("systemroot", *state); /* a folder without schemas */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct schema_file f;
        assert_int_equal(schema_file_load(names[i], NULL, &f), S_OK);
        assert_int_equal(f.size, strlen(f.text));
        assert_non_null(strstr(f.text, "<Report "));
        assert_memory_equal(f.path, "Report.", 7);
        schema_file_free(&f);
    }
}

/* If a built-in schema had an error, its table would be missing without a message. */
static void all_shipped_files_are_schemas(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct shipped_schema *s = shipped_schemas; s->name; s++, count++) {
        struct report_schema schema = {0};
        assert_int_equal(report_schema_add_file(&schema, s->name, schema_file_load), S_OK);
        report_schema_order(&schema);
        for (size_t i = 0; i < schema.errors.count; i++)
            print_error("%s\n", schema.errors.items[i]);
        for (size_t i = 0; i < schema.warnings.count; i++)
            print_error("%s\n", schema.warnings.items[i]);
        assert_int_equal(schema.errors.count + schema.warnings.count, 0);
        assert_int_equal(schema.table_count == 0, text_equal_nocase(s->name, "Report.System.Common.xml"));
        report_schema_free(&schema);
    }
    assert_true(count >= 10);
}

/* Each name of a section, table or column in the schemas must have a string, which is its title. */
static void all_names_have_titles(void **state)
{
    (void)state;
    struct report_schema schema = {0};
    static const char *const names[] = {"Report.System.Diagnostics.xml", "Report.AD.xml", SCHEMA_GENERAL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(report_schema_add_file(&schema, names[i], schema_file_load), S_OK);
    report_schema_order(&schema);
    for (size_t i = 0; i < schema.section_count; i++) {
        const struct schema_section *s = &schema.sections[i];
        assert_string_not_equal(report_schema_string(&schema, s->name, ""), s->name);
        for (size_t t = 0; t < s->count; t++) {
            const struct schema_table *table = &s->tables[t];
            /* A table of all counters of an object needs no string if it has the object's name. */
            if (table->of_events || strcmp(table->name, table->counters.object) != 0)
                assert_string_not_equal(report_schema_string(&schema, table->name, ""), table->name);
            for (size_t c = 0; table->of_events && c < table->events.columns.count; c++) {
                const char *name = table->events.columns.items[c].name;
                assert_string_not_equal(report_schema_string(&schema, name, ""), name);
            }
        }
    }
    report_schema_free(&schema);
}

static void a_users_file_takes_precedence(void **state)
{
    struct schema_file f;
    scratch_environment("systemroot", *state);
    put(*state, "pla/reports/Report.System.CPU.xml", "<Report name='mine' version='1'/>");
    assert_int_equal(schema_file_load("%systemroot%\\pla\\reports\\Report.System.CPU.xml", NULL, &f), S_OK);
    assert_non_null(strstr(f.text, "mine"));
    /* Its relative imports are searched in the same folder. */
    put(*state, "pla/reports/part.xml", "<Report name='part' version='1'/>");
    struct schema_file part;
    assert_int_equal(schema_file_load("part.xml", f.path, &part), S_OK);
    assert_non_null(strstr(part.text, "part"));
    schema_file_free(&part);
    assert_int_equal(schema_file_load("report.system.disk.xml", f.path, &part), S_OK);
    assert_string_equal(part.path, "Report.System.Disk.xml");
    schema_file_free(&part);
    schema_file_free(&f);
}

/* A name with another folder means another file. If a user's file is missing, the built-in file must not replace it. */
static void missing_files_are_reported(void **state)
{
    static const char *const names[] = {"NoReport.xml", "c:\\mine\\Report.System.CPU.xml",
                                        "xpla\\reports\\Report.AD.xml", "%systemroot%\\pla\\rules\\Report.AD.xml",
                                        "pla\\reports\\"};
    struct schema_file f;
    scratch_environment("systemroot", *state);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *importer = path_join(*state, "run.xml");
        HRESULT hr = schema_file_load(names[i], importer, &f);
        assert_true(FAILED(hr));
        assert_int_equal(hr, HRESULT_FROM_WIN32(i == 1 ? ERROR_BAD_PATHNAME : ERROR_FILE_NOT_FOUND));
        assert_non_null(strstr(error_text(hr), i == 0 ? "NoReport.xml" : "eport"));
        assert_null(f.path);
        assert_null(f.text);
        memory_free(importer);
    }
    assert_int_equal(schema_file_load("", NULL, &f), E_INVALIDARG);
}

static void without_memory_nothing_is_left(void **state)
{
    struct schema_file f;
    put(*state, "own.xml", "<Report name='own' version='1'/>");
    char *importer = path_join(*state, "run.xml");
    static const char *const names[] = {"own.xml", "%systemroot%\\pla\\reports\\Report.AD.xml"};
    for (size_t i = 0; i < 2; i++) {
        HRESULT hr = E_OUTOFMEMORY;
        for (uint64_t n = 1; FAILED(hr) && n < 100; n++) {
            memory_fail_at(n);
            hr = schema_file_load(names[i], importer, &f);
            memory_fail_at(0);
            assert_true(SUCCEEDED(hr) || (!f.path && !f.text));
        }
        assert_int_equal(hr, S_OK);
        schema_file_free(&f);
    }
    memory_free(importer);
}

static int begin(void **state)
{
    *state = scratch_create("schema_files");
    return 0;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, begin, scratch_end)
    const struct CMUnitTest tests[] = {
        T(imports_of_templates_are_found), T(all_shipped_files_are_schemas), T(all_names_have_titles),
        T(a_users_file_takes_precedence),  T(missing_files_are_reported),    T(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
