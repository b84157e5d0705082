/* SPDX-License-Identifier: MIT */
/* Starts sessions: adds each to the directory, starts its host process, and waits for the host process's report. */
#include "engine/etw/session/session_start.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_output.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- the report ---- */

struct shared_report {
    atomic_uint_least32_t sent; /* set last */
    uint32_t code;
    char text[ERROR_TEXT_BYTES];
};
struct session_report {
    struct section *section;
    struct signal *signal;
    struct shared_report *shared;
};

HRESULT session_report_open(const char *key, bool create, struct session_report **out)
{
    struct session_report *r = memory_zero(1, sizeof *r);
    char *name = text_format("openetw-start-%s", key);
    const struct shared what = {.name = name, .create = create, .fresh = create};
    HRESULT hr = r && name ? section_open(&what, sizeof *r->shared, &r->section) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = signal_open(&what, &r->signal);
    memory_free(name);
    if (FAILED(hr)) {
        session_report_close(r);
        return hr;
    }
    r->shared = section_memory(r->section);
    *out = r;
    return S_OK;
}

void session_report_send(struct session_report *r, ULONG code, const char *text)
{
    text_fit(r->shared->text, sizeof r->shared->text, text);
    r->shared->code = code;
    atomic_store(&r->shared->sent, 1);
    (void)signal_set(r->signal);
}

/* Waits for the report. Returns E_ABORT if the host process exited without a report, and S_FALSE if no report came
   within timeout_ms. */
static HRESULT session_report_wait(struct session_report *r, struct process *host, uint32_t timeout_ms, ULONG *code)
{
    const uint64_t from = clock_monotonic_ms();
    for (;;) {
        const uint64_t passed = clock_passed_ms(from, clock_monotonic_ms());
        const HRESULT hr =
            signal_wait_or_process(r->signal, host, passed < timeout_ms ? timeout_ms - (uint32_t)passed : 0);
        /* Checked before hr, because the host process can exit just after it has sent the report. */
        if (atomic_load(&r->shared->sent) != 0) {
            char text[ERROR_TEXT_BYTES];
            *code = r->shared->code;
            memcpy(text, r->shared->text, sizeof text);
            text[sizeof text - 1] = 0;
            if (*code != ERROR_SUCCESS)
                (void)error_set(HRESULT_FROM_WIN32((LONG)*code), "%s", text_is_utf8(text, strlen(text)) ? text : "");
            return S_OK;
        }
        if (hr != S_OK || passed >= timeout_ms)
            return hr == S_OK ? S_FALSE : hr;
    }
}

void session_report_close(struct session_report *r)
{
    if (!r)
        return;
    section_close(r->section);
    signal_close(r->signal);
    memory_free(r);
}

enum {
    START_MS = 30000, /* maximum wait for the host process's report, on a busy computer */
    START_TRIES = 3,  /* under Wine, about one in several thousand processes dies before its program has run */
    SYSTEM_LOGGERS = 8,
    PRIVATE_SESSIONS = 8, /* maximum number of private sessions that may include the same process */
    OWN_SESSIONS = 3,     /* maximum of EVENT_TRACE_PRIVATE_IN_PROC sessions that one process may start */
    RESERVED_LOGGERS = 2, /* how many SYSTEM_LOGGERS are reserved for the two kernel loggers (trace_properties.h) */
};

/* ---- the directory ---- */

static bool is_system_logger(const struct directory_session *s)
{
    return (s->mode & TRACE_MODE_SYSTEM_LOGGER) != 0 && !s->kernel;
}

/* Returns whether a living process has registered both providers. */
static bool share_process(const struct directory_registration *list, size_t count, const GUID *a, const GUID *b)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; guid_equal(&list[i].provider, a) && k < count; k++)
            if (list[k].slot == list[i].slot && guid_equal(&list[k].provider, b))
                return true;
    return false;
}

/* Returns whether a process can belong to both sessions, because it has registered both providers or started both
   sessions. */
static bool may_share_process(const struct directory_session *a, const struct directory_session *b,
                              const struct directory_registration *list, size_t count)
{
    const uint32_t kind = TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC;
    if ((a->mode & kind) != (b->mode & kind))
        return false;
    if (a->whole != 0)
        return false;
    if (a->starter.id == b->starter.id && a->starter.start_time == b->starter.start_time)
        return true;
    return (a->mode & TRACE_MODE_PRIVATE_IN_PROC) == 0 && share_process(list, count, &a->guid, &b->guid);
}

/* Checks that the new session exceeds no process's maximum of private sessions. Call it during a change of the
   directory. */
static HRESULT check_private(struct directory *d, const struct directory_session *s)
{
    const uint32_t most = (s->mode & TRACE_MODE_PRIVATE_IN_PROC) != 0 ? OWN_SESSIONS : PRIVATE_SESSIONS;
    struct directory_registration *registered;
    struct directory_session *list;
    size_t count, registrations;
    uint32_t others = 0;
    HRESULT hr = directory_sessions(d, &list, &count);
    if (FAILED(hr))
        return hr;
    hr = directory_registrations(d, &registered, &registrations);
    if (SUCCEEDED(hr)) {
        for (size_t i = 0; i < count; i++)
            others += may_share_process(&list[i], s, registered, registrations);
        memory_free(registered);
    }
    directory_sessions_free(list, count);
    if (FAILED(hr) || others < most)
        return hr;
    return error_set(
        HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
        "cannot start session '%.200s': one of its processes is already in %u private sessions, which is the maximum",
        s->name, (unsigned)others);
}

/* Checks that the number of system loggers has not reached its maximum. Call it during a change of the directory. */
static HRESULT check_system_loggers(struct directory *d, const struct directory_session *s)
{
    struct directory_session *list;
    size_t count, others = 0;
    if (!is_system_logger(s))
        return S_OK;
    HRESULT hr = directory_sessions(d, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        others += is_system_logger(&list[i]);
    directory_sessions_free(list, count);
    if (others < SYSTEM_LOGGERS - RESERVED_LOGGERS)
        return S_OK;
    return error_set(
        HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
        "cannot start session '%.200s': %u sessions with EVENT_TRACE_SYSTEM_LOGGER_MODE exist, which is the maximum",
        s->name, (unsigned)others);
}

static HRESULT session_fill(const struct trace_settings *from, struct directory_session *s)
{
    static const GUID none;
    char key[SHARED_KEY_DIGITS + 1];
    *s = (struct directory_session){
        .state = DIRECTORY_STARTING,
        .guid = from->guid,
        .starter = {process_own_id(), process_start_time(process_own_id())},
        .kernel = from->kernel && guid_equal(&from->guid, &trace_kernel_guid),
        .clock = from->clock,
        .mode = from->mode,
        .buffer_kb = from->buffer_kb,
        .minimum_buffers = from->minimum_buffers,
        .maximum_buffers = from->maximum_buffers,
        .maximum_file = from->maximum_file,
        .flush_timer = from->flush_timer,
        .flush_ms = from->flush_ms,
        .name = text_copy(from->name),
        .file = from->file ? text_copy(from->file) : NULL,
    };
    memcpy(s->enable_flags, from->enable_flags, sizeof s->enable_flags);
    HRESULT hr = s->name && (s->file || !from->file) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && guid_equal(&s->guid, &none))
        hr = os_new_guid(&s->guid);
    if (SUCCEEDED(hr))
        hr = shared_new_key(key);
    if (SUCCEEDED(hr)) {
        snprintf(s->section, sizeof s->section, "openetw-%s", key);
        snprintf(s->signal, sizeof s->signal, "openetw-%s", key);
    }
    return hr;
}

static ULONG session_enter(struct directory *d, struct directory_session *s)
{
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return session_code(hr);
    const bool is_private = (s->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
    hr = is_private ? check_private(d, s) : check_system_loggers(d, s);
    if (SUCCEEDED(hr))
        hr = directory_session_add(d, s);
    (void)directory_end(d, is_private && SUCCEEDED(hr) ? &s->guid : NULL, is_private && SUCCEEDED(hr) ? 1 : 0);
    return hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ? ERROR_BAD_PATHNAME : session_code(hr);
}

/* ---- the host ---- */

static HRESULT start_host(const struct directory_session *s, const char *key, struct process **host)
{
    char logger[16], generation[16];
    const char *arguments[] = {logger, generation, key};
    char *program = program_beside_module("openetwhost");
    *host = NULL;
    if (!program)
        return E_OUTOFMEMORY;
    snprintf(logger, sizeof logger, "%u", (unsigned)s->logger);
    snprintf(generation, sizeof generation, "%u", (unsigned)s->generation);
    const HRESULT hr = process_start(&(struct program){.path = program,
                                                       .arguments = arguments,
                                                       .argument_count = sizeof arguments / sizeof *arguments,
                                                       .is_whole_or_none = true},
                                     host);
    memory_free(program);
    return hr;
}

/* Starts the host process and waits for its report. Returns E_ABORT if the host process exited without a report. */
static HRESULT start_once(const struct directory_session *s, ULONG *code)
{
    char key[SHARED_KEY_DIGITS + 1];
    struct session_report *report = NULL;
    struct process *host = NULL;
    HRESULT hr = shared_new_key(key);
    if (SUCCEEDED(hr))
        hr = session_report_open(key, true, &report);
    if (SUCCEEDED(hr))
        hr = start_host(s, key, &host);
    if (SUCCEEDED(hr))
        hr = session_report_wait(report, host, START_MS, code);
    if (hr == S_FALSE) {
        (void)process_terminate(process_id(host), process_start_time(process_id(host)));
        hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                       "cannot start session '%.200s': its host process did not report within %u s", s->name,
                       START_MS / 1000u);
    }
    process_close(host);
    session_report_close(report);
    return hr;
}

/* Removes what an exited host process has left. Returns false if the session is no longer starting. */
static bool clear_start(struct directory *d, const struct directory_session *s)
{
    struct directory_session now;
    if (directory_session_at(d, s->logger, s->generation, &now) != S_OK)
        return false;
    const bool starting = now.state == DIRECTORY_STARTING;
    directory_session_free(&now);
    if (starting)
        (void)section_delete(s->section);
    return starting;
}

static ULONG start_hosted(struct directory *d, const struct directory_session *s)
{
    ULONG code = ERROR_SUCCESS;
    HRESULT hr = E_ABORT;
    for (int tries = 0; hr == E_ABORT && tries < START_TRIES && clear_start(d, s); tries++)
        hr = start_once(s, &code);
    if (hr == E_ABORT) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INTERNAL_ERROR),
                       "cannot start session '%.200s': its host process exited %d times before it reported", s->name,
                       START_TRIES);
    }
    return FAILED(hr) ? session_code(hr) : code;
}

ULONG session_start(struct directory *d, const struct trace_settings *settings, struct directory_session *out)
{
    struct directory_session s;
    if ((settings->mode & TRACE_MODE_PRIVATE_LOGGER) != 0)
        return session_code(error_set(
            E_INVALIDARG, "invalid LogFileMode: a session with EVENT_TRACE_PRIVATE_LOGGER_MODE has no host process"));
    session_recover_all(d); /* frees the names and entries of sessions whose host processes have exited */
    HRESULT hr = session_fill(settings, &s);
    ULONG code = SUCCEEDED(hr) ? session_enter(d, &s) : session_code(hr);
    if (code == ERROR_SUCCESS) {
        code = start_hosted(d, &s);
        if (code != ERROR_SUCCESS) {
            const struct error_kept why = error_keep(HRESULT_FROM_WIN32((LONG)code));
            (void)section_delete(s.section);
            (void)session_remove(d, &s);
            (void)error_restore(&why);
        } else {
            hr = directory_session_at(d, s.logger, s.generation, out);
            if (FAILED(hr)) { /* only *out could not be allocated: return success, because the session runs and its
                                 starter must be able to stop it */
                *out = s;
                return ERROR_SUCCESS;
            }
            code = hr == S_OK ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
        }
    }
    directory_session_free(&s);
    return code;
}

ULONG session_start_private(struct directory *d, const struct trace_settings *settings,
                            const struct directory_scope *scope, struct directory_session *out)
{
    struct directory_session s;
    session_recover_all(d);
    HRESULT hr = session_fill(settings, &s);
    s.state = DIRECTORY_RUNNING;
    s.host = s.starter;
    s.scope = *scope;
    s.numbered = settings->numbered;
    s.section[0] = s.signal[0] = 0; /* only the session's parts have a section and a signal */
    s.started = clock_utc();
    const ULONG code = SUCCEEDED(hr) ? session_enter(d, &s) : session_code(hr);
    if (code != ERROR_SUCCESS)
        directory_session_free(&s);
    else
        *out = s;
    return code;
}
