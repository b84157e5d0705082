/* SPDX-License-Identifier: MIT */
/* The account that a call acts for, from its token. */
#include "engine/base/caller.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/win32/account.h"

#include <windows.h>
#include <sddl.h>
#include <wchar.h>

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

HANDLE win32_caller_token(const struct caller *caller, DWORD access)
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

char *caller_account(const struct caller *caller)
{
    struct account_name name;
    if (caller->in_process)
        return host_user_name();
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
