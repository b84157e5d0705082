/* SPDX-License-Identifier: MIT */
/* ETW's own functions, Windows' or ours: a thread for each session, as one call reads one session alone. */
#include "cli/trace/trace_session.h"

#include "cli/interrupt.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_api.h"

#include <stdatomic.h>

enum { LOOK_MS = 100 };

struct reading;
struct one_session {
    struct reading *reading;
    const char *name;
    TRACEHANDLE handle;
    bool open;
    uint32_t pointer_size, timer_resolution;
    struct thread *thread;
    ULONG status;
};

struct reading {
    const struct etw_api *etw;
    struct host_lock lock; /* of what follows */
    trace_take *take;
    void *context;
    HRESULT result;
    bool ended; /* nothing is taken any more */
    struct error_kept why;
};

static void WINAPI on_event(EVENT_RECORD *record)
{
    const struct one_session *s = record->UserContext;
    struct reading *r = s->reading;
    host_lock_enter(&r->lock);
    if (!r->ended) {
        const struct trace_event event = {record, s->pointer_size, s->timer_resolution, true};
        const HRESULT hr = r->take(r->context, &event);
        r->ended = hr != S_OK;
        if (FAILED(hr)) {
            r->result = hr;
            r->why = error_keep(hr);
        }
    }
    host_lock_leave(&r->lock);
}

static void process(void *user)
{
    struct one_session *s = user;
    s->status = s->reading->etw->ProcessTrace(&s->handle, 1, NULL, NULL);
}

static HRESULT open_session(struct one_session *s, bool raw)
{
    EVENT_TRACE_LOGFILEW log = {.Context = s};
    HRESULT hr = text_to_utf16(s->name, &log.LoggerName, NULL);
    if (FAILED(hr))
        return hr;
    log.ProcessTraceMode =
        PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD | (raw ? PROCESS_TRACE_MODE_RAW_TIMESTAMP : 0);
    log.EventRecordCallback = on_event;
    ULONG status = s->reading->etw->open_trace(&log, &s->handle);
    memory_free(log.LoggerName);
    if (status != ERROR_SUCCESS) {
        return error_set(HRESULT_FROM_WIN32((LONG)status), "-rt %s: %s", s->name,
                         status == ERROR_WMI_INSTANCE_NOT_FOUND
                             ? "there is no such session that gives events in real time"
                             : "the session cannot be read");
    }
    s->open = true;
    s->pointer_size = log.LogfileHeader.PointerSize;
    s->timer_resolution = log.LogfileHeader.TimerResolution;
    return S_OK;
}

/* S_OK: all have ended. */
static HRESULT wait_for_all(struct reading *r, struct one_session *sessions, size_t count, HRESULT (*after)(void *))
{
    bool running = true, asked = false;
    while (running) {
        asked = asked || interrupt_wait(LOOK_MS);
        host_lock_enter(&r->lock);
        if (after && !r->ended && FAILED(r->result = after(r->context))) {
            r->why = error_keep(r->result);
            r->ended = true;
        }
        asked = asked || r->ended;
        host_lock_leave(&r->lock);
        running = false;
        for (size_t i = 0; i < count; i++) {
            if (asked && sessions[i].open) {
                (void)r->etw->CloseTrace(sessions[i].handle);
                sessions[i].open = false;
            }
            running = running || !thread_wait(sessions[i].thread, asked ? LOOK_MS : 0);
        }
    }
    return FAILED(r->result) ? error_restore(&r->why) : S_OK;
}

HRESULT trace_sessions_read(const struct texts *names, bool raw, trace_take *take, HRESULT (*after)(void *context),
                            void *context)
{
    struct reading r = {.etw = host_etw(), .lock = HOST_LOCK_INIT, .take = take, .context = context};
    struct one_session *sessions = memory_zero(names->count, sizeof *sessions);
    size_t started = 0;
    HRESULT hr = sessions ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for %zu sessions", names->count);
    for (size_t i = 0; i < names->count && SUCCEEDED(hr); i++) {
        sessions[i].reading = &r;
        sessions[i].name = names->items[i];
        hr = open_session(&sessions[i], raw);
    }
    if (SUCCEEDED(hr) && !interrupt_begin())
        hr = error_set(E_FAIL, "Ctrl+C cannot be waited for");
    const bool begun = SUCCEEDED(hr);
    for (; started < names->count && SUCCEEDED(hr); started += SUCCEEDED(hr))
        hr = thread_start(process, &sessions[started], &sessions[started].thread);
    if (begun) {
        const struct error_kept why = error_keep(hr);
        r.ended = FAILED(hr);
        const HRESULT waited = wait_for_all(&r, sessions, started, after);
        hr = FAILED(hr) ? error_restore(&why) : waited;
        interrupt_end();
    }
    for (size_t i = 0; sessions && i < names->count; i++) {
        thread_close(sessions[i].thread);
        if (!sessions[i].open) /* closed above: a thread that had not begun finds no handle, and that is no failure */
            continue;
        (void)r.etw->CloseTrace(sessions[i].handle);
        if (SUCCEEDED(hr) && i < started && sessions[i].status != ERROR_SUCCESS)
            hr = error_set(HRESULT_FROM_WIN32((LONG)sessions[i].status), "-rt %s: it cannot be read on",
                           names->items[i]);
    }
    memory_free(sessions);
    return hr;
}
