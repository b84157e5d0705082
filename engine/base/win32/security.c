/* SPDX-License-Identifier: MIT */
/* Security descriptors from their texts. */
#include "engine/base/win32/security.h"

#include "engine/base/memory.h"

#include <sddl.h>

HRESULT win32_descriptor(const char *sddl, PSECURITY_DESCRIPTOR *out)
{
    WCHAR *text;
    HRESULT hr = text_to_utf16(sddl, &text, NULL);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, out, NULL))
        hr = error_set(E_INVALIDARG, "Sddl: '%.200s' is no security descriptor", sddl);
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
    return error_set(E_INVALIDARG, "Sddl: '%.200s' has no DACL", sddl);
}
