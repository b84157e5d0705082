/* SPDX-License-Identifier: MIT */
/* StartTrace. */
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <string.h>

/* Failing to get the full path is no error; being out of memory is. */
static ULONG make_full(struct trace_settings *s)
{
    char *full = s->file ? host_full_path(s->file) : NULL;
    if (s->file && !full)
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file's name");
    memory_free(s->file);
    s->file = full;
    return ERROR_SUCCESS;
}

/* The full path where there is room for it, else the name as it was given. The session runs, whatever of its names
   finds no memory. */
static void answer(bool wide, const struct directory_session *session, EVENT_TRACE_PROPERTIES *p)
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

static ULONG start(bool wide, const struct trace_settings *settings, const struct directory_scope *scope,
                   TRACEHANDLE *handle, EVENT_TRACE_PROPERTIES *p)
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
    answer(wide, &session, p);
    directory_session_free(&session);
    return ERROR_SUCCESS;
}

ULONG controller_start(bool wide, TRACEHANDLE *handle, const void *name, EVENT_TRACE_PROPERTIES *p)
{
    struct trace_settings settings;
    struct directory_scope scope;
    if (!handle || !p)
        return controller_refuse(ERROR_INVALID_PARAMETER, "TraceHandle, Properties: is NULL");
    *handle = 0;
    const struct trace_call call = {.properties = p, .name = name, .wide = wide};
    const struct trace_machine machine = {.processors = processor_count(), .memory = host_memory()};
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
        code = controller_refuse(ERROR_INVALID_PARAMETER, "FilterDescCount: filters are for private sessions");
    if (code == ERROR_SUCCESS)
        code = start(wide, &settings, &scope, handle, p);
    trace_settings_free(&settings);
    return code;
}
