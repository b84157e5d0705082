/* SPDX-License-Identifier: MIT */
/* References to string resources: the names of the sets that Windows ships are such references, and users must see the
   strings. */
#include "engine/base/os.h"
#include "tests/unit/scratch_folder.h"

#ifdef _WIN32
#include <windows.h>
#endif

static void assert_text(const char *reference, const char *expected)
{
    char *text = os_resource_text(reference);
    assert_non_null(text);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* A template from another machine keeps its reference if the resource is missing here; strings that are not references
   are unchanged. */
static void unresolved_references_are_kept(void **state)
{
    static const char *const references[] = {
        "@%systemroot%\\system32\\no-such-openpla.dll,#10026",
        "@%no such variable%\\x.dll,#1",
        "@C:\\windows\\system32,#1",
        "@C:\\windows\\system32\\comdlg32.dll",
        "@C:\\windows\\system32\\comdlg32.dll,#",
        "@C:\\windows\\system32\\comdlg32.dll,#x",
        "@C:\\windows\\system32\\comdlg32.dll,#-1",
        "@C:\\windows\\system32\\comdlg32.dll,#65536",
        "@C:\\windows\\system32\\comdlg32.dll,#99999999999999999999",
        "@C:\\windows\\win.ini,#1",
        "@",
        "@,#1",
        "",
        "\xC3\xBC, #1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        assert_text(references[i], references[i]);
}

#ifdef _WIN32

static const WCHAR *const dlls[] = {L"comdlg32.dll", L"shell32.dll", L"user32.dll"};
enum { DLLS = 3, HIGHEST_ID = 0x3000 };

/* Returns the string that the system loads, as UTF-8; NULL if it does not exist. */
static char *system_text(HMODULE module, unsigned id)
{
    WCHAR units[4096];
    int length = LoadStringW(module, id, units, 4096);
    char *text = NULL;
    if (length > 0)
        assert_int_equal(text_from_utf16(units, (size_t)length, true, &text), S_OK);
    return text;
}

/* The strings of three DLLs must equal the results of LoadString. The code of the DLLs is not executed. */
static void strings_are_those_of_the_system(void **state)
{
    size_t found = 0;
    (void)state;
    for (int d = 0; d < DLLS; d++) {
        WCHAR path[MAX_PATH];
        HMODULE module, code = GetModuleHandleW(dlls[d]);
        GetSystemDirectoryW(path, MAX_PATH);
        wcscat(wcscat(path, L"\\"), dlls[d]);
        module = LoadLibraryExW(path, NULL, LOAD_LIBRARY_AS_DATAFILE);
        assert_non_null(module);
        for (unsigned id = 0; id < HIGHEST_ID; id += id < 0x400 ? 1 : 7) {
            char *reference = text_format("@%%SystemRoot%%\\system32\\%ls,#%u", dlls[d], id);
            char *expected = system_text(module, id);
            assert_text(reference, expected ? expected : reference);
            found += expected != NULL;
            memory_free(expected);
            memory_free(reference);
        }
        assert_ptr_equal(GetModuleHandleW(dlls[d]), code);
        FreeLibrary(module);
    }
    assert_true(found > 50);
}

/* The server must not use its own account to connect to a machine that the client chooses, and must not search for the
   file. */
static void only_files_on_drives_are_opened(void **state)
{
    static const char *const ways[] = {"\\\\?\\", "\\\\.\\", "//?/", "\\??\\", "\\\\localhost\\", ".\\"};
    WCHAR path[MAX_PATH];
    HMODULE module;
    char *good, *text, *folder;
    unsigned id = 1;
    (void)state;
    GetSystemDirectoryW(path, MAX_PATH);
    assert_int_equal(text_from_utf16(path, wcslen(path), false, &folder), S_OK);
    module = LoadLibraryExW(wcscat(path, L"\\comdlg32.dll"), NULL, LOAD_LIBRARY_AS_DATAFILE);
    while (!(text = system_text(module, id)))
        id++;
    good = text_format("@%s\\comdlg32.dll,#%u", folder, id);
    assert_text(good, text);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char *bad = text_format("@%s%s", ways[i], good + 1);
        assert_text(bad, bad);
        memory_free(bad);
    }
    memory_free(good);
    good = text_format("@comdlg32.dll,#%u", id); /* a search would find this file */
    assert_text(good, good);
    memory_free(good);
    memory_free(text);
    memory_free(folder);
    FreeLibrary(module);
}

/* Writes `length` as the first string's length into each copy of the block in the file. Several languages may have
   identical blocks. */
static void corrupt_length(char *file, size_t size, const char *block, size_t block_size, uint16_t length)
{
    for (char *at = file; at + block_size <= file + size; at++)
        if (!memcmp(at + 2, block + 2, block_size - 2))
            memcpy(at, &length, 2);
}

/* If a file is corrupt, only its string is missing; the server keeps running. Here the lengths in the string table
   point beyond the table's end. */
static void corrupt_table_resolves_no_string(void **state)
{
    WCHAR system[MAX_PATH];
    char full[MAX_PATH], *file, *path, *text;
    unsigned id = 1;
    size_t size;
    (void)state;
    GetSystemDirectoryW(system, MAX_PATH);
    HMODULE module = LoadLibraryExW(wcscat(system, L"\\comdlg32.dll"), NULL, LOAD_LIBRARY_AS_DATAFILE);
    while (!(text = system_text(module, id)))
        id++;
    HRSRC found = FindResourceW(module, MAKEINTRESOURCEW(id / 16 + 1), (LPCWSTR)RT_STRING);
    size_t block_size = SizeofResource(module, found);
    char *block = memory_copy(LockResource(LoadResource(module, found)), block_size);
    FreeLibrary(module);
    assert_int_equal(text_from_utf16(system, wcslen(system), false, &path), S_OK);
    assert_int_equal(file_load(path, 64 << 20, &file, &size), S_OK);
    assert_true(GetFullPathNameA("damaged.dll", MAX_PATH, full, NULL) > 0);
    char *reference = text_format("@%s,#%u", full, id);
    assert_int_equal(file_store(full, file, size), S_OK);
    assert_text(reference, text); /* not corrupt yet */
    for (int i = 0; i < 2; i++) {
        /* First a length that is far too large, then one that is a single unit too large. */
        corrupt_length(file, size, block, block_size, (uint16_t)(i ? block_size / 2 : 0xFFFF));
        assert_int_equal(file_store(full, file, size), S_OK);
        assert_text(reference, reference);
    }
    assert_int_equal(file_store(full, file, size / 2), S_OK); /* truncated */
    assert_text(reference, reference);
    file_delete(full);
    memory_free(block);
    memory_free(path);
    memory_free(file);
    memory_free(text);
    memory_free(reference);
}
#endif

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(unresolved_references_are_kept),
#ifdef _WIN32
        cmocka_unit_test(strings_are_those_of_the_system),
        cmocka_unit_test(only_files_on_drives_are_opened),
        cmocka_unit_test(corrupt_table_resolves_no_string),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
