/* SPDX-License-Identifier: MIT */
/* One entry for each client that has anything now. */
#include "com/server/client_use.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/quotas.h"

#include <windows.h>

struct client_use {
    struct client_use *next;
    DWORD id;       /* of the process; 0: of another machine */
    uint64_t whose; /* hash of the account then */
    HANDLE process; /* keeps the id from being used again; NULL where we may not look at it */
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

/* Under the lock. */
static struct client_use *find(DWORD id, uint64_t whose)
{
    struct client_use *use = *list_of(id, whose);
    while (use && (use->id != id || use->whose != whose))
        use = use->next;
    return use;
}

/* Who has nothing any more is forgotten. Under the lock. */
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

/* Memory can go after the last object: a collector that was added to another client's set. Under the lock. */
static void forget_all_idle(void)
{
    for (size_t i = 0; i < LISTS; i++)
        for (struct client_use *use = lists[i], *next; use; use = next) {
            next = use->next;
            forget_idle(use);
        }
}

static HRESULT begin(DWORD id, uint64_t whose, struct client_use **out)
{
    struct client_use *use = find(id, whose);
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
    HRESULT hr = begin(caller->process, whose, out);
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

size_t client_use_count(void)
{
    size_t count = 0;
    AcquireSRWLockShared(&lock);
    for (size_t i = 0; i < LISTS; i++)
        for (const struct client_use *use = lists[i]; use; use = use->next)
            count++;
    ReleaseSRWLockShared(&lock);
    return count;
}
