/* SPDX-License-Identifier: MIT */
/* Any text as the stored accounts for other computers, as an account's name, and as a computer with its port. */
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/rpc/auth/remote_accounts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct remote_accounts table = {0};
    struct remote_account account;
    uint64_t number = 0;
    char *host, *port;
    char *text = text_copy_n((const char *)data, size), *other = text_copy_n((const char *)data, size);
    if (!text || !other)
        abort();
    if (SUCCEEDED(host_split(text, &host, &port)) && (!host || strlen(host) > size || (port && !*port)))
        abort();
    memory_free(host);
    memory_free(port);
    if (SUCCEEDED(remote_account_make(text, "x", &account)) && !*account.user)
        abort();
    remote_account_free(&account);
    const HRESULT hr = remote_accounts_read(other, &number, &table);
    if (FAILED(hr) && table.count)
        abort();
    for (size_t i = 0; i < table.count; i++)
        if (!*table.rows[i].host || !*table.rows[i].account.user)
            abort();
    remote_accounts_free(&table);
    memory_free(text);
    memory_free(other);
    return 0;
}
