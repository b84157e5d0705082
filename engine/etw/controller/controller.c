/* SPDX-License-Identifier: MIT */
/* Implements StartTrace, ControlTrace and QueryAllTraces. These functions find the session, send the request to its
   host process, and fill in the caller's block. */
#include "engine/etw/controller/controller.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { GLOBAL_LOGGER = 1, LOGGER_BITS = 16 }; /* WMI_GLOBAL_LOGGER_ID */
#define LOGGER_MASK ((UINT64_C(1) << LOGGER_BITS) - 1)

struct wanted {
    const char *name;
    uint32_t mode; /* is compared only in a search by name */
    uint32_t logger, generation;
    bool kernel;
};

static bool is_named(const struct directory_session *s, const struct wanted *w)
{
    const uint32_t kind = TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC;
    const uint32_t own = process_own_id();
    if (((s->mode ^ w->mode) & kind) != 0 || !text_equal_nocase(s->name, w->name))
        return false;
    return (s->mode & TRACE_MODE_PRIVATE_IN_PROC) == 0 ||
           (s->starter.id == own && s->starter.start_time == process_start_time(own));
}

static bool is_wanted(const struct directory_session *s, const struct wanted *w)
{
    if (s->whole != 0)
        return false;
    if (w->name)
        return is_named(s, w);
    if (w->kernel)
        return s->kernel;
    return s->logger == w->logger && s->generation == w->generation && !s->kernel;
}

static ULONG controller_find_wanted(struct directory *d, const struct wanted *w, struct directory_session *out)
{
    struct directory_session *list;
    size_t count;
    const HRESULT hr = directory_sessions(d, &list, &count);
    if (FAILED(hr))
        return session_code(hr);
    ULONG code = ERROR_WMI_INSTANCE_NOT_FOUND;
    for (size_t i = 0; i < count && code != ERROR_SUCCESS; i++) {
        if (is_wanted(&list[i], w)) {
            *out = list[i];
            list[i].name = list[i].file = NULL;
            code = ERROR_SUCCESS;
        }
    }
    directory_sessions_free(list, count);
    return code;
}

static ULONG not_found(const struct wanted *w)
{
    if (w->name)
        return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "invalid InstanceName '%.200s': no such session",
                                 w->name);
    if (w->kernel)
        return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                                 "invalid TraceHandle: the NT Kernel Logger is not running");
    return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                             "invalid TraceHandle: no session of logger %u, generation %u", (unsigned)w->logger,
                             (unsigned)w->generation);
}

static ULONG find_alive(struct directory *d, const struct wanted *w, bool give_up, struct directory_session *out)
{
    const ULONG code = controller_find_wanted(d, w, out);
    if (code != ERROR_SUCCESS)
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? not_found(w) : code;
    const HRESULT hr = session_recover_or(d, out->logger, out->generation, give_up);
    if (hr == S_FALSE && out->state != DIRECTORY_STARTING)
        return ERROR_SUCCESS; /* the session's host process is running */
    directory_session_free(out);
    return FAILED(hr) ? session_code(hr) : not_found(w);
}

/* Finds the NT Kernel Logger. */
static ULONG controller_find_kernel(struct directory *d, bool give_up, struct directory_session *out)
{
    return find_alive(d, &(struct wanted){.kernel = true}, give_up, out);
}

ULONG controller_find(struct directory *d, TRACEHANDLE handle, const char *name, uint32_t mode, bool give_up,
                      struct directory_session *out)
{
    struct wanted w = {
        .name = name,
        .mode = mode,
        .logger = (uint32_t)(handle & LOGGER_MASK),
        .generation = (uint32_t)(handle >> LOGGER_BITS),
    };
    w.kernel = handle == DIRECTORY_KERNEL_LOGGER;
    if (!name && handle == GLOBAL_LOGGER)
        w.name = "GlobalLogger";
    else if (!name &&
             (handle >> LOGGER_BITS > UINT32_MAX || (!w.kernel && (w.logger == 0 || w.logger > DIRECTORY_PLACES))))
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid TraceHandle 0x%llX: not the handle of a session",
                                 (unsigned long long)handle);
    return find_alive(d, &w, give_up, out);
}

/* ---- EVENT_TRACE_PROPERTIES with a session's current state ---- */

ULONG controller_refuse(ULONG code, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)error_set(HRESULT_FROM_WIN32((LONG)code), "%s", text);
    return code;
}

void controller_view_open(const struct directory_session *s, struct controller_view *out)
{
    const struct shared what = {.name = s->section, .lasting = true};
    *out = (struct controller_view){.section = NULL};
    if (FAILED(section_open(&what, (size_t)s->section_size, &out->section))) {
        out->section = NULL;
        return;
    }
    if (FAILED(session_buffers_map(section_memory(out->section), (size_t)s->section_size, &out->buffers)))
        controller_view_close(out);
}

void controller_view_close(struct controller_view *v)
{
    section_close(v->section);
    v->section = NULL;
}

/* ---- names ---- */

static size_t unit_of(bool wide)
{
    return wide ? sizeof(WCHAR) : 1;
}

/* Returns the room in bytes for the name at `offset`. The room ends where the other name begins, if the other name is
   at a higher offset. Otherwise it ends at the end of the block. */
static size_t room_at(const EVENT_TRACE_PROPERTIES *p, ULONG offset, ULONG other)
{
    const ULONG end = other > offset && other < p->Wnode.BufferSize ? other : p->Wnode.BufferSize;
    return end - offset;
}

/* Calls trace_block_check, and also checks that each offset has room for at least a NUL (ERROR_BAD_LENGTH). */
static ULONG controller_check_block(bool wide, const EVENT_TRACE_PROPERTIES *p)
{
    const ULONG status = trace_block_check(p);
    const ULONG offsets[] = {p->LoggerNameOffset, p->LogFileNameOffset};
    for (size_t i = 0; status == ERROR_SUCCESS && i < 2; i++)
        if (offsets[i] != 0 && room_at(p, offsets[i], offsets[1 - i]) < unit_of(wide))
            return controller_refuse(ERROR_BAD_LENGTH, "invalid Wnode.BufferSize %u: too small for a name at offset %u",
                                     (unsigned)p->Wnode.BufferSize, (unsigned)offsets[i]);
    return status;
}

/* Writes as much of the string as fits. */
static ULONG put_name(bool wide, EVENT_TRACE_PROPERTIES *p, ULONG offset, ULONG other, const char *text)
{
    if (offset == 0)
        return ERROR_SUCCESS;
    WCHAR *units = NULL;
    char *bytes = NULL;
    size_t length = 0;
    const HRESULT hr =
        wide ? text_to_utf16(text ? text : "", &units, &length) : text_to_ansi(text ? text : "", &bytes, &length);
    if (FAILED(hr))
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a session's names");
    const size_t unit = unit_of(wide), room = room_at(p, offset, other) / unit;
    const size_t fits = length < room ? length : room != 0 ? room - 1 : 0;
    char *at = (char *)p + offset;
    memcpy(at, wide ? (const void *)units : bytes, fits * unit);
    if (room != 0)
        memset(at + fits * unit, 0, unit);
    memory_free(units);
    memory_free(bytes);
    if (fits == length && room != 0)
        return ERROR_SUCCESS;
    return controller_refuse(ERROR_MORE_DATA, "invalid Wnode.BufferSize %u: too small for '%.200s'",
                             (unsigned)p->Wnode.BufferSize, text);
}

/* ---- totals ---- */

static uint32_t narrow(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void controller_totals_add(const struct controller_view *v, struct controller_totals *f)
{
    struct session_statistics one;
    if (!v->section)
        return;
    session_statistics_read(&v->buffers, &one);
    f->all.allocated += one.allocated;
    f->all.free += one.free;
    f->all.events_lost += one.events_lost;
    f->all.buffers_written += one.buffers_written;
    f->all.buffers_lost += one.buffers_lost;
    f->realtime_lost += atomic_load_explicit(&v->buffers.shared->totals.realtime_lost, memory_order_relaxed);
}

static void put_totals(const struct controller_totals *f, EVENT_TRACE_PROPERTIES *p)
{
    p->NumberOfBuffers = f->all.allocated;
    p->FreeBuffers = f->all.free;
    p->EventsLost = narrow(f->all.events_lost);
    p->BuffersWritten = narrow(f->all.buffers_written);
    p->LogBuffersLost = narrow(f->all.buffers_lost);
    p->RealTimeBuffersLost = narrow(f->realtime_lost);
}

static ULONG controller_answer_view(bool wide, const struct directory_session *s, const struct controller_view *v,
                                    EVENT_TRACE_PROPERTIES *p)
{
    struct controller_totals totals = {.thread = s->thread};
    controller_totals_add(v, &totals);
    return controller_answer(wide, s, &totals, p);
}

ULONG controller_answer(bool wide, const struct directory_session *s, const struct controller_totals *f,
                        EVENT_TRACE_PROPERTIES *p)
{
    const int64_t now = clock_utc();
    const uint64_t handle = directory_handle(s);
    p->Wnode.Guid = s->guid;
    p->Wnode.ClientContext = s->clock;
    memcpy(&p->Wnode.HistoricalContext, &handle, sizeof handle);
    memcpy(&p->Wnode.TimeStamp, &now, sizeof now);
    p->BufferSize = s->buffer_kb;
    p->MinimumBuffers = s->minimum_buffers;
    p->MaximumBuffers = s->maximum_buffers;
    p->MaximumFileSize = s->maximum_file;
    p->LogFileMode = s->mode;
    p->FlushTimer = s->flush_timer;
    p->EnableFlags = s->enable_flags[0];
    p->AgeLimit = 0;
    put_totals(f, p);
    memset(&p->LoggerThreadId, 0, sizeof p->LoggerThreadId);
    memcpy(&p->LoggerThreadId, &f->thread, sizeof p->LoggerThreadId);
    const ULONG named = put_name(wide, p, p->LoggerNameOffset, p->LogFileNameOffset, s->name);
    const ULONG filed = put_name(wide, p, p->LogFileNameOffset, p->LoggerNameOffset, s->file);
    return named != ERROR_SUCCESS ? named : filed;
}

/* ---- StartTrace ---- */

/* Converts the log file name to a full path. */
static ULONG make_full(struct trace_settings *s)
{
    char *full = s->file ? os_full_path(s->file) : NULL;
    if (s->file && !full)
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file name");
    memory_free(s->file);
    s->file = full;
    return ERROR_SUCCESS;
}

/* Fills in the caller's block. The name of the log file is its full path if there is room for the path, and the given
   name otherwise. Out of memory is not an error here, because the session is already running. */
static void controller_answer_start(bool wide, const struct directory_session *session, EVENT_TRACE_PROPERTIES *p)
{
    struct controller_view view;
    char *given = NULL;
    (void)trace_file_read(p, wide, &given);
    controller_view_open(session, &view);
    if (controller_answer_view(wide, session, &view, p) == ERROR_MORE_DATA) {
        struct directory_session as_given = *session;
        as_given.file = given;
        (void)controller_answer_view(wide, &as_given, &view, p);
    }
    controller_view_close(&view);
    memory_free(given);
}

static ULONG controller_start_session(bool wide, const struct trace_settings *settings,
                                      const struct directory_scope *scope, TRACEHANDLE *handle,
                                      EVENT_TRACE_PROPERTIES *p)
{
    struct directory_session session;
    struct directory *d;
    const bool is_private = (settings->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    ULONG code = session_code(directory_get(&d));
    if (code == ERROR_SUCCESS)
        code = is_private ? session_start_private(d, settings, scope, &session) : session_start(d, settings, &session);
    if (code != ERROR_SUCCESS)
        return code;
    *handle = directory_handle(&session);
    controller_answer_start(wide, &session, p);
    directory_session_free(&session);
    return ERROR_SUCCESS;
}

ULONG controller_start(bool wide, TRACEHANDLE *handle, const void *name, EVENT_TRACE_PROPERTIES *p)
{
    struct trace_settings settings;
    struct directory_scope scope;
    if (!handle || !p)
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid arguments: TraceHandle and Properties must not be NULL");
    *handle = 0;
    const struct trace_call call = {.properties = p, .name = name, .wide = wide};
    const struct trace_machine machine = {.processors = processor_count(), .memory = os_memory_bytes()};
    ULONG code = trace_properties_check(&call, &settings);
    if (code != ERROR_SUCCESS)
        return code;
    code = make_full(&settings);
    if (code == ERROR_SUCCESS)
        code = trace_settings_complete(&settings, false, &machine);
    if (code == ERROR_SUCCESS)
        code = trace_allowed(&settings.guid, trace_rights_of_session((settings.mode & TRACE_MODE_REAL_TIME) != 0,
                                                                     settings.file != NULL));
    if (code == ERROR_SUCCESS)
        code = controller_scope(p, &scope);
    if (code == ERROR_SUCCESS && scope.count != 0 && (settings.mode & TRACE_MODE_PRIVATE_LOGGER) == 0)
        code =
            controller_refuse(ERROR_INVALID_PARAMETER, "invalid FilterDescCount: only private sessions allow filters");
    if (code == ERROR_SUCCESS)
        code = controller_start_session(wide, &settings, &scope, handle, p);
    TRACE_STEP(etw, "start session '%s': %lu", settings.name ? settings.name : "", (unsigned long)code);
    trace_settings_free(&settings);
    return code;
}

/* ---- ControlTrace and QueryAllTraces ---- */

enum { ANSWER_MS = 120000 }; /* a host process may first have to write gigabytes to a slow disk */

/* ---- requests to the host process ---- */

static ULONG read_file(const struct controller_call *c, struct directory_request *r)
{
    char *given;
    ULONG code = trace_file_read(c->properties, c->wide, &given);
    if (code != ERROR_SUCCESS || !given)
        return code;
    r->file = os_full_path(given);
    memory_free(given);
    return r->file ? ERROR_SUCCESS : controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file name");
}

ULONG controller_request(const struct controller_call *c, const struct directory_session *s,
                         struct directory_request *r)
{
    static const enum directory_verb verbs[] = {
        [EVENT_TRACE_CONTROL_STOP] = DIRECTORY_STOP,
        [EVENT_TRACE_CONTROL_UPDATE] = DIRECTORY_UPDATE,
        [EVENT_TRACE_CONTROL_FLUSH] = DIRECTORY_FLUSH,
        [EVENT_TRACE_CONTROL_INCREMENT_FILE] = DIRECTORY_INCREMENT_FILE,
        [EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME] = DIRECTORY_TO_REALTIME,
    };
    const EVENT_TRACE_PROPERTIES *p = c->properties;
    const bool in_memory = (s->mode & TRACE_MODE_BUFFERING) != 0;
    ULONG code = ERROR_SUCCESS;
    *r = (struct directory_request){.verb = verbs[c->code],
                                    .process = {process_own_id(), process_start_time(process_own_id())}};
    if (c->code == EVENT_TRACE_CONTROL_UPDATE) {
        r->mode = p->LogFileMode;
        r->maximum_buffers = p->MaximumBuffers;
        r->flush_timer = p->FlushTimer;
        r->flags_given = session_kernel_is_one(s);
        code = trace_masks_read(p, r->enable_flags);
    }
    if (c->code == EVENT_TRACE_CONTROL_UPDATE && (s->mode & TRACE_MODE_APPEND) != 0 &&
        (p->LogFileMode & TRACE_MODE_REAL_TIME) != 0)
        code = controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid LogFileMode: EVENT_TRACE_FILE_MODE_APPEND and EVENT_TRACE_REAL_TIME_MODE "
                                 "cannot be combined");
    if (code != ERROR_SUCCESS)
        return code;
    if (c->code == EVENT_TRACE_CONTROL_UPDATE || (c->code == EVENT_TRACE_CONTROL_FLUSH && in_memory))
        code = read_file(c, r);
    if (code == ERROR_SUCCESS && r->file && s->file && text_equal_nocase(r->file, s->file))
        code = controller_refuse(ERROR_BAD_PATHNAME,
                                 "invalid log file name '%.200s': the session is writing to this file", s->file);
    if (code == ERROR_SUCCESS && r->file && (s->mode & TRACE_MODE_NEWFILE) != 0 && !trace_file_is_pattern(r->file))
        code = controller_refuse(ERROR_INVALID_NAME, "invalid log file name '%.200s': expected one %%d", r->file);
    return code;
}

/* Sends a request to the session's host process and waits for the answer. If the host process has exited, recovers the
   session. */
ULONG controller_ask(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                     const struct directory_session *s)
{
    uint32_t answer = ERROR_SUCCESS;
    const HRESULT hr = directory_ask(d, s->logger, s->generation, r, ANSWER_MS, &answer);
    if (hr == S_OK)
        return answer == ERROR_SUCCESS
                   ? ERROR_SUCCESS
                   : controller_refuse(answer, "cannot control session '%.200s': its host process refused the request",
                                       s->name);
    if (hr == S_FALSE)
        return controller_refuse(ERROR_TIMEOUT, "cannot control session '%.200s': its host process does not respond",
                                 s->name);
    if (hr != E_ABORT)
        return session_code(hr);
    /* The host process has just exited, normally or by a crash. If the request was to stop the session, it has
       succeeded. */
    const HRESULT recovered = session_recover_or(d, s->logger, s->generation, c->code == EVENT_TRACE_CONTROL_STOP);
    if (recovered == S_OK && c->code == EVENT_TRACE_CONTROL_STOP)
        return ERROR_SUCCESS;
    return FAILED(recovered) ? session_code(recovered)
                             : controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND,
                                                 "cannot control session '%.200s': it has ended", s->name);
}

ULONG controller_answered(const struct controller_call *c, ULONG code)
{
    return code == ERROR_NOT_ENOUGH_MEMORY && c->code != EVENT_TRACE_CONTROL_QUERY ? ERROR_SUCCESS : code;
}

/* ---- the call ---- */

static ULONG control_session(struct directory *d, const struct controller_call *c, struct directory_session *s)
{
    struct controller_view view;
    struct directory_request request;
    struct directory_session now;
    ULONG code = ERROR_SUCCESS;
    if (c->code == EVENT_TRACE_CONTROL_STOP && s->state == DIRECTORY_STOPPING)
        return controller_refuse(ERROR_ACTIVE_CONNECTIONS, "cannot stop session '%.200s': it is already stopping",
                                 s->name);
    controller_view_open(s, &view); /* opened before the session ends, to report its final totals */
    if (c->code != EVENT_TRACE_CONTROL_QUERY) {
        code = controller_request(c, s, &request);
        if (code == ERROR_SUCCESS && request.file)
            session_recover_all(d); /* a session whose host process has exited may own the file */
        if (code == ERROR_SUCCESS)
            code = controller_ask(d, c, &request, s);
        directory_request_free(&request);
    }
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_STOP)
        (void)session_remove(d, s); /* remove it now, so that the caller can use the name again after this call */
    if (code == ERROR_SUCCESS && directory_session_at(d, s->logger, s->generation, &now) == S_OK) {
        directory_session_free(s);
        *s = now;
    }
    if (code == ERROR_SUCCESS)
        code = controller_answered(c, controller_answer_view(c->wide, s, &view, c->properties));
    controller_view_close(&view);
    return code;
}

/* Controlling a session requires the same rights as starting it. */
static ULONG may_control(const struct controller_call *c, const struct directory_session *s)
{
    return trace_allowed(&s->guid,
                         c->code == EVENT_TRACE_CONTROL_QUERY
                             ? TRACE_RIGHT_QUERY
                             : trace_rights_of_session((s->mode & TRACE_MODE_REAL_TIME) != 0, s->file != NULL));
}

static ULONG find_for_call(struct directory *d, const struct controller_call *c, TRACEHANDLE handle, const char *name,
                           struct directory_session *s)
{
    const bool give_up = c->code == EVENT_TRACE_CONTROL_STOP;
    *s = (struct directory_session){0};
    if (!name && handle == 0 && guid_equal(&c->properties->Wnode.Guid, &trace_context_guid))
        name = TRACE_CONTEXT_LOGGER;
    if (!guid_equal(&c->properties->Wnode.Guid, &trace_kernel_guid))
        return controller_find(d, handle, name, c->properties->LogFileMode, give_up, s);
    if (name && !text_equal_nocase(name, TRACE_KERNEL_LOGGER))
        return controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid InstanceName '%.200s': Wnode.Guid is the NT Kernel Logger's", name);
    return controller_find_kernel(d, give_up, s);
}

ULONG controller_control(bool wide, TRACEHANDLE handle, const void *name, EVENT_TRACE_PROPERTIES *p, ULONG code)
{
    const struct controller_call c = {.wide = wide, .code = code, .properties = p};
    struct directory_session s;
    struct directory *d;
    char *text = NULL;
    if (!p)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid Properties: must not be NULL");
    ULONG status = controller_check_block(wide, p);
    if (status != ERROR_SUCCESS)
        return status;
    if (code > EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME)
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid ControlCode %u", (unsigned)code);
    if (!name && handle == 0 && !guid_equal(&p->Wnode.Guid, &trace_kernel_guid) &&
        !guid_equal(&p->Wnode.Guid, &trace_context_guid))
        return controller_refuse(ERROR_INVALID_PARAMETER, "invalid arguments: expected InstanceName or TraceHandle");
    if (name)
        status = trace_name_read(name, wide, &text);
    if (status == ERROR_SUCCESS && name && !text)
        status = controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "invalid InstanceName: expected 1 to 1024 characters");
    if (status == ERROR_SUCCESS)
        status = session_code(directory_get(&d));
    if (status == ERROR_SUCCESS) {
        status = find_for_call(d, &c, handle, text, &s);
        if (status == ERROR_SUCCESS) {
            const uint32_t is_private = s.mode & TRACE_MODE_PRIVATE_LOGGER;
            if (is_private != 0 && (p->LogFileMode & TRACE_MODE_PRIVATE_LOGGER) == 0)
                status = controller_refuse(
                    ERROR_WMI_INSTANCE_NOT_FOUND,
                    "invalid LogFileMode: session '%.200s' requires EVENT_TRACE_PRIVATE_LOGGER_MODE", s.name);
            else
                status = may_control(&c, &s);
            if (status == ERROR_SUCCESS)
                status = is_private != 0 ? controller_private(d, &c, &s) : control_session(d, &c, &s);
            directory_session_free(&s);
        }
    }
    TRACE_STEP(etw, "control session '%s', code %lu: %lu", text ? text : "", (unsigned long)code,
               (unsigned long)status);
    memory_free(text);
    return status;
}

/* ---- all sessions ---- */

static ULONG answer_one(bool wide, const struct directory_session *s, EVENT_TRACE_PROPERTIES *p)
{
    struct controller_view view;
    controller_view_open(s, &view);
    const ULONG code = controller_answer_view(wide, s, &view, p);
    controller_view_close(&view);
    return code == ERROR_MORE_DATA ? ERROR_SUCCESS : code; /* here, a truncated name is not an error */
}

ULONG controller_query_all(bool wide, EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count)
{
    struct directory_session *sessions;
    struct directory *d;
    size_t all;
    if (!list || room == 0 || !count)
        return controller_refuse(
            ERROR_INVALID_PARAMETER,
            "invalid arguments: PropertyArray, PropertyArrayCount and LoggerCount must not be NULL or 0");
    ULONG code = ERROR_SUCCESS;
    for (ULONG i = 0; i < room && code == ERROR_SUCCESS; i++) {
        if (!list[i])
            return controller_refuse(ERROR_INVALID_PARAMETER, "invalid PropertyArray: element %u is NULL", (unsigned)i);
        code = controller_check_block(wide, list[i]);
    }
    if (code == ERROR_SUCCESS)
        code = session_code(directory_get(&d));
    if (code != ERROR_SUCCESS)
        return code;
    session_recover_all(d);
    const HRESULT hr = directory_sessions(d, &sessions, &all);
    if (FAILED(hr))
        return session_code(hr);
    *count = 0;
    for (size_t i = 0; i < all && code == ERROR_SUCCESS; i++) {
        if (sessions[i].state == DIRECTORY_STARTING || (sessions[i].mode & TRACE_MODE_PRIVATE_LOGGER) != 0 ||
            trace_allowed(&sessions[i].guid, TRACE_RIGHT_QUERY) != ERROR_SUCCESS)
            continue;
        if (*count < room)
            code = answer_one(wide, &sessions[i], list[*count]);
        ++*count;
    }
    directory_sessions_free(sessions, all);
    if (code == ERROR_SUCCESS && *count > room)
        code = controller_refuse(ERROR_MORE_DATA, "invalid PropertyArrayCount %u: %u sessions exist", (unsigned)room,
                                 (unsigned)*count);
    return code;
}
