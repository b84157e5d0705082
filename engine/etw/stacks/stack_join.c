/* SPDX-License-Identifier: MIT */
/* Joins the stacks in a trace with their events. Each event with a stack has a record (struct match). While a part of a
   record is missing, its field is a link in a list of records: either the records that wait for the definition of the
   same key, or the records that wait for the user part of the same thread. A field is in at most one list, and its
   value is a node of the tree only if it is in no list. Lists end with LIST_END, so a field with 0 is in no list, and
   its part is missing. */
#include "engine/etw/stack_join.h"

#include "engine/base/memory.h"
#include "engine/etw/id_map.h"
#include "engine/etw/stacks/match_sort.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

enum { STACK = 32, KEY_DELETE = 35, KEY_RUNDOWN, KEY_KERNEL, KEY_USER }; /* types of StackWalk events */
enum { STACK_HEAD = 16 }; /* bytes of time stamp, process and thread, before addresses or a key */
enum { ITEM_STACK_KEY_32 = 17, ITEM_STACK_KEY_64 = 18, CLR_STACK_WALK = 82 };
enum {
    MOST_MATCHES = 8 << 20,
    MOST_NODES = 4 << 20,
    MOST_KEYS = 1 << 20,
    MOST_THREADS = 1 << 20,
    FIRST_RECENT = 256,
    /* Maximum number of events that a stack can still belong to: about 30 ms at 2 million events a second. */
    MOST_RECENT = 1 << 16,
};
#define NO_THREAD UINT32_MAX
#define LIST_END  UINT32_MAX
static const GUID stack_walk = {0xDEF2FE46, 0x7BD6, 0x4B80, {0xBD, 0x94, 0xF5, 0x7F, 0xE2, 0x0D, 0x0C, 0xE3}};
static const GUID clr_runtime = {0xE13C0D23, 0xCCBC, 0x4E12, {0x93, 0x1B, 0xD9, 0xCC, 0x2E, 0xEE, 0x27, 0xE4}};
/* Events that were added when traces were merged. They have the time of the event that they describe, but never have a
   stack. */
static const GUID explanations[] = {
    {0xB3E675D7, 0x2554, 0x4F18, {0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE}}, /* ImageID */
    {0xBBCCF6C1, 0x6CD1, 0x48C4, {0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71}}, /* EventMetadata */
    {0x9B79EE91, 0xB5FD, 0x41C0, {0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0}}, /* SystemConfigEx */
};

struct recent {
    int64_t stamp;
    uint64_t number;
    uint32_t thread, match; /* `match`: index of the event's record + 1; 0: no stack yet */
    uint16_t processor;
};
struct thread_state {
    uint32_t waiting; /* list of the thread's records without a user part, linked by the field `user` */
    uint64_t clr;     /* number of the thread's latest CLR event without a stack; 0: no such event */
};
struct source {
    struct recent *recent; /* a ring */
    size_t begin, count, capacity;
    struct id_map kernel_keys, user_keys; /* key + 1 -> first record of a list, which is linked by `kernel` or `user` */
    struct id_map threads;                /* thread id + 1 -> struct thread_state */
    struct id_map pairs;                  /* match id -> record, for events whose two stack parts are separate */
};

struct stack_joiner {
    struct stack_tree tree;
    struct match *matches;
    size_t count, capacity;
    size_t cursor; /* position of the second pass */
    struct source *sources;
    size_t source_count;
    struct stack_counts counts;
    bool no_memory;
    uint64_t frames[STACK_MOST_FRAMES];
};

HRESULT stack_joiner_create(size_t inputs, struct stack_joiner **out)
{
    struct stack_joiner *j = *out = memory_zero(1, sizeof *j);
    if (j)
        j->sources = memory_zero(inputs + 1, sizeof *j->sources);
    if (!j || !j->sources) {
        stack_joiner_free(j);
        *out = NULL;
        return E_OUTOFMEMORY;
    }
    j->tree.most = MOST_NODES;
    j->source_count = inputs ? inputs : 1;
    for (size_t i = 0; i < j->source_count; i++) {
        struct source *s = &j->sources[i];
        s->kernel_keys.item_size = s->user_keys.item_size = s->pairs.item_size = sizeof(uint32_t);
        s->threads.item_size = sizeof(struct thread_state);
    }
    return S_OK;
}

bool stack_is_carrier(const EVENT_RECORD *r)
{
    return guid_equal(&r->EventHeader.ProviderId, &stack_walk) ||
           (r->EventHeader.EventDescriptor.Id == CLR_STACK_WALK &&
            guid_equal(&r->EventHeader.ProviderId, &clr_runtime));
}

/* ---- records ---- */

/* Adds a record and returns its index + 1. Returns 0 if memory runs out or the limit was reached. */
static uint32_t match_add(struct stack_joiner *j, uint64_t number, uint32_t process, uint32_t thread)
{
    if (j->count >= MOST_MATCHES) {
        j->counts.refused++;
        return 0;
    }
    if (j->count == j->capacity) {
        const size_t capacity = j->capacity ? j->capacity + j->capacity / 2 : 64;
        struct match *matches = memory_resize(j->matches, capacity * sizeof *matches);
        if (!matches) {
            j->no_memory = true;
            return 0;
        }
        j->matches = matches;
        j->capacity = capacity;
    }
    j->matches[j->count] = (struct match){.number = number, .process = process, .thread = thread};
    return (uint32_t)++j->count;
}

static uint32_t *match_part(struct stack_joiner *j, uint32_t match, bool kernel)
{
    struct match *m = &j->matches[match - 1];
    return kernel ? &m->kernel : &m->user;
}

static struct thread_state *thread_state(struct stack_joiner *j, struct source *s, uint32_t thread)
{
    const uint64_t key = (uint64_t)thread + 1;
    struct thread_state *t = id_map_find(&s->threads, key);
    if (t || s->threads.count >= MOST_THREADS)
        return t;
    t = id_map_put(&s->threads, key);
    j->no_memory = j->no_memory || !t;
    return t;
}

/* Adds the record to the list of records whose kernel part (`kernel`) or user part waits for the definition of the
   key. */
static void match_refer(struct stack_joiner *j, struct source *s, uint32_t match, bool kernel, uint64_t key)
{
    struct id_map *keys = kernel ? &s->kernel_keys : &s->user_keys;
    uint32_t *head = key + 1 != 0 ? id_map_find(keys, key + 1) : NULL;
    if (!head && (key + 1 == 0 || keys->count >= MOST_KEYS)) {
        j->counts.refused++;
        return;
    }
    if (!head && !(head = id_map_put(keys, key + 1))) {
        j->no_memory = true;
        return;
    }
    *match_part(j, match, kernel) = *head != 0 ? *head : LIST_END;
    *head = match;
}

/* Sets the node in all records that wait for the key. If `node` is 0, the definition is missing. */
static void keys_resolve(struct stack_joiner *j, uint32_t head, bool kernel, uint32_t node)
{
    for (uint32_t match = head; match != 0 && match != LIST_END;) {
        uint32_t *part = match_part(j, match, kernel);
        match = *part;
        *part = node;
        j->counts.unresolved += node == 0;
    }
}

/* ---- parts of stacks ---- */

/* A part of a stack as it arrives: either frames or a key. */
struct part {
    bool exists, keyed;
    uint64_t key;
    uint32_t node;
};
struct arrival {
    int64_t stamp;
    uint32_t process, thread;
    uint16_t processor;
    struct part kernel, user;
};

/* Sets the kernel part (`kernel`) or the user part of the record, unless the record already has this part. */
static void match_set(struct stack_joiner *j, struct source *s, uint32_t match, bool kernel, const struct part *p)
{
    if (*match_part(j, match, kernel) != 0)
        return;
    if (p->keyed)
        match_refer(j, s, match, kernel, p->key);
    else
        *match_part(j, match, kernel) = p->node;
}

/* A user part of the thread has arrived. Sets it in all records of the thread that wait for a user part, that is, whose
   kernel parts have arrived since the thread's last user part. */
static bool thread_close(struct stack_joiner *j, struct source *s, uint32_t thread, const struct part *user)
{
    struct thread_state *t = id_map_find(&s->threads, (uint64_t)thread + 1);
    if (!t || t->waiting == 0)
        return false;
    for (uint32_t match = t->waiting; match != LIST_END;) {
        uint32_t *part = match_part(j, match, false);
        const uint32_t next = *part;
        *part = 0;
        match_set(j, s, match, false, user);
        match = next;
    }
    t->waiting = 0;
    return true;
}

static void thread_wait(struct stack_joiner *j, struct source *s, uint32_t match, const struct arrival *a)
{
    /* Threads of the idle process and of the system process never run in user mode, so no user part will arrive. */
    struct thread_state *t = a->process == 0 || a->process == 4 ? NULL : thread_state(j, s, a->thread);
    if (t) {
        *match_part(j, match, false) = t->waiting != 0 ? t->waiting : LIST_END;
        t->waiting = match;
    }
}

/* Returns how well the event matches the stack; 0: not at all. Events without a thread id can belong to any thread. The
   kernel part is the first part of an event's stack. A user part that arrives alone can be the second part. */
static unsigned recent_fit(const struct recent *r, const struct arrival *a)
{
    const bool expected = (r->match == 0) == a->kernel.exists;
    if (r->thread == a->thread)
        return expected ? 8 : 6;
    if (r->thread == NO_THREAD)
        return (expected ? 4 : 2) + (r->processor == a->processor);
    return r->match == 0 && r->processor == a->processor;
}

static struct recent *recent_at(const struct source *s, size_t i)
{
    return &s->recent[(s->begin + i) & (s->capacity - 1)];
}

/* Returns the index of the first event that is not older than the stamp. Most stacks belong to one of the latest
   events, so the search begins there and doubles its steps; a binary search over all events would read memory that is
   no longer in the processor's cache. */
static size_t recent_first(const struct source *s, int64_t stamp)
{
    size_t low = 0, high = s->count;
    for (size_t step = 1; high - low > step; step *= 2) {
        if (recent_at(s, high - step)->stamp < stamp) {
            low = high - step + 1;
            break;
        }
        high -= step;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (recent_at(s, middle)->stamp < stamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the event that matches the stack best, or NULL if no event matches. */
static struct recent *recent_find(const struct source *s, const struct arrival *a)
{
    size_t low = recent_first(s, a->stamp);
    struct recent *best = NULL;
    unsigned best_fit = 0;
    for (; low < s->count && recent_at(s, low)->stamp == a->stamp; low++) {
        const unsigned fit = recent_fit(recent_at(s, low), a);
        if (fit > best_fit) {
            best = recent_at(s, low);
            best_fit = fit;
        }
    }
    return best;
}

static void joiner_take_arrival(struct stack_joiner *j, struct source *s, const struct arrival *a)
{
    j->counts.parts++;
    const bool closed = a->user.exists && thread_close(j, s, a->thread, &a->user);
    struct recent *r = recent_find(s, a);
    if (!r) {
        j->counts.unmatched += !closed;
        return;
    }
    if (r->match == 0)
        r->match = match_add(j, r->number, a->process, a->thread);
    if (r->match == 0)
        return;
    const bool first = a->kernel.exists && *match_part(j, r->match, true) == 0;
    if (first)
        match_set(j, s, r->match, true, &a->kernel);
    if (a->user.exists)
        match_set(j, s, r->match, false, &a->user);
    else if (first && *match_part(j, r->match, false) == 0)
        thread_wait(j, s, r->match, a);
}

static uint32_t pointer_size_of(const EVENT_RECORD *r, uint32_t of_trace)
{
    if (r->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER)
        return 4;
    return r->EventHeader.Flags & EVENT_HEADER_FLAG_64_BIT_HEADER ? 8 : of_trace;
}

/* Reads addresses up to the first 0, and returns their number. */
static size_t read_frames(struct stack_joiner *j, const uint8_t *at, size_t size, uint32_t width)
{
    size_t count = 0;
    for (; size - count * width >= width && count < STACK_MOST_FRAMES; count++) {
        j->frames[count] = width == 4 ? get_u32(at + 4 * count) : get_u64(at + 8 * count);
        if (j->frames[count] == 0)
            break;
    }
    return count;
}

/* Adds `count` frames from index `from` on to the tree, and returns their innermost node. Returns 0 if memory runs out
   or the limit was reached. */
static uint32_t frames_add(struct stack_joiner *j, size_t from, size_t count)
{
    const uint64_t refused = j->tree.refused;
    const uint32_t node = stack_tree_add_stack(&j->tree, 0, j->frames + from, count);
    if (node == 0 && count != 0) {
        j->counts.refused++;
        j->no_memory = j->no_memory || j->tree.refused == refused;
    }
    return node;
}

/* Returns the number of kernel frames, which come first. */
static size_t kernel_frames(const struct stack_joiner *j, size_t count, uint32_t width)
{
    size_t kernel = 0;
    while (kernel < count && stack_in_kernel(j->frames[kernel], width))
        kernel++;
    return kernel;
}

static struct arrival arrival_of(const EVENT_RECORD *r)
{
    const uint8_t *data = r->UserData;
    return (struct arrival){.stamp = (int64_t)get_u64(data),
                            .process = get_u32(data + 8),
                            .thread = get_u32(data + 12),
                            .processor = r->BufferContext.ProcessorIndex};
}

static void take_addresses(struct stack_joiner *j, struct source *s, const EVENT_RECORD *r, uint32_t width)
{
    const uint8_t *data = r->UserData;
    struct arrival a = arrival_of(r);
    const size_t count = read_frames(j, data + STACK_HEAD, r->UserDataLength - (size_t)STACK_HEAD, width);
    const size_t kernel = kernel_frames(j, count, width);
    a.kernel.node = frames_add(j, 0, kernel);
    a.kernel.exists = a.kernel.node != 0;
    a.user.node = frames_add(j, kernel, count - kernel);
    a.user.exists = a.user.node != 0;
    if (a.kernel.exists || a.user.exists)
        joiner_take_arrival(j, s, &a);
}

static void take_key(struct stack_joiner *j, struct source *s, const EVENT_RECORD *r, uint32_t width, bool kernel)
{
    const uint8_t *data = r->UserData;
    struct arrival a = arrival_of(r);
    *(kernel ? &a.kernel : &a.user) = (struct part){
        .exists = true, .keyed = true, .key = width == 4 ? get_u32(data + STACK_HEAD) : get_u64(data + STACK_HEAD)};
    joiner_take_arrival(j, s, &a);
}

/* Handles the definition of a key. It is a kernel stack if its last (outermost) address is a kernel address. */
static void take_definition(struct stack_joiner *j, struct source *s, const EVENT_RECORD *r, uint32_t width)
{
    const uint8_t *data = r->UserData;
    if (r->UserDataLength < 2 * width)
        return;
    const uint64_t key = width == 4 ? get_u32(data) : get_u64(data);
    const size_t count = read_frames(j, data + width, r->UserDataLength - (size_t)width, width);
    if (count == 0 || key + 1 == 0)
        return;
    const bool kernel = stack_in_kernel(j->frames[count - 1], width);
    struct id_map *keys = kernel ? &s->kernel_keys : &s->user_keys;
    const uint32_t *head = id_map_find(keys, key + 1);
    if (!head)
        return;
    const uint32_t first = *head, node = frames_add(j, 0, count);
    id_map_remove(keys, key + 1);
    keys_resolve(j, first, kernel, node);
}

static void take_stack_walk(struct stack_joiner *j, struct source *s, const EVENT_RECORD *r, uint32_t width)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    const bool whole = r->UserDataLength >= STACK_HEAD + width;
    switch (type) {
    case STACK:
        if (whole)
            take_addresses(j, s, r, width);
        return;
    case KEY_KERNEL:
    case KEY_USER:
        if (whole)
            take_key(j, s, r, width, type == KEY_KERNEL);
        return;
    case KEY_DELETE:
    case KEY_RUNDOWN:
        take_definition(j, s, r, width);
        return;
    default:
        return;
    }
}

/* Handles a CLRStackWalk event, which belongs to the latest CLR event on its thread. */
static void take_clr_stack(struct stack_joiner *j, struct source *s, const EVENT_RECORD *r, uint32_t width)
{
    enum { HEAD = 8 };
    struct thread_state *t = id_map_find(&s->threads, (uint64_t)r->EventHeader.ThreadId + 1);
    j->counts.parts++;
    if (r->UserDataLength < HEAD || !t || t->clr == 0) {
        j->counts.unmatched++;
        return;
    }
    const size_t room = (r->UserDataLength - (size_t)HEAD) / width;
    const uint32_t declared = get_u32((const uint8_t *)r->UserData + 4);
    const size_t count =
        read_frames(j, (const uint8_t *)r->UserData + HEAD, (declared < room ? declared : room) * width, width);
    const uint32_t node = frames_add(j, 0, count);
    const uint32_t match = node ? match_add(j, t->clr, r->EventHeader.ProcessId, r->EventHeader.ThreadId) : 0;
    if (match != 0)
        *match_part(j, match, false) = node;
    t->clr = 0; /* an event gets only one stack */
}

/* ---- stacks in the event itself ---- */

/* Returns the record for a stack in the event itself. If the two parts of the stack are in two events, both events have
   the same match id, and the second event completes the record of the first. */
static uint32_t item_match(struct stack_joiner *j, struct source *s, const struct trace_event *e, uint64_t id)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    uint32_t *first = id != 0 ? id_map_find(&s->pairs, id) : NULL;
    if (first) {
        const uint32_t match = *first;
        id_map_remove(&s->pairs, id);
        return match;
    }
    const uint32_t match = match_add(j, e->number, h->ProcessId, h->ThreadId);
    if (match != 0 && id != 0 && s->pairs.count < MOST_KEYS) {
        first = id_map_put(&s->pairs, id);
        if (first)
            *first = match;
        else
            j->no_memory = true;
    }
    return match;
}

static bool take_item(struct stack_joiner *j, struct source *s, const struct trace_event *e,
                      const EVENT_HEADER_EXTENDED_DATA_ITEM *item)
{
    const bool keyed = item->ExtType == ITEM_STACK_KEY_32 || item->ExtType == ITEM_STACK_KEY_64;
    const uint32_t width = item->ExtType == ETW_ITEM_STACK_32 || item->ExtType == ITEM_STACK_KEY_32 ? 4 : 8;
    const uint8_t *data = (const uint8_t *)(uintptr_t)item->DataPtr;
    if (item->DataSize < 8 + width)
        return false;
    j->counts.parts++;
    const uint32_t match = item_match(j, s, e, get_u64(data));
    if (match == 0)
        return false;
    if (keyed) {
        /* The definition will show whether the key belongs to a kernel stack or a user stack. */
        const struct part part = {true, true, width == 4 ? get_u32(data + 8) : get_u64(data + 8), 0};
        match_set(j, s, match, true, &part);
        match_set(j, s, match, false, &part);
        return true;
    }
    const size_t count = read_frames(j, data + 8, item->DataSize - (size_t)8, width);
    const size_t kernel = kernel_frames(j, count, e->pointer_size);
    if (kernel != 0)
        match_set(j, s, match, true, &(struct part){.node = frames_add(j, 0, kernel)});
    if (kernel < count)
        match_set(j, s, match, false, &(struct part){.node = frames_add(j, kernel, count - kernel)});
    return true;
}

static bool take_items(struct stack_joiner *j, struct source *s, const struct trace_event *e)
{
    const EVENT_RECORD *r = e->record;
    for (USHORT i = 0; i < r->ExtendedDataCount; i++) {
        const uint16_t type = r->ExtendedData[i].ExtType;
        if (type == ETW_ITEM_STACK_32 || type == ETW_ITEM_STACK_64 || type == ITEM_STACK_KEY_32 ||
            type == ITEM_STACK_KEY_64)
            return take_item(j, s, e, &r->ExtendedData[i]);
    }
    return false;
}

/* ---- the first pass ---- */

static bool is_explanation(const GUID *provider)
{
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (guid_equal(provider, &explanations[i]))
            return true;
    return false;
}

/* Doubles the ring and moves its first event to the beginning. */
static bool recent_grow(struct source *s)
{
    const size_t capacity = s->capacity ? 2 * s->capacity : FIRST_RECENT;
    struct recent *ring = memory_alloc(capacity * sizeof *ring);
    if (!ring)
        return false;
    for (size_t i = 0; i < s->count; i++)
        ring[i] = *recent_at(s, i);
    memory_free(s->recent);
    s->recent = ring;
    s->capacity = capacity;
    s->begin = 0;
    return true;
}

static void recent_put(struct stack_joiner *j, struct source *s, const struct trace_event *e)
{
    if (s->count == s->capacity && s->capacity < MOST_RECENT && !recent_grow(s)) {
        j->no_memory = true;
        return;
    }
    if (s->count == s->capacity)
        s->begin = (s->begin + 1) & (s->capacity - 1);
    else
        s->count++;
    *recent_at(s, s->count - 1) = (struct recent){.stamp = e->record->EventHeader.TimeStamp.QuadPart,
                                                  .number = e->number,
                                                  .thread = e->record->EventHeader.ThreadId,
                                                  .processor = e->record->BufferContext.ProcessorIndex};
}

HRESULT stack_joiner_take(struct stack_joiner *j, const struct trace_event *e)
{
    const EVENT_RECORD *r = e->record;
    if (!e->known || e->input >= j->source_count)
        return S_OK;
    struct source *s = &j->sources[e->input];
    const uint32_t width = pointer_size_of(r, e->pointer_size);
    const bool classic = (r->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
    if (classic) {
        if (guid_equal(&r->EventHeader.ProviderId, &stack_walk))
            take_stack_walk(j, s, r, width);
        else if (!is_explanation(&r->EventHeader.ProviderId))
            recent_put(j, s, e);
    } else if (guid_equal(&r->EventHeader.ProviderId, &clr_runtime)) {
        if (r->EventHeader.EventDescriptor.Id == CLR_STACK_WALK) {
            take_clr_stack(j, s, r, width);
        } else {
            struct thread_state *t = thread_state(j, s, r->EventHeader.ThreadId);
            if (t)
                t->clr = take_items(j, s, e) ? 0 : e->number;
        }
    } else if (r->ExtendedDataCount != 0) {
        (void)take_items(j, s, e);
    }
    return j->no_memory ? E_OUTOFMEMORY : S_OK;
}

static void source_finish(struct stack_joiner *j, struct source *s)
{
    size_t at = 0;
    for (const uint32_t *head; (head = id_map_next(&s->kernel_keys, &at, NULL));)
        keys_resolve(j, *head, true, 0);
    at = 0;
    for (const uint32_t *head; (head = id_map_next(&s->user_keys, &at, NULL));)
        keys_resolve(j, *head, false, 0);
    at = 0;
    for (const struct thread_state *t; (t = id_map_next(&s->threads, &at, NULL));)
        for (uint32_t match = t->waiting; match != 0 && match != LIST_END;) {
            uint32_t *part = match_part(j, match, false);
            match = *part;
            *part = 0;
        }
    id_map_free(&s->kernel_keys);
    id_map_free(&s->user_keys);
    id_map_free(&s->threads);
    id_map_free(&s->pairs);
    memory_free(s->recent);
    s->recent = NULL;
    s->count = s->begin = s->capacity = 0;
}

void stack_joiner_finish(struct stack_joiner *j, struct stack_counts *counts)
{
    for (size_t i = 0; i < j->source_count; i++)
        source_finish(j, &j->sources[i]);
    match_sort(j->matches, j->count);
    /* If an event has several records, only the first one counts, because each number is looked up only once. */
    j->counts.joined = 0;
    for (size_t i = 0; i < j->count; i++)
        j->counts.joined += (j->matches[i].kernel | j->matches[i].user) != 0 &&
                            (i == 0 || j->matches[i].number != j->matches[i - 1].number);
    *counts = j->counts;
}

/* ---- the second pass ---- */

static struct event_stack match_stack(const struct match *m)
{
    return (struct event_stack){.process = m->process, .thread = m->thread, .kernel = m->kernel, .user = m->user};
}

bool stack_joiner_find(struct stack_joiner *j, uint64_t number, struct event_stack *out)
{
    while (j->cursor < j->count && j->matches[j->cursor].number < number)
        j->cursor++;
    if (j->cursor >= j->count || j->matches[j->cursor].number != number)
        return false;
    const struct match *m = &j->matches[j->cursor];
    *out = match_stack(m);
    return (m->kernel | m->user) != 0;
}

bool stack_joiner_ahead(const struct stack_joiner *j, size_t ahead, struct event_stack *out)
{
    if (ahead >= j->count - j->cursor)
        return false;
    *out = match_stack(&j->matches[j->cursor + ahead]);
    return true;
}

const struct stack_tree *stack_joiner_tree(const struct stack_joiner *j)
{
    return &j->tree;
}

void stack_joiner_free(struct stack_joiner *j)
{
    if (!j)
        return;
    for (size_t i = 0; j->sources && i < j->source_count; i++) {
        struct source *s = &j->sources[i];
        id_map_free(&s->kernel_keys);
        id_map_free(&s->user_keys);
        id_map_free(&s->threads);
        id_map_free(&s->pairs);
        memory_free(s->recent);
    }
    memory_free(j->sources);
    memory_free(j->matches);
    stack_tree_free(&j->tree);
    memory_free(j);
}

size_t stack_frames(const struct stack_tree *t, const struct event_stack *stack, uint64_t frames[STACK_MOST_FRAMES])
{
    size_t count = 0;
    for (uint32_t node = stack->kernel; node != 0 && count < STACK_MOST_FRAMES; node = stack_tree_parent(t, node))
        frames[count++] = stack_tree_value(t, node);
    for (uint32_t node = stack->user; node != 0 && count < STACK_MOST_FRAMES; node = stack_tree_parent(t, node))
        frames[count++] = stack_tree_value(t, node);
    return count;
}
