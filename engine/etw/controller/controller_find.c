/* SPDX-License-Identifier: MIT */
/* Which session a controller means. */
#include "engine/etw/controller/controller.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

enum { GLOBAL_LOGGER = 1, LOGGER_BITS = 16 }; /* WMI_GLOBAL_LOGGER_ID */
#define LOGGER_MASK ((UINT64_C(1) << LOGGER_BITS) - 1)

struct wanted {
    const char *name;
    uint32_t mode; /* beside the name */
    uint32_t logger, turn;
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
    return s->logger == w->logger && s->turn == w->turn && !s->kernel;
}

static ULONG find(struct directory *d, const struct wanted *w, struct directory_session *out)
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
        return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "InstanceName: no session is called '%.200s'", w->name);
    if (w->kernel)
        return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "TraceHandle: the NT Kernel Logger is not running");
    return controller_refuse(ERROR_WMI_INSTANCE_NOT_FOUND, "TraceHandle: logger %u, turn %u has no session",
                             (unsigned)w->logger, (unsigned)w->turn);
}

static ULONG find_alive(struct directory *d, const struct wanted *w, bool give_up, struct directory_session *out)
{
    const ULONG code = find(d, w, out);
    if (code != ERROR_SUCCESS)
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? not_found(w) : code;
    const HRESULT hr = session_rescue_or(d, out->logger, out->turn, give_up);
    if (hr == S_FALSE && out->state != DIRECTORY_STARTING)
        return ERROR_SUCCESS; /* it lives */
    directory_session_free(out);
    return FAILED(hr) ? session_code(hr) : not_found(w);
}

ULONG controller_find_kernel(struct directory *d, bool give_up, struct directory_session *out)
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
        .turn = (uint32_t)(handle >> LOGGER_BITS),
    };
    w.kernel = handle == DIRECTORY_KERNEL_LOGGER;
    if (!name && handle == GLOBAL_LOGGER)
        w.name = "GlobalLogger";
    else if (!name &&
             (handle >> LOGGER_BITS > UINT32_MAX || (!w.kernel && (w.logger == 0 || w.logger > DIRECTORY_PLACES))))
        return controller_refuse(ERROR_INVALID_PARAMETER, "TraceHandle: 0x%llX is no handle of a session",
                                 (unsigned long long)handle);
    return find_alive(d, &w, give_up, out);
}
