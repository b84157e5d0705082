/* SPDX-License-Identifier: MIT */
/* EventRegister, EventWrite and related functions. Most events belong to a provider that a single session enables, and
   consist of a header and data. They take the short path in this file; event_items.c contains the long path. */
#include "engine/etw/provider/event_write.h"

#include "engine/base/thread.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/trace_properties.h"

/* Bytes 2 and 3 of an EVENT_HEADER. */
#define HEADER_MARKS (UINT64_C(0xC000) | BY_POINTER(0x13, 0x12))

static bool is_over(const struct provider_session *s, const struct provider_thread *t)
{
    const uint32_t processor = t->writer.processor < s->buffers.processors ? t->writer.processor : 0;
    return session_load(&s->buffers.processor[processor].word) == SESSION_STOPPED;
}

/* Used for EVENT_TRACE_BLOCKING_MODE. Waits as long as the host process is running. After the host process has exited,
   the process that recovers the session stops the session, which ends the wait. */
static uint8_t *wait_for_place(struct provider_session *s, struct provider_thread *t, uint32_t bytes, uint64_t *stamp)
{
    enum { YIELDS = 1000, PAUSE_MS = 1 };
    for (uint32_t tries = 0; !is_over(s, t); tries++) {
        uint8_t *at = session_try_reserve(&s->buffers, &t->writer, bytes, stamp);
        if (at)
            return at;
        if (tries < YIELDS)
            thread_yield();
        else
            thread_sleep(PAUSE_MS);
    }
    return NULL;
}

__attribute__((noinline)) uint8_t *event_place_late(struct provider_session *s, struct provider_thread *t,
                                                    uint64_t size, uint64_t *stamp, ULONG *status)
{
    const uint64_t bytes = (size + 7) & ~UINT64_C(7);
    *status = bytes > EVENT_MOST_BYTES ? ERROR_ARITHMETIC_OVERFLOW
              : bytes > s->most_event  ? ERROR_MORE_DATA
                                       : ERROR_SUCCESS;
    if (*status != ERROR_SUCCESS) {
        session_count_lost(&s->buffers, &t->writer);
        return NULL;
    }
    uint8_t *at = (s->mode & TRACE_MODE_BLOCKING) != 0 && !t->never_waits
                      ? wait_for_place(s, t, (uint32_t)bytes, stamp)
                      : session_reserve_late(&s->buffers, &t->writer, (uint32_t)bytes, stamp);
    if (!at && !is_over(s, t))
        *status = ERROR_NOT_ENOUGH_MEMORY;
    return at;
}

void event_abandon(uint8_t *at, uint64_t size)
{
    const uint32_t bytes = (uint32_t)(size + 7) & ~7u;
    atomic_store_explicit(session_first_word(at), session_event_open(SESSION_EVENT_TORN, bytes, 0, 0),
                          memory_order_release);
}

static void leave_risk(void *risk)
{
    const struct event_risk *r = risk;
    if (r->at)
        event_abandon(r->at, r->size);
    provider_leave(r->thread);
}

bool event_risk_call(void (*call)(void *risk), struct event_risk *risk)
{
    if (guard_call(call, risk, GUARD_TAKES_BAD_ADDRESSES, leave_risk))
        return true;
    if (risk->at)
        event_abandon(risk->at, risk->size);
    return false;
}

/* On the short path, the context of a guarded read is the reserved place. Until a place is reserved, the context is
   this variable. The short path has no stack frame, so it cannot have a larger context. */
static uint8_t no_place;

void guard_left(void *context)
{
    uint8_t *at = context;
    struct provider_thread *t = thread_slot();
    /* session_try_reserve has stored the size of the place in its first word. */
    if (at != &no_place)
        event_abandon(at, session_load(session_first_word(at)) & 0xFFFF);
    if (t)
        provider_leave(t);
}

static inline __attribute__((always_inline)) ULONG write_plain(const struct provider_enables *e,
                                                               struct provider_thread *t,
                                                               const EVENT_DESCRIPTOR *descriptor, const GUID *activity,
                                                               uint32_t count, const EVENT_DATA_DESCRIPTOR *data)
{
    const struct provider_enable *to = &e->of[0];
    ULONG status = ERROR_SUCCESS;
    uint64_t size = EVENT_HEADER_BYTES, stamp;
    if (!event_is_wanted(to, descriptor))
        return ERROR_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes;
        if (!guard_read_32(&data[i].Size, &bytes, &no_place))
            return ERROR_NOACCESS;
        size += bytes;
    }
    uint8_t *at = event_place(to->session, t, size, &stamp, &status);
    if (__builtin_expect(!at, 0))
        return status;
    const uint64_t none = 0;
    memcpy(at + 8, &t->ids, 8);
    memcpy(at + 16, &stamp, 8);
    memcpy(at + 24, &e->guid, 16);
    memcpy(at + 56, &none, 8);
    uint8_t *to_data = at + EVENT_HEADER_BYTES, *const end = at + size;
    bool good = guard_copy_16(at + 40, (const uint8_t *)descriptor, at) &&
                guard_copy_16(at + 64, (const uint8_t *)(activity ? activity : &t->activity), at);
    for (uint32_t i = 0; good && i < count; i++) {
        uint64_t from;
        uint32_t bytes;
        good = guard_read_64(&data[i].Ptr, &from, at) && guard_read_32(&data[i].Size, &bytes, at) &&
               event_copy_bounded(&to_data, end, from, bytes, (struct event_reads){true, at});
    }
    if (__builtin_expect(!good, 0)) {
        event_abandon(at, size);
        return ERROR_NOACCESS;
    }
    session_commit(at, size | HEADER_MARKS << 16 | (uint64_t)to->session->header_flags << 32);
    return ERROR_SUCCESS;
}

/* Marks the thread as inside, and returns the registration's current enable settings. Returns NULL if the registration
   is no longer enabled. */
static inline __attribute__((always_inline)) const struct provider_enables *
enter(struct registration *r, uint64_t handle, struct provider_thread *t)
{
    provider_enter(t);
    const struct provider_enables *e = atomic_load_explicit(&r->enables, memory_order_acquire);
    return __builtin_expect(e != NULL && e->handle == handle, 1) ? e : NULL;
}

static bool are_data(uint32_t count, const EVENT_DATA_DESCRIPTOR *data)
{
    return count <= MAX_EVENT_DATA_DESCRIPTORS && (data || count == 0);
}

/* Writes an event by the long path, for a registration that may be enabled. */
static __attribute__((noinline)) ULONG write_long(struct registration *r, const struct event_call *call)
{
    if (!are_data(call->count, call->data))
        return ERROR_INVALID_PARAMETER;
    struct provider_thread *t = provider_thread_own();
    if (!t)
        return ERROR_NOT_ENOUGH_MEMORY;
    const struct provider_enables *e = enter(r, call->handle, t);
    const ULONG status = e ? event_write_general(e, t, call) : ERROR_SUCCESS;
    provider_leave(t);
    return status;
}

/* 32-bit programs have no individually guarded reads. */
#if defined _WIN32 && !defined _WIN64
#define SHORT_WAY false
#else
#define SHORT_WAY true
#endif

/* Writes an event by the short path. Returns false if the event needs the long path. */
static inline __attribute__((always_inline)) bool write_short(struct registration *r, uint64_t handle,
                                                              const EVENT_DESCRIPTOR *descriptor, const GUID *activity,
                                                              uint32_t count, const EVENT_DATA_DESCRIPTOR *data,
                                                              ULONG *status)
{
    struct provider_thread *t = thread_slot();
    if (!SHORT_WAY || __builtin_expect(!t || !are_data(count, data), 0))
        return false;
    const struct provider_enables *e = enter(r, handle, t);
    const bool plain = e && e->plain;
    if (__builtin_expect(plain, 1))
        *status = write_plain(e, t, descriptor, activity, count, data);
    provider_leave(t);
    return plain;
}

/* Performs the checks at which most calls end, in Windows' order. If *r is NULL, the returned status is final. */
static inline __attribute__((always_inline)) ULONG find(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor,
                                                        struct registration **r)
{
    *r = NULL;
    if (!descriptor)
        return ERROR_INVALID_PARAMETER;
    struct registration *found = registration_of(handle);
    if (!found)
        return ERROR_INVALID_HANDLE;
    if (__builtin_expect(registration_may_pass(found, descriptor->Level, descriptor->Keyword), 0))
        *r = found;
    return ERROR_SUCCESS;
}

/* A separate function, so that the short path needs no stack frame. */
static __attribute__((noinline)) ULONG write_long_data(struct registration *r, REGHANDLE handle,
                                                       const EVENT_DESCRIPTOR *descriptor, const GUID *activity,
                                                       ULONG count, EVENT_DATA_DESCRIPTOR *data, const void *from)
{
    const struct event_call call = {
        .handle = handle, .descriptor = descriptor, .data = data, .count = count, .activity = activity, .from = from};
    return write_long(r, &call);
}

/* This is a separate function, so that a call that ends at the checks executes little code. The function has no buffer
   on its stack, so it needs no stack protector. */
static __attribute__((noinline, no_stack_protector)) ULONG write_wanted(struct registration *r, REGHANDLE handle,
                                                                        const EVENT_DESCRIPTOR *descriptor,
                                                                        const GUID *activity, ULONG count,
                                                                        EVENT_DATA_DESCRIPTOR *data, const void *from)
{
    ULONG status;
    if (__builtin_expect(write_short(r, handle, descriptor, activity, count, data, &status), 1))
        return status;
    return write_long_data(r, handle, descriptor, activity, count, data, from);
}

ULONG WINAPI EventWrite(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count, EVENT_DATA_DESCRIPTOR *data)
{
    struct registration *r;
    const ULONG status = find(handle, descriptor, &r);
    if (!r)
        return status;
    return write_wanted(r, handle, descriptor, NULL, count, data, __builtin_return_address(0));
}

/* Scenarios belong to Windows' own diagnostics; here these functions write ordinary events. */
ULONG WINAPI EventWriteStartScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                                     EVENT_DATA_DESCRIPTOR *data)
{
    return EventWrite(handle, descriptor, count, data);
}

ULONG WINAPI EventWriteEndScenario(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count,
                                   EVENT_DATA_DESCRIPTOR *data)
{
    return EventWrite(handle, descriptor, count, data);
}

ULONG WINAPI EventWriteEx(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG64 filter, ULONG flags,
                          LPCGUID activity, LPCGUID related, ULONG count, EVENT_DATA_DESCRIPTOR *data)
{
    struct registration *r;
    const ULONG status = find(handle, descriptor, &r);
    if (!r)
        return status;
    if (!related && filter == 0 && flags == 0)
        return write_wanted(r, handle, descriptor, activity, count, data, __builtin_return_address(0));
    const struct event_call call = {handle,  descriptor, data,  count, activity,
                                    related, filter,     flags, 0,     __builtin_return_address(0)};
    return write_long(r, &call);
}

ULONG WINAPI EventWriteTransfer(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, LPCGUID activity, LPCGUID related,
                                ULONG count, EVENT_DATA_DESCRIPTOR *data)
{
    struct registration *r;
    const ULONG status = find(handle, descriptor, &r);
    if (!r)
        return status;
    if (!related)
        return write_wanted(r, handle, descriptor, activity, count, data, __builtin_return_address(0));
    const struct event_call call = {handle,  descriptor, data, count, activity,
                                    related, 0,          0,    0,     __builtin_return_address(0)};
    return write_long(r, &call);
}

struct text {
    const WCHAR *start;
    uint32_t bytes; /* bytes of the text with its NUL */
};

static void measure_text(void *argument)
{
    struct text *text = argument;
    text->bytes = sizeof(WCHAR);
    for (const WCHAR *end = text->start; *end && text->bytes <= EVENT_MOST_BYTES; end++)
        text->bytes += (uint32_t)sizeof(WCHAR);
}

ULONG WINAPI EventWriteString(REGHANDLE handle, UCHAR level, ULONGLONG keyword, LPCWSTR string)
{
    const EVENT_DESCRIPTOR descriptor = {.Level = level, .Keyword = keyword};
    struct registration *r;
    const ULONG status = find(handle, string ? &descriptor : NULL, &r);
    if (!r)
        return status;
    struct text text = {string, 0};
    if (!guard_call(measure_text, &text, GUARD_TAKES_BAD_ADDRESSES, NULL))
        return ERROR_NOACCESS;
    const EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)string, .Size = text.bytes};
    const struct event_call call = {.handle = handle,
                                    .descriptor = &descriptor,
                                    .data = &data,
                                    .count = 1,
                                    .header_flags = ETW_HEADER_STRING_ONLY,
                                    .from = __builtin_return_address(0)};
    return write_long(r, &call);
}

BOOLEAN WINAPI EventEnabled(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor)
{
    struct registration *r = registration_of(handle);
    return r && descriptor && registration_may_pass(r, descriptor->Level, descriptor->Keyword);
}

BOOLEAN WINAPI EventProviderEnabled(REGHANDLE handle, UCHAR level, ULONGLONG keyword)
{
    struct registration *r = registration_of(handle);
    return r && registration_may_pass(r, level, keyword);
}

/* ---- activities ---- */

/* Returns an activity id that is unique on this host OS. The id consists of a counter, which this process increments
   for each id, and the identity of the process. */
static GUID new_activity(const struct provider_thread *t)
{
    static _Atomic uint64_t last;
    static _Atomic uint64_t start;
    uint64_t words[2] = {atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1,
                         atomic_load_explicit(&start, memory_order_relaxed)};
    GUID out;
    if (words[1] == 0) {
        words[1] = process_start_time((uint32_t)(t->ids >> 32));
        atomic_store_explicit(&start, words[1], memory_order_relaxed);
    }
    words[1] = words[1] * UINT64_C(0x9E3779B97F4A7C15) << 32 | t->ids >> 32;
    memcpy(&out, words, sizeof out);
    return out;
}

ULONG WINAPI EventActivityIdControl(ULONG code, GUID *activity)
{
    if (!activity || code < EVENT_ACTIVITY_CTRL_GET_ID || code > EVENT_ACTIVITY_CTRL_CREATE_SET_ID)
        return ERROR_INVALID_PARAMETER;
    struct provider_thread *t = provider_thread_own();
    if (!t)
        return ERROR_NOT_ENOUGH_MEMORY;
    const GUID old = t->activity;
    switch (code) {
    case EVENT_ACTIVITY_CTRL_SET_ID:
        t->activity = *activity;
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_CREATE_ID:
        *activity = new_activity(t);
        return ERROR_SUCCESS;
    case EVENT_ACTIVITY_CTRL_GET_SET_ID:
        t->activity = *activity;
        break;
    case EVENT_ACTIVITY_CTRL_CREATE_SET_ID:
        t->activity = new_activity(t);
        break;
    default:
        break;
    }
    *activity = old;
    return ERROR_SUCCESS;
}

/* ---- registrations ---- */

ULONG WINAPI EventRegister(LPCGUID guid, PENABLECALLBACK callback, PVOID context, REGHANDLE *handle)
{
    ULONG said;
    uint64_t made = 0;
    if (handle)
        *handle = 0;
    if (!guid || !handle || (context && !callback))
        return ERROR_INVALID_PARAMETER;
    if (process_is_ending())
        return ERROR_SUCCESS; /* success with handle 0, for which all other functions do nothing */
    const struct provider_options options = {.guid = *guid, .callback = callback, .context = context};
    ULONG status = trace_allowed(guid, TRACE_RIGHT_REGISTER_GUIDS);
    if (status == ERROR_SUCCESS)
        status = provider_begin(&options, &made);
    if (status != ERROR_SUCCESS)
        return status;
    *handle = made; /* the callback may already write events */
    status = provider_join(made, guid, false, &said);
    if (status != ERROR_SUCCESS)
        *handle = 0;
    return status;
}

ULONG WINAPI EventUnregister(REGHANDLE handle)
{
    return handle == 0 ? ERROR_SUCCESS : provider_part(handle, false);
}

static ULONG set_traits(REGHANDLE handle, const void *traits, ULONG length)
{
    GUID group;
    bool has_group;
    const ULONG status = provider_set_traits(handle, traits, length, &group, &has_group);
    if (status == ERROR_SUCCESS)
        provider_publish_name(handle, (const char *)traits + sizeof(USHORT)); /* the name follows the total size */
    return status == ERROR_SUCCESS && has_group ? provider_join_group(handle, &group) : status;
}

ULONG WINAPI EventSetInformation(REGHANDLE handle, EVENT_INFO_CLASS info_class, PVOID information, ULONG length)
{
    if (handle == 0 || !registration_of(handle) || (!information && length != 0))
        return ERROR_INVALID_PARAMETER;
    switch ((int)info_class) {
    case ETW_INFO_BINARY_TRACK: /* the path of the module is not used */
        return length <= 1 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    case ETW_INFO_TRAITS:
        return length != 0 ? set_traits(handle, information, length) : ERROR_INVALID_PARAMETER;
    case ETW_INFO_DESCRIPTOR_TYPE:
        return length == 1 ? provider_set_typed(handle, *(const uint8_t *)information != 0) : ERROR_INVALID_PARAMETER;
    default:
        return ERROR_NOT_SUPPORTED;
    }
}
