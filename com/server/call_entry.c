/* SPDX-License-Identifier: MIT */
/* Identifies and limits the callers of the server. */
#include "com/server/call_entry.h"

#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/quotas.h"
#include "engine/base/text.h"

#include <objbase.h>
#include <windows.h>
#include <rpc.h>

/* Returns the token that the call impersonates. This token can differ from the token of the client's process, and can
   be converted to a process token. */
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

static _Thread_local const struct account_sids *served_account; /* account of the remote client whose calls this thread
                                                                   performs; NULL: none */

void call_serve_account(const struct account_sids *account)
{
    served_account = account;
}

struct caller com_caller(void)
{
    if (served_account)
        return (struct caller){.account = served_account};
    ULONG id = 0; /* a NULL binding means the call that this thread is serving */
    RPC_STATUS status = I_RpcBindingInqLocalClientPID(NULL, &id);
    if (status == RPC_S_NO_CALL_ACTIVE || (status == RPC_S_OK && id == GetCurrentProcessId()))
        return caller_self;
    /* For a call, Wine would return the server's own token (DECISIONS 22). Therefore, under Wine, `token` is NULL, and
       the token of the caller's process is used. */
    return (struct caller){.process = status == RPC_S_OK ? id : 0, .token = os_is_wine() ? NULL : client_token};
}

/* One entry for each client that has running calls, objects or memory. An entry is removed when its client has none of
   these (client_use_end, client_use_drop). Memory may be released after the last object, for example if a collector was
   added to another client's set. In this case the entry is removed when the next new client connects. */

struct client_use {
    struct client_use *next;
    DWORD id;       /* id of the process; 0: a client on another machine */
    uint64_t whose; /* if `id` is 0, the hash of the account; otherwise 0 */
    HANDLE process; /* keeps the id from being reused; NULL if it cannot be opened */
    uint32_t requests, objects;
    struct memory_share *share;
};

#define LISTS 64 /* by id */
static struct client_use *lists[LISTS];
static SRWLOCK lock = SRWLOCK_INIT;

static struct client_use **list_of(DWORD id, uint64_t whose)
{
    return &lists[(id / 4 + whose) % LISTS]; /* ids of processes are multiples of 4 */
}

/* The caller must hold the lock. */
static struct client_use *client_use_find(DWORD id, uint64_t whose)
{
    struct client_use *use = *list_of(id, whose);
    while (use && (use->id != id || use->whose != whose))
        use = use->next;
    return use;
}

/* Removes the entry if its client has no calls, objects or memory. The caller must hold the lock. */
static void forget_idle(struct client_use *use)
{
    if (use->requests || use->objects || memory_share_bytes(use->share))
        return;
    struct client_use **at = list_of(use->id, use->whose);
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    if (use->process)
        CloseHandle(use->process);
    memory_share_release(use->share);
    memory_free(use);
}

/* The caller must hold the lock. */
static void forget_all_idle(void)
{
    for (size_t i = 0; i < LISTS; i++)
        for (struct client_use *use = lists[i], *next; use; use = next) {
            next = use->next;
            forget_idle(use);
        }
}

static HRESULT client_use_begin_locked(DWORD id, uint64_t whose, struct client_use **out)
{
    struct client_use *use = client_use_find(id, whose);
    if (!use) {
        forget_all_idle();
        use = memory_zero(1, sizeof *use);
        if (use)
            use->share = memory_share_create();
        if (!use || !use->share) {
            memory_free(use);
            return E_OUTOFMEMORY;
        }
        use->id = id;
        use->whose = whose;
        use->process = id ? OpenProcess(SYNCHRONIZE, FALSE, id) : NULL;
        use->next = *list_of(id, whose);
        *list_of(id, whose) = use;
    }
    if (use->requests >= quota_limit(QUOTA_requests))
        return quota_exceeded(QUOTA_requests, "");
    use->requests++;
    *out = use;
    return S_OK;
}

HRESULT client_use_begin(const struct caller *caller, struct client_use **out)
{
    uint64_t whose = 0;
    *out = NULL;
    if (!caller->process) {
        char *account = caller_account(caller);
        if (!account)
            return E_OUTOFMEMORY;
        whose = hash_text(HASH_START, account);
        memory_free(account);
    }
    AcquireSRWLockExclusive(&lock);
    HRESULT hr = client_use_begin_locked(caller->process, whose, out);
    ReleaseSRWLockExclusive(&lock);
    return hr;
}

void client_use_end(struct client_use *use)
{
    AcquireSRWLockExclusive(&lock);
    use->requests--;
    forget_idle(use);
    ReleaseSRWLockExclusive(&lock);
}

HRESULT client_use_take(struct client_use *use)
{
    if (!use)
        return S_OK;
    AcquireSRWLockExclusive(&lock);
    bool full = use->objects >= quota_limit(QUOTA_objects);
    use->objects += !full;
    ReleaseSRWLockExclusive(&lock);
    return full ? quota_exceeded(QUOTA_objects, "") : S_OK;
}

void client_use_drop(struct client_use *use)
{
    if (!use)
        return;
    AcquireSRWLockExclusive(&lock);
    use->objects--;
    forget_idle(use);
    ReleaseSRWLockExclusive(&lock);
}

struct memory_share *client_use_share(struct client_use *use)
{
    return use ? use->share : NULL;
}

static volatile LONG guarded;
/* The call that this thread serves. */
static _Thread_local struct {
    const struct call_entry *call; /* never dereferenced: only the address is compared */
    struct client_use *client;
} served;

HRESULT call_check_level(query_client_blanket *query, bool wine)
{
    DWORD level = RPC_C_AUTHN_LEVEL_DEFAULT;
    HRESULT hr = query(NULL, NULL, NULL, &level, NULL, NULL, NULL);
    if (FAILED(hr))
        return wine && hr == RPC_E_CALL_COMPLETE
                   ? S_OK
                   : error_set(E_ACCESSDENIED, "cannot query the authentication level of the call: %s",
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
    /* A call that was ended by an exception has not called call_leave. The stack grows down, so an outer call is at a
       higher address. */
    if (served.call && (uintptr_t)served.call <= (uintptr_t)call)
        end_served();
    if (served.call)
        return S_OK;
    const struct caller caller = com_caller();
    TRACE_STEP(com, "call from process %u", (unsigned)caller.process);
    if (caller.in_process)
        return S_OK;
    HRESULT hr = caller.account ? S_OK : call_check_level(CoQueryClientBlanket, os_is_wine());
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
