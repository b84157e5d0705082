/* SPDX-License-Identifier: MIT */
/* Enables the verbs of this program to read counters of remote computers. PDH reads these counters. In native builds,
   PDH is linked into the program. Under Wine, PDH is openpdh.dll; this DLL has its own list of accounts, and exports a
   function that adds an account. */
#include "cli/counters/remote_counters.h"

#include "cli/cli.h"
#include "engine/base/memory.h"
#include "engine/pdh/counter_query.h"
#include "engine/rpc/remote_account.h"

#ifdef _WIN32
#include <windows.h>

/* exported by engine/pdh/dll/consumer_api.c */
typedef HRESULT(WINAPI give_account)(const char *host, const char *name, const char *password);

static HRESULT account_give(const char *host, const char *name, const char *password)
{
    const struct pdh_api *pdh;
    HRESULT hr = host_pdh(&pdh); /* loads the PDH */
    const HMODULE module = SUCCEEDED(hr) ? GetModuleHandleW(L"openpdh.dll") : NULL;
    give_account *give = module ? (give_account *)(void *)GetProcAddress(module, "PdhGiveRemoteAccount") : NULL;
    if (FAILED(hr))
        return hr;
    return give ? give(host, name, password)
                : error_set(E_NOTIMPL,
                            "-u: not supported on Windows, where PDH logs on to other computers as the calling user");
}

void remote_counters_begin(void)
{
}
#else
#include "engine/pdh/remote_counters.h"

static HRESULT account_give(const char *host, const char *name, const char *password)
{
    return remote_account_give_password(host, name, password);
}

void remote_counters_begin(void)
{
    remote_counters_by_tcp();
}
#endif

HRESULT remote_counters_log_on(const char *machine, const char *account)
{
    char *password;
    HRESULT hr = cli_ask_password(account, &password);
    if (SUCCEEDED(hr))
        hr = account_give(machine ? machine : REMOTE_ACCOUNT_ANY_HOST, account, password);
    memory_free_secret(password);
    return hr;
}
