/* SPDX-License-Identifier: MIT */
/* The processing handles of this process, the callbacks of classes, and ProcessTrace. A handle consists of mark << 56 |
   generation << 16 | index + 1. The generation distinguishes a live handle from a closed or invented one; the mark
   distinguishes it from a session's handle, because some programs pass such a handle by mistake. */
#include "engine/etw/consumer/consumer.h"

#include "engine/base/debug_trace.h"
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/consumer/event_view.h"

#include <stdatomic.h>
#include <string.h>

enum { MOST_NAME = 32767, MOST_PLACES = 0xFFFE, ZONE_NAME_UNITS = 32 };
#define MODE_SYSTEM_LOGGER 0x02000000u
#define HANDLE_MARK        (UINT64_C(0x43) << 56)
#define MOST_GENERATIONS   ((UINT64_C(1) << 40) - 1)

/* An open processing handle. */
struct consumer {
    EVENT_TRACE_LOGFILEW logfile; /* copy of OpenTrace's argument; passed to BufferCallback */
    enum consumer_form form;      /* encoding of the caller's strings in OpenTrace */
    void *name;                   /* name of the log or session, in the encoding `form` */
    struct consumer_source *source;
    bool real_time, raw, records;
    /* Protected by the table's lock. */
    bool busy;    /* a thread is processing the handle */
    bool closed;  /* the handle was closed; it will be freed when processing ends */
    bool started; /* the handle has been processed before */
};

static struct lock lock = LOCK_INIT;
static struct place {
    uint64_t generation;
    struct consumer *consumer; /* NULL: the entry is free */
} * places;
static size_t place_count, place_capacity;
static const struct realtime_source *realtime = &session_connections;

/* Returns the Windows error code of a failure. */
static ULONG consumer_code(HRESULT hr)
{
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    if (hr == E_OUTOFMEMORY)
        return ERROR_NOT_ENOUGH_MEMORY;
    return ((uint32_t)hr & 0xFFFF0000u) == 0x80070000u ? (ULONG)hr & 0xFFFF : ERROR_INVALID_PARAMETER;
}

/* Sets the error text for a Windows error code, and returns the code. */
static ULONG consumer_refuse(ULONG code, const char *what)
{
    (void)error_set(HRESULT_FROM_WIN32((LONG)code), "%s", what);
    return code;
}

void consumer_set_realtime(const struct realtime_source *source)
{
    lock_enter(&lock);
    realtime = source;
    lock_leave(&lock);
}

/* ---- the table ---- */

static TRACEHANDLE handle_of(size_t place)
{
    return HANDLE_MARK | (places[place].generation & MOST_GENERATIONS) << 16 | (place + 1);
}

/* Returns the entry of a handle; NULL if the handle is not open. */
static struct place *place_find(TRACEHANDLE handle)
{
    const size_t place = (size_t)(handle & 0xFFFF) - 1;
    if (place >= place_count || !places[place].consumer || handle_of(place) != handle)
        return NULL;
    return &places[place];
}

static ULONG place_add(struct consumer *c, TRACEHANDLE *handle)
{
    size_t at = 0;
    lock_enter(&lock);
    while (at < place_count && places[at].consumer)
        at++;
    void *grown = places;
    const bool ok = at < MOST_PLACES && memory_grow(&grown, &place_capacity, at + 1, sizeof *places);
    places = grown;
    if (ok) {
        if (at == place_count) {
            places[at].generation = 0;
            place_count++;
        }
        places[at].generation++;
        places[at].consumer = c;
        *handle = handle_of(at);
    }
    lock_leave(&lock);
    return ok ? ERROR_SUCCESS : consumer_code(error_set(E_OUTOFMEMORY, "out of memory for a processing handle"));
}

static void consumer_free(struct consumer *c)
{
    if (c->source)
        c->source->close(c->source);
    memory_free(c->name);
    memory_free(c);
}

/* Finds the consumers of the handles and marks all of them as busy. On failure, marks no consumer. */
static ULONG consumer_take(const TRACEHANDLE *handles, ULONG count, struct consumer **out)
{
    ULONG status = ERROR_SUCCESS, sessions = 0;
    lock_enter(&lock);
    for (ULONG i = 0; i < count && status == ERROR_SUCCESS; i++) {
        const struct place *place = place_find(handles[i]);
        out[i] = place ? place->consumer : NULL;
        sessions += out[i] && out[i]->real_time;
        status = !out[i] ? ERROR_INVALID_HANDLE : out[i]->busy ? ERROR_BUSY : ERROR_SUCCESS;
        for (ULONG k = 0; k < i && status == ERROR_SUCCESS; k++)
            status = out[k] == out[i] ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
    }
    if (status == ERROR_SUCCESS && sessions != 0 && count > 1)
        status = ERROR_INVALID_PARAMETER;
    for (ULONG i = 0; i < count && status == ERROR_SUCCESS; i++)
        out[i]->busy = true;
    lock_leave(&lock);
    return status;
}

static void consumer_give_back(struct consumer *const *taken, ULONG count)
{
    for (ULONG i = 0; i < count; i++) {
        lock_enter(&lock);
        taken[i]->busy = false;
        const bool closed = taken[i]->closed;
        lock_leave(&lock);
        if (closed) /* the table no longer contains it */
            consumer_free(taken[i]);
    }
}

/* Closes a handle; may be called from any thread, even from callbacks. ERROR_CTX_CLOSE_PENDING: a thread is processing
   the handle, and queued events are still delivered. ERROR_INVALID_HANDLE: the handle is not open. */
static ULONG consumer_close(TRACEHANDLE handle)
{
    lock_enter(&lock);
    struct place *place = place_find(handle);
    struct consumer *c = place ? place->consumer : NULL;
    const bool busy = c && c->busy;
    if (c)
        place->consumer = NULL;
    if (busy) {
        c->closed = true;
        c->source->stop(c->source);
    }
    lock_leave(&lock);
    if (!c) {
        (void)error_set(HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE), "invalid processing handle 0x%llX: not open",
                        (unsigned long long)handle);
        return ERROR_INVALID_HANDLE;
    }
    if (busy)
        return ERROR_CTX_CLOSE_PENDING;
    consumer_free(c);
    return ERROR_SUCCESS;
}

/* Returns whether the handle was opened by consumer_open and is not closed. */
static bool consumer_is_open(TRACEHANDLE handle)
{
    lock_enter(&lock);
    const bool open = place_find(handle) != NULL;
    lock_leave(&lock);
    return open;
}

/* ---- opening ---- */

/* Converts the caller's string to UTF-8, and copies it with its NUL; both from memory_alloc. */
static ULONG copy_name(enum consumer_form form, const void *name, char **text, void **copy)
{
    const size_t unit = form == CONSUMER_WIDE ? sizeof(WCHAR) : 1;
    size_t length = 0;
    while (length <= MOST_NAME && (unit == 1 ? ((const char *)name)[length] : ((const WCHAR *)name)[length]))
        length++;
    if (length == 0 || length > MOST_NAME)
        return consumer_refuse(ERROR_BAD_PATHNAME,
                               length == 0 ? "invalid log name: empty" : "invalid log name: too long");
    HRESULT hr =
        form == CONSUMER_WIDE ? text_from_utf16(name, length, false, text) : text_from_ansi(name, length, false, text);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        return consumer_refuse(ERROR_BAD_PATHNAME, "invalid log name: not a valid string");
    *copy = SUCCEEDED(hr) ? memory_copy(name, (length + 1) * unit) : NULL;
    return *copy ? ERROR_SUCCESS : consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the name of a log");
}

static SYSTEMTIME zone_date(const struct zone_change *c)
{
    return (SYSTEMTIME){c->year, c->month, c->weekday, c->day, c->hour, c->minute, c->second, c->millisecond};
}

static HRESULT zone_name(const char *name, WCHAR out[ZONE_NAME_UNITS])
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name ? name : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    units = units < ZONE_NAME_UNITS - 1 ? units : ZONE_NAME_UNITS - 1;
    memcpy(out, wide, units * sizeof *wide);
    out[units] = 0;
    memory_free(wide);
    return S_OK;
}

/* Fills in all members except the pointers LoggerName and LogFileName. */
static HRESULT fill_header(const struct etl_log *log, TRACE_LOGFILE_HEADER *out)
{
    *out = (TRACE_LOGFILE_HEADER){
        .BufferSize = log->buffer_size,
        .ProviderVersion = log->build,
        .NumberOfProcessors = log->processors,
        .TimerResolution = log->timer_resolution,
        .MaximumFileSize = log->maximum_file_mb,
        .LogFileMode = log->mode,
        .BuffersWritten = log->buffers_written,
        .TimeZone = {.Bias = log->zone.bias,
                     .StandardDate = zone_date(&log->zone.to_standard),
                     .StandardBias = log->zone.standard_bias,
                     .DaylightDate = zone_date(&log->zone.to_daylight),
                     .DaylightBias = log->zone.daylight_bias},
        .ReservedFlags = log->clock,
        .BuffersLost = log->buffers_lost,
    };
    out->VersionDetail.MajorVersion = log->version_major;
    out->VersionDetail.MinorVersion = log->version_minor;
    out->VersionDetail.SubVersion = log->sub_version;
    out->VersionDetail.SubMinorVersion = log->sub_minor;
    out->StartBuffers = 1;
    out->PointerSize = log->pointer_size;
    out->EventsLost = log->events_lost;
    out->CpuSpeedInMHz = log->cpu_mhz;
    out->EndTime.QuadPart = log->end_utc;
    out->BootTime.QuadPart = log->boot_utc;
    out->PerfFreq.QuadPart = log->frequency;
    out->StartTime.QuadPart = log->start_utc;
    HRESULT hr = zone_name(log->standard_name, out->TimeZone.StandardName);
    return SUCCEEDED(hr) ? zone_name(log->daylight_name, out->TimeZone.DaylightName) : hr;
}

static ULONG check_names(const EVENT_TRACE_LOGFILEW *logfile)
{
    if (!logfile)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "invalid Logfile: must not be NULL");
    if (logfile->LogFileName && logfile->LoggerName)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "LogFileName and LoggerName cannot be combined");
    if (!logfile->LogFileName && !logfile->LoggerName)
        return consumer_refuse(ERROR_BAD_PATHNAME, "invalid Logfile: expected LogFileName or LoggerName");
    const bool real_time = (logfile->ProcessTraceMode & PROCESS_TRACE_MODE_REAL_TIME) != 0;
    if (logfile->LoggerName && !real_time)
        return consumer_refuse(ERROR_INVALID_PARAMETER,
                               "invalid ProcessTraceMode: LoggerName requires PROCESS_TRACE_MODE_REAL_TIME");
    if (logfile->LogFileName && real_time)
        return consumer_refuse(
            ERROR_INVALID_PARAMETER,
            "invalid ProcessTraceMode: PROCESS_TRACE_MODE_REAL_TIME cannot be combined with LogFileName");
    return ERROR_SUCCESS;
}

static HRESULT open_source(const char *name, bool real_time, struct consumer_source **out)
{
    if (!real_time)
        return consumer_source_of_file(name, out);
    lock_enter(&lock);
    const struct realtime_source *source = realtime;
    lock_leave(&lock);
    return realtime_source_open(source, name, out);
}

ULONG consumer_open(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle)
{
    ULONG status = check_names(logfile);
    if (status != ERROR_SUCCESS)
        return status;
    struct consumer *c = memory_zero(1, sizeof *c);
    char *text = NULL;
    if (!c)
        return consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a consumer");
    EVENT_TRACE_LOGFILEW *own = &c->logfile;
    *own = *logfile;
    c->form = form;
    c->real_time = own->LoggerName != NULL;
    c->raw = (own->ProcessTraceMode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0;
    c->records = (own->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0;
    status = copy_name(form, c->real_time ? own->LoggerName : own->LogFileName, &text, &c->name);
    if (status == ERROR_SUCCESS)
        status = consumer_code(open_source(text, c->real_time, &c->source));
    if (status == ERROR_SUCCESS)
        status = consumer_code(fill_header(c->source->log, &own->LogfileHeader));
    if (status == ERROR_SUCCESS) {
        const struct etl_log *log = c->source->log;
        own->BufferSize = log->buffer_size;
        own->EventsLost = log->events_lost;
        own->CurrentTime = 0;
        own->BuffersRead = own->Filled = 0;
        own->IsKernelTrace = (log->mode & MODE_SYSTEM_LOGGER) != 0 ||
                             (log->logger_name && text_equal_nocase(log->logger_name, "NT Kernel Logger"));
        EVENT_TRACE_LOGFILEW opened = *own;
        opened.LogFileName = logfile->LogFileName;
        opened.LoggerName = logfile->LoggerName;
        if (c->real_time)
            own->LoggerName = c->name;
        else
            own->LogFileName = c->name;
        status = place_add(c, handle);
        if (status == ERROR_SUCCESS)
            *logfile = opened;
    }
    TRACE_STEP(etw, "open '%s': %lu", text ? text : "", (unsigned long)status);
    memory_free(text);
    if (status != ERROR_SUCCESS)
        consumer_free(c);
    return status;
}

/* ---- classes ---- */

/* Callbacks for single classes of events (SetTraceCallback); they apply to the whole process. */

static struct lock classes_lock = LOCK_INIT;
static struct class
{
    GUID guid;
    PEVENT_CALLBACK callback;
} * classes;
static size_t class_capacity;
static _Atomic size_t class_count; /* changed under the lock; while it is 0, delivering an event takes no lock */

/* Returns the index of a class, or `class_count` if the class is not in the list. */
static size_t find_class(const GUID *guid)
{
    size_t i = 0;
    while (i < class_count && !guid_equal(&classes[i].guid, guid))
        i++;
    return i;
}

/* Sets the callback of a class and replaces an earlier one. The callback has no effect on handles opened with
   PROCESS_TRACE_MODE_EVENT_RECORD. On all other handles, each event of the class is passed to this callback first, and
   then to the EventCallback of the handle, if there is one. Errors: ERROR_INVALID_PARAMETER,
   ERROR_NOT_ENOUGH_MEMORY. */
static ULONG consumer_set_class(const GUID *class, PEVENT_CALLBACK callback)
{
    if (!class || !callback)
        return consumer_refuse(ERROR_INVALID_PARAMETER,
                               "cannot set a class callback: the class GUID and the callback must not be NULL");
    lock_enter(&classes_lock);
    const size_t at = find_class(class);
    void *grown = classes;
    const bool ok = memory_grow(&grown, &class_capacity, at + 1, sizeof *classes);
    classes = grown;
    if (ok) {
        classes[at] = (struct class){*class, callback};
        class_count += at == class_count;
    }
    lock_leave(&classes_lock);
    return ok ? ERROR_SUCCESS : consumer_code(error_set(E_OUTOFMEMORY, "out of memory for a class's callback"));
}

/* Removes the callback of a class. Fails with ERROR_WMI_GUID_NOT_FOUND if the class has no callback, and with
   ERROR_INVALID_PARAMETER if `class` is NULL. */
static ULONG consumer_remove_class(const GUID *class)
{
    if (!class)
        return consumer_refuse(ERROR_INVALID_PARAMETER,
                               "cannot remove a class callback: the class GUID must not be NULL");
    lock_enter(&classes_lock);
    const size_t at = find_class(class);
    const bool there = at < class_count;
    if (there)
        classes[at] = classes[--class_count];
    if (class_count == 0) {
        memory_free(classes);
        classes = NULL;
        class_capacity = 0;
    }
    lock_leave(&classes_lock);
    return there ? ERROR_SUCCESS
                 : consumer_refuse(ERROR_WMI_GUID_NOT_FOUND, "cannot remove a class callback: the class has none");
}

/* Returns the callback of a class; NULL if it has none. */
static PEVENT_CALLBACK consumer_class_callback(const GUID *class)
{
    if (atomic_load_explicit(&class_count, memory_order_relaxed) == 0)
        return NULL;
    lock_enter(&classes_lock);
    const size_t at = find_class(class);
    PEVENT_CALLBACK callback = at < class_count ? classes[at].callback : NULL;
    lock_leave(&classes_lock);
    return callback;
}

/* ---- processing ---- */

/* ProcessTrace compares the next events of all handles and delivers the oldest. For each file, one buffer per processor
   is in memory. */

enum { MOST_HANDLES = 64 };

struct running {
    struct consumer *consumer;
    struct etl_record event; /* the next event to deliver */
    bool header;             /* `event` is the log file header */
};

struct processing {
    int64_t from, to;
    ULONG count;
    struct consumer *taken[MOST_HANDLES];
    struct running running[MOST_HANDLES]; /* handles that still have events */
    ULONG running_count;
    ULONG failure; /* error code of the first handle that could not be read to its end */
    struct event_view view;
};

/* The context of guard_call: a callback and its arguments. */
struct call {
    PEVENT_RECORD_CALLBACK record;
    PEVENT_CALLBACK event, class;
    struct event_view *view;
    struct consumer *consumer;
    ULONG answer;
};

static void call_record(void *argument)
{
    const struct call *c = argument;
    c->record(&c->view->record);
}

static void call_event(void *argument)
{
    const struct call *c = argument;
    if (c->class)
        c->class(&c->view->trace);
    if (c->event)
        c->event(&c->view->trace);
}

static void call_buffer(void *argument)
{
    struct call *c = argument;
    EVENT_TRACE_LOGFILEW *logfile = &c->consumer->logfile;
    if (c->consumer->form == CONSUMER_WIDE) {
        c->answer = logfile->BufferCallback(logfile);
    } else {
        PEVENT_TRACE_BUFFER_CALLBACKA callback;
        memcpy(&callback, &logfile->BufferCallback, sizeof callback);
        c->answer = callback((EVENT_TRACE_LOGFILEA *)(void *)logfile);
    }
}

/* Reads the next event of `r`. Returns false at the end. */
static bool running_advance(struct processing *p, struct running *r)
{
    HRESULT hr = r->consumer->source->next(r->consumer->source, &r->event);
    r->header = false;
    if (FAILED(hr) && p->failure == ERROR_SUCCESS)
        p->failure = consumer_code(hr);
    return hr == S_OK;
}

static ULONG deliver_event(struct processing *p, const struct running *r, int64_t time)
{
    struct consumer *c = r->consumer;
    const struct etl_log *log = c->source->log;
    struct call call = {.view = &p->view};
    if (r->event.kind == ETL_RECORD_OTHER) /* only the event's length is known, so it cannot be delivered */
        return ERROR_SUCCESS;
    if (c->records) {
        if (!c->logfile.EventRecordCallback)
            return ERROR_SUCCESS;
        call.record = c->logfile.EventRecordCallback;
        event_view_record(&r->event, time, log->pointer_size, log->private_logger, &p->view);
        p->view.record.UserContext = c->logfile.Context;
        return guard_call(call_record, &call, GUARD_TAKES_ALL, NULL) ? ERROR_SUCCESS : ERROR_NOACCESS;
    }
    event_view_trace(&r->event, time, &p->view);
    call.event = c->logfile.EventCallback;
    call.class = consumer_class_callback(&p->view.trace.Header.Guid);
    return guard_call(call_event, &call, GUARD_TAKES_ALL, NULL) ? ERROR_SUCCESS : ERROR_NOACCESS;
}

/* Calls BufferCallback after the last event of a buffer. The buffer is still in memory. */
static ULONG deliver_buffer(struct processing *p, const struct running *r, int64_t time)
{
    EVENT_TRACE_LOGFILEW *logfile = &r->consumer->logfile;
    logfile->BuffersRead++;
    if (!logfile->BufferCallback)
        return ERROR_SUCCESS;
    event_view_trace(&r->event, time, &p->view);
    logfile->CurrentEvent = p->view.trace;
    logfile->CurrentTime = r->event.utc;
    logfile->Filled = r->event.buffer->used;
    logfile->EventsLost = r->consumer->source->log->events_lost;
    struct call call = {.consumer = r->consumer};
    if (!guard_call(call_buffer, &call, GUARD_TAKES_ALL, NULL))
        return ERROR_NOACCESS;
    return call.answer != 0 ? ERROR_SUCCESS : ERROR_CANCELLED;
}

/* If the event is a definition, passes it to TDH, even if it is outside the requested time range or if the callback
   ignores such events. */
static void pass_definition(struct processing *p, const struct running *r, int64_t time)
{
    const struct etl_log *log = r->consumer->source->log;
    if (r->event.kind != ETL_RECORD_CLASSIC || !guid_equal(&r->event.provider, &etl_event_metadata_class))
        return;
    event_view_record(&r->event, time, log->pointer_size, log->private_logger, &p->view);
    consumer_pass_definition(&p->view.record);
}

static ULONG processing_deliver(struct processing *p, const struct running *r)
{
    const struct etl_record *e = &r->event;
    const int64_t time = r->consumer->raw ? e->stamp : e->utc;
    ULONG status = ERROR_SUCCESS;
    pass_definition(p, r, time);
    if (r->header || (e->utc >= p->from && e->utc <= p->to))
        status = deliver_event(p, r, time);
    if (status == ERROR_SUCCESS && e->last)
        status = deliver_buffer(p, r, time);
    return status;
}

/* Returns the handle whose next event is the oldest. If several next events have the same time, one that defines other
   events comes first; otherwise the order of the handles decides. */
static struct running *processing_oldest(struct processing *p)
{
    struct running *found = p->running;
    for (ULONG i = 1; i < p->running_count; i++)
        if (etl_record_is_before(&p->running[i].event, &found->event))
            found = &p->running[i];
    return found;
}

/* Reads the first event of each handle, which is the log file header. */
static void processing_begin(struct processing *p)
{
    for (ULONG i = 0; i < p->count; i++) {
        struct running *r = &p->running[p->running_count];
        HRESULT hr = S_OK;
        r->consumer = p->taken[i];
        if (r->consumer->started) {
            r->consumer->logfile.BuffersRead = 0;
            hr = r->consumer->source->restart(r->consumer->source);
        }
        r->consumer->started = true;
        if (FAILED(hr) && p->failure == ERROR_SUCCESS)
            p->failure = consumer_code(hr);
        if (SUCCEEDED(hr) && running_advance(p, r)) {
            r->header = true;
            p->running_count++;
        }
    }
}

static ULONG processing_run(struct processing *p)
{
    processing_begin(p);
    while (p->running_count != 0) {
        struct running *r = processing_oldest(p);
        ULONG status = processing_deliver(p, r);
        if (status != ERROR_SUCCESS)
            return status;
        if (!running_advance(p, r)) {
            memmove(r, r + 1, (size_t)(p->running + p->running_count - (r + 1)) * sizeof *r);
            p->running_count--;
        }
    }
    return p->failure;
}

static int64_t time_of(const FILETIME *time, int64_t otherwise)
{
    return time ? (int64_t)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime) : otherwise;
}

static const char *take_error(ULONG status)
{
    return status == ERROR_INVALID_HANDLE ? "invalid HandleArray: contains a handle that is not open"
           : status == ERROR_BUSY         ? "invalid HandleArray: another thread is processing one of the handles"
                                  : "invalid HandleArray: contains a handle twice, or a session and other handles";
}

/* Delivers the events of all handles in time order on the calling thread: the events with a FILETIME from `start` to
   `end` (NULL: unlimited) and all log file headers. Calls BufferCallback after the last event of each buffer. Returns
   when everything is delivered, the session has ended, or the handles are closed. A handle that is processed again
   starts from the beginning. If a file cannot be read to its end, the rest of this file is skipped, and the function
   returns the error code after all other files are delivered. Other errors:
   - ERROR_BAD_LENGTH: `count` is 0 or greater than 64.
   - ERROR_INVALID_PARAMETER: `handles` is NULL, contains a handle twice, or contains a session and other handles.
   - ERROR_INVALID_HANDLE: a handle is not open.
   - ERROR_BUSY: another thread is processing one of the handles.
   - ERROR_INVALID_TIME: `end` is before `start`.
   - ERROR_CANCELLED: a BufferCallback returned 0.
   - ERROR_NOACCESS: an exception left a callback. */
static ULONG consumer_process(const TRACEHANDLE *handles, ULONG count, const FILETIME *start, const FILETIME *end)
{
    if (count == 0 || count > MOST_HANDLES)
        return consumer_refuse(ERROR_BAD_LENGTH, "invalid HandleCount: expected 1 to 64");
    if (!handles)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "invalid HandleArray: must not be NULL");
    const int64_t from = time_of(start, INT64_MIN), to = time_of(end, INT64_MAX);
    if (to < from)
        return consumer_refuse(ERROR_INVALID_TIME, "invalid EndTime: before StartTime");
    struct processing *p = memory_zero(1, sizeof *p);
    if (!p)
        return consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for ProcessTrace");
    p->from = from;
    p->to = to;
    p->count = count;
    ULONG status = consumer_take(handles, count, p->taken);
    if (status == ERROR_SUCCESS) {
        status = processing_run(p);
        consumer_give_back(p->taken, count);
    } else {
        (void)consumer_refuse(status, take_error(status));
    }
    memory_free(p);
    return status;
}

/* ---- ETW's functions under their own names ---- */

static TRACEHANDLE open_trace(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile)
{
    TRACEHANDLE handle;
    const ULONG status = consumer_open(form, logfile, &handle);
    if (status == ERROR_SUCCESS)
        return handle;
#ifdef _WIN32
    SetLastError(status);
#endif
    return INVALID_PROCESSTRACE_HANDLE;
}

TRACEHANDLE WINAPI OpenTraceW(EVENT_TRACE_LOGFILEW *logfile)
{
    return open_trace(CONSUMER_WIDE, logfile);
}

TRACEHANDLE WINAPI OpenTraceA(EVENT_TRACE_LOGFILEA *logfile)
{
    return open_trace(CONSUMER_ANSI, (EVENT_TRACE_LOGFILEW *)logfile); /* EVENT_TRACE_LOGFILEA has the same layout */
}

ULONG WINAPI ProcessTrace(TRACEHANDLE *handles, ULONG count, FILETIME *start, FILETIME *end)
{
    return consumer_process(handles, count, start, end);
}

ULONG WINAPI CloseTrace(TRACEHANDLE handle)
{
    return consumer_close(handle);
}

ULONG WINAPI SetTraceCallback(const GUID *class, PEVENT_CALLBACK callback)
{
    return consumer_set_class(class, callback);
}

ULONG WINAPI RemoveTraceCallback(const GUID *class)
{
    return consumer_remove_class(class);
}

/* There are no partitions: everything belongs to the computer's partition, whose GUID is zero. */
ULONG WINAPI QueryTraceProcessingHandle(TRACEHANDLE handle, ETW_PROCESS_HANDLE_INFO_TYPE what, PVOID in, ULONG in_size,
                                        PVOID out, ULONG out_size, ULONG *length)
{
    (void)in, (void)in_size;
    if (!consumer_is_open(handle))
        return ERROR_INVALID_HANDLE;
    if (what != EtwQueryPartitionInformation)
        return ERROR_INVALID_PARAMETER;
    if (length)
        *length = sizeof(ETW_TRACE_PARTITION_INFORMATION);
    if (!out || out_size < sizeof(ETW_TRACE_PARTITION_INFORMATION))
        return ERROR_INSUFFICIENT_BUFFER;
    memset(out, 0, sizeof(ETW_TRACE_PARTITION_INFORMATION));
    return ERROR_SUCCESS;
}
