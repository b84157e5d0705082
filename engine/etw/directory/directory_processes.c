/* SPDX-License-Identifier: MIT */
/* Slots of processes: who has which, who wakes whom, who has applied what. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/directory/directory_parts.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/etw/etw_types.h"

#include <stdio.h>

#define TENDED_BY_JOIN 4 /* slots that one process looks at for all */
#define TENDED_BY_HOST 16
#define LISTENS        (UINT64_C(1) << 16)

/* ---- slots ---- */

bool directory_process_at(struct directory *d, uint32_t slot, uint32_t turn, struct directory_process *out)
{
    if (slot == 0 || slot >= DIRECTORY_SLOTS)
        return false;
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    out->id = (uint32_t)atomic_load(&record->id);
    out->start_time = atomic_load(&record->start_time);
    return slot_state(word) == SLOT_LIVE && slot_turn(word) == turn && atomic_load(&record->word) == word;
}

bool directory_process_of(struct directory *d, uint32_t slot, struct directory_process *out)
{
    return slot < DIRECTORY_SLOTS &&
           directory_process_at(d, slot, slot_turn(atomic_load(&d->shared->slot[slot].word)), out);
}

bool directory_alive(void *context, uint32_t slot, uint32_t thread)
{
    struct directory *d = context;
    struct directory_process process;
    if (!directory_process_of(d, slot, &process))
        return false;
    return thread ? process_has_thread(process.id, process.start_time, thread)
                  : process_alive(process.id, process.start_time);
}

/* Whether a session may name a process that was dead at `dead_at`. Times after now are of before a restart. */
static bool may_be_named(struct directory *d, uint64_t dead_at, uint64_t now)
{
    const uint64_t generation = directory_generation(d), dead = dead_at > now ? 0 : dead_at;
    for (uint32_t logger = 1; logger <= DIRECTORY_SESSIONS; logger++) {
        const uint64_t tended = atomic_load(&d->shared->tended[logger - 1]);
        if (directory_find_session(d, logger, 0, generation) && (tended > now ? 0 : tended) <= dead)
            return true;
    }
    return false;
}

static void tend(struct directory *d, uint32_t slot, uint64_t now)
{
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    if (slot_state(word) == SLOT_LIVE &&
        !process_alive((uint32_t)atomic_load(&record->id), atomic_load(&record->start_time))) {
        atomic_store(&record->dead_at, now);
        atomic_store(&record->word, slot_word(SLOT_DEAD, slot_turn(word)));
        directory_registrations_end(d, slot);
    }
    if (slot_state(atomic_load(&record->word)) == SLOT_DEAD && !may_be_named(d, atomic_load(&record->dead_at), now))
        atomic_store(&record->word, slot_word(SLOT_FREE, slot_turn(word)));
}

void directory_slots_tend(struct directory *d, uint32_t how_many)
{
    const uint32_t used = directory_bounded(&d->shared->slots_used, DIRECTORY_SLOTS);
    const uint64_t now = clock_monotonic_ms();
    for (uint32_t i = 0; i < how_many && i < used; i++) {
        const uint32_t slot = (uint32_t)(atomic_fetch_add(&d->shared->slot_hand, 1) % used);
        if (slot != 0)
            tend(d, slot, now);
    }
}

/* Under the mutex. 0: none is free. */
static uint32_t find_free(struct directory *d)
{
    const uint32_t used = directory_bounded(&d->shared->slots_used, DIRECTORY_SLOTS);
    for (uint32_t slot = 1; slot < used; slot++)
        if (slot_state(atomic_load(&d->shared->slot[slot].word)) == SLOT_FREE)
            return slot;
    return used < DIRECTORY_SLOTS ? (used ? used : 1) : 0;
}

/* Under the mutex. */
static HRESULT take_slot(struct directory *d)
{
    const uint32_t own = process_own_id();
    directory_slots_tend(d, TENDED_BY_JOIN);
    uint32_t slot = find_free(d);
    if (slot == 0) {
        directory_slots_tend(d, DIRECTORY_SLOTS);
        slot = find_free(d);
    }
    if (slot == 0)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES), "all %u slots of processes are taken",
                         (unsigned)SESSION_MOST_OWNERS);
    struct slot_record *record = &d->shared->slot[slot];
    const uint32_t turn = slot_turn(atomic_load(&record->word)) + 1;
    atomic_store(&record->id, own);
    atomic_store(&record->start_time, process_start_time(own));
    atomic_store(&record->listens, 0);
    atomic_store(&record->applied, 0);
    directory_raise(&d->shared->slots_used, slot + 1);
    atomic_store(&record->word, slot_word(SLOT_LIVE, turn)); /* last of all */
    d->slot_turn = turn & 0xFFFF;
    atomic_store(&d->slot, slot);
    atomic_store(&d->slot_born, directory_born(d));
    return S_OK;
}

static HRESULT try_slot(struct directory *d)
{
    HRESULT hr = mutex_take(d->mutex, UINT32_MAX);
    if (FAILED(hr))
        return hr;
    hr = take_slot(d);
    mutex_give(d->mutex);
    return hr;
}

/* Hosts of sessions that sleep say only now and then that the dead are not named any more. */
static HRESULT wake_hosts(struct directory *d)
{
    struct directory_session *list;
    size_t count;
    HRESULT hr = directory_sessions(d, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        if (list[i].signal[0])
            directory_set_signal(list[i].signal);
    directory_sessions_free(list, count);
    return S_OK;
}

/* Under d->lock. */
static HRESULT retire_signal(struct directory *d)
{
    if (!d->own_signal)
        return S_OK;
    if (!memory_grow((void **)&d->old_signals, &d->old_capacity, d->old_count + 1, sizeof(struct signal *)))
        return E_OUTOFMEMORY;
    d->old_signals[d->old_count++] = d->own_signal;
    d->own_signal = NULL;
    return S_OK;
}

HRESULT directory_join(struct directory *d, uint32_t *slot)
{
    enum { PATIENCE = 20, PAUSE = 50 /* ms */ };
    struct wakeup *never = NULL;
    HRESULT hr = S_OK;
    host_lock_enter(&d->lock);
    if (atomic_load(&d->slot) == 0 || atomic_load(&d->slot_born) != directory_born(d)) {
        hr = retire_signal(d);
        if (SUCCEEDED(hr))
            hr = try_slot(d);
    }
    for (int i = 0; hr == HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES) && i < PATIENCE; i++) {
        if ((!never && FAILED(wakeup_create(&never))) || FAILED(wake_hosts(d)))
            break;
        (void)wakeup_wait(never, PAUSE);
        hr = try_slot(d);
    }
    wakeup_free(never);
    *slot = atomic_load(&d->slot);
    host_lock_leave(&d->lock);
    return hr;
}

void directory_session_tended(struct directory *d, uint32_t logger, uint64_t since_ms)
{
    if (logger < 1 || logger > DIRECTORY_SESSIONS)
        return;
    atomic_store(&d->shared->tended[logger - 1], since_ms);
    if (mutex_take(d->mutex, 0) != S_OK)
        return; /* another time */
    directory_slots_tend(d, TENDED_BY_HOST);
    mutex_give(d->mutex);
}

/* ---- waking ---- */

HRESULT directory_own_signal(struct directory *d, struct signal **out)
{
    uint32_t slot;
    char name[96];
    HRESULT hr = directory_join(d, &slot);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    host_lock_enter(&d->lock);
    if (!d->own_signal) {
        directory_object_name(d, 'p', slot, d->slot_turn, name);
        hr = signal_open(&(struct shared){.name = name, .create = true}, &d->own_signal);
        if (SUCCEEDED(hr))
            atomic_store(&d->shared->slot[slot].listens, LISTENS | d->slot_turn);
    }
    *out = d->own_signal;
    host_lock_leave(&d->lock);
    return hr;
}

static bool listens(struct directory *d, uint32_t slot, uint32_t *turn)
{
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    *turn = slot_turn(word);
    return slot_state(word) == SLOT_LIVE && atomic_load(&record->listens) == (LISTENS | *turn);
}

void directory_wake(struct directory *d, const GUID *providers, size_t count)
{
    const uint32_t used = directory_bounded(&d->shared->slots_used, DIRECTORY_SLOTS);
    uint64_t set[SLOT_SET_WORDS] = {0};
    if (providers)
        directory_registered_slots(d, providers, count, set);
    for (uint32_t slot = 1; slot < used; slot++) {
        uint32_t turn;
        char name[96];
        if ((providers && !slot_set_has(set, slot)) || !listens(d, slot, &turn))
            continue;
        directory_object_name(d, 'p', slot, turn, name);
        directory_set_signal(name);
    }
}

void directory_applied(struct directory *d, uint64_t generation)
{
    const uint32_t slot = atomic_load(&d->slot);
    if (slot != 0)
        directory_raise(&d->shared->slot[slot].applied, generation);
}

/* Whether one of those who have it registered and listen has not come to the generation yet. Of those that seem late
   `look` asks whether they live. */
static bool some_wait(struct directory *d, const GUID *provider, uint64_t generation, bool look)
{
    const uint32_t used = directory_bounded(&d->shared->slots_used, DIRECTORY_SLOTS);
    uint64_t set[SLOT_SET_WORDS] = {0};
    directory_registered_slots(d, provider, 1, set);
    for (uint32_t slot = 1; slot < used; slot++) {
        uint32_t turn;
        if (slot_set_has(set, slot) && listens(d, slot, &turn) &&
            atomic_load(&d->shared->slot[slot].applied) < generation && (!look || directory_alive(d, slot, 0)))
            return true;
    }
    return false;
}

HRESULT directory_wait_applied(struct directory *d, const GUID *provider, uint64_t generation, uint32_t timeout_ms)
{
    enum { BRIEF = 1, PATIENT = 10, BRIEF_ONES = 20 }; /* ms; most have applied it after one or two */
    const uint64_t start = clock_monotonic_ms();
    struct wakeup *never = NULL;
    HRESULT hr = S_OK;
    for (unsigned turn = 0; some_wait(d, provider, generation, turn % BRIEF_ONES == BRIEF_ONES - 1); turn++) {
        const uint64_t passed = clock_passed_ms(start, clock_monotonic_ms());
        hr = timeout_ms != UINT32_MAX && passed >= timeout_ms ? S_FALSE : never ? S_OK : wakeup_create(&never);
        if (hr != S_OK)
            break;
        (void)wakeup_wait(never, turn < BRIEF_ONES ? BRIEF : PATIENT);
    }
    wakeup_free(never);
    return hr;
}
