/* SPDX-License-Identifier: MIT */
/* The account of a token. */
#ifndef OPENPLA_ACCOUNT_H
#define OPENPLA_ACCOUNT_H

#include <stdbool.h>
#include <windows.h>

struct account_name {
    WCHAR domain[256];
    WCHAR user[257]; /* with no domain: the text of a SID that has no name */
};
/* False when it cannot be told. The token must be open for TOKEN_QUERY. */
bool win32_account(HANDLE token, struct account_name *out);
/* DOMAIN\user. From memory_alloc, NULL when out of memory. */
char *win32_account_text(const struct account_name *name);

#endif
