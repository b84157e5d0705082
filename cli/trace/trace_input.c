/* SPDX-License-Identifier: MIT */
/* Reads traces, running sessions and event definitions for the verbs, and the names of processes in traces. */
#include "cli/cli.h"
#include "cli/trace/trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/event_values.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void trace_inputs_progress(void *progress, uint64_t done, uint64_t total)
{
    cli_progress_show(progress, done, total);
}

int trace_inputs_print_warnings(const struct trace_inputs *in, const char *verb)
{
    int result = CLI_DONE;
    for (size_t i = 0; i < in->count; i++) {
        for (size_t k = 0; k < in->items[i].warnings.count; k++) {
            fprintf(cli_messages(), "openpla %s: %s: %s\n", verb, in->items[i].path, in->items[i].warnings.items[k]);
            result = CLI_REMARKS;
        }
    }
    return result;
}

static void print_warning(void *context, const char *text)
{
    (void)context;
    fprintf(cli_messages(), "openpla: %s\n", text);
}

HRESULT cli_trace_schemas_open(struct trace_knowledge *known, struct trace_schemas *out)
{
    known->warn = print_warning;
    return trace_schemas_open(known, out);
}

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
    struct lock lock; /* protects the following members */
    trace_take *take;
    void *context;
    HRESULT result;
    bool ended; /* no more events are accepted */
    struct error_kept why;
};

static void WINAPI on_event(EVENT_RECORD *record)
{
    const struct one_session *s = record->UserContext;
    struct reading *r = s->reading;
    lock_enter(&r->lock);
    if (!r->ended) {
        const struct trace_event event = {
            .record = record, .pointer_size = s->pointer_size, .timer_resolution = s->timer_resolution, .known = true};
        const HRESULT hr = r->take(r->context, &event);
        r->ended = hr != S_OK;
        if (FAILED(hr)) {
            r->result = hr;
            r->why = error_keep(hr);
        }
    }
    lock_leave(&r->lock);
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
                         status == ERROR_WMI_INSTANCE_NOT_FOUND ? "no real-time session has this name"
                                                                : "the session cannot be read");
    }
    s->open = true;
    s->pointer_size = log.LogfileHeader.PointerSize;
    s->timer_resolution = log.LogfileHeader.TimerResolution;
    return S_OK;
}

/* Waits until all sessions have ended. Returns S_OK, or the error that ended the reading. */
static HRESULT wait_for_all(struct reading *r, struct one_session *sessions, size_t count, HRESULT (*after)(void *))
{
    bool running = true, asked = false;
    while (running) {
        asked = asked || interrupt_wait(LOOK_MS);
        lock_enter(&r->lock);
        if (after && !r->ended && FAILED(r->result = after(r->context))) {
            r->why = error_keep(r->result);
            r->ended = true;
        }
        asked = asked || r->ended;
        lock_leave(&r->lock);
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
    struct reading r = {.etw = host_etw(), .lock = LOCK_INIT, .take = take, .context = context};
    struct one_session *sessions = memory_zero(names->count, sizeof *sessions);
    size_t started = 0;
    HRESULT hr = sessions ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for %zu sessions", names->count);
    for (size_t i = 0; i < names->count && SUCCEEDED(hr); i++) {
        sessions[i].reading = &r;
        sessions[i].name = names->items[i];
        hr = open_session(&sessions[i], raw);
    }
    if (SUCCEEDED(hr) && !interrupt_begin())
        hr = error_set(E_FAIL, "cannot wait for Ctrl+C");
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
        /* If `open` is false, wait_for_all has closed the session. If the thread calls ProcessTrace after that,
           ProcessTrace fails, as expected. */
        if (!sessions[i].open)
            continue;
        (void)r.etw->CloseTrace(sessions[i].handle);
        if (SUCCEEDED(hr) && i < started && sessions[i].status != ERROR_SUCCESS)
            hr = error_set(HRESULT_FROM_WIN32((LONG)sessions[i].status),
                           "-rt %s: the rest of the session cannot be read", names->items[i]);
    }
    memory_free(sessions);
    return hr;
}

/* A process that an event of the kernel's class Process or of Microsoft-Windows-Kernel-Process reports. */
struct process_names {
    const struct event_schema *schema;
    uint64_t id;
    bool has_id;
    struct text_buffer name;
};

static bool reports_process(const struct dumped_event *e)
{
    static const GUID class = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
    static const GUID provider = {0x22FB2CD6, 0x0E7B, 0x422B, {0xA0, 0xC7, 0x2F, 0xAD, 0x1F, 0xD0, 0xE7, 0x16}};
    const EVENT_HEADER *h = &e->record->EventHeader;
    if (!e->schema)
        return false;
    if (guid_equal(&h->ProviderId, &class)) /* Start, DCStart */
        return h->EventDescriptor.Opcode == 1 || h->EventDescriptor.Opcode == 3;
    return guid_equal(&h->ProviderId, &provider) && (h->EventDescriptor.Id == 1 || h->EventDescriptor.Id == 15);
}

static HRESULT process_event_take(void *context, enum event_step step, const struct event_value *v)
{
    struct process_names *t = context;
    if (step != STEP_VALUE || v->depth != 0)
        return S_OK;
    if (text_equal_nocase(v->property->name, "ProcessId"))
        t->has_id = value_number(v->type.in, v->bytes, v->size, &t->id);
    if (text_equal_nocase(v->property->name, "ImageFileName") || text_equal_nocase(v->property->name, "ImageName"))
        return event_value_text(t->schema, v, &t->name);
    return S_OK;
}

const char *trace_process_base_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '\\' || *c == '/')
            name = c + 1;
    return name;
}

static HRESULT processes_set_name(struct trace_processes *p, uint32_t id, const char *name)
{
    char *copy = text_copy(trace_process_base_name(name));
    if (!copy)
        return error_set(E_OUTOFMEMORY, "out of memory for the names of processes");
    const size_t at = id / 4 % TRACE_PROCESSES; /* Windows' ids are multiples of 4 */
    memory_free(p->kept[at].name);
    p->kept[at].id = id;
    p->kept[at].name = copy;
    return S_OK;
}

HRESULT trace_processes_note(struct trace_processes *p, const struct dumped_event *e)
{
    struct process_names names = {.schema = e->schema};
    if (!reports_process(e))
        return S_OK;
    const struct event_data data = event_data_of(e->record, e->pointer_size);
    HRESULT hr = event_values_walk(e->schema, &data, process_event_take, &names, NULL);
    if (hr == EVENT_DATA_INVALID)
        hr = S_OK;
    if (SUCCEEDED(hr) && names.has_id && names.name.length != 0 && !names.name.failed)
        hr = processes_set_name(p, (uint32_t)names.id, names.name.text);
    text_buffer_free(&names.name);
    return hr;
}

const char *trace_process_name(struct trace_processes *p, uint32_t id)
{
    const size_t at = id / 4 % TRACE_PROCESSES;
    if (p->kept[at].name && p->kept[at].id == id)
        return p->kept[at].name[0] ? p->kept[at].name : NULL;
    char *path = NULL;
    if (!p->live)
        return NULL;
    if (process_program(id, process_start_time(id), &path) != S_OK)
        path = NULL;
    /* Store even an unknown name, so that it is requested only once. */
    const HRESULT hr = processes_set_name(p, id, path ? path : "");
    memory_free(path);
    return SUCCEEDED(hr) && p->kept[at].name[0] ? p->kept[at].name : NULL;
}

void trace_processes_free(struct trace_processes *p)
{
    for (size_t i = 0; i < TRACE_PROCESSES; i++)
        memory_free(p->kept[i].name);
}
