/* SPDX-License-Identifier: MIT */
/* A thread that works for a source, and what is between the two. */
#include "engine/pla/collect/configuration_wait.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"

/* Who waits looks that often whether somebody has stopped it. */
#define LOOK_MS 50

struct patient {
    const struct patient_kind *kind;
    void *user;
    struct host_lock lock; /* of all below */
    struct thread_condition changed;
    void *thing;           /* given, and not taken yet */
    bool ended, let_go;    /* the one or the other has gone */
    struct error_kept why; /* its result, when it has ended */
};

/* For who goes last. */
static void patient_free(struct patient *p)
{
    if (p->thing)
        p->kind->free_thing(p->thing);
    p->kind->free_user(p->user);
    memory_free(p);
}

static void work(void *user)
{
    struct patient *p = user;
    HRESULT hr = p->kind->run(p->user, p);
    host_lock_enter(&p->lock);
    p->why = error_keep(hr);
    p->ended = true;
    const bool last = p->let_go;
    thread_condition_wake(&p->changed);
    host_lock_leave(&p->lock);
    if (last)
        patient_free(p);
}

HRESULT patient_start(const struct patient_kind *kind, void *user, struct patient **out)
{
    struct patient *p = memory_zero(1, sizeof *p);
    struct thread *thread;
    *out = NULL;
    if (!p) {
        kind->free_user(user);
        return E_OUTOFMEMORY;
    }
    p->kind = kind;
    p->user = user;
    HRESULT hr = thread_start(work, p, &thread);
    if (FAILED(hr)) {
        patient_free(p);
        return hr;
    }
    thread_close(thread);
    *out = p;
    return S_OK;
}

HRESULT patient_give(struct patient *p, void *thing)
{
    host_lock_enter(&p->lock);
    p->thing = thing;
    thread_condition_wake(&p->changed);
    while (p->thing && !p->let_go)
        thread_condition_wait(&p->changed, &p->lock, UINT32_MAX);
    const bool taken = !p->thing && !p->let_go;
    host_lock_leave(&p->lock);
    return taken ? S_OK : E_ABORT;
}

HRESULT patient_take(struct patient *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out)
{
    const uint64_t since = clock_monotonic_ms();
    uint64_t passed = 0;
    bool stopped = false;
    HRESULT hr = S_FALSE;
    host_lock_enter(&p->lock);
    while (!(stopped = atomic_load(stop)) && !p->thing && !p->ended &&
           (passed = clock_passed_ms(since, clock_monotonic_ms())) < limit_ms)
        thread_condition_wait(&p->changed, &p->lock, LOOK_MS);
    *out = stopped ? NULL : p->thing;
    if (*out) {
        p->thing = NULL;
        thread_condition_wake(&p->changed);
        hr = S_OK;
    } else if (!stopped) {
        hr = p->ended
                 ? error_restore(&p->why)
                 : error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "%.600s: nothing has come for %u s, and it was left",
                             what, (unsigned)(limit_ms / 1000));
    }
    host_lock_leave(&p->lock);
    return hr == S_OK && !*out ? S_FALSE : hr;
}

void patient_let_go(struct patient *p)
{
    host_lock_enter(&p->lock);
    p->let_go = true;
    const bool last = p->ended;
    thread_condition_wake(&p->changed);
    host_lock_leave(&p->lock);
    if (last)
        patient_free(p);
}
