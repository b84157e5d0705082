/* SPDX-License-Identifier: MIT */
/* Security descriptors from their texts. */
#ifndef OPENPLA_SECURITY_H
#define OPENPLA_SECURITY_H

#include "engine/base/text.h"

#include <windows.h>

/* E_INVALIDARG, naming the text, for what is no SDDL. *out from LocalAlloc. */
HRESULT win32_descriptor(const char *sddl, PSECURITY_DESCRIPTOR *out);
/* What something is made with. E_INVALIDARG also for a descriptor without a DACL, which would let everybody do
   everything. sddl NULL: without a descriptor, so that it has the creator's default. The descriptor is for LocalFree.
 */
HRESULT win32_security(const char *sddl, SECURITY_ATTRIBUTES *out);
/* Whether the descriptor gives the token, which is one for impersonation, all of the rights. */
HRESULT win32_access_check(PSECURITY_DESCRIPTOR descriptor, HANDLE token, DWORD rights, const GENERIC_MAPPING *mapping,
                           bool *allowed);

#endif
