/* SPDX-License-Identifier: MIT */
/* The long path for writing an event. It writes to several sessions, applies filters, and adds extended items after the
   header. On disk an item is {u16 size rounded up to 8, u16 type, u16 bit 0 = another follows, u16 size of the data,
   data}. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/provider/event_write.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/little_endian.h"

#define HEADER_MARKS (UINT64_C(0xC000) | BY_POINTER(0x13, 0x12))

/* The extended items, in the order in which they are written. */
enum item {
    ADD_RELATED,
    ADD_SID,
    ADD_TS_ID,
    ADD_STACK,
    ADD_EVENT_KEY,
    ADD_TRAITS,
    ADD_SCHEMA,
    ADD_START_KEY,
    ADD_CONTROL,
    ITEMS
};
static const uint16_t item_types[ITEMS] = {
    [ADD_RELATED] = ETW_ITEM_RELATED_ACTIVITY,
    [ADD_SID] = ETW_ITEM_SID,
    [ADD_TS_ID] = ETW_ITEM_TS_ID,
    [ADD_STACK] = BY_POINTER(ETW_ITEM_STACK_64, ETW_ITEM_STACK_32),
    [ADD_EVENT_KEY] = ETW_ITEM_EVENT_KEY,
    [ADD_TRAITS] = ETW_ITEM_TRAITS,
    [ADD_SCHEMA] = ETW_ITEM_SCHEMA_TL,
    [ADD_START_KEY] = ETW_ITEM_PROCESS_START_KEY,
    [ADD_CONTROL] = ETW_ITEM_CONTROL_GUID,
};
/* Each row names an item, and the enable property with which a session requests the item. */
static const struct {
    uint32_t property;
    enum item item;
} asked_for[] = {
    {EVENT_ENABLE_PROPERTY_SID, ADD_SID},
    {EVENT_ENABLE_PROPERTY_TS_ID, ADD_TS_ID},
    {EVENT_ENABLE_PROPERTY_STACK_TRACE, ADD_STACK},
    {EVENT_ENABLE_PROPERTY_EVENT_KEY, ADD_EVENT_KEY},
    {EVENT_ENABLE_PROPERTY_PROCESS_START_KEY, ADD_START_KEY},
};

enum { ITEM_HEAD = 8, MOST_FRAMES = 192, FRAMES_OF_OURS = 16 };

struct event {
    const struct provider_enables *e;
    const struct event_call *call;
    struct filter_event filter;
    uint64_t data_bytes;
    uint8_t *whole;       /* the event's data in one piece, for filters; NULL: no filter has needed them yet */
    const uint8_t *stamp; /* time stamp of the caller; NULL: none */
    uint32_t always;      /* bits of the items that all sessions receive */
    uint32_t known;       /* bits of the items that were created */
    uint64_t item_bytes[ITEMS];
    const uint8_t *item[ITEMS]; /* NULL: the item consists of pieces of the call's data */
    uint8_t sid[THREAD_MOST_SID];
    uint32_t ts_id;
    uint64_t event_key, start_key;
    uint64_t stack[1 + MOST_FRAMES + FRAMES_OF_OURS];
};

/* A session that receives the event. */
struct copy {
    const struct provider_enable *to;
    uint32_t items;
    uint64_t size, stamp;
    uint8_t *at;
};

static enum etw_data_type type_of(const struct event *event, uint32_t i)
{
    const uint8_t type = (uint8_t)event->call->data[i].Reserved;
    return event->e->typed && type <= ETW_DATA_TIMESTAMP ? (enum etw_data_type)type : ETW_DATA;
}

static void add_item(struct event *event, enum item item, const void *bytes, uint64_t size)
{
    event->item[item] = bytes;
    event->item_bytes[item] = size;
    event->known |= 1u << item;
}

/* Classifies the data of the call. Returns false if the caller's time stamp is invalid. */
static bool read_data(struct event *event)
{
    uint64_t bytes[ETW_DATA_TIMESTAMP + 1] = {0};
    for (uint32_t i = 0; i < event->call->count; i++) {
        const EVENT_DATA_DESCRIPTOR *data = &event->call->data[i];
        const enum etw_data_type type = type_of(event, i);
        const uint8_t *at = (const uint8_t *)(uintptr_t)data->Ptr;
        if (type == ETW_DATA_TIMESTAMP) {
            if (data->Size != 8 || !at)
                return false;
            event->stamp = at;
        } else if (type == ETW_DATA_EVENT_METADATA && bytes[type] == 0) {
            (void)trace_logging_name(at, data->Size, &event->filter);
        }
        bytes[type] += data->Size;
    }
    event->data_bytes = bytes[ETW_DATA];
    if (bytes[ETW_DATA_PROVIDER_METADATA] != 0)
        add_item(event, ADD_TRAITS, NULL, bytes[ETW_DATA_PROVIDER_METADATA]);
    else if (event->e->traits_size != 0)
        add_item(event, ADD_TRAITS, event->e->traits, event->e->traits_size);
    if (bytes[ETW_DATA_EVENT_METADATA] != 0)
        add_item(event, ADD_SCHEMA, NULL, bytes[ETW_DATA_EVENT_METADATA]);
    if (event->call->related)
        add_item(event, ADD_RELATED, event->call->related, sizeof(GUID));
    if (event->e->decodes)
        add_item(event, ADD_CONTROL, &event->e->control, sizeof(GUID));
    event->always = event->known;
    return true;
}

/* Returns the event's data in one piece, for payload filters. */
static const uint8_t *whole_data(void *context, size_t *size)
{
    struct event *event = context;
    size_t at = 0;
    *size = (size_t)event->data_bytes;
    if (event->whole || *size > EVENT_MOST_BYTES)
        return event->whole;
    uint8_t *whole = event->whole = memory_zero(*size + 1, 1);
    for (uint32_t i = 0; whole && i < event->call->count; i++) {
        const EVENT_DATA_DESCRIPTOR *data = &event->call->data[i];
        const uint32_t bytes = data->Size;
        if (type_of(event, i) != ETW_DATA || bytes > *size - at)
            continue;
        memcpy(whole + at, (const uint8_t *)(uintptr_t)data->Ptr, bytes);
        at += bytes;
    }
    return whole;
}

/* Captures the stack, starting with the caller of the API function. */
static void make_stack(struct event *event)
{
    uint64_t *frames = event->stack + 1;
    uint32_t count = thread_own_stack(frames, MOST_FRAMES + FRAMES_OF_OURS), skip = 0;
    while (skip < count && frames[skip] != (uintptr_t)event->call->from)
        skip++;
    if (skip == count)
        skip = 0; /* the caller was not found: keep all frames */
    count = count - skip < MOST_FRAMES ? count - skip : MOST_FRAMES;
    event->stack[0] = 0; /* MatchId 0: the stack has no second part */
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t frame = frames[skip + i];
        if (sizeof(void *) == 8) {
            frames[i] = frame;
        } else {
            const uint32_t narrow = (uint32_t)frame;
            memcpy((uint8_t *)frames + sizeof narrow * i, &narrow, sizeof narrow);
        }
    }
    add_item(event, ADD_STACK, event->stack, 8 + (uint64_t)count * sizeof(void *));
}

/* Creates an item once for all sessions. Returns false if the item is not available; the event is then written without
   it. */
static bool make_item(struct event *event, enum item item)
{
    if ((event->known & 1u << item) != 0)
        return true;
    switch (item) {
    case ADD_SID: {
        const uint32_t size = thread_own_sid(event->sid);
        if (size == 0)
            return false;
        add_item(event, ADD_SID, event->sid, size);
        break;
    }
    case ADD_TS_ID:
        event->ts_id = process_own_session();
        add_item(event, ADD_TS_ID, &event->ts_id, sizeof event->ts_id);
        break;
    case ADD_STACK:
        make_stack(event);
        break;
    case ADD_EVENT_KEY:
        event->event_key = provider_event_key();
        add_item(event, ADD_EVENT_KEY, &event->event_key, sizeof event->event_key);
        break;
    case ADD_START_KEY:
        event->start_key = provider_start_key();
        add_item(event, ADD_START_KEY, &event->start_key, sizeof event->start_key);
        break;
    default:
        return false;
    }
    return true;
}

static uint32_t items_for(struct event *event, const struct provider_enable *to)
{
    uint32_t items = event->always;
    for (size_t i = 0; i < sizeof asked_for / sizeof *asked_for; i++) {
        const enum item item = asked_for[i].item;
        if ((to->property & asked_for[i].property) != 0 &&
            (item != ADD_STACK || provider_filter_wants_stack(to->filter, &event->filter)) && make_item(event, item))
            items |= 1u << item;
    }
    return items;
}

static bool is_wanted(const struct event *event, const struct provider_enable *to)
{
    const struct event_call *call = event->call;
    return event_is_wanted(to, call->descriptor) && (to->instance & call->filter) == 0 &&
           ((call->flags & ETW_WRITE_INPRIVATE) == 0 ||
            (to->property & EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE) == 0) &&
           (!to->selects || provider_filter_passes(to->filter, &event->filter));
}

/* Selects the sessions that receive the event, each once, ordered by logger. All writers use the same order, so writers
   that wait for places in several sessions cannot deadlock. */
static uint32_t event_choose_sessions(struct event *event, struct copy *copies)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < event->e->count; i++) {
        const struct provider_enable *to = &event->e->of[i];
        bool have = false;
        for (uint32_t k = 0; k < count; k++)
            have = have || copies[k].to->session == to->session;
        if (have || !is_wanted(event, to))
            continue;
        uint32_t at = count++;
        for (; at > 0 && copies[at - 1].to->session->logger > to->session->logger; at--)
            copies[at] = copies[at - 1];
        struct copy *c = &copies[at];
        *c = (struct copy){.to = to, .items = items_for(event, to)};
        c->size = EVENT_HEADER_BYTES + event->data_bytes;
        for (uint32_t item = 0; item < ITEMS; item++)
            if ((c->items & 1u << item) != 0)
                c->size += (ITEM_HEAD + event->item_bytes[item] + 7) & ~UINT64_C(7);
    }
    return count;
}

/* Copies the pieces of the call's data whose type is `type`. */
static uint8_t *copy_pieces(const struct event *event, enum etw_data_type type, uint8_t *to, const uint8_t *end)
{
    for (uint32_t i = 0; i < event->call->count; i++)
        if (type_of(event, i) == type)
            (void)event_copy_bounded(&to, end, event->call->data[i].Ptr, event->call->data[i].Size, event_under_guard);
    return to;
}

static uint8_t *write_item(const struct event *event, enum item item, bool more, uint8_t *at)
{
    const uint64_t size = event->item_bytes[item], whole = (ITEM_HEAD + size + 7) & ~UINT64_C(7);
    put_u16(at, (uint16_t)whole);
    put_u16(at + 2, item_types[item]);
    put_u16(at + 4, more);
    put_u16(at + 6, (uint16_t)size);
    if (event->item[item])
        (void)event_copy(at + ITEM_HEAD, event->item[item], size, event_under_guard);
    else
        (void)copy_pieces(event, item == ADD_TRAITS ? ETW_DATA_PROVIDER_METADATA : ETW_DATA_EVENT_METADATA,
                          at + ITEM_HEAD, at + ITEM_HEAD + size);
    return at + whole;
}

static void write_copy(const struct event *event, struct provider_thread *t, const struct copy *c)
{
    const struct event_call *call = event->call;
    uint16_t flags = (uint16_t)(c->to->session->header_flags | call->header_flags);
    uint64_t marks = HEADER_MARKS << 16;
    uint64_t stamp = c->stamp;
    /* In private sessions, the header contains this time in place of the kernel and user times. */
    const uint64_t time = (flags & ETW_HEADER_PRIVATE_SESSION) != 0 ? provider_processor_time(t) : 0;
    if (event->stamp) {
        memcpy(&stamp, event->stamp, sizeof stamp);
        marks |= SESSION_OWN_STAMP;
    }
    flags |=
        (uint16_t)((c->items != 0 ? ETW_HEADER_EXTENDED_INFO : 0) | (event->e->decodes ? ETW_HEADER_DECODE_GUID : 0));
    uint8_t *at = c->at;
    memcpy(at + 8, &t->ids, 8);
    memcpy(at + 16, &stamp, 8);
    memcpy(at + 24, &event->e->guid, 16);
    memcpy(at + 40, call->descriptor, 16);
    memcpy(at + 56, &time, 8);
    memcpy(at + 64, call->activity ? call->activity : &t->activity, 16);
    uint8_t *to = at + EVENT_HEADER_BYTES;
    for (uint32_t left = c->items; left != 0; left &= left - 1)
        to = write_item(event, (enum item)__builtin_ctz(left), (left & (left - 1)) != 0, to);
    (void)copy_pieces(event, ETW_DATA, to, at + c->size);
    session_commit(at, c->size | marks | (uint64_t)flags << 32);
}

static bool is_independent(const struct copy *c)
{
    return (c->to->session->mode & TRACE_MODE_INDEPENDENT) != 0;
}

/* Reserves places in all sessions, first in those in which the thread may have to wait. Returns the first error. */
static ULONG take_places(struct copy *copies, uint32_t count, struct provider_thread *t)
{
    ULONG first = ERROR_SUCCESS;
    for (int waits = 1; waits >= 0; waits--)
        for (uint32_t i = 0; i < count; i++) {
            struct copy *c = &copies[i];
            ULONG status = ERROR_SUCCESS;
            if (((c->to->session->mode & TRACE_MODE_BLOCKING) != 0) != (waits != 0))
                continue;
            c->at = event_place(c->to->session, t, c->size, &c->stamp, &status);
            if (first == ERROR_SUCCESS && !is_independent(c))
                first = status;
        }
    return first;
}

struct general {
    struct event event;
    struct provider_thread *thread;
    ULONG status;
    uint32_t count; /* number of copies; a copy with `at` set has a reserved place that is not written yet */
    struct copy copy[PROVIDER_MOST_ENABLES];
};

static void write_all(void *argument)
{
    struct general *g = argument;
    if (!read_data(&g->event)) {
        g->status = ERROR_INVALID_PARAMETER;
        return;
    }
    g->count = event_choose_sessions(&g->event, g->copy);
    g->status = take_places(g->copy, g->count, g->thread);
    atomic_signal_fence(memory_order_seq_cst); /* from here on, an exception handler finds the places */
    for (uint32_t i = 0; i < g->count; i++) {
        struct copy *c = &g->copy[i];
        if (!c->at)
            continue;
        if (g->status == ERROR_SUCCESS || is_independent(c)) {
            write_copy(&g->event, g->thread, c);
        } else {
            /* The event is written either to all sessions or to none. */
            event_abandon(c->at, c->size);
            session_count_lost(&c->to->session->buffers, &g->thread->writer);
        }
        c->at = NULL;
        atomic_signal_fence(memory_order_seq_cst);
    }
}

static void abandon_all(struct general *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->copy[i].at)
            event_abandon(g->copy[i].at, g->copy[i].size);
}

static void leave_all(void *argument)
{
    struct general *g = argument;
    abandon_all(g);
    memory_free(g->event.whole);
    provider_leave(g->thread);
}

__attribute__((noinline)) ULONG event_write_general(const struct provider_enables *e, struct provider_thread *t,
                                                    const struct event_call *call)
{
    struct general g;
    g.thread = t;
    g.count = 0;
    g.event.e = e;
    g.event.call = call;
    g.event.filter = (struct filter_event){.descriptor = call->descriptor, .data = whole_data, .context = &g.event};
    g.event.whole = NULL;
    g.event.stamp = NULL;
    g.event.known = 0;
    const bool good = guard_call(write_all, &g, GUARD_TAKES_BAD_ADDRESSES, leave_all);
    if (!good)
        abandon_all(&g);
    memory_free(g.event.whole);
    return good ? g.status : ERROR_NOACCESS;
}
