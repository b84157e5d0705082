/* SPDX-License-Identifier: MIT */
/* The relogger: input streams, one output file, and the loop that passes events to the callback in time order. */
#include "engine/etw/consumer/relogger.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/consumer/event_view.h"

enum { MOST_STREAMS = 64 };
#define STREAM_MARK (UINT64_C(0x52) << 56)

struct relogger_stream {
    struct consumer_source *source;
    char *path; /* NULL: a session */
    void *user;
    struct etl_record event; /* the next event to pass to the callback */
    bool begun, ended, header;
};

struct relogger {
    struct lock lock; /* protects the members below */
    bool busy, cancelled;
    struct relogger_stream streams[MOST_STREAMS];
    size_t count;
    char *output;
    struct relogged_file *file; /* the output file during relogger_process */
    struct event_view *view;
};

HRESULT relogger_create(struct relogger **out)
{
    struct relogger *r = memory_zero(1, sizeof *r);
    if (r)
        r->view = memory_zero(1, sizeof *r->view);
    if (!r || !r->view) {
        memory_free(r);
        return error_set(E_OUTOFMEMORY, "out of memory for a relogger");
    }
    *out = r;
    return S_OK;
}

void relogger_free(struct relogger *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++) {
        r->streams[i].source->close(r->streams[i].source);
        memory_free(r->streams[i].path);
    }
    memory_free(r->output);
    memory_free(r->view);
    memory_free(r);
}

/* ---- streams and output file ---- */

static HRESULT refuse_busy(const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BUSY), "cannot use %s: the relogger is processing", what);
}

static HRESULT relogger_add_handle(struct relogger *r, const struct relogger_stream *stream, TRACEHANDLE *handle)
{
    HRESULT hr = S_OK;
    lock_enter(&r->lock);
    const bool mixed = r->count != 0 && (!stream->path || !r->streams[0].path);
    if (r->busy)
        hr = refuse_busy(stream->path ? "LogfileName" : "LoggerName");
    else if (mixed)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "cannot add a stream: a session cannot be relogged together with other streams");
    else if (r->count == MOST_STREAMS)
        hr = error_set(E_INVALIDARG, "cannot add a stream: at most %d are supported", MOST_STREAMS);
    if (SUCCEEDED(hr)) {
        r->streams[r->count++] = *stream;
        *handle = STREAM_MARK | r->count;
    }
    lock_leave(&r->lock);
    return hr;
}

HRESULT relogger_add_file(struct relogger *r, const char *path, void *user, TRACEHANDLE *stream)
{
    struct relogger_stream s = {.path = text_copy(path), .user = user};
    HRESULT hr = s.path ? consumer_source_of_file(path, &s.source) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        hr = relogger_add_handle(r, &s, stream);
        if (FAILED(hr))
            s.source->close(s.source);
    }
    if (FAILED(hr))
        memory_free(s.path);
    return hr;
}

HRESULT relogger_add_session(struct relogger *r, const char *name, void *user, TRACEHANDLE *stream)
{
    struct relogger_stream s = {.user = user};
    HRESULT hr = realtime_source_open(&session_connections, name, &s.source);
    if (SUCCEEDED(hr)) {
        hr = relogger_add_handle(r, &s, stream);
        if (FAILED(hr))
            s.source->close(s.source);
    }
    return hr;
}

bool relogger_stream(struct relogger *r, TRACEHANDLE stream, void **user)
{
    lock_enter(&r->lock);
    const uint64_t place = stream & ~STREAM_MARK;
    const bool is = (stream & STREAM_MARK) == STREAM_MARK && place >= 1 && place <= r->count;
    if (is)
        *user = r->streams[place - 1].user;
    lock_leave(&r->lock);
    return is;
}

HRESULT relogger_set_output(struct relogger *r, const char *path)
{
    char *copy = text_copy(path);
    if (!copy)
        return error_set(E_OUTOFMEMORY, "out of memory for the path '%s'", path);
    lock_enter(&r->lock);
    const bool busy = r->busy;
    char *before = busy ? copy : r->output;
    if (!busy)
        r->output = copy;
    lock_leave(&r->lock);
    memory_free(before);
    return busy ? refuse_busy("LogfileName") : S_OK;
}

void relogger_cancel(struct relogger *r)
{
    lock_enter(&r->lock);
    if (r->busy) {
        r->cancelled = true;
        for (size_t i = 0; i < r->count; i++)
            r->streams[i].source->stop(r->streams[i].source);
    }
    lock_leave(&r->lock);
}

static bool is_cancelled(struct relogger *r)
{
    lock_enter(&r->lock);
    const bool cancelled = r->cancelled;
    lock_leave(&r->lock);
    return cancelled;
}

/* ---- processing ---- */

static HRESULT advance(struct relogger_stream *s)
{
    const HRESULT hr = s->source->next(s->source, &s->event);
    s->ended = hr != S_OK;
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT begin_streams(struct relogger *r)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->count && SUCCEEDED(hr); i++) {
        struct relogger_stream *s = &r->streams[i];
        hr = s->begun ? s->source->restart(s->source) : S_OK;
        s->begun = s->header = true;
        if (SUCCEEDED(hr))
            hr = advance(s);
    }
    return hr;
}

static HRESULT open_file(struct relogger *r)
{
    uint32_t processors = 0;
    if (!r->output)
        return S_OK;
    for (size_t i = 0; i < r->count; i++) {
        if (r->streams[i].path && file_is_same(r->streams[i].path, r->output))
            return error_set(E_INVALIDARG, "cannot write '%s': it is also an input", r->output);
        const uint32_t own = r->streams[i].source->log->processors;
        processors = own > processors ? own : processors;
    }
    return relogged_file_create(r->output, r->streams[0].source->log, processors, &r->file);
}

/* Returns the stream whose next event is the oldest; NULL if no stream has more events. */
static struct relogger_stream *relogger_oldest(struct relogger *r)
{
    struct relogger_stream *found = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct relogger_stream *s = &r->streams[i];
        if (!s->ended && (!found || s->event.utc < found->event.utc))
            found = s;
    }
    return found;
}

static EVENT_RECORD *view_of(struct relogger *r, const struct relogger_stream *s)
{
    const struct etl_log *log = s->source->log;
    event_view_record(&s->event, s->event.utc, log->pointer_size, log->private_logger, r->view);
    r->view->record.UserContext = s->user;
    return &r->view->record;
}

static HRESULT relogger_run(struct relogger *r, const struct relogger_callback *callback)
{
    HRESULT hr = begin_streams(r);
    if (SUCCEEDED(hr))
        hr = open_file(r);
    if (SUCCEEDED(hr) && !r->streams[0].ended)
        hr = callback->begin(callback->context, view_of(r, &r->streams[0]));
    for (struct relogger_stream *s; SUCCEEDED(hr) && (s = relogger_oldest(r));) {
        if (is_cancelled(r))
            return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "relogging was cancelled");
        if (!s->header && s->event.kind != ETL_RECORD_OTHER)
            hr = callback->event(callback->context, view_of(r, s));
        s->header = false;
        if (SUCCEEDED(hr))
            hr = advance(s);
    }
    if (SUCCEEDED(hr) && is_cancelled(r))
        return error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "relogging was cancelled");
    return SUCCEEDED(hr) ? callback->end(callback->context) : hr;
}

HRESULT relogger_process(struct relogger *r, const struct relogger_callback *callback)
{
    lock_enter(&r->lock);
    const bool busy = r->busy, empty = r->count == 0;
    r->busy = true;
    if (!busy)
        r->cancelled = false;
    lock_leave(&r->lock);
    if (busy)
        return refuse_busy("ProcessTrace");
    HRESULT hr =
        empty ? error_set(E_INVALIDARG, "cannot process traces: no stream was added") : relogger_run(r, callback);
    const struct error_kept why = error_keep(hr);
    uint64_t events = 0, buffers = 0;
    for (size_t i = 0; i < r->count; i++) {
        events += r->streams[i].source->log->events_lost;
        buffers += r->streams[i].source->log->buffers_lost;
    }
    const HRESULT closed = relogged_file_close(r->file, events, buffers);
    r->file = NULL;
    lock_enter(&r->lock);
    r->busy = false;
    lock_leave(&r->lock);
    return FAILED(hr) ? error_restore(&why) : closed;
}

HRESULT relogger_inject(struct relogger *r, const EVENT_RECORD *record)
{
    if (!r->file)
        return error_set(E_UNEXPECTED, "cannot inject an event: %s",
                         r->output ? "nothing is being processed" : "no output file was set");
    return relogged_file_add(r->file, record);
}
