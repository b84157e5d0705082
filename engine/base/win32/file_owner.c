/* SPDX-License-Identifier: MIT */
/* Whose a file is, and whom it is let to, on Windows. Wine has the owner from the file's Unix account: its own, or one
   that stands for all others. */
#include "engine/base/file_owner.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/win32/open_file.h"
#include "engine/base/win32/win32_call.h"

#include <aclapi.h>
#include <sddl.h>
#include <wchar.h>

static bool is_own(PSID owner)
{
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } own;
    DWORD length;
    HANDLE token;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return false;
    bool same = GetTokenInformation(token, TokenUser, &own, sizeof own, &length) && EqualSid(own.user.User.Sid, owner);
    CloseHandle(token);
    return same;
}

HRESULT file_check_owner(struct file *f)
{
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PSID owner = NULL;
    WCHAR *sid = NULL;
    char *text = NULL;
    DWORD code = GetSecurityInfo(file_handle(f), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL,
                                 &descriptor);
    if (code)
        return win32_failed(code, file_path(f));
    HRESULT hr = owner && (IsWellKnownSid(owner, WinLocalSystemSid) ||
                           IsWellKnownSid(owner, WinBuiltinAdministratorsSid) || is_own(owner))
                     ? S_OK
                     : E_ACCESSDENIED;
    if (FAILED(hr)) {
        if (owner && ConvertSidToStringSidW(owner, &sid))
            text_from_utf16(sid, wcslen(sid), true, &text);
        hr = error_set(hr, "\"%s\": it is not taken, as it belongs to the account %s", file_path(f),
                       text ? text : "of nobody");
        memory_free(text);
        LocalFree(sid);
    }
    LocalFree(descriptor);
    return hr;
}

HRESULT file_let(const char *path, const char *sid, enum file_let what)
{
    EXPLICIT_ACCESSW more = {
        .grfAccessPermissions = what == FILE_LET_ADD ? FILE_GENERIC_READ | FILE_GENERIC_EXECUTE | FILE_ADD_FILE
                                                     : FILE_GENERIC_READ | FILE_GENERIC_WRITE | DELETE,
        .grfAccessMode = SET_ACCESS,
        .grfInheritance = NO_INHERITANCE,
        .Trustee = {.TrusteeForm = TRUSTEE_IS_SID},
    };
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PACL old = NULL, acl = NULL;
    PSID account = NULL;
    WCHAR *wide = NULL, *text = NULL;
    if (host_is_wine())
        return S_FALSE;
    HRESULT hr = win32_path(path, &wide);
    if (SUCCEEDED(hr))
        hr = text_to_utf16(sid, &text, NULL);
    DWORD code = SUCCEEDED(hr) && !ConvertStringSidToSidW(text, &account) ? GetLastError() : 0;
    if (SUCCEEDED(hr) && !code)
        code =
            GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, &old, NULL, &descriptor);
    more.Trustee.ptstrName = (WCHAR *)account;
    if (SUCCEEDED(hr) && !code)
        code = SetEntriesInAclW(1, &more, old, &acl);
    if (SUCCEEDED(hr) && !code)
        code = SetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, acl, NULL);
    if (SUCCEEDED(hr) && code)
        hr = win32_failed(code, path);
    LocalFree(acl);
    LocalFree(descriptor);
    LocalFree(account);
    memory_free(text);
    memory_free(wide);
    return hr;
}
