/* SPDX-License-Identifier: MIT */
/* ProcessTrace: of all handles the oldest event next, to the callbacks. In memory at a time: one buffer of each
   processor of each file. */
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/etw/consumer/consumer_table.h"
#include "engine/etw/consumer/event_view.h"

#include <string.h>

enum { MOST_HANDLES = 64 };

struct running {
    struct consumer *consumer;
    struct etl_record event; /* to be delivered next */
    bool header;             /* ... is the log file header */
};

struct processing {
    int64_t from, to;
    ULONG count;
    struct consumer *taken[MOST_HANDLES];
    struct running running[MOST_HANDLES]; /* those with an event */
    ULONG running_count;
    ULONG failure; /* of the first that could not be read on */
    struct event_view view;
};

/* The callbacks' arguments, for guard_call. */
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

/* Reads the next event of `r` into it; false: it has no more. */
static bool advance(struct processing *p, struct running *r)
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
    if (r->event.kind == ETL_RECORD_OTHER) /* of which nothing is known but its length */
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

/* Behind the last event of a buffer, which is still there. */
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

static ULONG deliver(struct processing *p, const struct running *r)
{
    const struct etl_record *e = &r->event;
    const int64_t time = r->consumer->raw ? e->stamp : e->utc;
    ULONG status = ERROR_SUCCESS;
    if (r->header || (e->utc >= p->from && e->utc <= p->to))
        status = deliver_event(p, r, time);
    if (status == ERROR_SUCCESS && e->last)
        status = deliver_buffer(p, r, time);
    return status;
}

/* Of equal times that of the handle named first. */
static struct running *oldest(struct processing *p)
{
    struct running *found = p->running;
    for (ULONG i = 1; i < p->running_count; i++)
        if (p->running[i].event.utc < found->event.utc)
            found = &p->running[i];
    return found;
}

/* The first event of each: a header comes before all else of its file. */
static void begin(struct processing *p)
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
        if (SUCCEEDED(hr) && advance(p, r)) {
            r->header = true;
            p->running_count++;
        }
    }
}

static ULONG run(struct processing *p)
{
    begin(p);
    while (p->running_count != 0) {
        struct running *r = oldest(p);
        ULONG status = deliver(p, r);
        if (status != ERROR_SUCCESS)
            return status;
        if (!advance(p, r)) {
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

static const char *taking_failed(ULONG status)
{
    return status == ERROR_INVALID_HANDLE ? "HandleArray: has an element that is no open processing handle"
           : status == ERROR_BUSY         ? "HandleArray: another thread processes one of the handles"
                                          : "HandleArray: has one handle twice, or a session's beside others";
}

ULONG consumer_process(const TRACEHANDLE *handles, ULONG count, const FILETIME *start, const FILETIME *end)
{
    if (count == 0 || count > MOST_HANDLES)
        return consumer_refuse(ERROR_BAD_LENGTH, "HandleCount: is not from 1 to 64");
    if (!handles)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "HandleArray: is missing");
    const int64_t from = time_of(start, INT64_MIN), to = time_of(end, INT64_MAX);
    if (to < from)
        return consumer_refuse(ERROR_INVALID_TIME, "EndTime: is before StartTime");
    struct processing *p = memory_zero(1, sizeof *p);
    if (!p)
        return consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for ProcessTrace");
    p->from = from;
    p->to = to;
    p->count = count;
    ULONG status = consumer_take(handles, count, p->taken);
    if (status == ERROR_SUCCESS) {
        status = run(p);
        consumer_give_back(p->taken, count);
    } else {
        (void)consumer_refuse(status, taking_failed(status));
    }
    memory_free(p);
    return status;
}
