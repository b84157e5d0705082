/* SPDX-License-Identifier: MIT */
/* Private header of remote_account.c, also used by tests: the table of accounts and its stored text. */
#ifndef OPENPLA_RPC_REMOTE_ACCOUNTS_H
#define OPENPLA_RPC_REMOTE_ACCOUNTS_H

#include "engine/rpc/remote_account.h"

enum { REMOTE_HOST_MOST = 255 };
struct remote_accounts_row {
    char host[REMOTE_HOST_MOST + 1];
    struct remote_account account;
};
/* Zero-initialise. */
struct remote_accounts {
    struct remote_accounts_row *rows;
    size_t count, capacity;
};
void remote_accounts_free(struct remote_accounts *t);
/* Parses the stored text, and changes the text while parsing. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the
   text is corrupt; *out is then empty. */
HRESULT remote_accounts_read(char *text, uint64_t *number, struct remote_accounts *out);

#endif
