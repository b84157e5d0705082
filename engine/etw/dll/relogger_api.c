/* SPDX-License-Identifier: MIT */
/* ITraceRelogger, its class object, and the ITraceEvents that it passes to callbacks, implemented with
   engine/etw/consumer/relogger.h. The interfaces are declared here because the SDK's relogger.h cannot be included
   together with evntcons.h: both declare EVENT_RECORD. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/base/win32/unknown.h"
#include "engine/etw/consumer/relogger.h"
#include "engine/etw/etw_types.h"

#include <objbase.h>
#include <wchar.h>

/* ---- the interfaces ---- */

typedef struct trace_event_interface {
    const struct trace_event_table *table;
} trace_event_interface;
typedef struct trace_relogger_interface {
    const struct trace_relogger_table *table;
} trace_relogger_interface;
typedef struct trace_callback_interface {
    const struct trace_callback_table *table;
} trace_callback_interface;

/* ITraceEvent */
struct trace_event_table {
    HRESULT(WINAPI *QueryInterface)(trace_event_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_event_interface *);
    ULONG(WINAPI *Release)(trace_event_interface *);
    HRESULT(WINAPI *Clone)(trace_event_interface *, trace_event_interface **);
    HRESULT(WINAPI *GetUserContext)(trace_event_interface *, void **);
    HRESULT(WINAPI *GetEventRecord)(trace_event_interface *, EVENT_RECORD **);
    HRESULT(WINAPI *SetPayload)(trace_event_interface *, BYTE *, ULONG);
    HRESULT(WINAPI *SetEventDescriptor)(trace_event_interface *, const EVENT_DESCRIPTOR *);
    HRESULT(WINAPI *SetProcessId)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetProcessorIndex)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetThreadId)(trace_event_interface *, ULONG);
    HRESULT(WINAPI *SetThreadTimes)(trace_event_interface *, ULONG, ULONG);
    HRESULT(WINAPI *SetActivityId)(trace_event_interface *, LPCGUID);
    HRESULT(WINAPI *SetTimeStamp)(trace_event_interface *, LARGE_INTEGER *);
    HRESULT(WINAPI *SetProviderId)(trace_event_interface *, LPCGUID);
};

/* ITraceEventCallback */
struct trace_callback_table {
    HRESULT(WINAPI *QueryInterface)(trace_callback_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_callback_interface *);
    ULONG(WINAPI *Release)(trace_callback_interface *);
    HRESULT(WINAPI *OnBeginProcessTrace)
    (trace_callback_interface *, trace_event_interface *, trace_relogger_interface *);
    HRESULT(WINAPI *OnFinalizeProcessTrace)(trace_callback_interface *, trace_relogger_interface *);
    HRESULT(WINAPI *OnEvent)(trace_callback_interface *, trace_event_interface *, trace_relogger_interface *);
};

/* ITraceRelogger */
struct trace_relogger_table {
    HRESULT(WINAPI *QueryInterface)(trace_relogger_interface *, REFIID, void **);
    ULONG(WINAPI *AddRef)(trace_relogger_interface *);
    ULONG(WINAPI *Release)(trace_relogger_interface *);
    HRESULT(WINAPI *AddLogfileTraceStream)(trace_relogger_interface *, WCHAR *, void *, TRACEHANDLE *);
    HRESULT(WINAPI *AddRealtimeTraceStream)(trace_relogger_interface *, WCHAR *, void *, TRACEHANDLE *);
    HRESULT(WINAPI *RegisterCallback)(trace_relogger_interface *, trace_callback_interface *);
    HRESULT(WINAPI *Inject)(trace_relogger_interface *, trace_event_interface *);
    HRESULT(WINAPI *CreateEventInstance)(trace_relogger_interface *, TRACEHANDLE, ULONG, trace_event_interface **);
    HRESULT(WINAPI *ProcessTrace)(trace_relogger_interface *);
    HRESULT(WINAPI *SetOutputFilename)(trace_relogger_interface *, WCHAR *);
    HRESULT(WINAPI *SetCompressionMode)(trace_relogger_interface *, BOOLEAN);
    HRESULT(WINAPI *Cancel)(trace_relogger_interface *);
};

static LONG objects;

/* Adds `change` to the number of this DLL's objects in use. Returns the new number. */
static LONG relogger_objects(LONG change)
{
    return InterlockedExchangeAdd(&objects, change) + change;
}

/* ---- ITraceEvent: an event that a program may keep and change ---- */

static const IID iid_trace_event = {0x8CC97F40, 0x9028, 0x4FF3, {0x9B, 0x62, 0x7D, 0x1F, 0x79, 0xCA, 0x7B, 0xCB}};

struct event_object {
    trace_event_interface face;
    LONG references;
    struct relogged_event event;
};

/* Creates an event object with a copy of the record and one reference. Returns NULL if memory runs out. */
static trace_event_interface *relogger_event_create(const EVENT_RECORD *record);

static struct event_object *event_of(trace_event_interface *face)
{
    return (struct event_object *)face;
}

static EVENT_HEADER *header_of(trace_event_interface *face)
{
    return &event_of(face)->event.record.EventHeader;
}

static HRESULT WINAPI event_query(trace_event_interface *face, REFIID iid, void **out)
{
    return unknown_query(face, &iid_trace_event, iid, out);
}

static ULONG WINAPI event_add_reference(trace_event_interface *face)
{
    return (ULONG)InterlockedIncrement(&event_of(face)->references);
}

static ULONG WINAPI event_release(trace_event_interface *face)
{
    struct event_object *o = event_of(face);
    const LONG left = InterlockedDecrement(&o->references);
    if (left == 0) {
        relogged_event_free(&o->event);
        memory_free(o);
        relogger_objects(-1);
    }
    return (ULONG)left;
}

static HRESULT WINAPI event_clone(trace_event_interface *face, trace_event_interface **out)
{
    if (!out)
        return E_POINTER;
    *out = relogger_event_create(&event_of(face)->event.record);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT WINAPI get_user_context(trace_event_interface *face, void **out)
{
    if (!out)
        return E_POINTER;
    *out = event_of(face)->event.record.UserContext;
    return S_OK;
}

static HRESULT WINAPI get_record(trace_event_interface *face, EVENT_RECORD **out)
{
    if (!out)
        return E_POINTER;
    *out = &event_of(face)->event.record;
    return S_OK;
}

static HRESULT WINAPI set_payload(trace_event_interface *face, BYTE *payload, ULONG size)
{
    return relogged_event_set_data(&event_of(face)->event, payload, size);
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
    event_of(face)->event.record.BufferContext.ProcessorIndex = (USHORT)index;
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

static const struct trace_event_table event_table = {
    event_query, event_add_reference, event_release,  event_clone, get_user_context,
    get_record,  set_payload,         set_descriptor, set_process, set_processor,
    set_thread,  set_times,           set_activity,   set_time,    set_provider,
};

static trace_event_interface *relogger_event_create(const EVENT_RECORD *record)
{
    struct event_object *o = memory_zero(1, sizeof *o);
    if (!o)
        return NULL;
    if (FAILED(relogged_event_copy(&o->event, record))) {
        relogged_event_free(&o->event);
        memory_free(o);
        return NULL;
    }
    o->face.table = &event_table;
    o->references = 1;
    relogger_objects(1);
    return &o->face;
}

/* Copies another record into an event object, unless the program still has a reference to the object (S_FALSE). Errors:
   E_OUTOFMEMORY. */
static HRESULT relogger_event_reuse(trace_event_interface *event, const EVENT_RECORD *record)
{
    return InterlockedCompareExchange(&event_of(event)->references, 1, 1) == 1
               ? relogged_event_copy(&event_of(event)->event, record)
               : S_FALSE;
}

/* ---- ITraceRelogger ---- */

static const CLSID class_trace_relogger = {
    0x7B40792D, 0x05FF, 0x44C4, {0x90, 0x58, 0xF4, 0x40, 0xC7, 0x1F, 0x17, 0xD4}};
static const IID iid_trace_relogger = {0xF754AD43, 0x3BCC, 0x4286, {0x80, 0x09, 0x9C, 0x5D, 0xA2, 0x14, 0xE8, 0x4E}};

struct relogger_object {
    trace_relogger_interface face;
    LONG references;
    struct relogger *relogger;
    struct lock lock; /* protects `callback` */
    trace_callback_interface *callback;
    trace_event_interface *event; /* event object of the latest callback; put_event reuses the object */
};

static struct relogger_object *object_of(trace_relogger_interface *face)
{
    return (struct relogger_object *)face;
}

static HRESULT WINAPI query(trace_relogger_interface *face, REFIID iid, void **out)
{
    return unknown_query(face, &iid_trace_relogger, iid, out);
}

static ULONG WINAPI add_reference(trace_relogger_interface *face)
{
    return (ULONG)InterlockedIncrement(&object_of(face)->references);
}

static ULONG WINAPI object_release(trace_relogger_interface *face)
{
    struct relogger_object *o = object_of(face);
    const LONG left = InterlockedDecrement(&o->references);
    if (left == 0) {
        if (o->callback)
            o->callback->table->Release(o->callback);
        if (o->event)
            o->event->table->Release(o->event);
        relogger_free(o->relogger);
        memory_free(o);
        relogger_objects(-1);
    }
    return (ULONG)left;
}

/* Converts the caller's string to UTF-8. */
static HRESULT name_of(WCHAR *name, char **out)
{
    return name ? text_from_utf16(name, wcslen(name), false, out) : E_POINTER;
}

static HRESULT WINAPI add_file(trace_relogger_interface *face, WCHAR *path, void *context, TRACEHANDLE *stream)
{
    char *text = NULL, *full = NULL;
    if (!stream)
        return E_POINTER;
    HRESULT hr = name_of(path, &text);
    if (SUCCEEDED(hr))
        hr = (full = os_full_path(text)) ? relogger_add_file(object_of(face)->relogger, full, context, stream)
                                         : E_OUTOFMEMORY;
    memory_free(text);
    memory_free(full);
    return hr;
}

static HRESULT WINAPI add_session(trace_relogger_interface *face, WCHAR *name, void *context, TRACEHANDLE *stream)
{
    char *text = NULL;
    if (!stream)
        return E_POINTER;
    HRESULT hr = name_of(name, &text);
    if (SUCCEEDED(hr))
        hr = relogger_add_session(object_of(face)->relogger, text, context, stream);
    memory_free(text);
    return hr;
}

static HRESULT WINAPI register_callback(trace_relogger_interface *face, trace_callback_interface *callback)
{
    struct relogger_object *o = object_of(face);
    if (!callback)
        return E_POINTER;
    callback->table->AddRef(callback);
    lock_enter(&o->lock);
    trace_callback_interface *before = o->callback;
    o->callback = callback;
    lock_leave(&o->lock);
    if (before)
        before->table->Release(before);
    return S_OK;
}

static HRESULT WINAPI object_inject(trace_relogger_interface *face, trace_event_interface *event)
{
    EVENT_RECORD *record = NULL;
    if (!event)
        return E_POINTER;
    const HRESULT hr = event->table->GetEventRecord(event, &record);
    return FAILED(hr) ? hr : relogger_inject(object_of(face)->relogger, record);
}

static HRESULT WINAPI create_event(trace_relogger_interface *face, TRACEHANDLE stream, ULONG flags,
                                   trace_event_interface **out)
{
    const ULONG known = EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER |
                        EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_TRACE_MESSAGE;
    EVENT_RECORD record = {.UserDataLength = 0};
    if (!out)
        return E_POINTER;
    *out = NULL;
    if ((flags & ~known) != 0 || !relogger_stream(object_of(face)->relogger, stream, &record.UserContext))
        return E_INVALIDARG;
    const ULONG widths = EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER;
    record.EventHeader.Flags = (USHORT)((flags & widths) != 0 ? flags : flags | EVENT_HEADER_FLAG_64_BIT_HEADER);
    *out = relogger_event_create(&record);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* ---- during processing ---- */

struct processing {
    struct relogger_object *object;
    trace_callback_interface *callback;
};

/* Copies the record into the previous event object. If the program still has a reference to this object, creates a new
   one. */
static HRESULT put_event(struct relogger_object *o, const EVENT_RECORD *record)
{
    const HRESULT hr = o->event ? relogger_event_reuse(o->event, record) : S_FALSE;
    if (hr != S_FALSE)
        return hr;
    if (o->event)
        o->event->table->Release(o->event);
    o->event = relogger_event_create(record);
    return o->event ? S_OK : E_OUTOFMEMORY;
}

static HRESULT on_begin(void *context, const EVENT_RECORD *header)
{
    const struct processing *p = context;
    const HRESULT hr = put_event(p->object, header);
    return FAILED(hr) ? hr : p->callback->table->OnBeginProcessTrace(p->callback, p->object->event, &p->object->face);
}

static HRESULT on_event(void *context, const EVENT_RECORD *event)
{
    const struct processing *p = context;
    const HRESULT hr = put_event(p->object, event);
    return FAILED(hr) ? hr : p->callback->table->OnEvent(p->callback, p->object->event, &p->object->face);
}

static HRESULT on_end(void *context)
{
    const struct processing *p = context;
    return p->callback->table->OnFinalizeProcessTrace(p->callback, &p->object->face);
}

static HRESULT WINAPI object_process(trace_relogger_interface *face)
{
    struct relogger_object *o = object_of(face);
    lock_enter(&o->lock);
    struct processing p = {o, o->callback};
    if (p.callback)
        p.callback->table->AddRef(p.callback);
    lock_leave(&o->lock);
    if (!p.callback)
        return error_set(E_INVALIDARG, "cannot process traces: no callback is registered");
    const struct relogger_callback callback = {on_begin, on_event, on_end, &p};
    face->table->AddRef(face);
    const HRESULT hr = relogger_process(o->relogger, &callback);
    p.callback->table->Release(p.callback);
    face->table->Release(face);
    return hr;
}

static HRESULT WINAPI set_output(trace_relogger_interface *face, WCHAR *path)
{
    char *text = NULL, *full = NULL;
    HRESULT hr = name_of(path, &text);
    if (SUCCEEDED(hr))
        hr = (full = os_full_path(text)) ? relogger_set_output(object_of(face)->relogger, full) : E_OUTOFMEMORY;
    memory_free(text);
    memory_free(full);
    return hr;
}

/* Files are always written uncompressed, because every reader supports that. Returns S_FALSE if compression was
   requested. */
static HRESULT WINAPI set_compression(trace_relogger_interface *face, BOOLEAN compressed)
{
    (void)face;
    return compressed ? S_FALSE : S_OK;
}

static HRESULT WINAPI cancel(trace_relogger_interface *face)
{
    relogger_cancel(object_of(face)->relogger);
    return S_OK;
}

static const struct trace_relogger_table relogger_table = {
    query,         add_reference, object_release, add_file,   add_session,     register_callback,
    object_inject, create_event,  object_process, set_output, set_compression, cancel,
};

/* ---- the class ---- */

static HRESULT WINAPI factory_query(IClassFactory *face, REFIID iid, void **out)
{
    return unknown_query(face, &IID_IClassFactory, iid, out);
}

/* The class object is static, so its references are not counted. */
static ULONG WINAPI factory_reference(IClassFactory *face)
{
    (void)face;
    return 1;
}

static HRESULT WINAPI factory_create(IClassFactory *face, IUnknown *outer, REFIID iid, void **out)
{
    (void)face;
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    struct relogger_object *o = memory_zero(1, sizeof *o);
    HRESULT hr = o ? relogger_create(&o->relogger) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(o);
        return hr;
    }
    o->face.table = &relogger_table;
    o->references = 1;
    relogger_objects(1);
    hr = query(&o->face, iid, out);
    object_release(&o->face);
    return hr;
}

static HRESULT WINAPI factory_lock(IClassFactory *face, BOOL lock)
{
    (void)face;
    relogger_objects(lock ? 1 : -1);
    return S_OK;
}

static IClassFactoryVtbl factory_table = {factory_query, factory_reference, factory_reference, factory_create,
                                          factory_lock};
static IClassFactory factory = {&factory_table};

STDAPI DllGetClassObject(REFCLSID clsid, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    return guid_equal(clsid, &class_trace_relogger) ? factory_query(&factory, iid, out) : CLASS_E_CLASSNOTAVAILABLE;
}

STDAPI DllCanUnloadNow(void)
{
    return relogger_objects(0) == 0 ? S_OK : S_FALSE;
}
