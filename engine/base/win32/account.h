/* SPDX-License-Identifier: MIT */
/* The account of a token. */
#ifndef OPENPLA_ACCOUNT_H
#define OPENPLA_ACCOUNT_H

#include "engine/base/caller.h"

#include <windows.h>

struct account_name {
    WCHAR domain[256];
    WCHAR user[257]; /* with no domain: the text of a SID that has no name */
};
/* False when it cannot be told. The token must be open for TOKEN_QUERY. */
bool win32_account(HANDLE token, struct account_name *out);
/* DOMAIN\user. From memory_alloc, NULL when out of memory. */
char *win32_account_text(const struct account_name *name);
/* The token of the call that runs, or of the caller's process, opened for `access`; NULL: it cannot be told. */
HANDLE win32_caller_token(const struct caller *caller, DWORD access);

#endif
