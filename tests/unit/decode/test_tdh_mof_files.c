/* SPDX-License-Identifier: MIT */
/* This computer's MOF files: every decoder finds the added files, even if one of them is corrupt. */
#include "engine/base/error.h"
#include "engine/etw/mof_classes.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/scratch_folder.h"

#define PROVIDER "[Guid(\"{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}\")] class MyProvider : EventTrace {};\n"
#define CATEGORY "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\")] class MyCategory : MyProvider {};\n"
#define EVENT    "[EventType(1)] class MyEvent : MyCategory { uint32 a; };\n"

static const GUID category = {0xB49D5931, 0xAD85, 0x4070, {0xB1, 0xB1, 0x3F, 0x81, 0xF1, 0x53, 0x28, 0x75}};
static char *top;

static int start(void **state)
{
    (void)state;
    top = scratch_create("test_tdh_mof_files");
    scratch_environment("OPENPLA_DATA", top);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_remove(top);
    memory_free(top);
    return 0;
}

static char *written(const char *name, const char *text)
{
    char *path = path_join(top, name);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    return path;
}

static HRESULT add(const char *name, const char *text, bool replace)
{
    char *path = written(name, text);
    HRESULT hr = mof_files_add(path, replace);
    memory_free(path);
    return hr;
}

/* Checks the number of files, and whether the event has a description. */
static void assert_files(size_t files, bool described, size_t warnings)
{
    struct texts names = {0}, said = {0};
    struct mof_classes *classes;
    struct event_schema *schema = NULL;
    assert_int_equal(mof_files_list(&names), S_OK);
    assert_int_equal(names.count, files);
    assert_int_equal(mof_files_classes(&said, &classes), S_OK);
    assert_int_equal(said.count, warnings);
    assert_int_equal(mof_classes_schema(classes, &category, 1, 0, &schema),
                     described ? S_OK : HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
    event_schema_free(schema);
    mof_classes_free(classes);
    texts_free(&names);
    texts_free(&said);
}

static void files_are_found_in_any_order(void **state)
{
    (void)state;
    assert_files(0, false, 0);
    assert_int_equal(add("c.mof", PROVIDER, false), S_OK);
    assert_int_equal(add("b.mof", CATEGORY, false), S_OK);
    assert_int_equal(add("a.mof", EVENT, false), S_OK);
    assert_files(3, true, 0);
    assert_int_equal(add("A.mof", EVENT, false), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(add("A.mof", EVENT, true), S_OK);
    assert_files(3, true, 0);
    assert_int_equal(mof_files_remove("B.MOF"), S_OK);
    assert_files(2, false, 1);
    assert_int_equal(mof_files_remove("b.mof"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(mof_files_remove("../c.mof"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

static void a_corrupt_file_does_not_affect_others(void **state)
{
    (void)state;
    assert_int_equal(add("good.mof", PROVIDER CATEGORY EVENT, false), S_OK);
    char *folder = path_join(top, "mof"), *damaged = path_join(folder, "bad.mof"),
         *left = path_join(folder, "~1-2.tmp");
    assert_int_equal(file_store(damaged, "class", 5), S_OK);
    assert_int_equal(file_store(left, "cla", 3), S_OK); /* left by a killed writer */
    assert_files(2, true, 1);
    memory_free(left);
    memory_free(damaged);
    memory_free(folder);
}

static void providers_and_flags_are_listed(void **state)
{
    (void)state;
    static const GUID own = {0x7C214FB1, 0x9CAC, 0x4B8D, {0xBA, 0xED, 0x7B, 0xF4, 0x8B, 0xF6, 0x3B, 0xB3}};
    static const GUID kernel = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
    struct event_schemas *schemas;
    struct schema_origin origin;
    struct known_providers providers = {0};
    struct known_fields fields = {0};
    assert_int_equal(add("m.mof", PROVIDER CATEGORY EVENT, false), S_OK);
    assert_int_equal(event_schemas_create(&schemas), S_OK);
    assert_int_equal(mof_origin(&origin), S_OK);
    assert_int_equal(event_schemas_add(schemas, &origin, NULL), S_OK);
    assert_int_equal(event_schemas_providers(schemas, &providers), S_OK);
    assert_int_equal(providers.count, 2);
    assert_int_equal(providers.items[0].source, SCHEMA_MOF);
    known_providers_free(&providers);
    assert_int_equal(event_schemas_origin_fields(schemas, &kernel, 0, &fields), S_OK);
    assert_int_equal(fields.count, 27);
    assert_string_equal(fields.items[0].name, "process");
    assert_int_equal(fields.items[0].value, 1);
    known_fields_free(&fields);
    assert_int_equal(event_schemas_origin_fields(schemas, &own, 1, &fields), S_OK);
    assert_int_equal(fields.count, 0);
    assert_int_equal(event_schemas_origin_fields(schemas, &category, 0, &fields), S_FALSE);
    event_schemas_free(schemas);
}

static void out_of_memory_adds_nothing(void **state)
{
    (void)state;
    char *path = written("m.mof", PROVIDER CATEGORY EVENT);
    HRESULT hr;
    uint64_t n = 1;
    do {
        memory_fail_at(n);
        hr = mof_files_add(path, false);
        memory_fail_at(0);
        if (FAILED(hr)) {
            assert_int_equal(hr, E_OUTOFMEMORY);
            assert_files(0, false, 0);
        }
        /* Most allocations belong to the built-in classes, so few of them are tried. */
        n += n < 30 ? 1 : 997;
    } while (FAILED(hr));
    assert_files(1, true, 0);
    memory_free(path);
}

static void a_failing_disk_keeps_the_previous_files(void **state)
{
    (void)state;
    char *path = written("n.mof", PROVIDER CATEGORY EVENT);
    struct file_faults f = {.at = 1, .kind = FAULT_LASTING, .hr = HRESULT_FROM_WIN32(ERROR_IO_DEVICE)};
    HRESULT hr;
    do {
        file_faults_begin(&f);
        hr = mof_files_add(path, true);
        file_faults_end();
        /* If the folder cannot be flushed after the rename, the file exists nevertheless (DECISIONS 70). */
        const bool there = SUCCEEDED(hr) || (f.met && f.operation == FILE_OPERATION_FLUSH_FOLDER);
        assert_files(there, there, 0);
        if (there)
            assert_int_equal(mof_files_remove("n.mof"), S_OK);
        f.at++;
    } while (f.met);
    assert_int_equal(hr, S_OK);
    assert_in_range(f.at, 4, 100);
    memory_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_found_in_any_order, start, end),
        cmocka_unit_test_setup_teardown(a_corrupt_file_does_not_affect_others, start, end),
        cmocka_unit_test_setup_teardown(providers_and_flags_are_listed, start, end),
        cmocka_unit_test_setup_teardown(out_of_memory_adds_nothing, start, end),
        cmocka_unit_test_setup_teardown(a_failing_disk_keeps_the_previous_files, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
