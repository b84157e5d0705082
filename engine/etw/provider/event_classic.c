/* SPDX-License-Identifier: MIT */
/* Classic providers (RegisterTraceGuids, TraceEvent, TraceMessage). A classic provider receives the handle of a session
   and writes to that session. The handle comes from StartTrace (directory_handle) or from a callback; both contain the
   logger id in the low 16 bits. */
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/event_write.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/trace_properties.h"

enum { HEADER = 48, INSTANCE_HEADER = 56, LOGGED_HEADER = 0x30, LOGGED_INSTANCE_HEADER = 0x48, MOST_CLASSES = 65536 };
enum { LOGGER_MASK = 0xFFFF /* the bits of a handle that contain the logger id */ };

/* ---- registration ---- */

/* A class of events with numbered instances. */
struct event_class {
    GUID guid;
    uint32_t last;
};
/* The classes of one registration, valid until the registration ends. */
struct class_block {
    struct class_block *next;
    uint64_t handle;
    uint32_t count;
    struct event_class of[];
};
static struct lock class_lock = LOCK_INIT;
static struct class_block *blocks;

/* Returns the class of a handle; NULL if the handle is invalid or its registration has ended. Call it under
   class_lock. */
static struct event_class *class_of(HANDLE handle)
{
    const uintptr_t at = (uintptr_t)handle;
    for (struct class_block *b = blocks; b; b = b->next) {
        const uintptr_t first = (uintptr_t)b->of;
        if (at >= first && at < first + b->count * sizeof *b->of && (at - first) % sizeof *b->of == 0)
            return &b->of[(at - first) / sizeof *b->of];
    }
    return NULL;
}

static void drop_classes(uint64_t handle)
{
    lock_enter(&class_lock);
    struct class_block **at = &blocks;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct class_block *b = *at;
    if (b)
        *at = b->next;
    lock_leave(&class_lock);
    memory_free(b);
}

static bool add_classes(uint64_t handle, uint32_t count, TRACE_GUID_REGISTRATION *classes)
{
    struct class_block *b = memory_zero(1, sizeof *b + count * sizeof *b->of);
    if (!b)
        return false;
    b->handle = handle;
    b->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (classes[i].Guid)
            b->of[i].guid = *classes[i].Guid;
        classes[i].RegHandle = &b->of[i];
    }
    lock_enter(&class_lock);
    b->next = blocks;
    blocks = b;
    lock_leave(&class_lock);
    return true;
}

static ULONG register_classic(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
                              TRACE_GUID_REGISTRATION *classes, TRACEHANDLE *handle)
{
    uint64_t made = 0;
    ULONG said = ERROR_SUCCESS;
    if (!callback || !control || !handle || count > MOST_CLASSES || (!classes && count != 0))
        return ERROR_INVALID_PARAMETER;
    const struct provider_options options = {
        .guid = *control, .classic_callback = callback, .context = context, .classic = true};
    ULONG status = trace_allowed(control, TRACE_RIGHT_REGISTER_GUIDS);
    if (status == ERROR_SUCCESS)
        status = provider_begin(&options, &made);
    if (status != ERROR_SUCCESS)
        return status;
    if (count != 0 && !add_classes(made, count, classes)) {
        struct provider_numbers numbers;
        (void)provider_end(made, true, &numbers);
        (void)provider_begun(made);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *handle = made;
    status = provider_join(made, control, true, &said);
    if (status != ERROR_SUCCESS) {
        drop_classes(made);
        *handle = 0;
    }
    return status != ERROR_SUCCESS ? status : said;
}

static ULONG with_last_error(ULONG status)
{
    thread_last_error(status);
    return status;
}

ULONG WINAPI RegisterTraceGuidsW(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
                                 TRACE_GUID_REGISTRATION *classes, LPCWSTR image, LPCWSTR resource, TRACEHANDLE *handle)
{
    (void)image, (void)resource; /* not used: both parameters name a resource that contains the schema */
    return with_last_error(register_classic(callback, context, control, count, classes, handle));
}

ULONG WINAPI RegisterTraceGuidsA(WMIDPREQUEST callback, PVOID context, LPCGUID control, ULONG count,
                                 TRACE_GUID_REGISTRATION *classes, const char *image, const char *resource,
                                 TRACEHANDLE *handle)
{
    (void)image, (void)resource;
    return with_last_error(register_classic(callback, context, control, count, classes, handle));
}

ULONG WINAPI UnregisterTraceGuids(TRACEHANDLE handle)
{
    const ULONG status = provider_part(handle, true);
    if (status == ERROR_SUCCESS && !process_is_ending())
        drop_classes(handle);
    return status == ERROR_INVALID_HANDLE ? ERROR_INVALID_PARAMETER : status;
}

/* ---- handles ---- */

static bool is_logger(uint64_t handle)
{
    const uint32_t logger = handle & LOGGER_MASK;
    return (logger != 0 && logger <= DIRECTORY_PLACES) || logger == DIRECTORY_KERNEL_LOGGER;
}

TRACEHANDLE WINAPI GetTraceLoggerHandle(PVOID buffer)
{
    const WNODE_HEADER *node = buffer;
    const ULONG status = !node                                 ? ERROR_INVALID_PARAMETER
                         : node->BufferSize < sizeof *node     ? ERROR_BAD_LENGTH
                         : !is_logger(node->HistoricalContext) ? ERROR_INVALID_HANDLE
                                                               : ERROR_SUCCESS;
    if (status == ERROR_SUCCESS)
        return node->HistoricalContext;
    thread_last_error(status);
    return INVALID_PROCESSTRACE_HANDLE;
}

UCHAR WINAPI GetTraceEnableLevel(TRACEHANDLE session)
{
    if (is_logger(session))
        return (UCHAR)(session >> 16);
    thread_last_error(ERROR_INVALID_HANDLE);
    return 0;
}

ULONG WINAPI GetTraceEnableFlags(TRACEHANDLE session)
{
    if (is_logger(session))
        return (ULONG)(session >> 32);
    thread_last_error(ERROR_INVALID_HANDLE);
    return 0;
}

/* ---- events ---- */

/* An event as it will be logged. */
struct classic_event {
    uint64_t first; /* first word of the header, without the size */
    GUID guid, parent_guid;
    uint32_t instance, parent;
    bool numbered;
    bool own_stamp;
    uint64_t stamp;
    uint32_t header; /* size of the logged header in bytes */
    uint32_t pieces;
    EVENT_DATA_DESCRIPTOR piece[MAX_MOF_FIELDS];
};

/* Reads what follows the caller's header (`own` bytes): either the data, or MOF_FIELDs that point to the data. */
static ULONG read_pieces(const void *event, uint32_t size, uint32_t own, uint32_t flags, struct classic_event *out)
{
    const uint8_t *at = (const uint8_t *)event + own;
    const uint32_t bytes = size - own;
    if ((flags & WNODE_FLAG_USE_MOF_PTR) == 0) {
        out->pieces = 1;
        out->piece[0] = (EVENT_DATA_DESCRIPTOR){.Ptr = (uintptr_t)at, .Size = bytes};
        return ERROR_SUCCESS;
    }
    if (bytes > MAX_MOF_FIELDS * sizeof(MOF_FIELD))
        return ERROR_INVALID_DATA;
    out->pieces = bytes / (uint32_t)sizeof(MOF_FIELD);
    for (uint32_t i = 0; i < out->pieces; i++) {
        MOF_FIELD field;
        memcpy(&field, at + i * sizeof field, sizeof field);
        out->piece[i] = (EVENT_DATA_DESCRIPTOR){.Ptr = field.DataPtr, .Size = field.Length};
    }
    return ERROR_SUCCESS;
}

/* Like event_place, for the session with this logger id, with two differences on failure: *status is
   ERROR_INVALID_HANDLE if the session has ended or does not exist, and ERROR_MORE_DATA if the event is too long for any
   session. */
static uint8_t *event_place_of_logger(struct provider_thread *t, uint32_t logger, uint64_t size, uint64_t *stamp,
                                      struct provider_session **session, ULONG *status)
{
    for (int tries = 0; tries < 2; tries++) {
        *session = provider_session_of(t, logger, tries != 0);
        uint8_t *at = *session ? event_place(*session, t, size, stamp, status) : NULL;
        if (at)
            return at;
        if (*session && *status != ERROR_SUCCESS) {
            *status = *status == ERROR_ARITHMETIC_OVERFLOW ? ERROR_MORE_DATA : *status;
            return NULL;
        }
    }
    *status = ERROR_INVALID_HANDLE;
    return NULL;
}

/* A call of TraceEvent or TraceEventInstance. */
struct classic_call {
    struct event_risk risk; /* must be the first member */
    uint64_t handle;
    const void *event;
    const EVENT_INSTANCE_INFO *instance, *parent;
    ULONG status;
};

static ULONG log_event(struct classic_call *call, const struct classic_event *e)
{
    struct provider_thread *t = call->risk.thread;
    ULONG status = ERROR_SUCCESS;
    uint64_t size = e->header, stamp;
    for (uint32_t i = 0; i < e->pieces; i++)
        size += e->piece[i].Size;
    struct provider_session *s;
    uint8_t *at = event_place_of_logger(t, call->handle & LOGGER_MASK, size, &stamp, &s, &status);
    if (!at)
        return status;
    event_risk_place(&call->risk, at, size);
    if (e->own_stamp)
        stamp = e->stamp;
    memcpy(at + 8, &t->ids, 8);
    memcpy(at + 0x10, &stamp, 8);
    memcpy(at + 0x18, &e->guid, 16);
    memset(at + 0x28, 0, 8);
    if (e->numbered) {
        memcpy(at + 0x30, &e->instance, 4);
        memcpy(at + 0x34, &e->parent, 4);
        memcpy(at + 0x38, &e->parent_guid, 16);
    }
    uint8_t *to = at + e->header;
    for (uint32_t i = 0; i < e->pieces; i++)
        (void)event_copy_bounded(&to, at + size, e->piece[i].Ptr, e->piece[i].Size, event_under_guard);
    session_commit(at, size | e->first | (e->own_stamp ? SESSION_OWN_STAMP : 0));
    return ERROR_SUCCESS;
}

/* Marks the thread as inside (provider_enter) during a call of `log`. Only `log` reads the program's memory. */
static ULONG log_inside(struct classic_call *call, void (*log)(void *call))
{
    struct provider_thread *t = provider_thread_own();
    if (!t)
        return ERROR_NOT_ENOUGH_MEMORY;
    call->risk.thread = t;
    provider_enter(t);
    const bool good = event_risk_call(log, &call->risk);
    provider_leave(t);
    return good ? call->status : ERROR_NOACCESS;
}

/* Returns the first word of the logged header. Type, level and version have the same offsets as in the caller's
   header. */
static uint64_t first_word(const void *header, uint32_t type)
{
    uint32_t class_word;
    memcpy(&class_word, (const uint8_t *)header + 4, sizeof class_word);
    return (uint64_t)(0xC000 | type) << 16 | (uint64_t)class_word << 32;
}

/* The kernel logger does not accept events from programs. */
static bool may_write(uint64_t handle)
{
    return is_logger(handle) && (handle & LOGGER_MASK) != DIRECTORY_KERNEL_LOGGER;
}

static ULONG log_classic(struct classic_call *call)
{
    const EVENT_TRACE_HEADER *event = call->event;
    if (event->Size < HEADER)
        return ERROR_INVALID_PARAMETER;
    if (!may_write(call->handle))
        return ERROR_INVALID_HANDLE;
    if ((event->Flags & (WNODE_FLAG_TRACED_GUID | WNODE_FLAG_LOG_WNODE)) == 0)
        return ERROR_INVALID_FLAG_NUMBER;
    struct classic_event e = {.first = first_word(event, BY_POINTER(0x14, 0x0A)),
                              .own_stamp = (event->Flags & WNODE_FLAG_USE_TIMESTAMP) != 0,
                              .header = LOGGED_HEADER};
    memcpy(&e.stamp, &event->TimeStamp, sizeof e.stamp);
    if ((event->Flags & WNODE_FLAG_USE_GUID_PTR) == 0)
        e.guid = event->Guid;
    else if (event->GuidPtr == 0)
        return ERROR_INVALID_PARAMETER;
    else
        memcpy(&e.guid, (const void *)(uintptr_t)event->GuidPtr, sizeof e.guid);
    const ULONG status = read_pieces(event, event->Size, HEADER, event->Flags, &e);
    return status == ERROR_SUCCESS ? log_event(call, &e) : status;
}

static void call_log_classic(void *call)
{
    struct classic_call *c = call;
    c->status = log_classic(c);
}

ULONG WINAPI TraceEvent(TRACEHANDLE session, EVENT_TRACE_HEADER *event)
{
    struct classic_call call = {.handle = session, .event = event};
    return event ? log_inside(&call, call_log_classic) : ERROR_INVALID_PARAMETER;
}

static bool read_instance(const EVENT_INSTANCE_INFO *from, GUID *guid, uint32_t *number)
{
    /* Read the structure only once. The read can fault, so it must take place before the lock is taken. */
    const EVENT_INSTANCE_INFO info = *(const volatile EVENT_INSTANCE_INFO *)from;
    lock_enter(&class_lock);
    const struct event_class *c = class_of(info.RegHandle);
    if (c)
        *guid = c->guid;
    lock_leave(&class_lock);
    *number = info.InstanceId;
    return c != NULL;
}

static ULONG log_instance(struct classic_call *call)
{
    const EVENT_INSTANCE_HEADER *event = call->event;
    const EVENT_INSTANCE_INFO *parent = call->parent;
    if (event->Size < INSTANCE_HEADER || !call->instance->RegHandle)
        return ERROR_INVALID_PARAMETER;
    if (!may_write(call->handle))
        return ERROR_INVALID_HANDLE;
    if ((event->Flags & WNODE_FLAG_TRACED_GUID) == 0)
        return ERROR_INVALID_FLAGS;
    struct classic_event e = {.first = first_word(event, BY_POINTER(0x15, 0x0B)),
                              .numbered = true,
                              .own_stamp = (event->Flags & WNODE_FLAG_USE_TIMESTAMP) != 0,
                              .header = LOGGED_INSTANCE_HEADER};
    memcpy(&e.stamp, &event->TimeStamp, sizeof e.stamp);
    if (!read_instance(call->instance, &e.guid, &e.instance) ||
        (parent && parent->RegHandle && !read_instance(parent, &e.parent_guid, &e.parent)))
        return ERROR_INVALID_PARAMETER;
    const ULONG status = read_pieces(event, event->Size, INSTANCE_HEADER, event->Flags, &e);
    return status == ERROR_SUCCESS ? log_event(call, &e) : status;
}

static void call_log_instance(void *call)
{
    struct classic_call *c = call;
    c->status = log_instance(c);
}

ULONG WINAPI TraceEventInstance(TRACEHANDLE session, EVENT_INSTANCE_HEADER *event, EVENT_INSTANCE_INFO *instance,
                                EVENT_INSTANCE_INFO *parent)
{
    struct classic_call call = {.handle = session, .event = event, .instance = instance, .parent = parent};
    return event && instance ? log_inside(&call, call_log_instance) : ERROR_INVALID_PARAMETER;
}

ULONG WINAPI CreateTraceInstanceId(HANDLE class_handle, EVENT_INSTANCE_INFO *instance)
{
    if (!class_handle || !instance)
        return ERROR_INVALID_PARAMETER;
    uint32_t number = 0;
    lock_enter(&class_lock);
    struct event_class *c = class_of(class_handle);
    if (c) {
        if (++c->last == 0)
            c->last = 1;
        number = c->last;
    }
    lock_leave(&class_lock);
    if (number == 0)
        return ERROR_INVALID_PARAMETER;
    instance->RegHandle = class_handle;
    instance->InstanceId = number;
    return ERROR_SUCCESS;
}

/* ---- messages ---- */

/* WPP's macros call TraceMessage. A message has a header of optional parts, and arguments whose meaning is in a TMF
   file. On disk, a message begins with u16 size, 0x00, 0x90, u16 number, u16 flags. Each of these parts follows if its
   flag is set: u32 sequence, GUID or u32 component, i64 time, u32 thread and u32 process. The arguments come last. */

enum { HEAD = 8, POINTER_FLAG = BY_POINTER(0x80, 0x40) };
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

/* Returns the total size of the arguments, which are pairs of an address and a size_t, ended by a NULL address. */
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
    struct event_risk risk; /* must be the first member */
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
    /* The number is taken only here, where it is certain that the event will be written. */
    if ((flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        const uint32_t sequence = next_number(s);
        (void)add(to_sequence, &sequence, sizeof sequence);
    }
    session_commit(at,
                   size | UINT64_C(0x9000) << 16 | (uint64_t)m->number << 32 | (uint64_t)(flags | POINTER_FLAG) << 48);
}

ULONG TraceMessageVa(TRACEHANDLE session, ULONG flags, LPCGUID guid, USHORT number, va_list arguments)
{
    const uint32_t logger = session & LOGGER_MASK;
    if (logger == 0 || logger > DIRECTORY_PLACES) /* excludes the kernel logger */
        return ERROR_INVALID_HANDLE;
    flags &= ~(ULONG)(0x40 | 0x80); /* the pointer size is set here, not by the caller */
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
