/* SPDX-License-Identifier: MIT */
/* Access rights of files on Windows. Wine maps them to Unix modes, so the tests check the arguments of the API calls
   that set them. A wrong right would keep a set's account from writing its log, or let everyone read another user's
   log. */
#include "engine/base/file.h"
#include "engine/base/os.h"
#include "tests/unit/scratch_folder.h"

#include <windows.h>
#include <aclapi.h>
#include <sddl.h>

#define ANNA "S-1-5-21-1-2-3-1001"

static char *folder;

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

/* The file's descriptor before and after the call, as strings. If a code is not 0, the API call that reads or writes
   the descriptor fails with this code. */
static struct {
    const WCHAR *before;
    WCHAR *after;
    SECURITY_INFORMATION what;
    DWORD read_code, write_code;
} rights;

static DWORD WINAPI read_rights(LPCWSTR name, SE_OBJECT_TYPE type, SECURITY_INFORMATION what, PSID *owner, PSID *group,
                                PACL *dacl, PACL *sacl, PSECURITY_DESCRIPTOR *out)
{
    BOOL present, defaulted;
    (void)name;
    assert_int_equal(type, SE_FILE_OBJECT);
    assert_int_equal(what, DACL_SECURITY_INFORMATION);
    assert_true(!owner && !group && !sacl);
    if (rights.read_code)
        return rights.read_code;
    assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.before, SDDL_REVISION_1, out, NULL));
    assert_true(GetSecurityDescriptorDacl(*out, &present, dacl, &defaulted));
    return ERROR_SUCCESS;
}
DWORD(WINAPI *__wrap___imp_GetNamedSecurityInfoW)
(LPCWSTR, SE_OBJECT_TYPE, SECURITY_INFORMATION, PSID *, PSID *, PACL *, PACL *, PSECURITY_DESCRIPTOR *) = read_rights;

static void keep(PSECURITY_DESCRIPTOR descriptor)
{
    LocalFree(rights.after);
    assert_true(ConvertSecurityDescriptorToStringSecurityDescriptorW(
        descriptor, SDDL_REVISION_1, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &rights.after, NULL));
}

static DWORD WINAPI write_rights(LPWSTR name, SE_OBJECT_TYPE type, SECURITY_INFORMATION what, PSID owner, PSID group,
                                 PACL dacl, PACL sacl)
{
    SECURITY_DESCRIPTOR descriptor;
    (void)name;
    assert_int_equal(type, SE_FILE_OBJECT);
    assert_true(!owner && !group && !sacl);
    rights.what = what;
    if (rights.write_code)
        return rights.write_code;
    assert_true(InitializeSecurityDescriptor(&descriptor, SECURITY_DESCRIPTOR_REVISION));
    assert_true(SetSecurityDescriptorDacl(&descriptor, TRUE, dacl, FALSE));
    keep(&descriptor);
    return ERROR_SUCCESS;
}
DWORD(WINAPI *__wrap___imp_SetNamedSecurityInfoW)
(LPWSTR, SE_OBJECT_TYPE, SECURITY_INFORMATION, PSID, PSID, PACL, PACL) = write_rights;

static BOOL WINAPI put_descriptor(HANDLE handle, SECURITY_INFORMATION what, PSECURITY_DESCRIPTOR descriptor)
{
    assert_true(handle && handle != INVALID_HANDLE_VALUE);
    rights.what = what;
    if (rights.write_code) {
        SetLastError(rights.write_code);
        return FALSE;
    }
    keep(descriptor);
    return TRUE;
}
BOOL(WINAPI *__wrap___imp_SetKernelObjectSecurity)(HANDLE, SECURITY_INFORMATION, PSECURITY_DESCRIPTOR) = put_descriptor;

static int begin(void **state)
{
    (void)state;
    LocalFree(rights.after);
    memset(&rights, 0, sizeof rights);
    rights.before = L"D:(A;;FA;;;SY)(A;;FA;;;BA)";
    return 0;
}

static void is_after(const char *expected)
{
    char *text;
    assert_non_null(rights.after);
    assert_int_equal(text_from_utf16(rights.after, wcslen(rights.after), true, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* The right is added to the existing rights, applies to the file only and is not inherited; it is added once, even if
   granted repeatedly. */
static void account_is_added_to_existing_rights(void **state)
{
    (void)state;
    assert_int_equal(file_grant(folder, ANNA, FILE_GRANT_ADD), S_OK);
    assert_int_equal(rights.what, DACL_SECURITY_INFORMATION);
    is_after("D:(A;;0x1200ab;;;" ANNA ")(A;;FA;;;SY)(A;;FA;;;BA)");
    rights.before = L"D:(A;;FR;;;S-1-5-21-1-2-3-1001)(A;;FA;;;SY)";
    assert_int_equal(file_grant(folder, ANNA, FILE_GRANT_CHANGE), S_OK);
    is_after("D:(A;;0x13019f;;;" ANNA ")(A;;FA;;;SY)");
}

static void error_names_the_file(void **state)
{
    (void)state;
    rights.read_code = ERROR_ACCESS_DENIED;
    assert_int_equal(file_grant(folder, ANNA, FILE_GRANT_ADD), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), folder));
    rights.read_code = 0;
    rights.write_code = ERROR_ACCESS_DENIED;
    assert_int_equal(file_grant(folder, ANNA, FILE_GRANT_ADD), E_ACCESSDENIED);
    assert_true(FAILED(file_grant(folder, "Anna", FILE_GRANT_ADD)));
    assert_null(rights.after);
}

/* Each descriptor is set completely: it has a DACL, inherits nothing from the parent folder, and sets no owner, because
   the host process of a set must not change the owner. */
static void descriptor_is_set_without_owner(void **state)
{
    static const enum protection all[] = {PROTECTION_DATA,        PROTECTION_PLACE, PROTECTION_JOURNAL,
                                          PROTECTION_SECRETS,     PROTECTION_LOCK,  PROTECTION_SECRET,
                                          PROTECTION_MEMBERS_FILE};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(all); i++) {
        begin(NULL);
        assert_int_equal(file_protect(folder, all[i]), S_OK);
        assert_int_equal(rights.what, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION);
        assert_non_null(wcsstr(rights.after, L";;;SY)"));
        assert_null(wcsstr(rights.after, L";;;WD)"));
    }
    assert_int_equal(file_protect(folder, PROTECTION_SECRETS), S_OK);
    char *own = process_own_sid(), *expected = text_format("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;%s)", own);
    is_after(expected);
    memory_free(expected);
    memory_free(own);
    rights.write_code = ERROR_ACCESS_DENIED;
    assert_int_equal(file_protect(folder, PROTECTION_SECRETS), E_ACCESSDENIED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(account_is_added_to_existing_rights, begin),
        cmocka_unit_test_setup(error_names_the_file, begin),
        cmocka_unit_test_setup(descriptor_is_set_without_owner, begin),
    };
    folder = scratch_create("test_windows_rights");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    LocalFree(rights.after);
    scratch_remove(folder);
    memory_free(folder);
    return failed;
}
