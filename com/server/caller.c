/* SPDX-License-Identifier: MIT */
/* Who calls the method that this thread is in. */
#include "com/server/caller.h"

#include "engine/base/host.h"

#include <objbase.h>
#include <windows.h>
#include <rpc.h>

/* What the call acts for, which need not be the account of the client's process; to be made a process's token too. */
static HRESULT client_token(void **out)
{
    HRESULT hr = CoImpersonateClient();
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (!OpenThreadToken(GetCurrentThread(), TOKEN_QUERY | TOKEN_DUPLICATE, TRUE, out))
        hr = HRESULT_FROM_WIN32(GetLastError());
    CoRevertToSelf();
    return hr;
}

struct caller com_caller(void)
{
    ULONG id = 0; /* a NULL binding is that of the call which this thread serves */
    RPC_STATUS status = I_RpcBindingInqLocalClientPID(NULL, &id);
    if (status == RPC_S_NO_CALL_ACTIVE || (status == RPC_S_OK && id == GetCurrentProcessId()))
        return caller_self;
    /* Wine would give the server's own token (DECISIONS 22): there the process's is asked for. */
    return (struct caller){.process = status == RPC_S_OK ? id : 0, .token = host_is_wine() ? NULL : client_token};
}
