/* SPDX-License-Identifier: MIT */
/* ControlTrace and QueryAllTraces. */
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

enum { ANSWER_MS = 120000 }; /* a host may write gigabytes to a slow disk first */

/* ---- what is asked of the host ---- */

static ULONG read_file(const struct controller_call *c, struct directory_request *r)
{
    char *given;
    ULONG code = trace_file_read(c->properties, c->wide, &given);
    if (code != ERROR_SUCCESS || !given)
        return code;
    r->file = host_full_path(given);
    memory_free(given);
    return r->file ? ERROR_SUCCESS
                   : controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file's name");
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
        code =
            controller_refuse(ERROR_INVALID_PARAMETER,
                              "LogFileMode: EVENT_TRACE_FILE_MODE_APPEND and EVENT_TRACE_REAL_TIME_MODE exclude each "
                              "other");
    if (code != ERROR_SUCCESS)
        return code;
    if (c->code == EVENT_TRACE_CONTROL_UPDATE || (c->code == EVENT_TRACE_CONTROL_FLUSH && in_memory))
        code = read_file(c, r);
    if (code == ERROR_SUCCESS && r->file && s->file && text_equal_nocase(r->file, s->file))
        code = controller_refuse(ERROR_BAD_PATHNAME, "the log file's name: '%.200s' is what the session writes now",
                                 s->file);
    if (code == ERROR_SUCCESS && r->file && (s->mode & TRACE_MODE_NEWFILE) != 0 && !trace_file_is_pattern(r->file))
        code = controller_refuse(ERROR_INVALID_NAME, "the log file's name: '%.200s' has not one %%d in it", r->file);
    return code;
}

/* E_ABORT: the host has ended. */
ULONG controller_ask(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                     const struct directory_session *s)
{
    uint32_t answer = ERROR_SUCCESS;
    const HRESULT hr = directory_ask(d, s->logger, s->turn, r, ANSWER_MS, &answer);
    if (hr == S_OK)
        return answer == ERROR_SUCCESS ? ERROR_SUCCESS
                                       : controller_refuse(answer, "session '%.200s': refused by its host", s->name);
    if (hr == S_FALSE)
        return controller_refuse(ERROR_TIMEOUT, "session '%.200s': its host does not answer", s->name);
    if (hr != E_ABORT)
        return session_code(hr);
    /* It ended just now: by itself, or it was killed. What is asked of a session that is to be stopped anyway has then
       happened. */
    const HRESULT rescued = session_rescue_or(d, s->logger, s->turn, c->code == EVENT_TRACE_CONTROL_STOP);
    if (rescued == S_OK && c->code == EVENT_TRACE_CONTROL_STOP)
        return ERROR_SUCCESS;
    return FAILED(rescued) ? session_code(rescued)
                           : controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "session '%.200s' has ended", s->name);
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
        return controller_refuse(ERROR_ACTIVE_CONNECTIONS, "session '%.200s': is stopping already", s->name);
    controller_view_open(s, &view); /* so that its last figures can be told */
    if (c->code != EVENT_TRACE_CONTROL_QUERY) {
        code = controller_request(c, s, &request);
        if (code == ERROR_SUCCESS && request.file)
            session_rescue_all(d); /* whose the file may be */
        if (code == ERROR_SUCCESS)
            code = controller_ask(d, c, &request, s);
        directory_request_free(&request);
    }
    if (code == ERROR_SUCCESS && c->code == EVENT_TRACE_CONTROL_STOP)
        (void)session_remove(d, s); /* the name is free when the caller has the answer */
    if (code == ERROR_SUCCESS && directory_session_at(d, s->logger, s->turn, &now) == S_OK) {
        directory_session_free(s);
        *s = now;
    }
    if (code == ERROR_SUCCESS)
        code = controller_answered(c, controller_answer_view(c->wide, s, &view, c->properties));
    controller_view_close(&view);
    return code;
}

/* To change or to end it takes what it took to start it. */
static ULONG may_control(const struct controller_call *c, const struct directory_session *s)
{
    return trace_allowed(&s->guid,
                         c->code == EVENT_TRACE_CONTROL_QUERY
                             ? TRACE_RIGHT_QUERY
                             : trace_rights_of_session((s->mode & TRACE_MODE_REAL_TIME) != 0, s->file != NULL));
}

static ULONG find(struct directory *d, const struct controller_call *c, TRACEHANDLE handle, const char *name,
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
                                 "Wnode.Guid: is that of the NT Kernel Logger, InstanceName is '%.200s'", name);
    return controller_find_kernel(d, give_up, s);
}

ULONG controller_control(bool wide, TRACEHANDLE handle, const void *name, EVENT_TRACE_PROPERTIES *p, ULONG code)
{
    const struct controller_call c = {.wide = wide, .code = code, .properties = p};
    struct directory_session s;
    struct directory *d;
    char *text = NULL;
    if (!p)
        return controller_refuse(ERROR_INVALID_PARAMETER, "Properties: is NULL");
    ULONG status = controller_check_block(wide, p);
    if (status != ERROR_SUCCESS)
        return status;
    if (code > EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME)
        return controller_refuse(ERROR_INVALID_PARAMETER, "ControlCode: %u is none", (unsigned)code);
    if (!name && handle == 0 && !guid_equal(&p->Wnode.Guid, &trace_kernel_guid) &&
        !guid_equal(&p->Wnode.Guid, &trace_context_guid))
        return controller_refuse(ERROR_INVALID_PARAMETER, "InstanceName, TraceHandle: there is neither");
    if (name)
        status = trace_name_read(name, wide, &text);
    if (status == ERROR_SUCCESS && name && !text)
        status = controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "InstanceName: is empty or above 1024 characters");
    if (status == ERROR_SUCCESS)
        status = session_code(directory_get(&d));
    if (status == ERROR_SUCCESS) {
        status = find(d, &c, handle, text, &s);
        if (status == ERROR_SUCCESS) {
            const uint32_t is_private = s.mode & TRACE_MODE_PRIVATE_LOGGER;
            if (is_private != 0 && (p->LogFileMode & TRACE_MODE_PRIVATE_LOGGER) == 0)
                status =
                    controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "LogFileMode: session '%.200s' is private", s.name);
            else
                status = may_control(&c, &s);
            if (status == ERROR_SUCCESS)
                status = is_private != 0 ? controller_private(d, &c, &s) : control_session(d, &c, &s);
            directory_session_free(&s);
        }
    }
    memory_free(text);
    return status;
}

/* ---- all of them ---- */

static ULONG answer_one(bool wide, const struct directory_session *s, EVENT_TRACE_PROPERTIES *p)
{
    struct controller_view view;
    controller_view_open(s, &view);
    const ULONG code = controller_answer_view(wide, s, &view, p);
    controller_view_close(&view);
    return code == ERROR_MORE_DATA ? ERROR_SUCCESS : code; /* its names are cut */
}

ULONG controller_query_all(bool wide, EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count)
{
    struct directory_session *sessions;
    struct directory *d;
    size_t all;
    if (!list || room == 0 || !count)
        return controller_refuse(ERROR_INVALID_PARAMETER, "PropertyArray, PropertyArrayCount, LoggerCount: is none");
    ULONG code = ERROR_SUCCESS;
    for (ULONG i = 0; i < room && code == ERROR_SUCCESS; i++)
        code = list[i] ? controller_check_block(wide, list[i])
                       : controller_refuse(ERROR_INVALID_PARAMETER, "PropertyArray: element %u is NULL", (unsigned)i);
    if (code == ERROR_SUCCESS)
        code = session_code(directory_get(&d));
    if (code != ERROR_SUCCESS)
        return code;
    session_rescue_all(d);
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
        code = controller_refuse(ERROR_MORE_DATA, "PropertyArrayCount: %u is less than the %u sessions", (unsigned)room,
                                 (unsigned)*count);
    return code;
}
