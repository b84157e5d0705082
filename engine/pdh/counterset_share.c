/* SPDX-License-Identifier: MIT */
/* Perflib V2 countersets in shared memory. */
#include "engine/pdh/counterset_share.h"

#include "engine/os/memory.h"

#include <stdatomic.h>
#include <string.h>

#define DIRECTORY     "openpdh_countersets"
#define VERSION       1u
#define SECTION_BYTES (4u << 20)
#define FIRST_RECORD  64u

enum { SLOT_FREE, SLOT_USED, SLOT_CHANGING };

struct slot {
    uint32_t state; /* atomic */
    uint32_t process;
    uint64_t process_start;
    uint32_t serial, unused;
};

struct head {
    uint32_t version;
    uint32_t used; /* offset behind the last record; atomic */
};

struct counterset_provider {
    struct section *directory, *section;
    struct slot *slot;
    struct head *head;
};

static atomic_uint next_serial;

static uint32_t get(const uint32_t *at)
{
    return atomic_load((const _Atomic uint32_t *)at);
}

static void set(uint32_t *at, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)at, value);
}

static char *section_name(uint32_t process, uint32_t serial)
{
    return text_format("openpdh_provider_%u_%u", (unsigned)process, (unsigned)serial);
}

static bool slot_is_dead(const struct slot *s)
{
    return get(&s->state) == SLOT_USED && !process_alive(s->process, s->process_start);
}

static struct slot *claim(struct section *directory)
{
    struct slot *slots = section_memory(directory);
    for (int dead = 0; dead < 2; dead++) { /* those of the dead last: whether they live takes a call each */
        for (size_t i = 0; i < COUNTERSET_PROVIDERS; i++) {
            uint32_t expected = dead ? SLOT_USED : SLOT_FREE;
            if ((!dead || slot_is_dead(&slots[i])) &&
                atomic_compare_exchange_strong((_Atomic uint32_t *)&slots[i].state, &expected, SLOT_CHANGING))
                return &slots[i];
        }
    }
    return NULL;
}

HRESULT counterset_provider_open(struct counterset_provider **out)
{
    struct counterset_provider *p = memory_zero(1, sizeof *p);
    uint32_t serial = atomic_fetch_add(&next_serial, 1), process = process_own_id();
    char *name = section_name(process, serial);
    *out = NULL;
    HRESULT hr = p && name ? section_open(&(struct shared){.name = name, .create = true}, SECTION_BYTES, &p->section)
                           : E_OUTOFMEMORY;
    memory_free(name);
    if (SUCCEEDED(hr))
        hr = section_open(&(struct shared){.name = DIRECTORY, .create = true},
                          COUNTERSET_PROVIDERS * sizeof(struct slot), &p->directory);
    if (SUCCEEDED(hr)) {
        p->head = section_memory(p->section);
        p->head->version = VERSION;
        set(&p->head->used, FIRST_RECORD);
        p->slot = claim(p->directory);
        hr = p->slot ? S_OK
                     : error_set(E_OUTOFMEMORY, "more than %d providers of countersets", (int)COUNTERSET_PROVIDERS);
    }
    if (FAILED(hr) || !p->slot) {
        counterset_provider_close(p);
        return hr;
    }
    p->slot->process = process;
    p->slot->process_start = process_start_time(process);
    p->slot->serial = serial;
    set(&p->slot->state, SLOT_USED);
    *out = p;
    return S_OK;
}

void counterset_provider_close(struct counterset_provider *p)
{
    if (!p)
        return;
    if (p->slot)
        set(&p->slot->state, SLOT_FREE);
    section_close(p->section);
    section_close(p->directory);
    memory_free(p);
}

struct counterset_record *counterset_provider_record(struct counterset_provider *p, uint32_t offset)
{
    return (struct counterset_record *)((uint8_t *)p->head + offset);
}

/* Room for a record of `size` bytes: that of a dead one of the same size, or new. */
static struct counterset_record *make_room(struct counterset_provider *p, size_t size, uint32_t *offset)
{
    size = (size + 7) & ~(size_t)7;
    uint32_t used = get(&p->head->used);
    for (uint32_t at = FIRST_RECORD; at < used;) {
        struct counterset_record *r = counterset_provider_record(p, at);
        if (!get(&r->live) && r->size == size) {
            *offset = at;
            return r;
        }
        at += r->size;
    }
    if (size > SECTION_BYTES - used)
        return NULL;
    struct counterset_record *r = counterset_provider_record(p, used);
    r->size = (uint32_t)size;
    *offset = used;
    set(&p->head->used, used + (uint32_t)size);
    return r;
}

static void copy_name(char *to, const char *from, size_t bytes)
{
    memset(to, 0, bytes);
    for (size_t i = 0; i + 1 < bytes && from[i]; i++)
        to[i] = from[i];
}

HRESULT counterset_provider_add(struct counterset_provider *p, const GUID *guid, const char *name, bool single,
                                const struct counterset_counter *counters, uint32_t count, uint32_t *offset)
{
    struct counterset_record *r = count < 4096 ? make_room(p, sizeof *r + count * sizeof *counters, offset) : NULL;
    if (!r)
        return error_set(E_OUTOFMEMORY, "%s: no room for a counterset of %u counters", name, (unsigned)count);
    r->kind = COUNTERSET_KIND_SET;
    r->count = count;
    r->guid = *guid;
    r->single = single;
    copy_name(r->name, name, sizeof r->name);
    memcpy(r + 1, counters, count * sizeof *counters);
    set(&r->live, 1);
    return S_OK;
}

HRESULT counterset_provider_create_instance(struct counterset_provider *p, uint32_t set_offset, const char *name,
                                            uint32_t id, uint32_t *offset)
{
    uint32_t count = counterset_provider_record(p, set_offset)->count;
    struct counterset_record *r = make_room(p, sizeof *r + count * sizeof(int64_t), offset);
    if (!r)
        return error_set(E_OUTOFMEMORY, "%s: no room for another instance", name);
    r->kind = COUNTERSET_KIND_INSTANCE;
    r->set = set_offset;
    r->id = id;
    r->count = count;
    copy_name(r->name, name, sizeof r->name);
    memset(r + 1, 0, count * sizeof(int64_t));
    set(&r->live, 1);
    return S_OK;
}

void counterset_provider_delete(struct counterset_provider *p, uint32_t offset)
{
    set(&counterset_provider_record(p, offset)->live, 0);
}

static bool is_same(const struct counterset_view *v, const struct slot *s)
{
    return v->process == s->process && v->process_start == s->process_start && v->serial == s->serial;
}

static HRESULT add_view(struct counterset_views *v, const struct slot *s)
{
    void *items = v->items;
    struct counterset_view view = {s->process, s->process_start, s->serial, NULL};
    bool room = memory_grow(&items, &v->capacity, v->count + 1, sizeof *v->items);
    v->items = items;
    char *name = room ? section_name(view.process, view.serial) : NULL;
    if (!name)
        return E_OUTOFMEMORY;
    /* It may have ended since. */
    if (SUCCEEDED(section_open(&(struct shared){.name = name}, SECTION_BYTES, &view.section)))
        v->items[v->count++] = view;
    memory_free(name);
    return S_OK;
}

static void drop_ended(struct counterset_views *v, const struct slot *slots)
{
    for (size_t i = v->count; i-- > 0;) {
        bool listed = false;
        for (size_t n = 0; slots && n < COUNTERSET_PROVIDERS && !listed; n++)
            listed = get(&slots[n].state) == SLOT_USED && is_same(&v->items[i], &slots[n]);
        if (!listed || !process_alive(v->items[i].process, v->items[i].process_start)) {
            section_close(v->items[i].section);
            v->items[i] = v->items[--v->count];
        }
    }
}

HRESULT counterset_views_update(struct counterset_views *v)
{
    struct section *directory;
    HRESULT hr =
        section_open(&(struct shared){.name = DIRECTORY}, COUNTERSET_PROVIDERS * sizeof(struct slot), &directory);
    const struct slot *slots = SUCCEEDED(hr) ? section_memory(directory) : NULL;
    drop_ended(v, slots);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK; /* nobody provides anything */
    for (size_t i = 0; i < COUNTERSET_PROVIDERS && SUCCEEDED(hr); i++) {
        bool known = get(&slots[i].state) != SLOT_USED;
        for (size_t n = 0; n < v->count && !known; n++)
            known = is_same(&v->items[n], &slots[i]);
        if (!known && process_alive(slots[i].process, slots[i].process_start))
            hr = add_view(v, &slots[i]);
    }
    section_close(directory);
    return hr;
}

void counterset_views_close(struct counterset_views *v)
{
    for (size_t i = 0; i < v->count; i++)
        section_close(v->items[i].section);
    memory_free(v->items);
    *v = (struct counterset_views){0};
}

/* The record at the offset if it is whole; what another process wrote is not trusted. */
static const struct counterset_record *record_at(const struct counterset_view *v, uint32_t offset)
{
    const struct head *head = section_memory(v->section);
    uint32_t used = get(&head->used);
    const struct counterset_record *r = (const struct counterset_record *)((const uint8_t *)head + offset);
    if (used > SECTION_BYTES || offset < FIRST_RECORD || offset % 8 || offset > used || used - offset < sizeof *r)
        return NULL;
    uint64_t each = r->kind == COUNTERSET_KIND_SET ? sizeof(struct counterset_counter) : sizeof(int64_t);
    return r->size <= used - offset && r->size % 8 == 0 && sizeof *r + r->count * each <= r->size ? r : NULL;
}

const struct counterset_record *counterset_next(const struct counterset_view *v, const struct counterset_record *at)
{
    const uint8_t *base = section_memory(v->section);
    return record_at(v, at ? (uint32_t)((const uint8_t *)at - base) + at->size : FIRST_RECORD);
}

const struct counterset_record *counterset_of(const struct counterset_view *v, const struct counterset_record *instance)
{
    const struct counterset_record *r = record_at(v, instance->set);
    return r && counterset_is_live(r) && r->kind == COUNTERSET_KIND_SET && r->count == instance->count ? r : NULL;
}

const struct counterset_counter *counterset_counters(const struct counterset_record *r)
{
    return (const struct counterset_counter *)(const void *)(r + 1);
}

const int64_t *counterset_values(const struct counterset_record *r)
{
    return (const int64_t *)(const void *)(r + 1);
}

int64_t *counterset_provider_values(struct counterset_provider *p, uint32_t offset)
{
    return (int64_t *)(void *)(counterset_provider_record(p, offset) + 1);
}

bool counterset_is_live(const struct counterset_record *r)
{
    return get(&r->live) != 0;
}
