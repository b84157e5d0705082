/* SPDX-License-Identifier: MIT */
/* The security of the server process: who may call it, and what it lets those do that it calls. */
#include "com/server/server_security.h"

#include "engine/base/error.h"

#include <stdio.h>
#include <aclapi.h>
#include <sddl.h>

static HRESULT last_error(const char *doing)
{
    HRESULT hr = HRESULT_FROM_WIN32(GetLastError());
    return error_set(FAILED(hr) ? hr : E_FAIL, "%s: %s", doing, error_standard_text(hr));
}

/* Who may call at all: the system, administrators, Performance Log Users (MS-PLA 1.5 note 1), LocalService, and the
   account of this process; from another machine administrators and Performance Log Users alone. 3 is COM_RIGHTS_EXECUTE
   with _EXECUTE_LOCAL, 7 with _EXECUTE_REMOTE too. From LocalAlloc. */
static HRESULT callers(PSECURITY_DESCRIPTOR *out)
{
    union {
        TOKEN_USER user;
        BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } user;
    WCHAR text[512], *own = NULL;
    DWORD size;
    HANDLE token = NULL;
    BOOL ok = OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token);

    if (!ok)
        return last_error("token of the server");
    ok = GetTokenInformation(token, TokenUser, &user, sizeof(user), &size) &&
         ConvertSidToStringSidW(user.user.User.Sid, &own);
    CloseHandle(token);
    if (!ok)
        return last_error("account of the server");
    _snwprintf(text, ARRAYSIZE(text),
               L"O:BAG:BAD:(A;;0x3;;;SY)(A;;0x7;;;BA)(A;;0x7;;;S-1-5-32-559)(A;;0x3;;;LS)(A;;0x3;;;%ls)", own);
    LocalFree(own);
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, out, NULL))
        return last_error("security descriptor of the server");
    return S_OK;
}

HRESULT server_secure(initialize_security *initialize)
{
    SECURITY_DESCRIPTOR absolute;
    PSECURITY_DESCRIPTOR relative = NULL;
    PSID owner, group;
    PACL acl;
    BOOL present, defaulted;
    HRESULT hr = callers(&relative);
    if (FAILED(hr))
        return hr;
    if (!InitializeSecurityDescriptor(&absolute, SECURITY_DESCRIPTOR_REVISION) ||
        !GetSecurityDescriptorOwner(relative, &owner, &defaulted) ||
        !SetSecurityDescriptorOwner(&absolute, owner, FALSE) ||
        !GetSecurityDescriptorGroup(relative, &group, &defaulted) ||
        !SetSecurityDescriptorGroup(&absolute, group, FALSE) ||
        !GetSecurityDescriptorDacl(relative, &present, &acl, &defaulted) ||
        !SetSecurityDescriptorDacl(&absolute, present, acl, FALSE)) {
        hr = last_error("security descriptor of the server");
    } else {
        hr = initialize(&absolute, -1, NULL, NULL, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, NULL,
                        EOAC_NO_CUSTOM_MARSHAL | EOAC_DISABLE_AAA, NULL);
        if (FAILED(hr))
            hr = error_set(hr, "security of the server: %s", error_standard_text(hr));
    }
    LocalFree(relative);
    return hr;
}
