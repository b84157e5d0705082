/* SPDX-License-Identifier: MIT */
/* Registrations of providers, claimed and given back without a lock. One that a process left when it ended is told by
   the turn of its slot, and is free for whoever comes upon it. */
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_parts.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/etw/etw_types.h"

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
static uint32_t word_turn(uint64_t word)
{
    return (uint32_t)(word >> 16 & 0xFFFF);
}
static uint64_t make_word(uint32_t state, uint32_t kind, uint32_t slot, uint32_t turn, uint64_t sequence)
{
    return state | (uint64_t)kind << 2 | (uint64_t)slot << 4 | (uint64_t)turn << 16 | sequence << 32;
}

/* Its slot names the process that made it no more. */
static bool is_left(struct directory *d, uint64_t word)
{
    const uint64_t slot = atomic_load(&d->shared->slot[word_slot(word)].word);
    return slot_state(slot) != SLOT_LIVE || slot_turn(slot) != word_turn(word);
}

static bool claim(struct directory *d, uint32_t i, const GUID *provider, uint32_t kind)
{
    struct registration_record *record = &d->shared->registration[i];
    uint64_t word = atomic_load(&record->word);
    if (word_state(word) != REGISTRATION_FREE && !is_left(d, word))
        return false;
    const uint32_t slot = atomic_load(&d->slot);
    const uint64_t sequence = (word >> 32) + 1;
    if (!atomic_compare_exchange_strong(&record->word, &word,
                                        make_word(REGISTRATION_CLAIMED, kind, slot, d->slot_turn, sequence)))
        return false;
    directory_store(record->guid, provider, sizeof *provider);
    directory_raise(&d->shared->registrations_used, (uint64_t)i + 1);
    atomic_store(&record->word, make_word(REGISTRATION_LIVE, kind, slot, d->slot_turn, sequence));
    return true;
}

static bool claim_any(struct directory *d, const GUID *provider, uint32_t kind, uint32_t *registration)
{
    const uint32_t hint = (uint32_t)(atomic_load(&d->shared->registration_hint) % DIRECTORY_REGISTRATIONS);
    for (uint32_t n = 0; n < DIRECTORY_REGISTRATIONS; n++) {
        const uint32_t i = (hint + n) % DIRECTORY_REGISTRATIONS;
        if (!claim(d, i, provider, kind))
            continue;
        atomic_store(&d->shared->registration_hint, i + 1);
        *registration = i;
        return true;
    }
    return false;
}

/* One of before the directory was begun anew is none. While it is still corrupt there is none to be had, and what is
   registered then is registered again. */
static bool has_slot(struct directory *d)
{
    return atomic_load(&d->slot) != 0 &&
           (atomic_load(&d->slot_born) == directory_born(d) || atomic_load(&d->shared->magic) != DIRECTORY_MAGIC);
}

HRESULT directory_register(struct directory *d, const GUID *provider, enum directory_kind kind, uint32_t *registration)
{
    uint32_t slot;
    HRESULT hr = has_slot(d) ? S_OK : directory_join(d, &slot);
    if (FAILED(hr) || claim_any(d, provider, kind, registration))
        return hr;
    hr = mutex_take(d->mutex, UINT32_MAX); /* nobody has looked who ended */
    if (FAILED(hr))
        return hr;
    directory_slots_tend(d, DIRECTORY_SLOTS);
    mutex_give(d->mutex);
    if (claim_any(d, provider, kind, registration))
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES), "all %u registrations of providers are taken",
                     (unsigned)DIRECTORY_REGISTRATIONS);
}

static void lower_hint(struct directory *d, uint32_t i)
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
        word_turn(word) != d->slot_turn)
        return;
    if (atomic_compare_exchange_strong(&record->word, &word, make_word(REGISTRATION_FREE, 0, 0, 0, word >> 32)))
        lower_hint(d, registration);
}

void directory_registrations_end(struct directory *d, uint32_t slot)
{
    const uint32_t used = directory_bounded(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    for (uint32_t i = 0; i < used; i++) {
        struct registration_record *record = &d->shared->registration[i];
        uint64_t word = atomic_load(&record->word);
        if (word_state(word) != REGISTRATION_FREE && word_slot(word) == slot && is_left(d, word) &&
            atomic_compare_exchange_strong(&record->word, &word, make_word(REGISTRATION_FREE, 0, 0, 0, word >> 32)))
            lower_hint(d, i);
    }
}

/* A live one, as a copy. */
static bool load(struct directory *d, uint32_t i, struct directory_registration *out)
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
           directory_process_at(d, word_slot(word), word_turn(word), &out->process);
}

void directory_registered_slots(struct directory *d, const GUID *providers, size_t count, uint64_t set[SLOT_SET_WORDS])
{
    const uint32_t used = directory_bounded(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    for (uint32_t i = 0; i < used; i++) {
        struct directory_registration r;
        if (!load(d, i, &r))
            continue;
        for (size_t k = 0; k < count; k++)
            if (guid_equal(&r.provider, &providers[k]))
                set[r.slot / 64] |= UINT64_C(1) << r.slot % 64;
    }
}

HRESULT directory_registrations(struct directory *d, struct directory_registration **out, size_t *count)
{
    const uint32_t used = directory_bounded(&d->shared->registrations_used, DIRECTORY_REGISTRATIONS);
    uint64_t asked[SLOT_SET_WORDS] = {0}, lives[SLOT_SET_WORDS] = {0};
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    for (uint32_t i = 0; i < used; i++) {
        struct directory_registration r;
        if (!load(d, i, &r))
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
