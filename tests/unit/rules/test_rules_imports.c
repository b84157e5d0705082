/* SPDX-License-Identifier: MIT */
/* Rules and schemas can import files, which are read with the rights of the user who runs the rules. Messages quote
   these files. A document must therefore not be able to import a file that its author may not read. */
#include "tests/unit/rules/rules_report.h"
#include "tests/unit/scratch_link.h"

#define IMPORT(name) "<Rules><Import file='" name "'/></Rules>"
#define OUTSIDE      "<Rules><Group name='outside'/></Rules>"

/* Returns whether the group in the imported file was loaded. If not, asserts that the only error contains `why`. */
static bool imports(const char *path, const char *text, const char *why)
{
    struct rules *r = rules_create();
    assert_int_equal(rules_add(r, path, text, strlen(text)), S_OK);
    const struct texts *errors = rules_errors(r);
    const bool taken = errors->count == 0;
    if (!taken)
        assert_message(errors, why);
    rules_free(r);
    return taken;
}

static void imports_stay_in_their_folder(void **state)
{
    static const struct {
        const char *text, *why; /* NULL: accepted */
    } cases[] = {
        {IMPORT("beside.xml"), NULL},
        {IMPORT("below/part.xml"), NULL},
        {IMPORT("below\\part.xml"), NULL},
        {IMPORT("%systemroot%\\pla\\rules\\mine.xml"), NULL},
        {IMPORT("%systemroot%\\PLA\\Rules\\mine.xml"), NULL},
        {IMPORT("%systemroot%\\pla\\rules\\Rules.System.CPU.xml"), NULL},
        {IMPORT("\\\\server\\pla\\rules\\Rules.System.CPU.xml"), NULL}, /* means a built-in file, which needs
                                                                           no access check */
        {IMPORT("../outside.xml"), "imports must be in the folder of the importing file"},
        {IMPORT("below\\..\\..\\outside.xml"), "imports must be in the folder of the importing file"},
        {IMPORT("%systemroot%\\pla\\rules\\..\\..\\outside.xml"), "imports must be in the folder"},
        {IMPORT("\\\\server\\share\\outside.xml"), "it begins like the path of a share"},
        {IMPORT("//server/share/outside.xml"), "it begins like the path of a share"},
        {IMPORT("\\\\?\\C:\\outside.xml"), "it begins like the path of a share or device"},
        {IMPORT("C:\\outside.xml"), "imports must be in the folder"},
        {IMPORT("/outside.xml"), ": absolute path"},
        {IMPORT("beside.xml:stream"), "a stream"},
        {IMPORT("CON"), "a device name"},
        {IMPORT("none.xml"), "none.xml"},
    };
    char *path = path_join(*state, "in/rules.xml");
    scratch_environment("systemroot", *state);
    rules_write_file(*state, "outside.xml", OUTSIDE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (imports(path, cases[i].text, cases[i].why ? cases[i].why : "") == (cases[i].why != NULL))
            fail_msg("%s", cases[i].text);
    memory_free(path);
}

/* Rules in a set's XML are not in a folder. Their imports must not be searched in the service's current folder. */
static void a_sets_text_has_no_folder(void **state)
{
    char *name = text_format("%s.here.xml", (const char *)*state), *text = text_format(IMPORT("%s"), name);
    struct schema_file f;
    rules_write_file(".", name, OUTSIDE);
    assert_false(imports("Rules", text, "is neither a file nor built in"));
    assert_int_equal(schema_file_load_of_set(name, "ReportSchema", &f), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_false(imports("Rules", IMPORT("../x.xml"), "imports must be in the folder"));
    assert_true(imports("Rules", IMPORT("Rules.General.xml"), ""));
    /* If the rules are in a file that the user has named, their imports are searched in that file's folder. */
    assert_int_equal(schema_file_load(name, "mine.xml", &f), S_OK);
    assert_string_equal(f.path, name);
    schema_file_free(&f);
    assert_int_equal(file_delete(name), S_OK);
    memory_free(text);
    memory_free(name);
}

static void links_do_not_lead_out(void **state)
{
    char *path = path_join(*state, "in/rules.xml"), *folder = path_join(*state, "in");
    rules_write_file(*state, "outside.xml", OUTSIDE);
    scratch_link(folder, "link.xml", "../outside.xml", false);
    const bool taken = imports(path, IMPORT("link.xml"), "link.xml");
    scratch_unlink(folder, "link.xml");
    assert_false(taken);
    memory_free(folder);
    memory_free(path);
}

static int make(void **state)
{
    *state = scratch_create("rules_imports");
    static const char *const folders[] = {"in/below", "pla/rules"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = path_join(*state, folders[i]);
        assert_int_equal(folder_create(folder), S_OK);
        memory_free(folder);
    }
    rules_write_file(*state, "in/beside.xml", OUTSIDE);
    rules_write_file(*state, "in/below/part.xml", OUTSIDE);
    rules_write_file(*state, "pla/rules/mine.xml", OUTSIDE);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(imports_stay_in_their_folder, make, scratch_end),
        cmocka_unit_test_setup_teardown(a_sets_text_has_no_folder, make, scratch_end),
        cmocka_unit_test_setup_teardown(links_do_not_lead_out, make, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
