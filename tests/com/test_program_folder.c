/* SPDX-License-Identifier: MIT */
/* Tests the check of the folder with the service's programs: anyone who can write to it can become SYSTEM. */
#include "engine/base/os.h"
#include "reg/program_folder.h"
#include "tests/unit/scratch_folder.h"

#include <aclapi.h>
#include <sddl.h>

#define GOOD "O:BAG:BAD:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)"

static PSECURITY_DESCRIPTOR descriptor_of(const char *sddl)
{
    PSECURITY_DESCRIPTOR d;
    assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorA(sddl, SDDL_REVISION_1, &d, NULL));
    return d;
}

static void unsafe_write_rights_are_found(void **state)
{
    static const struct {
        const char *sddl;
        bool folder, parent; /* expected: whether it is allowed as the programs' folder, and as its parent */
    } rows[] = {
        {GOOD, true, true},
        {"O:SYG:SYD:(A;;FA;;;SY)(A;;FA;;;S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464)", true, true},
        {GOOD "(A;OICIIO;GA;;;CO)(A;OICIIO;FA;;;WD)", true, true}, /* applies only to objects created in the folder */
        {GOOD "(D;;FA;;;WD)", true, true},
        {GOOD "(A;;0x2;;;BU)", false, true},      /* add a file */
        {GOOD "(A;;0x4;;;AU)", false, true},      /* add a folder, such as openplasrv.exe.local; C:\ grants this
                                                     right */
        {GOOD "(A;;0x10;;;WD)", false, true},     /* write extended attributes */
        {GOOD "(A;;0x100;;;WD)", false, true},    /* write attributes */
        {GOOD "(A;;0x10000;;;BU)", false, false}, /* rename the folder and create another in its place */
        {GOOD "(A;;0x40;;;BU)", false, false},    /* delete the folder's contents */
        {GOOD "(A;;0x40000;;;BU)", false, false}, /* grant oneself the other rights */
        {GOOD "(A;;0x80000;;;BU)", false, false},
        {GOOD "(A;;GW;;;S-1-5-32-559)", false, true},
        {GOOD "(A;;GA;;;S-1-5-21-1-2-3-1001)", false, false},
        {GOOD "(A;;FA;;;WD)", false, false},
        {"O:BUG:BAD:(A;;FA;;;SY)", false, false}, /* an owner can grant himself any right */
        {"O:S-1-5-21-1-2-3-1001G:BAD:(A;;FA;;;SY)", false, false},
        {"O:BAG:BA", false, false},
        {"G:BAD:(A;;FA;;;SY)", false, false},
        {"O:BAG:BAD:", true, true}, /* grants nothing to anyone */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PSECURITY_DESCRIPTOR d = descriptor_of(rows[i].sddl);
        char *who;
        HRESULT hr = program_folder_writer(d, PROGRAM_FOLDER_RIGHTS, false, &who);
        if (hr != (rows[i].folder ? S_FALSE : S_OK) || !who != rows[i].folder)
            fail_msg("folder %s: 0x%08X %s", rows[i].sddl, (unsigned)hr, who ? who : "");
        memory_free(who);
        hr = program_folder_writer(d, PROGRAM_PARENT_RIGHTS, false, &who);
        if (hr != (rows[i].parent ? S_FALSE : S_OK) || !who != rows[i].parent)
            fail_msg("parent %s: 0x%08X %s", rows[i].sddl, (unsigned)hr, who ? who : "");
        memory_free(who);
        LocalFree(d);
    }
    SECURITY_DESCRIPTOR for_all;
    char *who;
    assert_true(InitializeSecurityDescriptor(&for_all, SECURITY_DESCRIPTOR_REVISION));
    assert_true(SetSecurityDescriptorDacl(&for_all, TRUE, NULL, FALSE));
    assert_int_equal(program_folder_writer(&for_all, PROGRAM_PARENT_RIGHTS, true, &who), S_OK);
    assert_string_equal(who, "everyone");
    memory_free(who);
}

/* Under Wine, the prefix's account has all rights; it is trusted only on request. */
static void own_account_is_trusted_only_on_request(void **state)
{
    char *sid = process_own_sid(), *who, *sddl = text_format("O:%sG:BAD:(A;;FA;;;%s)(A;;FA;;;SY)", sid, sid);
    PSECURITY_DESCRIPTOR d = descriptor_of(sddl);
    (void)state;
    assert_int_equal(program_folder_writer(d, PROGRAM_FOLDER_RIGHTS, true, &who), S_FALSE);
    assert_int_equal(program_folder_writer(d, PROGRAM_FOLDER_RIGHTS, false, &who), S_OK);
    memory_free(who);
    LocalFree(d);
    memory_free(sddl);
    memory_free(sid);
}

static void give(const char *path, const char *sddl)
{
    PSECURITY_DESCRIPTOR d = descriptor_of(sddl);
    assert_true(SetFileSecurityA(path, DACL_SECURITY_INFORMATION, d));
    LocalFree(d);
}

/* Checks existing files by their attributes on the host OS. */
static void folder_writable_by_everyone_is_rejected(void **state)
{
    static const char mine[] = "D:P(A;OICI;FA;;;BA)(A;OICI;FA;;;OW)", all[] = "D:P(A;;FA;;;BA)(A;;FA;;;WD)";
    char *folder = scratch_create("program_folder"), *full = os_full_path(folder);
    char *program = path_join(full, "openplasrv.exe"), *narrow = path_join(full, "x86");
    char *text = path_join(full, "readme.txt");
    (void)state;
    assert_int_equal(file_store(program, "MZ", 2), S_OK);
    assert_int_equal(file_store(text, "", 0), S_OK);
    assert_int_equal(folder_create(narrow), S_OK);
    if (os_is_wine()) {
        assert_int_equal(program_folder_check(full), S_OK);
        give(text, all); /* readme.txt is never executed */
        assert_int_equal(program_folder_check(full), S_OK);
        const char *const each[] = {program, narrow, full};
        for (size_t i = 0; i < 3; i++) {
            give(each[i], all);
            assert_int_equal(program_folder_check(full), E_ACCESSDENIED);
            assert_non_null(strstr(error_text(E_ACCESSDENIED), each[i]));
            char *sid = process_own_sid(), *again = text_format("D:P(A;;FA;;;%s)", sid);
            give(each[i], again);
            assert_int_equal(program_folder_check(full), S_OK);
            memory_free(again);
            memory_free(sid);
        }
        char *missing = path_join(full, "not there");
        assert_int_equal(program_folder_check(missing), S_OK);
        memory_free(missing);
    } else {
        give(full, mine);
        assert_int_equal(program_folder_check(full), E_ACCESSDENIED); /* the folder belongs to this user */
    }
    scratch_remove(folder);
    memory_free(text);
    memory_free(narrow);
    memory_free(program);
    memory_free(full);
    memory_free(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(unsafe_write_rights_are_found),
                                              cmocka_unit_test(own_account_is_trusted_only_on_request),
                                              cmocka_unit_test(folder_writable_by_everyone_is_rejected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
