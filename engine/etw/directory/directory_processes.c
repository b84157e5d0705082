/* SPDX-License-Identifier: MIT */
/* Manages the processes in the directory: their slots, the providers that they have registered, and the names of
   providers. Wakes processes after a change, and waits until they have applied the change. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_types.h"

#include <stdio.h>

enum { SLOT_SET_WORDS = DIRECTORY_SLOTS / 64 };
static bool slot_set_has(const uint64_t set[SLOT_SET_WORDS], uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}
/* Adds the slots of the processes that have registered one of the providers. */
static void directory_registered_slots(struct directory *d, const GUID *providers, size_t count,
                                       uint64_t set[SLOT_SET_WORDS]);
/* Frees the registrations that a dead process left in this slot. */
static void directory_registrations_end(struct directory *d, uint32_t slot);

#define REAPED_BY_JOIN 4 /* number of slots that each directory_join checks */
#define REAPED_BY_HOST 16
#define LISTENS        (UINT64_C(1) << 16)

/* ---- slots ---- */

/* Returns the process that has this generation of a slot; false if it has exited. */
static bool directory_process_at(struct directory *d, uint32_t slot, uint32_t generation, struct directory_process *out)
{
    if (slot == 0 || slot >= DIRECTORY_SLOTS)
        return false;
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    out->id = (uint32_t)atomic_load(&record->id);
    out->start_time = atomic_load(&record->start_time);
    return slot_state(word) == SLOT_LIVE && slot_generation(word) == generation && atomic_load(&record->word) == word;
}

bool directory_process_of(struct directory *d, uint32_t slot, struct directory_process *out)
{
    return slot < DIRECTORY_SLOTS &&
           directory_process_at(d, slot, slot_generation(atomic_load(&d->shared->slot[slot].word)), out);
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

/* Returns whether a session may still refer to a process that was found dead at `dead_at`. If a stored time is later
   than `now`, it was stored before a restart of the computer, and counts as 0. */
static bool may_be_named(struct directory *d, uint64_t dead_at, uint64_t now)
{
    const uint64_t revision = directory_revision(d), dead = dead_at > now ? 0 : dead_at;
    for (uint32_t logger = 1; logger <= DIRECTORY_SESSIONS; logger++) {
        const uint64_t reaped = atomic_load(&d->shared->reaped[logger - 1]);
        if (directory_find_session(d, logger, 0, revision) && (reaped > now ? 0 : reaped) <= dead)
            return true;
    }
    return false;
}

static void slot_reap(struct directory *d, uint32_t slot, uint64_t now)
{
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    if (slot_state(word) == SLOT_LIVE &&
        !process_alive((uint32_t)atomic_load(&record->id), atomic_load(&record->start_time))) {
        atomic_store(&record->dead_at, now);
        atomic_store(&record->word, slot_word(SLOT_DEAD, slot_generation(word)));
        directory_registrations_end(d, slot);
    }
    if (slot_state(atomic_load(&record->word)) == SLOT_DEAD && !may_be_named(d, atomic_load(&record->dead_at), now))
        atomic_store(&record->word, slot_word(SLOT_FREE, slot_generation(word)));
}

/* Call it under the mutex. Checks the next slots, and frees those whose processes are dead and to which no session can
   refer. */
static void directory_slots_reap(struct directory *d, uint32_t how_many)
{
    const uint32_t used = directory_load_limited(&d->shared->slots_used, DIRECTORY_SLOTS);
    const uint64_t now = clock_monotonic_ms();
    for (uint32_t i = 0; i < how_many && i < used; i++) {
        const uint32_t slot = (uint32_t)(atomic_fetch_add(&d->shared->slot_hand, 1) % used);
        if (slot != 0)
            slot_reap(d, slot, now);
    }
}

/* Returns a free slot, or 0 if all slots are in use. Call it under the mutex. */
static uint32_t slot_find_free(struct directory *d)
{
    const uint32_t used = directory_load_limited(&d->shared->slots_used, DIRECTORY_SLOTS);
    for (uint32_t slot = 1; slot < used; slot++)
        if (slot_state(atomic_load(&d->shared->slot[slot].word)) == SLOT_FREE)
            return slot;
    return used < DIRECTORY_SLOTS ? (used ? used : 1) : 0;
}

/* Takes a free slot for this process. Call it under the mutex. */
static HRESULT slot_take(struct directory *d)
{
    const uint32_t own = process_own_id();
    directory_slots_reap(d, REAPED_BY_JOIN);
    uint32_t slot = slot_find_free(d);
    if (slot == 0) {
        directory_slots_reap(d, DIRECTORY_SLOTS);
        slot = slot_find_free(d);
    }
    if (slot == 0)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                         "cannot use event tracing: all %u process slots of the directory are in use",
                         (unsigned)SESSION_MOST_OWNERS);
    struct slot_record *record = &d->shared->slot[slot];
    const uint32_t generation = slot_generation(atomic_load(&record->word)) + 1;
    atomic_store(&record->id, own);
    atomic_store(&record->start_time, process_start_time(own));
    atomic_store(&record->listens, 0);
    atomic_store(&record->applied, 0);
    directory_raise(&d->shared->slots_used, slot + 1);
    atomic_store(&record->word, slot_word(SLOT_LIVE, generation)); /* stored last, because it makes the slot valid */
    d->slot_generation = generation & 0xFFFF;
    atomic_store(&d->slot, slot);
    atomic_store(&d->slot_born, directory_born(d));
    return S_OK;
}

static HRESULT slot_try_take(struct directory *d)
{
    HRESULT hr = mutex_take(d->mutex, UINT32_MAX);
    if (FAILED(hr))
        return hr;
    hr = slot_take(d);
    mutex_release(d->mutex);
    return hr;
}

/* Wakes all host processes. Each host process then reports that its session no longer refers to dead processes. Host
   processes that sleep report this only rarely. */
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

/* Moves the signal of this process to the old signals. Call it under d->lock. */
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
    lock_enter(&d->lock);
    if (atomic_load(&d->slot) == 0 || atomic_load(&d->slot_born) != directory_born(d)) {
        hr = retire_signal(d);
        if (SUCCEEDED(hr))
            hr = slot_try_take(d);
    }
    for (int i = 0; hr == HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES) && i < PATIENCE; i++) {
        if ((!never && FAILED(wakeup_create(&never))) || FAILED(wake_hosts(d)))
            break;
        (void)wakeup_wait(never, PAUSE);
        hr = slot_try_take(d);
    }
    wakeup_free(never);
    *slot = atomic_load(&d->slot);
    lock_leave(&d->lock);
    return hr;
}

void directory_session_reaped(struct directory *d, uint32_t logger, uint64_t since_ms)
{
    if (logger < 1 || logger > DIRECTORY_SESSIONS)
        return;
    atomic_store(&d->shared->reaped[logger - 1], since_ms);
    if (mutex_take(d->mutex, 0) != S_OK)
        return; /* the next call reaps the slots */
    directory_slots_reap(d, REAPED_BY_HOST);
    mutex_release(d->mutex);
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
    lock_enter(&d->lock);
    if (!d->own_signal) {
        directory_object_name(d, 'p', slot, d->slot_generation, name);
        hr = signal_open(&(struct shared){.name = name, .create = true}, &d->own_signal);
        if (SUCCEEDED(hr))
            atomic_store(&d->shared->slot[slot].listens, LISTENS | d->slot_generation);
    }
    *out = d->own_signal;
    lock_leave(&d->lock);
    return hr;
}

static bool slot_listens(struct directory *d, uint32_t slot, uint32_t *generation)
{
    struct slot_record *record = &d->shared->slot[slot];
    const uint64_t word = atomic_load(&record->word);
    *generation = slot_generation(word);
    return slot_state(word) == SLOT_LIVE && atomic_load(&record->listens) == (LISTENS | *generation);
}

void directory_wake(struct directory *d, const GUID *providers, size_t count)
{
    const uint32_t used = directory_load_limited(&d->shared->slots_used, DIRECTORY_SLOTS);
    uint64_t set[SLOT_SET_WORDS] = {0};
    if (providers)
        directory_registered_slots(d, providers, count, set);
    for (uint32_t slot = 1; slot < used; slot++) {
        uint32_t generation;
        char name[96];
        if ((providers && !slot_set_has(set, slot)) || !slot_listens(d, slot, &generation))
            continue;
        directory_object_name(d, 'p', slot, generation, name);
        directory_set_signal(name);
    }
}

void directory_applied(struct directory *d, uint64_t revision)
{
    const uint32_t slot = atomic_load(&d->slot);
    if (slot != 0)
        directory_raise(&d->shared->slot[slot].applied, revision);
}

/* Returns whether a listening process that has registered the provider has not applied the revision yet. With `look`,
   ignores processes that have exited; this requires a check of each process. */
static bool processes_are_late(struct directory *d, const GUID *provider, uint64_t revision, bool look)
{
    const uint32_t used = directory_load_limited(&d->shared->slots_used, DIRECTORY_SLOTS);
    uint64_t set[SLOT_SET_WORDS] = {0};
    directory_registered_slots(d, provider, 1, set);
    for (uint32_t slot = 1; slot < used; slot++) {
        uint32_t generation;
        if (slot_set_has(set, slot) && slot_listens(d, slot, &generation) &&
            atomic_load(&d->shared->slot[slot].applied) < revision && (!look || directory_alive(d, slot, 0)))
            return true;
    }
    return false;
}

HRESULT directory_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms)
{
    /* Most processes have applied the revision after one or two rounds. */
    enum { SHORT_MS = 1, LONG_MS = 10, BRIEF_ROUNDS = 20 };
    const uint64_t start = clock_monotonic_ms();
    struct wakeup *never = NULL;
    HRESULT hr = S_OK;
    for (unsigned round = 0; processes_are_late(d, provider, revision, round % BRIEF_ROUNDS == BRIEF_ROUNDS - 1);
         round++) {
        const uint64_t passed = clock_passed_ms(start, clock_monotonic_ms());
        hr = timeout_ms != UINT32_MAX && passed >= timeout_ms ? S_FALSE : never ? S_OK : wakeup_create(&never);
        if (hr != S_OK)
            break;
        (void)wakeup_wait(never, round < BRIEF_ROUNDS ? SHORT_MS : LONG_MS);
    }
    wakeup_free(never);
    return hr;
}

/* ---- registrations ---- */

/* Registrations are claimed and freed without a lock. A registration is orphaned if its slot is not live or has another
   generation: its process has then exited. Any process may claim an orphaned registration. */

enum { REGISTRATION_FREE, REGISTRATION_CLAIMED, REGISTRATION_LIVE };

static uint32_t word_state(uint64_t word)
{
    return (uint32_t)(word & 3);
}
static uint32_t word_kind(uint64_t word)
{
    return (uint32_t)(word >> 2 & 3);
}
static uint32_t word_slot(uint64_t word)
{
    return (uint32_t)(word >> 4 & 0xFFF);
}
static uint32_t word_generation(uint64_t word)
{
    return (uint32_t)(word >> 16 & 0xFFFF);
}
static uint64_t word_build(uint32_t state, uint32_t kind, uint32_t slot, uint32_t generation, uint64_t sequence)
{
    assert(state <= REGISTRATION_LIVE && kind <= DIRECTORY_GROUP && slot < DIRECTORY_SLOTS && generation <= 0xFFFF);
    return state | (uint64_t)kind << 2 | (uint64_t)slot << 4 | (uint64_t)generation << 16 | sequence << 32;
}

/* Returns whether the process of the registration has exited. */
static bool registration_is_orphan(struct directory *d, uint64_t word)
{
    const uint64_t slot = atomic_load(&d->shared->slot[word_slot(word)].word);
    return slot_state(slot) != SLOT_LIVE || slot_generation(slot) != word_generation(word);
}

static bool registration_claim(struct directory *d, uint32_t i, const GUID *provider, uint32_t kind)
{
    struct registration_record *record = &d->shared->registration[i];
    uint64_t word = atomic_load(&record->word);
    if (word_state(word) != REGISTRATION_FREE && !registration_is_orphan(d, word))
        return false;
    const uint32_t slot = atomic_load(&d->slot);
    const uint64_t sequence = (word >> 32) + 1;
    if (!atomic_compare_exchange_strong(&record->word, &word,
                                        word_build(REGISTRATION_CLAIMED, kind, slot, d->slot_generation, sequence)))
        return false;
    directory_store(record->guid, provider, sizeof *provider);
    directory_raise(&d->shared->registrations_used, (uint64_t)i + 1);
    atomic_store(&record->word, word_build(REGISTRATION_LIVE, kind, slot, d->slot_generation, sequence));
    return true;
}

static bool registration_claim_any(struct directory *d, const GUID *provider, uint32_t kind, uint32_t *registration)
{
    const uint32_t hint = (uint32_t)(atomic_load(&d->shared->registration_hint) % DIRECTORY_REGISTRATIONS);
    for (uint32_t n = 0; n < DIRECTORY_REGISTRATIONS; n++) {
        const uint32_t i = (hint + n) % DIRECTORY_REGISTRATIONS;
        if (!registration_claim(d, i, provider, kind))
            continue;
        atomic_store(&d->shared->registration_hint, i + 1);
        *registration = i;
        return true;
    }
    return false;
}

/* Returns whether this process has a slot. A reset of the directory invalidates the slot. While the directory is
   corrupt and not reset yet, the old slot is still used, because no new slot can be allocated; after the reset,
   providers register again. */
static bool has_slot(struct directory *d)
{
    return atomic_load(&d->slot) != 0 &&
           (atomic_load(&d->slot_born) == directory_born(d) || atomic_load(&d->shared->magic) != DIRECTORY_MAGIC);
}

HRESULT directory_register(struct directory *d, const GUID *provider, enum directory_kind kind, uint32_t *registration)
{
    uint32_t slot;
    HRESULT hr = has_slot(d) ? S_OK : directory_join(d, &slot);
    if (FAILED(hr) || registration_claim_any(d, provider, kind, registration))
        return hr;
    hr = mutex_take(d->mutex, UINT32_MAX); /* the table is full, but some registrations may belong to dead processes */
    if (FAILED(hr))
        return hr;
    directory_slots_reap(d, DIRECTORY_SLOTS);
    mutex_release(d->mutex);
    if (registration_claim_any(d, provider, kind, registration))
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                     "cannot register a provider: all %u registrations of the directory are in use",
                     (unsigned)DIRECTORY_REGISTRATIONS);
}

static void registration_lower_hint(struct directory *d, uint32_t i)
{
    uint64_t hint = atomic_load(&d->shared->registration_hint);
    while (i < hint && !atomic_compare_exchange_weak(&d->shared->registration_hint, &hint, i))
        ;
}

void directory_unregister(struct directory *d, uint32_t registration)
{
    if (registration >= DIRECTORY_REGISTRATIONS)
        return;
    struct registration_record *record = &d->shared->registration[registration];
    uint64_t word = atomic_load(&record->word);
    if (word_state(word) != REGISTRATION_LIVE || word_slot(word) != atomic_load(&d->slot) ||
        word_generation(word) != d->slot_generation)
        return;
    if (atomic_compare_exchange_strong(&record->word, &word, word_build(REGISTRATION_FREE, 0, 0, 0, word >> 32)))
        registration_lower_hint(d, registration);
}

static void directory_registrations_end(struct directory *d, uint32_t slot)
{
    const uint32_t used = directory_load_limited(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    for (uint32_t i = 0; i < used; i++) {
        struct registration_record *record = &d->shared->registration[i];
        uint64_t word = atomic_load(&record->word);
        if (word_state(word) != REGISTRATION_FREE && word_slot(word) == slot && registration_is_orphan(d, word) &&
            atomic_compare_exchange_strong(&record->word, &word, word_build(REGISTRATION_FREE, 0, 0, 0, word >> 32)))
            registration_lower_hint(d, i);
    }
}

/* Copies a registration; false if it is not live. */
static bool registration_load(struct directory *d, uint32_t i, struct directory_registration *out)
{
    struct registration_record *record = &d->shared->registration[i];
    const uint64_t word = atomic_load(&record->word);
    if (word_state(word) != REGISTRATION_LIVE)
        return false;
    *out = (struct directory_registration){
        .slot = word_slot(word),
        .classic = word_kind(word) == DIRECTORY_CLASSIC,
        .group = word_kind(word) == DIRECTORY_GROUP,
    };
    directory_load(&out->provider, record->guid, sizeof out->provider);
    return atomic_load(&record->word) == word &&
           directory_process_at(d, word_slot(word), word_generation(word), &out->process);
}

static void directory_registered_slots(struct directory *d, const GUID *providers, size_t count,
                                       uint64_t set[SLOT_SET_WORDS])
{
    const uint32_t used = directory_load_limited(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    for (uint32_t i = 0; i < used; i++) {
        struct directory_registration r;
        if (!registration_load(d, i, &r))
            continue;
        for (size_t k = 0; k < count; k++)
            if (guid_equal(&r.provider, &providers[k]))
                set[r.slot / 64] |= UINT64_C(1) << r.slot % 64;
    }
}

HRESULT directory_registrations(struct directory *d, struct directory_registration **out, size_t *count)
{
    const uint32_t used = directory_load_limited(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    uint64_t asked[SLOT_SET_WORDS] = {0}, lives[SLOT_SET_WORDS] = {0};
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    for (uint32_t i = 0; i < used; i++) {
        struct directory_registration r;
        if (!registration_load(d, i, &r))
            continue;
        if (!slot_set_has(asked, r.slot)) {
            asked[r.slot / 64] |= UINT64_C(1) << r.slot % 64;
            if (process_alive(r.process.id, r.process.start_time))
                lives[r.slot / 64] |= UINT64_C(1) << r.slot % 64;
        }
        if (!slot_set_has(lives, r.slot))
            continue;
        if (!memory_grow((void **)out, &capacity, *count + 1, sizeof **out)) {
            memory_free(*out);
            *out = NULL;
            *count = 0;
            return E_OUTOFMEMORY;
        }
        (*out)[(*count)++] = r;
    }
    return S_OK;
}

/* ---- names of providers ---- */

/* Names of providers, from their traits: a lock-free ring in which a new name replaces the oldest one. A name is valid
   if its checksum is correct, so a partly written name is ignored. */

/* Returns the checksum of a name; never 0, which marks an unused record. */
static uint64_t name_check(const struct name_payload *p)
{
    return hash_bytes(HASH_START, p, sizeof *p) | 1;
}

static bool is_name(const char name[DIRECTORY_PROVIDER_NAME_ROOM])
{
    const char *nul = memchr(name, 0, DIRECTORY_PROVIDER_NAME_ROOM);
    if (!nul || nul == name || !text_is_utf8(name, (size_t)(nul - name)))
        return false;
    for (const char *c = name; c < nul; c++)
        if ((unsigned char)*c < ' ')
            return false;
    return true;
}

/* Copies a name; false if it is unused or invalid. */
static bool name_load(struct directory *d, uint32_t i, struct name_payload *out)
{
    struct name_record *record = &d->shared->name[i];
    const uint64_t check = atomic_load(&record->check);
    if (check == 0)
        return false;
    directory_load(out, record->words, sizeof *out);
    return name_check(out) == check && is_name(out->name);
}

/* Returns the index of the provider's name. If the provider has no name, returns the index of an unused record or, if
   all are used, of the oldest name. */
static uint32_t name_place(struct directory *d, const GUID *provider)
{
    const uint32_t used = directory_load_limited(&d->shared->names_given, DIRECTORY_PROVIDER_NAMES);
    for (uint32_t i = 0; i < used; i++) {
        GUID known;
        directory_load(&known, d->shared->name[i].words, sizeof known);
        if (guid_equal(&known, provider))
            return i;
    }
    return (uint32_t)(atomic_fetch_add(&d->shared->names_given, 1) % DIRECTORY_PROVIDER_NAMES);
}

void directory_name_provider(struct directory *d, const GUID *provider, const char *name)
{
    struct name_payload before, p = {.provider = *provider};
    const size_t bytes = strlen(name);
    if (bytes >= sizeof p.name)
        return;
    memcpy(p.name, name, bytes);
    if (!is_name(p.name))
        return;
    const uint32_t i = name_place(d, provider);
    if (name_load(d, i, &before) && !memcmp(&before, &p, sizeof p))
        return;
    struct name_record *record = &d->shared->name[i];
    atomic_store(&record->check, 0);
    directory_store(record->words, &p, sizeof p);
    atomic_store(&record->check, name_check(&p));
}

static bool is_listed(const struct directory_provider_name *list, size_t count, const GUID *provider)
{
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&list[i].provider, provider))
            return true;
    return false;
}

HRESULT directory_provider_names(struct directory *d, struct directory_provider_name **out, size_t *count)
{
    const uint32_t used = directory_load_limited(&d->shared->names_given, DIRECTORY_PROVIDER_NAMES);
    *count = 0;
    *out = memory_alloc((used + 1) * sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < used; i++) {
        struct name_payload p;
        if (!name_load(d, i, &p) || is_listed(*out, *count, &p.provider))
            continue;
        (*out)[*count].provider = p.provider;
        memcpy((*out)[(*count)++].name, p.name, sizeof p.name);
    }
    return S_OK;
}
