/* SPDX-License-Identifier: MIT */
/* Who calls, how, and how often at a time. */
#include "com/server/call_entry.h"

#include "com/server/caller.h"
#include "engine/base/host.h"
#include "engine/base/text.h"

static volatile LONG guarded;
/* What this thread serves. */
static _Thread_local struct {
    const struct call_entry *call; /* its place on the stack alone counts */
    struct client_use *client;
} served;

HRESULT call_check_level(query_client_blanket *query, bool wine)
{
    DWORD level = RPC_C_AUTHN_LEVEL_DEFAULT;
    HRESULT hr = query(NULL, NULL, NULL, &level, NULL, NULL, NULL);
    if (FAILED(hr))
        return wine && hr == RPC_E_CALL_COMPLETE
                   ? S_OK
                   : error_set(E_ACCESSDENIED, "the authentication level of the call cannot be told: %s",
                               error_standard_text(hr));
    return level >= RPC_C_AUTHN_LEVEL_PKT_PRIVACY
               ? S_OK
               : error_set(E_ACCESSDENIED, "the call has the authentication level %u; packet privacy (%u) is required",
                           (unsigned)level, (unsigned)RPC_C_AUTHN_LEVEL_PKT_PRIVACY);
}

void call_entry_guard(void)
{
    InterlockedExchange(&guarded, 1);
}

static void end_served(void)
{
    if (served.client)
        client_use_end(served.client);
    served.client = NULL;
    served.call = NULL;
    memory_share_serve(NULL);
}

HRESULT call_enter(struct call_entry *call)
{
    struct client_use *client = NULL;
    *call = (struct call_entry){0};
    if (!InterlockedCompareExchange(&guarded, 0, 0))
        return S_OK;
    /* One that an exception ended has not left: what runs around us lies above us on the stack. */
    if (served.call && (uintptr_t)served.call <= (uintptr_t)call)
        end_served();
    if (served.call)
        return S_OK;
    const struct caller caller = com_caller();
    if (caller.in_process)
        return S_OK;
    HRESULT hr = call_check_level(CoQueryClientBlanket, host_is_wine());
    if (SUCCEEDED(hr))
        hr = client_use_begin(&caller, &client);
    if (FAILED(hr))
        return hr;
    call->counted = true;
    served.call = call;
    served.client = client;
    memory_share_serve(client_use_share(client));
    return S_OK;
}

void call_leave(struct call_entry *call)
{
    if (call->counted)
        end_served();
}

struct client_use *call_client(void)
{
    return served.client;
}
