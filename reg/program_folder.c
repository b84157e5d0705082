/* SPDX-License-Identifier: MIT */
/* Finds the accounts that can change the service's programs, from the descriptors of files and folders. */
#include "reg/program_folder.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "reg/registration.h"

#include <aclapi.h>
#include <sddl.h>
#include <string.h>

/* These entries begin with a header, the rights and the SID, or have two GUIDs before the SID. */
struct allowed {
    ACE_HEADER header;
    ACCESS_MASK rights;
    DWORD rest[1];
};

static bool is_text_sid(PSID sid, const WCHAR *text)
{
    PSID other = NULL;
    bool same = ConvertStringSidToSidW(text, &other) && EqualSid(sid, other);
    LocalFree(other);
    return same;
}

static bool is_own(PSID sid)
{
    union {
        TOKEN_USER user;
        BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } user;
    DWORD size;
    HANDLE token;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return false;
    bool own = GetTokenInformation(token, TokenUser, &user, sizeof user, &size) && EqualSid(sid, user.user.User.Sid);
    CloseHandle(token);
    return own;
}

static bool is_trusted(PSID sid, bool own)
{
    /* The system, administrators, TrustedInstaller. */
    static const WCHAR *const trusted[] = {L"S-1-5-18", L"S-1-5-32-544",
                                           L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"};
    for (size_t i = 0; i < ARRAYSIZE(trusted); i++)
        if (is_text_sid(sid, trusted[i]))
            return true;
    return own && is_own(sid);
}

static HRESULT name_sid(PSID sid, char **who)
{
    WCHAR user[257], domain[257], *text;
    DWORD users = ARRAYSIZE(user), domains = ARRAYSIZE(domain);
    SID_NAME_USE use;
    if (LookupAccountSidW(NULL, sid, user, &users, domain, &domains, &use))
        return text_from_utf16(user, wcslen(user), true, who);
    if (!ConvertSidToStringSidW(sid, &text)) {
        *who = text_copy("an account that has no name");
        return *who ? S_OK : E_OUTOFMEMORY;
    }
    HRESULT hr = text_from_utf16(text, wcslen(text), true, who);
    LocalFree(text);
    return hr;
}

/* Returns the SID of an entry that grants rights; NULL: it grants none. */
static PSID given_to(const struct allowed *ace)
{
    switch (ace->header.AceType) {
    case ACCESS_ALLOWED_ACE_TYPE:
    case ACCESS_ALLOWED_CALLBACK_ACE_TYPE:
        return (PSID)(uintptr_t)ace->rest;
    case ACCESS_ALLOWED_OBJECT_ACE_TYPE:
    case ACCESS_ALLOWED_CALLBACK_OBJECT_ACE_TYPE: {
        const DWORD flags = ace->rest[0];
        const size_t guids =
            ((flags & ACE_OBJECT_TYPE_PRESENT) != 0) + ((flags & ACE_INHERITED_OBJECT_TYPE_PRESENT) != 0);
        return (PSID)((uintptr_t)&ace->rest[1] + guids * sizeof(GUID));
    }
    default:
        return NULL;
    }
}

static HRESULT writer_name(PSID sid, char **who)
{
    HRESULT hr = name_sid(sid, who);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT program_folder_writer(PSECURITY_DESCRIPTOR descriptor, DWORD rights, bool own, char **who)
{
    PSID owner = NULL;
    PACL acl = NULL;
    BOOL present = FALSE, defaulted;
    *who = NULL;
    if (!GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) ||
        !GetSecurityDescriptorDacl(descriptor, &present, &acl, &defaulted) || !present || !acl || !IsValidAcl(acl)) {
        *who = text_copy("everyone");
        return *who ? S_OK : E_OUTOFMEMORY;
    }
    if (!own && (!owner || !is_trusted(owner, false)))
        return owner ? writer_name(owner, who)
                     : ((*who = text_copy("its owner, who is unknown")) ? S_OK : E_OUTOFMEMORY);
    for (DWORD i = 0; i < acl->AceCount; i++) {
        struct allowed *ace;
        if (!GetAce(acl, i, (void **)&ace) || (ace->header.AceFlags & INHERIT_ONLY_ACE))
            continue;
        PSID sid = given_to(ace);
        if (sid && (ace->rights & rights) && !is_trusted(sid, own))
            return writer_name(sid, who);
    }
    return S_FALSE;
}

static HRESULT check_one(const char *path, DWORD rights)
{
    PSECURITY_DESCRIPTOR descriptor = NULL;
    WCHAR *wide;
    char *who = NULL;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    DWORD error = GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                        NULL, NULL, NULL, NULL, &descriptor);
    memory_free(wide);
    if (error)
        return error_set(HRESULT_FROM_WIN32(error), "cannot read the access rights of '%s': %s", path,
                         error_standard_text(HRESULT_FROM_WIN32(error)));
    hr = program_folder_writer(descriptor, rights, os_is_wine(), &who);
    LocalFree(descriptor);
    if (hr == S_OK)
        hr = error_set(E_ACCESSDENIED,
                       "unsafe program folder '%s': %s can change it and so run code as the service (give the folder "
                       "to the system and administrators only, or register with /noservice)",
                       path, who);
    memory_free(who);
    return FAILED(hr) ? hr : S_OK;
}

/* Checks the folder, and the programs and libraries in it. */
static HRESULT check_contents(const char *folder)
{
    struct texts files = {0};
    HRESULT hr = check_one(folder, PROGRAM_FOLDER_RIGHTS);
    if (SUCCEEDED(hr))
        hr = folder_list(folder, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        const char *extension = path_extension(files.items[i]);
        if (!text_equal_nocase(extension, ".exe") && !text_equal_nocase(extension, ".dll"))
            continue;
        char *path = path_join(folder, files.items[i]);
        hr = path ? check_one(path, PROGRAM_FOLDER_RIGHTS) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&files);
    return hr;
}

static HRESULT check_parents(const char *folder, bool there)
{
    HRESULT hr = S_OK;
    char *at = path_folder(folder);
    while (SUCCEEDED(hr) && at && *at) {
        if (folder_exists(at)) {
            hr = check_one(at, there ? PROGRAM_PARENT_RIGHTS : PROGRAM_FOLDER_RIGHTS);
            there = true;
        }
        char *above = path_folder(at);
        bool root = above && !strcmp(above, at);
        memory_free(at);
        at = above;
        if (root)
            break;
    }
    hr = at ? hr : E_OUTOFMEMORY;
    memory_free(at);
    return hr;
}

HRESULT program_folder_check(const char *folder)
{
    char *narrow = path_join(folder, OPENPLA_FOLDER_32);
    bool there = folder_exists(folder);
    HRESULT hr = narrow ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && there)
        hr = check_contents(folder);
    if (SUCCEEDED(hr) && there && folder_exists(narrow))
        hr = check_contents(narrow);
    if (SUCCEEDED(hr) && !os_is_wine())
        hr = check_parents(folder, there);
    memory_free(narrow);
    return hr;
}
