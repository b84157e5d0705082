/* SPDX-License-Identifier: MIT */
/* Perflib V2 countersets in shared memory: the protocol between providers and readers.

   A Perflib provider is any program that calls PerfStartProvider and increments counters. A program that collects
   counters is a reader. The values must be cheap to increment, so the provider's instances are in shared memory and
   readers poll them:

       section "openpdh_countersets"              section "openpdh_provider_PROCESS_SERIAL", one per provider
       +-----------------------------------+      +--------------------------------------------------------+
       | slot 0: state process start serial|----->| head: version, used                                    |
       | slot 1: ...                       |      | record: generation live size kind ... name | counters  |
       |   COUNTERSET_PROVIDERS slots      |      | record: generation live size kind ... name | values    |
       +-----------------------------------+      | ...                                up to `used`        |
                                                  +--------------------------------------------------------+

   Who writes what. Each provider claims a slot with a compare-and-swap from SLOT_FREE to SLOT_CHANGING, fills it and
   sets SLOT_USED. If no slot is free, it reuses the slot of a dead process. Only the owner changes a claimed slot. Only
   the provider writes its section: the functions of this file write the records, and the program increments the
   instances' values with atomic 64-bit operations. Readers never write.

   Records never move, and `size` never changes: a deleted record's room (struct room) is reused only for a record of
   the same size. Therefore a reader can always walk from record to record.

   Unfinished states that a reader can see. A reader copies the section word by word from front to back while the
   provider writes:
   - A new record beyond `used` is not part of the copy. The provider increases `used` after the record is complete.
   - A record that is being filled has live == 0 and is skipped.
   - A record may be deleted and recreated during the copy. The first half of the copy is then old and the second half
     new. So that readers detect a copy that mixes old and new bytes, begin_record clears `live` and increments
     `generation` before it writes the rest. The reader copies `generation` and `live` in one 64-bit word before the
     rest of the record. After copying, it compares the copied generation with the one that is now in the section
     (drop_torn). If the generation has changed, the copied record is marked as not live. The static assertion below
     keeps both members in one word.
   - Values of one instance may be from slightly different times, as on Windows.

   What a crash leaves. The slot remains SLOT_USED, and the section exists as long as a reader has it open. Readers drop
   the view if the process with this id and start time is no longer running. The next provider that finds no free slot
   reuses the dead provider's slot.

   Hostile processes. Any process of the same user can write to a section, because it has the same rights. Therefore
   readers check sizes, kinds, offsets and names on their copy. Providers keep their own offsets and counts in private
   memory (struct room), so a corrupt section cannot make them write elsewhere. Section names contain a random serial,
   and a provider uses a section only if it did not exist before, so no other process can prepare one in advance. */
#include "engine/pdh/extension/counterset_share.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <stdatomic.h>
#include <string.h>

/* Returns the record at the offset if it is completely within the bytes, otherwise NULL. */
static const struct counterset_record *record_at(const struct counterset_bytes *b, uint64_t offset)
{
    if (offset < COUNTERSET_FIRST_RECORD || offset % 8 || offset > b->size ||
        b->size - offset < sizeof(struct counterset_record))
        return NULL;
    const struct counterset_record *r = (const struct counterset_record *)(const void *)(b->bytes + offset);
    uint64_t each = r->kind == COUNTERSET_KIND_SET ? sizeof(struct counterset_counter) : sizeof(int64_t);
    bool fits = r->size <= b->size - offset && r->size % 8 == 0 && r->count <= COUNTERSET_MOST_COUNTERS;
    return fits && sizeof *r + r->count * each <= r->size ? r : NULL;
}

const struct counterset_record *counterset_next(const struct counterset_bytes *b, const struct counterset_record *at)
{
    return record_at(b, at ? (uint64_t)((const uint8_t *)at - b->bytes) + at->size : COUNTERSET_FIRST_RECORD);
}

const struct counterset_record *counterset_of(const struct counterset_bytes *b,
                                              const struct counterset_record *instance)
{
    const struct counterset_record *r = record_at(b, instance->set);
    return r && r->live && r->kind == COUNTERSET_KIND_SET && r->count == instance->count ? r : NULL;
}

const struct counterset_counter *counterset_counters(const struct counterset_record *r)
{
    return (const struct counterset_counter *)(const void *)(r + 1);
}

const int64_t *counterset_values(const struct counterset_record *r)
{
    return (const int64_t *)(const void *)(r + 1);
}

char *counterset_text(const char *name, size_t bytes)
{
    const char *end = memchr(name, 0, bytes);
    return text_copy_n(name, end ? (size_t)(end - name) : 0);
}

/* ---- sections of providers ---- */

#define DIRECTORY     "openpdh_countersets"
#define SECTION_BYTES (4u << 20)

enum { SLOT_FREE, SLOT_USED, SLOT_CHANGING };

struct slot {
    uint32_t state; /* atomic */
    uint32_t process;
    uint64_t process_start;
    uint32_t serial, unused;
};

/* Private bookkeeping of a record, independent of the section. */
struct room {
    uint32_t offset, size, count;
    bool live;
};

struct counterset_provider {
    struct section *directory, *section;
    struct slot *slot;
    uint8_t *bytes; /* the section's memory */
    uint32_t used;
    struct room *rooms; /* sorted by offset */
    size_t room_count, room_capacity;
};

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

static struct slot *claim_slot(struct section *directory)
{
    struct slot *slots = section_memory(directory);
    for (int dead = 0; dead < 2; dead++) { /* try dead providers' slots last, because checking a process takes a system
                                              call */
        for (size_t i = 0; i < COUNTERSET_PROVIDERS; i++) {
            uint32_t expected = dead ? SLOT_USED : SLOT_FREE;
            if ((!dead || slot_is_dead(&slots[i])) &&
                atomic_compare_exchange_strong((_Atomic uint32_t *)&slots[i].state, &expected, SLOT_CHANGING))
                return &slots[i];
        }
    }
    return NULL;
}

/* Creates a section under a new name. */
static HRESULT make_section(struct counterset_provider *p, uint32_t process, uint32_t *serial)
{
    GUID random;
    HRESULT hr = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    for (int i = 0; i < 8 && hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS); i++) {
        hr = os_new_guid(&random);
        *serial = random.Data1;
        char *name = SUCCEEDED(hr) ? section_name(process, *serial) : NULL;
        if (SUCCEEDED(hr))
            hr = name ? section_open(&(struct shared){.name = name, .create = true, .fresh = true}, SECTION_BYTES,
                                     &p->section)
                      : E_OUTOFMEMORY;
        memory_free(name);
    }
    return hr;
}

static struct counterset_head *head_of(struct counterset_provider *p)
{
    return (struct counterset_head *)(void *)p->bytes;
}

HRESULT counterset_provider_open(struct counterset_provider **out)
{
    struct counterset_provider *p = memory_zero(1, sizeof *p);
    uint32_t serial = 0, process = process_own_id();
    *out = NULL;
    HRESULT hr = p ? make_section(p, process, &serial) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = section_open(&(struct shared){.name = DIRECTORY, .create = true},
                          COUNTERSET_PROVIDERS * sizeof(struct slot), &p->directory);
    if (SUCCEEDED(hr)) {
        p->bytes = section_memory(p->section);
        p->used = COUNTERSET_FIRST_RECORD;
        head_of(p)->version = COUNTERSET_VERSION;
        set(&head_of(p)->used, p->used);
        p->slot = claim_slot(p->directory);
        hr = p->slot ? S_OK
                     : error_set(E_OUTOFMEMORY, "too many Perflib providers: at most %d can run",
                                 (int)COUNTERSET_PROVIDERS);
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
    memory_free(p->rooms);
    memory_free(p);
}

static struct counterset_record *record_of(struct counterset_provider *p, uint32_t offset)
{
    return (struct counterset_record *)(void *)(p->bytes + offset);
}

static struct room *find_room(struct counterset_provider *p, uint32_t offset)
{
    size_t low = 0, high = p->room_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->rooms[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return &p->rooms[low]; /* this room exists, because all offsets come from this file's functions */
}

/* Returns room for a record of `size` bytes: the room of a deleted record of the same size, or new room. NULL if the
   section is full. */
static struct room *make_room(struct counterset_provider *p, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    for (size_t i = 0; i < p->room_count; i++)
        if (!p->rooms[i].live && p->rooms[i].size == size)
            return &p->rooms[i];
    void *rooms = p->rooms;
    if (size > SECTION_BYTES - p->used || !memory_grow(&rooms, &p->room_capacity, p->room_count + 1, sizeof *p->rooms))
        return NULL;
    p->rooms = rooms;
    struct room *r = &p->rooms[p->room_count++];
    *r = (struct room){.offset = p->used, .size = (uint32_t)size};
    p->used += (uint32_t)size;
    return r;
}

/* Starts a record in the room. The record is empty and not live until it is published. */
static struct counterset_record *begin_record(struct counterset_provider *p, const struct room *room)
{
    struct counterset_record *r = record_of(p, room->offset);
    set(&r->live, 0);
    set(&r->generation, get(&r->generation) + 1);
    atomic_thread_fence(memory_order_seq_cst);
    r->size = room->size;
    r->count = room->count;
    return r;
}

static void publish(struct counterset_provider *p, struct room *room)
{
    room->live = true;
    set(&record_of(p, room->offset)->live, 1);
    set(&head_of(p)->used, p->used);
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
    struct room *room = count <= COUNTERSET_MOST_COUNTERS
                            ? make_room(p, sizeof(struct counterset_record) + count * sizeof *counters)
                            : NULL;
    if (!room)
        return error_set(E_OUTOFMEMORY, "cannot add the counterset '%s' with %u counters: the shared memory is full",
                         name, (unsigned)count);
    room->count = count;
    struct counterset_record *r = begin_record(p, room);
    r->kind = COUNTERSET_KIND_SET;
    r->guid = *guid;
    r->single = single;
    copy_name(r->name, name, sizeof r->name);
    memcpy(r + 1, counters, count * sizeof *counters);
    publish(p, room);
    *offset = room->offset;
    return S_OK;
}

HRESULT counterset_provider_create_instance(struct counterset_provider *p, uint32_t set_offset, const char *name,
                                            uint32_t id, uint32_t *offset)
{
    uint32_t count = find_room(p, set_offset)->count;
    struct room *room = make_room(p, sizeof(struct counterset_record) + count * sizeof(int64_t));
    if (!room)
        return error_set(E_OUTOFMEMORY, "cannot create the instance '%s': the shared memory is full", name);
    room->count = count;
    struct counterset_record *r = begin_record(p, room);
    r->kind = COUNTERSET_KIND_INSTANCE;
    r->set = set_offset;
    r->id = id;
    copy_name(r->name, name, sizeof r->name);
    memset(r + 1, 0, count * sizeof(int64_t));
    publish(p, room);
    *offset = room->offset;
    return S_OK;
}

void counterset_provider_delete(struct counterset_provider *p, uint32_t offset)
{
    find_room(p, offset)->live = false;
    set(&record_of(p, offset)->live, 0);
}

int64_t *counterset_provider_values(struct counterset_provider *p, uint32_t offset)
{
    return (int64_t *)(void *)(record_of(p, offset) + 1);
}

/* Copies a slot of the directory. False if the slot is not in use. */
static bool read_slot(const struct slot *at, struct slot *out)
{
    *out = (struct slot){.state = get(&at->state)};
    if (out->state != SLOT_USED)
        return false;
    out->process = at->process;
    out->process_start = at->process_start;
    out->serial = at->serial;
    return true;
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
    /* the provider may have exited since its slot was read */
    if (SUCCEEDED(section_open(&(struct shared){.name = name}, SECTION_BYTES, &view.section)))
        v->items[v->count++] = view;
    memory_free(name);
    return S_OK;
}

static void drop_ended(struct counterset_views *v, const struct slot *slots, size_t slot_count)
{
    for (size_t i = v->count; i-- > 0;) {
        size_t n = 0;
        while (n < slot_count && !is_same(&v->items[i], &slots[n]))
            n++;
        if (n == slot_count || !process_alive(v->items[i].process, v->items[i].process_start)) {
            section_close(v->items[i].section);
            v->items[i] = v->items[--v->count];
        }
    }
}

HRESULT counterset_views_update(struct counterset_views *v)
{
    struct section *directory;
    struct slot slots[COUNTERSET_PROVIDERS];
    size_t count = 0;
    HRESULT hr =
        section_open(&(struct shared){.name = DIRECTORY}, COUNTERSET_PROVIDERS * sizeof(struct slot), &directory);
    const struct slot *shared = SUCCEEDED(hr) ? section_memory(directory) : NULL;
    for (size_t i = 0; shared && i < COUNTERSET_PROVIDERS; i++)
        count += read_slot(&shared[i], &slots[count]);
    drop_ended(v, slots, count);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK; /* no provider has ever run */
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        bool known = false;
        for (size_t n = 0; n < v->count && !known; n++)
            known = is_same(&v->items[n], &slots[i]);
        if (!known && process_alive(slots[i].process, slots[i].process_start))
            hr = add_view(v, &slots[i]);
    }
    section_close(directory);
    return hr;
}

_Static_assert(offsetof(struct counterset_record, generation) == 0 && offsetof(struct counterset_record, live) == 4,
               "a record may be recreated between the two copies");

/* If a record was recreated during the copy, marks its copy as not live. */
static void drop_torn(const uint8_t *section, const struct counterset_bytes *b)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (const struct counterset_record *r = NULL; (r = counterset_next(b, r));) {
        const size_t at = (size_t)((const uint8_t *)r - b->bytes);
        const struct counterset_record *now = (const struct counterset_record *)(const void *)(section + at);
        if (get(&now->generation) != r->generation)
            ((struct counterset_record *)r)->live = 0;
    }
}

HRESULT counterset_view_copy(struct counterset_views *v, size_t i, struct counterset_bytes *out)
{
    const struct counterset_head *head = section_memory(v->items[i].section);
    const uint32_t used = get(&head->version) == COUNTERSET_VERSION ? get(&head->used) : 0, words = used / 8;
    void *copy = v->copy;
    *out = (struct counterset_bytes){0};
    if (used > SECTION_BYTES)
        return S_OK;
    if (!memory_grow(&copy, &v->copy_capacity, words, sizeof *v->copy))
        return E_OUTOFMEMORY;
    v->copy = copy;
    /* Copy whole words, so that no value is torn. Copy them in ascending order, because drop_torn relies on that. */
    const _Atomic uint64_t *from = (const _Atomic uint64_t *)(const void *)head;
    for (uint32_t n = 0; n < words; n++)
        v->copy[n] = atomic_load_explicit(&from[n], memory_order_acquire);
    *out = (struct counterset_bytes){(const uint8_t *)v->copy, (size_t)words * 8};
    drop_torn((const uint8_t *)head, out);
    return S_OK;
}

void counterset_views_close(struct counterset_views *v)
{
    for (size_t i = 0; i < v->count; i++)
        section_close(v->items[i].section);
    memory_free(v->items);
    memory_free(v->copy);
    *v = (struct counterset_views){0};
}
