/* SPDX-License-Identifier: MIT */
/* Checks a token against a descriptor with AccessCheck. The descriptor is built from OpenPLA's own parse of the text,
   because Wine knows fewer aliases and reads NO_ACCESS_CONTROL as an empty list. AccessCheck is called with the
   requested rights. If it were called with MAXIMUM_ALLOWED, Wine would let a later deny entry remove rights that were
   already granted. */
#include "engine/base/base_private.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <windows.h>
#include <sddl.h>
#include <wchar.h>

struct access_subject {
    bool in_process;
    const struct account_sids *account; /* the account that is checked instead of a token; NULL: the token is checked */
    HANDLE token;                       /* an impersonation token */
};

static HRESULT for_impersonation(HANDLE token, HANDLE *out)
{
    TOKEN_TYPE type;
    DWORD size;
    *out = token;
    if (!GetTokenInformation(token, TokenType, &type, sizeof type, &size))
        return win32_failed(GetLastError(), "the caller's token");
    if (type == TokenImpersonation)
        return S_OK;
    if (!DuplicateToken(token, SecurityIdentification, out)) {
        *out = token;
        return win32_failed(GetLastError(), "the caller's token");
    }
    CloseHandle(token);
    return S_OK;
}

/* Returns the token of the running call, or of the caller's process, opened for `access`; NULL: unknown. */
static HANDLE win32_caller_token(const struct caller *caller, DWORD access)
{
    HANDLE token = NULL;
    if (caller->in_process)
        return OpenProcessToken(GetCurrentProcess(), access, &token) ? token : NULL;
    if (caller->token)
        return SUCCEEDED(caller->token(&token)) ? token : NULL;
    HANDLE process = caller->process ? OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, caller->process) : NULL;
    if (process && !OpenProcessToken(process, access, &token))
        token = NULL;
    if (process)
        CloseHandle(process);
    return token;
}

HRESULT access_open(const struct caller *caller, struct access_subject **out)
{
    struct access_subject *s = memory_zero(1, sizeof *s);
    HRESULT hr = S_OK;
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->in_process = caller->in_process;
    s->account = caller->account;
    if (!s->in_process && !s->account) {
        s->token = win32_caller_token(caller, TOKEN_QUERY | TOKEN_DUPLICATE);
        hr = s->token ? for_impersonation(s->token, &s->token) : E_ACCESSDENIED;
        if (FAILED(hr)) {
            access_close(s);
            return error_set(E_ACCESSDENIED, "the account of the caller cannot be determined");
        }
    }
    *out = s;
    return S_OK;
}

void access_close(struct access_subject *subject)
{
    if (!subject)
        return;
    if (subject->token)
        CloseHandle(subject->token);
    memory_free(subject);
}

/* ---- the descriptor ---- */

struct sid_room {
    SID sid;
    DWORD more[SID_MAX_SUB_AUTHORITIES];
};

/* False: this computer does not know the alias. */
static bool to_sid(const struct sid *from, struct sid_room *out)
{
    SID *sid = &out->sid;
    if (*from->alias) {
        const WCHAR alias[3] = {(WCHAR)from->alias[0], (WCHAR)from->alias[1], 0};
        PSID found;
        if (!ConvertStringSidToSidW(alias, &found))
            return false;
        const bool copied = CopySid(sizeof *out, sid, found);
        LocalFree(found);
        return copied;
    }
    sid->Revision = SID_REVISION;
    sid->SubAuthorityCount = from->count;
    for (int i = 0; i < 6; i++)
        sid->IdentifierAuthority.Value[i] = (BYTE)(from->authority >> (40 - 8 * i));
    DWORD *parts = sid->SubAuthority;
    for (unsigned i = 0; i < from->count; i++)
        parts[i] = from->parts[i];
    return true;
}

enum acl_result { ACL_MADE, ACL_CLOSED, ACL_FAILED };

static enum acl_result acl_fill(ACL *acl, const struct sddl *d, const struct access_rights *kind)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct sddl_entry *e = &d->entries[i];
        struct sid_room sid;
        if (!to_sid(&e->account, &sid)) {
            if (e->denies)
                return ACL_CLOSED;
            continue;
        }
        if (e->blind && !e->denies)
            continue;
        const DWORD rights = access_map(e->rights, kind);
        if (!(e->denies ? AddAccessDeniedAceEx(acl, ACL_REVISION, 0, rights, &sid.sid)
                        : AddAccessAllowedAceEx(acl, ACL_REVISION, 0, rights, &sid.sid)))
            return ACL_FAILED;
    }
    return ACL_MADE;
}

static HRESULT acl_check(HANDLE token, const struct sddl *d, const ACL *acl, const struct access_rights *kind,
                         uint32_t rights, bool *allowed)
{
    static const struct sid system_account = {.count = 1, .authority = 5, .parts = {18}};
    SECURITY_DESCRIPTOR made;
    struct sid_room owner, group;
    /* AccessCheck needs an owner and a group; an object without them is treated as the system's. */
    if (!d->has_owner || !to_sid(&d->owner, &owner))
        to_sid(&system_account, &owner);
    if (!d->has_group || !to_sid(&d->group, &group))
        to_sid(&system_account, &group);
    if (!InitializeSecurityDescriptor(&made, SECURITY_DESCRIPTOR_REVISION) ||
        !SetSecurityDescriptorOwner(&made, &owner.sid, FALSE) ||
        !SetSecurityDescriptorGroup(&made, &group.sid, FALSE) ||
        !SetSecurityDescriptorDacl(&made, TRUE, (ACL *)acl, FALSE))
        return win32_failed(GetLastError(), "security descriptor");
    const GENERIC_MAPPING mapping = {kind->read, kind->write, kind->execute, kind->all};
    return win32_access_check(&made, token, rights, &mapping, allowed);
}

HRESULT win32_access_check(PSECURITY_DESCRIPTOR descriptor, HANDLE token, DWORD rights, const GENERIC_MAPPING *mapping,
                           bool *allowed)
{
    union {
        PRIVILEGE_SET set;
        BYTE room[1024];
    } privileges;
    GENERIC_MAPPING own = *mapping;
    DWORD size = sizeof privileges, given = 0;
    BOOL may = FALSE;
    *allowed = false;
    if (!AccessCheck(descriptor, token, rights, &own, &privileges.set, &size, &given, &may))
        return win32_failed(GetLastError(), "AccessCheck");
    *allowed = may;
    return S_OK;
}

HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed)
{
    struct sddl d;
    const char *why;
    *allowed = subject->in_process;
    if (*allowed)
        return S_OK;
    if (subject->account)
        return account_allows(subject->account, descriptor, kind, rights, allowed);
    HRESULT hr = sddl_read(descriptor, &d, &why);
    const size_t bytes = sizeof(ACL) + d.count * (sizeof(ACCESS_ALLOWED_ACE) + sizeof(struct sid_room));
    ACL *acl = SUCCEEDED(hr) ? memory_zero(1, bytes) : NULL;
    if (SUCCEEDED(hr) && !acl)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        /* InitializeAcl rejects a size that exceeds the maximum size of an access list. */
        const enum acl_result made =
            bytes <= MAXWORD && InitializeAcl(acl, (DWORD)bytes, ACL_REVISION) ? acl_fill(acl, &d, kind) : ACL_FAILED;
        if (made == ACL_MADE)
            hr = acl_check(subject->token, &d, acl, kind, rights, allowed);
        else if (made == ACL_FAILED)
            hr = win32_failed(ERROR_INVALID_ACL, "security descriptor");
    }
    memory_free(acl);
    sddl_free(&d);
    return hr == E_INVALIDARG ? S_OK : hr;
}

HRESULT win32_descriptor(const char *sddl, PSECURITY_DESCRIPTOR *out)
{
    WCHAR *text;
    HRESULT hr = text_to_utf16(sddl, &text, NULL);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, out, NULL))
        hr = error_set(E_INVALIDARG, "invalid Sddl '%.200s': the system rejects it", sddl);
    memory_free(text);
    return hr;
}

HRESULT win32_security(const char *sddl, SECURITY_ATTRIBUTES *out)
{
    BOOL present = FALSE, defaulted;
    ACL *dacl = NULL;
    *out = (SECURITY_ATTRIBUTES){.nLength = sizeof(*out)};
    if (!sddl)
        return S_OK;
    HRESULT hr = win32_descriptor(sddl, &out->lpSecurityDescriptor);
    if (FAILED(hr))
        return hr;
    if (GetSecurityDescriptorDacl(out->lpSecurityDescriptor, &present, &dacl, &defaulted) && present && dacl)
        return S_OK;
    LocalFree(out->lpSecurityDescriptor);
    out->lpSecurityDescriptor = NULL;
    return error_set(E_INVALIDARG, "invalid Sddl '%.200s': no DACL", sddl);
}

/* ---- callers: the account for which a call acts, from its token ---- */

const struct caller caller_self = {.in_process = true};

bool win32_account(HANDLE token, struct account_name *out)
{
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    DWORD length, user_room = ARRAYSIZE(out->user), domain_room = ARRAYSIZE(out->domain);
    SID_NAME_USE use;
    WCHAR *sid;

    if (!GetTokenInformation(token, TokenUser, &owner, sizeof(owner), &length))
        return false;
    if (LookupAccountSidW(NULL, owner.user.User.Sid, out->user, &user_room, out->domain, &domain_room, &use))
        return true;
    if (GetLastError() != ERROR_NONE_MAPPED || !ConvertSidToStringSidW(owner.user.User.Sid, &sid))
        return false;
    out->domain[0] = 0;
    wcscpy(out->user, sid); /* at most 184 characters */
    LocalFree(sid);
    return true;
}

char *win32_account_text(const struct account_name *name)
{
    char *user = NULL, *domain = NULL, *text = NULL;
    if (SUCCEEDED(text_from_utf16(name->user, wcslen(name->user), true, &user)) &&
        SUCCEEDED(text_from_utf16(name->domain, wcslen(name->domain), true, &domain)))
        text = text_format("%s%s%s", domain, *domain ? "\\" : "", user);
    memory_free(user);
    memory_free(domain);
    return text;
}

char *caller_account(const struct caller *caller)
{
    struct account_name name;
    if (caller->in_process)
        return os_user_name();
    if (caller->account)
        return text_copy(caller->account->name);
    HANDLE token = win32_caller_token(caller, TOKEN_QUERY);
    bool known = token && win32_account(token, &name);
    if (token)
        CloseHandle(token);
    return known ? win32_account_text(&name) : text_copy("");
}

char *caller_sid(const struct caller *caller)
{
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    DWORD length;
    WCHAR *sid;
    char *text = NULL;
    if (!caller->in_process && caller->account)
        return text_copy(caller->account->user);
    HANDLE token = win32_caller_token(caller, TOKEN_QUERY);
    const bool known = token && GetTokenInformation(token, TokenUser, &owner, sizeof(owner), &length) &&
                       ConvertSidToStringSidW(owner.user.User.Sid, &sid);
    if (token)
        CloseHandle(token);
    if (!known)
        return text_copy("");
    if (FAILED(text_from_utf16(sid, wcslen(sid), true, &text)))
        text = NULL;
    LocalFree(sid);
    return text;
}
