/* SPDX-License-Identifier: MIT */
/* Tests pla.dll's flat cabinet function as programs load it, by name and by ordinal. A valid cabinet is extracted file
   by file; a corrupt one leaves nothing behind. */
#include "tests/unit/built_cabinet.h"

#include <windows.h>
#include <wchar.h>

typedef void(CALLBACK *extracted_callback)(const WCHAR *file, void *context);
typedef HRESULT(WINAPI *extract_function)(const WCHAR *cabinet, const WCHAR *folder, extracted_callback callback,
                                          void *context);
static extract_function extract;
static WCHAR cabinet[MAX_PATH], folder[MAX_PATH];

static int make_scratch(void **state)
{
    char *path = scratch_create("test_cabinet_entry");
    assert_int_equal(swprintf(cabinet, MAX_PATH, L"%hs\\a.cab", path) > 0, 1);
    assert_int_equal(swprintf(folder, MAX_PATH, L"%hs\\out", path) > 0, 1);
    *state = path;
    return 0;
}

static void make_cabinet(const char *scratch, const char *second)
{
    static const uint8_t bytes[] = "abcdef";
    const struct built_entry entries[] = {{"sub\\a.txt", 4, 0, 0, 0}, {second, 2, 4, 0, 0}};
    const struct built_cabinet m = {entries, 2, 0, 0, bytes, 6, 6, 0, false};
    struct built_bytes b;
    char *path = path_join(scratch, "a.cab");
    built_build(&m, &b);
    built_store(&b, path);
    memory_free(path);
}

struct reported {
    int calls;
    WCHAR text[4 * MAX_PATH];
};

static void CALLBACK on_file(const WCHAR *file, void *context)
{
    struct reported *reported = context;
    assert_int_not_equal(GetFileAttributesW(file), INVALID_FILE_ATTRIBUTES);
    reported->calls++;
    wcscat(reported->text, file + wcslen(folder));
}

static void each_file_is_reported(void **state)
{
    struct reported reported = {0};
    make_cabinet(*state, "b.txt");
    assert_int_equal(extract(cabinet, folder, on_file, &reported), S_OK);
    assert_int_equal(reported.calls, 2);
    assert_int_equal(wcscmp(reported.text, L"\\sub\\a.txt\\b.txt"), 0);
    assert_int_equal(extract(cabinet, folder, NULL, NULL), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
}

static void corrupt_cabinet_extracts_nothing(void **state)
{
    struct reported reported = {0};
    make_cabinet(*state, "..\\b.txt");
    assert_int_equal(extract(cabinet, folder, on_file, &reported), (HRESULT)0x80300113); /* PLA_E_CABAPI_FAILURE */
    assert_int_equal(reported.calls, 0);
    assert_int_equal(GetFileAttributesW(folder), INVALID_FILE_ATTRIBUTES);
}

static void invalid_paths_are_rejected(void **state)
{
    static const WCHAR lone[] = {0xD800, 0};
    make_cabinet(*state, "b.txt");
    assert_int_equal(extract(NULL, folder, NULL, NULL), E_POINTER);
    assert_int_equal(extract(cabinet, NULL, NULL, NULL), E_POINTER);
    assert_int_equal(extract(cabinet, L"", NULL, NULL), E_INVALIDARG);
    assert_int_equal(extract(lone, folder, NULL, NULL), E_INVALIDARG);
    assert_int_equal(extract(cabinet, L"\\\\.\\pipe\\x", NULL, NULL), E_INVALIDARG);
    assert_int_equal(extract(L"NUL", folder, NULL, NULL), E_INVALIDARG);
    assert_int_equal(extract(L"none.cab", folder, NULL, NULL), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

typedef HRESULT(WINAPI *delete_function)(const WCHAR *folder);
static delete_function delete_report;

static void put(const char *in, const char *name, const char *text)
{
    char *path = path_join(in, name);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
    memory_free(path);
}

static bool entry_exists(const char *in, const char *name)
{
    char *path = path_join(in, name);
    bool there = file_find(path) == S_OK;
    memory_free(path);
    return there;
}

/* A program that deletes a report deletes only the run's files, and no foreign folder. */
static void report_is_deleted_and_nothing_else(void **state)
{
    static const char mark[] = "openpla-folder 1\n00112233445566778899aabbccddeeff\nserial number 1\nfile log.csv\n"
                               "file report.xml\n";
    char *run = path_join(*state, "run");
    WCHAR wide[MAX_PATH], with_end[MAX_PATH];
    assert_true(swprintf(wide, MAX_PATH, L"%hs", run) > 0);
    assert_true(swprintf(with_end, MAX_PATH, L"%hs\\", run) > 0);
    assert_int_equal(folder_create(run), S_OK);
    put(run, "log.csv", "a");
    put(run, "report.xml", "a");
    put(run, "notes.txt", "mine");
    assert_int_equal(delete_report(wide), E_ACCESSDENIED);
    put(run, "openpla.run", mark);
    assert_int_equal(delete_report(with_end), S_OK);
    assert_true(entry_exists(run, "notes.txt"));
    assert_false(entry_exists(run, "log.csv") || entry_exists(run, "report.xml") || entry_exists(run, "openpla.run"));
    assert_int_equal(delete_report(wide), E_ACCESSDENIED);
    char *notes = path_join(run, "notes.txt");
    assert_int_equal(file_delete(notes), S_OK);
    put(run, "log.csv", "a");
    put(run, "openpla.run", mark);
    assert_int_equal(delete_report(wide), S_OK);
    assert_false(folder_exists(run));
    assert_int_equal(delete_report(wide), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(delete_report(NULL), E_POINTER);
    assert_int_equal(delete_report(L""), E_INVALIDARG);
    assert_int_equal(delete_report(L"\\\\.\\pipe\\x"), E_INVALIDARG);
    memory_free(notes);
    memory_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_file_is_reported, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(corrupt_cabinet_extracts_nothing, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(invalid_paths_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(report_is_deleted_and_nothing_else, make_scratch, scratch_end),
    };
    HMODULE module = LoadLibraryW(L"openpla.dll");
    if (!module)
        return 1;
    FARPROC named = GetProcAddress(module, "PlaExtractCabinet");
    if (!named || named != GetProcAddress(module, MAKEINTRESOURCEA(9)))
        return 2;
    memcpy(&extract, &named, sizeof extract);
    named = GetProcAddress(module, "PlaDeleteReport");
    if (!named || named != GetProcAddress(module, MAKEINTRESOURCEA(7)))
        return 3;
    memcpy(&delete_report, &named, sizeof delete_report);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
