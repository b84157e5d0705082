/* SPDX-License-Identifier: MIT */
/* TraceMessage, which WPP's macros call: a header of chosen parts, and arguments whose meaning a file beside the
   program tells. Bytes on disk: u16 size, 0x00, 0x90, u16 number, u16 flags; then, by the flags, u32 sequence, GUID or
   u32 component, i64 time, u32 thread, u32 process; the arguments. */
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/event_write.h"
#include "engine/etw/provider/provider_sessions.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/trace_properties.h"

enum { HEAD = 8, POINTER_FLAG = BY_POINTER(0x80, 0x40), LOGGER_MASK = 0xFFFF };
enum { TIMES = TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP };
enum {
    KNOWN_FLAGS =
        TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID | TIMES | TRACE_MESSAGE_SYSTEMINFO
};

static uint64_t header_bytes(uint32_t flags)
{
    return HEAD + ((flags & TRACE_MESSAGE_SEQUENCE) != 0 ? 4u : 0) + ((flags & TRACE_MESSAGE_GUID) != 0 ? 16u : 0) +
           ((flags & TRACE_MESSAGE_COMPONENTID) != 0 ? 4u : 0) + ((flags & TIMES) != 0 ? 8u : 0) +
           ((flags & TRACE_MESSAGE_SYSTEMINFO) != 0 ? 8u : 0);
}

/* Pairs of an address and a size_t, up to an address that is NULL. */
static uint64_t argument_bytes(va_list arguments)
{
    va_list list;
    uint64_t bytes = 0;
    va_copy(list, arguments);
    while (va_arg(list, const void *)) {
        const uint64_t size = va_arg(list, size_t);
        bytes = size > EVENT_MOST_BYTES || bytes > EVENT_MOST_BYTES ? UINT32_MAX : bytes + size;
    }
    va_end(list);
    return bytes;
}

static uint32_t next_number(const struct provider_session *s)
{
    if ((s->mode & TRACE_MODE_GLOBAL_SEQUENCE) != 0)
        return provider_next_sequence();
    return (s->mode & TRACE_MODE_LOCAL_SEQUENCE) != 0 ? session_next_sequence(&s->buffers) : 0;
}

static uint8_t *add(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

struct message {
    struct event_risk risk; /* first */
    uint32_t logger, flags;
    const void *id;
    uint16_t number;
    ULONG status;
    va_list arguments;
};

static void log_message(void *argument)
{
    struct message *m = argument;
    const struct provider_thread *t = m->risk.thread;
    const uint32_t flags = m->flags;
    const void *id = m->id;
    uint64_t stamp;
    const uint64_t size = header_bytes(flags) + argument_bytes(m->arguments);
    struct provider_session *s;
    uint8_t *at = event_place_of_logger(m->risk.thread, m->logger, size, &stamp, &s, &m->status);
    if (!at)
        return;
    event_risk_place(&m->risk, at, size);
    uint8_t *to = at + HEAD, *const end = at + size;
    uint8_t *const to_sequence = to;
    if ((flags & TRACE_MESSAGE_SEQUENCE) != 0)
        to += sizeof(uint32_t);
    if ((flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID)) != 0)
        to = add(to, id, (flags & TRACE_MESSAGE_GUID) != 0 ? sizeof(GUID) : sizeof(uint32_t));
    if ((flags & TIMES) != 0)
        to = add(to, &stamp, sizeof stamp);
    if ((flags & TRACE_MESSAGE_SYSTEMINFO) != 0)
        to = add(to, &t->ids, sizeof t->ids);
    for (const void *from; (from = va_arg(m->arguments, const void *)) != NULL;) {
        const size_t bytes = va_arg(m->arguments, size_t);
        (void)event_copy_bounded(&to, end, (uintptr_t)from, bytes, event_under_guard);
    }
    if ((flags & TRACE_MESSAGE_SEQUENCE) != 0) { /* only now is it sure that there will be such an event */
        const uint32_t sequence = next_number(s);
        (void)add(to_sequence, &sequence, sizeof sequence);
    }
    session_commit(at,
                   size | UINT64_C(0x9000) << 16 | (uint64_t)m->number << 32 | (uint64_t)(flags | POINTER_FLAG) << 48);
}

ULONG TraceMessageVa(TRACEHANDLE session, ULONG flags, LPCGUID guid, USHORT number, va_list arguments)
{
    const uint32_t logger = session & LOGGER_MASK;
    if (logger == 0 || logger > DIRECTORY_PLACES) /* the kernel logger among them */
        return ERROR_INVALID_HANDLE;
    flags &= ~(ULONG)(0x40 | 0x80); /* how long pointers are is ours to say */
    if ((flags & ~(ULONG)KNOWN_FLAGS) != 0 ||
        (flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID)) ==
            (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID) ||
        ((flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID)) != 0 && !guid))
        return ERROR_INVALID_PARAMETER;
    struct provider_thread *t = provider_thread_own();
    if (!t)
        return ERROR_NOT_ENOUGH_MEMORY;
    struct message m = {
        .risk.thread = t, .logger = logger, .flags = flags, .id = guid, .number = number, .status = ERROR_SUCCESS};
    va_copy(m.arguments, arguments);
    provider_enter(t);
    const bool good = event_risk_call(log_message, &m.risk);
    provider_leave(t);
    va_end(m.arguments);
    return good ? m.status : ERROR_NOACCESS;
}

ULONG TraceMessage(TRACEHANDLE session, ULONG flags, LPCGUID guid, TRACE_MESSAGE_NUMBER number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    const ULONG status = TraceMessageVa(session, flags, guid, (USHORT)number, arguments);
    va_end(arguments);
    return status;
}
