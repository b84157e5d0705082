/* SPDX-License-Identifier: MIT */
/* Owners and protection of files on Windows, from their descriptors. Wine derives a file's descriptor from the owner
   and the mode on the host OS. Links under Wine are links of the host OS, so a path that leads elsewhere is recognized
   by its final path. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/win32/win32_call.h"

#include <aclapi.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>

static HRESULT open_look(const char *path, DWORD access, HANDLE *out)
{
    WCHAR *wide;
    HRESULT hr = win32_path(path, &wide);
    if (FAILED(hr))
        return hr;
    *out = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    const DWORD code = GetLastError();
    memory_free(wide);
    if (*out != INVALID_HANDLE_VALUE)
        return S_OK;
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND ? S_FALSE : win32_failed(code, path);
}

/* Returns the final path of the folder that contains `path`. */
static HRESULT lies_in(const char *path, WCHAR **out)
{
    char *full = os_full_path(path), *folder = full ? path_folder(full) : NULL;
    char *parent = folder ? path_with_separator(folder) : NULL;
    HANDLE handle = INVALID_HANDLE_VALUE;
    HRESULT hr = parent ? open_look(parent, FILE_READ_ATTRIBUTES, &handle) : E_OUTOFMEMORY;
    *out = NULL;
    if (hr == S_OK)
        hr = file_final_path(handle, path, out);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    memory_free(parent);
    memory_free(folder);
    memory_free(full);
    return hr;
}

static HRESULT leads_elsewhere(HANDLE handle, const char *path, bool *elsewhere)
{
    WCHAR *is = NULL, *in = NULL, *name = NULL;
    HRESULT hr = file_final_path(handle, path, &is);
    if (SUCCEEDED(hr))
        hr = lies_in(path, &in);
    if (hr == S_OK)
        hr = text_to_utf16(path_name(path), &name, NULL);
    if (hr == S_OK) {
        size_t n = wcslen(in);
        while (n && in[n - 1] == L'\\')
            n--;
        *elsewhere = _wcsnicmp(is, in, n) != 0 || is[n] != L'\\' || _wcsicmp(is + n + 1, name) != 0;
    }
    memory_free(name);
    memory_free(in);
    memory_free(is);
    return hr;
}

static bool is_one_of(PSID sid, const WELL_KNOWN_SID_TYPE *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (IsWellKnownSid(sid, types[i]))
            return true;
    return false;
}

/* Whether a right is granted to groups that include everyone on this computer. */
static bool is_open_to_others(ACL *dacl)
{
    static const WELL_KNOWN_SID_TYPE others[] = {WinWorldSid,         WinAuthenticatedUserSid, WinBuiltinUsersSid,
                                                 WinBuiltinGuestsSid, WinInteractiveSid,       WinAnonymousSid};
    if (!dacl)
        return true;
    for (DWORD i = 0; i < dacl->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace;
        if (GetAce(dacl, i, (void **)&ace) && ace->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
            is_one_of(&ace->SidStart, others, sizeof others / sizeof *others) &&
            (ace->Mask & ~(DWORD)(READ_CONTROL | SYNCHRONIZE | FILE_READ_ATTRIBUTES | FILE_READ_EA)))
            return true;
    }
    return false;
}

static HRESULT read_descriptor(HANDLE handle, const char *path, struct ownership *out)
{
    static const WELL_KNOWN_SID_TYPE trusted[] = {WinLocalSystemSid, WinBuiltinAdministratorsSid};
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PSID owner = NULL;
    ACL *dacl = NULL;
    WCHAR *text = NULL;
    char *sid = NULL, *own = NULL;
    const DWORD code = GetSecurityInfo(handle, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                       &owner, NULL, &dacl, NULL, &descriptor);
    if (code != ERROR_SUCCESS)
        return win32_failed(code, path);
    HRESULT hr = owner && ConvertSidToStringSidW(owner, &text) ? text_from_utf16(text, wcslen(text), true, &sid)
                                                               : win32_failed(ERROR_INVALID_OWNER, path);
    if (SUCCEEDED(hr) && !(own = process_own_sid()))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        out->is_foreign = strcmp(sid, own) != 0 && !is_one_of(owner, trusted, sizeof trusted / sizeof *trusted);
        out->is_open = is_open_to_others(dacl);
        text_fit(out->owner, sizeof out->owner, sid);
    }
    memory_free(own);
    memory_free(sid);
    LocalFree(text);
    LocalFree(descriptor);
    return hr;
}

HRESULT file_ownership(const char *path, struct ownership *out)
{
    BY_HANDLE_FILE_INFORMATION about;
    HANDLE handle = INVALID_HANDLE_VALUE;
    *out = (struct ownership){.is_folder = false};
    HRESULT hr = open_look(path, READ_CONTROL | FILE_READ_ATTRIBUTES, &handle);
    if (hr != S_OK)
        return hr;
    if (GetFileInformationByHandle(handle, &about)) {
        out->is_folder = (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
        out->is_link = (about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
        hr = out->is_link ? S_OK : leads_elsewhere(handle, path, &out->is_link);
    } else {
        hr = win32_failed(GetLastError(), path);
    }
    if (SUCCEEDED(hr))
        hr = read_descriptor(handle, path, out);
    CloseHandle(handle);
    return hr;
}

/* Uses the handle of the existing file, so that no link is followed. Under Wine the descriptor also names an owner.
   Wine needs an owner to compute the file's mode from the descriptor's entries, but does not change the file's
   owner. */
HRESULT file_protect(const char *path, enum protection what)
{
    SECURITY_ATTRIBUTES attributes;
    HANDLE handle = INVALID_HANDLE_VALUE;
    const SECURITY_INFORMATION owner = os_is_wine() ? OWNER_SECURITY_INFORMATION : 0;
    char *sddl = protection_sddl(what);
    if (!sddl)
        return what == PROTECTION_NONE ? S_OK : E_OUTOFMEMORY;
    HRESULT hr = win32_security(sddl, &attributes);
    memory_free(sddl);
    if (FAILED(hr))
        return hr;
    hr = open_look(path, READ_CONTROL | WRITE_DAC | (owner ? WRITE_OWNER : 0), &handle);
    if (hr == S_FALSE)
        hr = win32_failed(ERROR_FILE_NOT_FOUND, path);
    if (SUCCEEDED(hr)) {
        if (!SetKernelObjectSecurity(handle, owner | DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                                     attributes.lpSecurityDescriptor))
            hr = win32_failed(GetLastError(), path);
        CloseHandle(handle);
    }
    LocalFree(attributes.lpSecurityDescriptor);
    return hr;
}

HRESULT folder_create_one(const char *path, enum protection what)
{
    SECURITY_ATTRIBUTES attributes;
    char *sddl = protection_sddl(what);
    WCHAR *wide = NULL;
    if (!sddl && what != PROTECTION_NONE)
        return E_OUTOFMEMORY;
    HRESULT hr = file_operation(FILE_OPERATION_CREATE_FOLDER, path);
    if (SUCCEEDED(hr))
        hr = win32_security(sddl, &attributes);
    memory_free(sddl);
    if (FAILED(hr))
        return hr;
    hr = win32_path(path, &wide);
    if (SUCCEEDED(hr) && !CreateDirectoryW(wide, &attributes))
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    LocalFree(attributes.lpSecurityDescriptor);
    return hr;
}

/* Checks the owner of an open file. Wine derives the owner from the file's Unix account: it is either the current
   account, or one account that represents all others. */

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
        hr = error_set(hr, "cannot use '%s': it belongs to the account %s", file_path(f), text ? text : "of nobody");
        memory_free(text);
        LocalFree(sid);
    }
    LocalFree(descriptor);
    return hr;
}

HRESULT file_grant(const char *path, const char *sid, enum file_grant what)
{
    /* Windows' macros have bits in common. */
    enum { READ = FILE_GENERIC_READ, WRITE = FILE_GENERIC_WRITE, ENTER = FILE_GENERIC_EXECUTE };
    EXPLICIT_ACCESSW more = {
        .grfAccessPermissions = what == FILE_GRANT_ADD ? READ | ENTER | FILE_ADD_FILE : READ | WRITE | DELETE,
        .grfAccessMode = SET_ACCESS,
        .grfInheritance = NO_INHERITANCE,
        .Trustee = {.TrusteeForm = TRUSTEE_IS_SID},
    };
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PACL old = NULL, acl = NULL;
    PSID account = NULL;
    WCHAR *wide = NULL, *text = NULL;
    if (os_is_wine())
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
