/* SPDX-License-Identifier: MIT */
/* Refusals by the gate. */
#include "engine/pla/refusal.h"

#include "engine/base/clock.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/gate.h"
#include "engine/pla/run/run_journal.h"

enum { WINDOW_MS = 60000 };

static struct {
    struct host_lock lock;
    uint64_t began; /* clock_monotonic_ms; 0: never */
    unsigned told;
    uint64_t untold;
} refusals = {.lock = HOST_LOCK_INIT};

/* *untold: of those before. */
static bool may_tell(uint64_t *untold)
{
    const uint64_t now = clock_monotonic_ms();
    host_lock_enter(&refusals.lock);
    if (!refusals.began || clock_passed_ms(refusals.began, now) >= WINDOW_MS) {
        refusals.began = now ? now : 1;
        refusals.told = 0;
    }
    const bool tell = refusals.told < REFUSALS_TOLD;
    *untold = tell ? refusals.untold : 0;
    refusals.told += tell;
    refusals.untold = tell ? 0 : refusals.untold + 1;
    host_lock_leave(&refusals.lock);
    return tell;
}

HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name)
{
    uint64_t untold;
    if (hr != GATE_REFUSED)
        return hr;
    const struct error_kept why = error_keep(hr);
    if (may_tell(&untold)) {
        char *account = caller_account(caller);
        journal_write(JOURNAL_REFUSED,
                      &(struct journal_facts){
                          .space = space, .name = name, .user = account, .reason = why.text, .count = untold});
        memory_free(account);
    }
    return error_set(E_ACCESSDENIED, "%s", why.text);
}
