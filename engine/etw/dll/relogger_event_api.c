/* SPDX-License-Identifier: MIT */
/* ITraceEvent: an event that a program may hold and change. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/win32/unknown.h"
#include "engine/etw/consumer/relogger.h"
#include "engine/etw/dll/relogger_com.h"

static const IID iid_trace_event = {0x8CC97F40, 0x9028, 0x4FF3, {0x9B, 0x62, 0x7D, 0x1F, 0x79, 0xCA, 0x7B, 0xCB}};

struct event_object {
    trace_event_interface face;
    LONG references;
    struct relogged_event event;
};

static struct event_object *object_of(trace_event_interface *face)
{
    return (struct event_object *)face;
}

static EVENT_HEADER *header_of(trace_event_interface *face)
{
    return &object_of(face)->event.record.EventHeader;
}

static HRESULT WINAPI query(trace_event_interface *face, REFIID iid, void **out)
{
    return unknown_query(face, &iid_trace_event, iid, out);
}

static ULONG WINAPI add_reference(trace_event_interface *face)
{
    return (ULONG)InterlockedIncrement(&object_of(face)->references);
}

static ULONG WINAPI release(trace_event_interface *face)
{
    struct event_object *o = object_of(face);
    const LONG left = InterlockedDecrement(&o->references);
    if (left == 0) {
        relogged_event_free(&o->event);
        memory_free(o);
        relogger_objects(-1);
    }
    return (ULONG)left;
}

static HRESULT WINAPI clone(trace_event_interface *face, trace_event_interface **out)
{
    if (!out)
        return E_POINTER;
    *out = relogger_event_create(&object_of(face)->event.record);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT WINAPI get_user_context(trace_event_interface *face, void **out)
{
    if (!out)
        return E_POINTER;
    *out = object_of(face)->event.record.UserContext;
    return S_OK;
}

static HRESULT WINAPI get_record(trace_event_interface *face, EVENT_RECORD **out)
{
    if (!out)
        return E_POINTER;
    *out = &object_of(face)->event.record;
    return S_OK;
}

static HRESULT WINAPI set_payload(trace_event_interface *face, BYTE *payload, ULONG size)
{
    return relogged_event_set_data(&object_of(face)->event, payload, size);
}

static HRESULT WINAPI set_descriptor(trace_event_interface *face, const EVENT_DESCRIPTOR *descriptor)
{
    if (!descriptor)
        return E_POINTER;
    header_of(face)->EventDescriptor = *descriptor;
    return S_OK;
}

static HRESULT WINAPI set_process(trace_event_interface *face, ULONG id)
{
    header_of(face)->ProcessId = id;
    return S_OK;
}

static HRESULT WINAPI set_processor(trace_event_interface *face, ULONG index)
{
    if (index > UINT16_MAX)
        return E_INVALIDARG;
    object_of(face)->event.record.BufferContext.ProcessorIndex = (USHORT)index;
    header_of(face)->Flags |= EVENT_HEADER_FLAG_PROCESSOR_INDEX;
    return S_OK;
}

static HRESULT WINAPI set_thread(trace_event_interface *face, ULONG id)
{
    header_of(face)->ThreadId = id;
    return S_OK;
}

static HRESULT WINAPI set_times(trace_event_interface *face, ULONG kernel, ULONG user)
{
    header_of(face)->KernelTime = kernel;
    header_of(face)->UserTime = user;
    return S_OK;
}

static HRESULT WINAPI set_activity(trace_event_interface *face, LPCGUID id)
{
    if (!id)
        return E_POINTER;
    header_of(face)->ActivityId = *id;
    return S_OK;
}

static HRESULT WINAPI set_time(trace_event_interface *face, LARGE_INTEGER *time)
{
    if (!time)
        return E_POINTER;
    header_of(face)->TimeStamp = *time;
    return S_OK;
}

static HRESULT WINAPI set_provider(trace_event_interface *face, LPCGUID id)
{
    if (!id)
        return E_POINTER;
    header_of(face)->ProviderId = *id;
    return S_OK;
}

static const struct trace_event_table table = {
    query,       add_reference, release,    clone,     get_user_context, get_record, set_payload,  set_descriptor,
    set_process, set_processor, set_thread, set_times, set_activity,     set_time,   set_provider,
};

trace_event_interface *relogger_event_create(const EVENT_RECORD *record)
{
    struct event_object *o = memory_zero(1, sizeof *o);
    if (!o)
        return NULL;
    if (FAILED(relogged_event_copy(&o->event, record))) {
        relogged_event_free(&o->event);
        memory_free(o);
        return NULL;
    }
    o->face.table = &table;
    o->references = 1;
    relogger_objects(1);
    return &o->face;
}

HRESULT relogger_event_reuse(trace_event_interface *event, const EVENT_RECORD *record)
{
    return InterlockedCompareExchange(&object_of(event)->references, 1, 1) == 1
               ? relogged_event_copy(&object_of(event)->event, record)
               : S_FALSE;
}
