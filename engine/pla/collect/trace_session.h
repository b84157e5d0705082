/* SPDX-License-Identifier: MIT */
/* Live trace sessions: started from plans, changed, asked and ended. All failures are ETW's codes as HRESULTs, with a
   text that names the session and, where it is one's fault, the provider or the file. */
#ifndef OPENPLA_TRACE_SESSION_H
#define OPENPLA_TRACE_SESSION_H

#include "engine/pla/collect/trace_plan.h"

/* Which session is meant. */
struct trace_target {
    const char *name; /* also for texts */
    uint64_t handle;  /* 0: by name; else that one session, not another one that has its name by now */
    bool is_private;  /* its LogFileMode has TRACE_MODE_PRIVATE_LOGGER */
};
/* A session as it is. */
struct trace_session {
    struct trace_plan is; /* what ETW made of the plan; its providers only where that is said */
    uint64_t handle;
    uint16_t number; /* SessionId */
    uint32_t thread; /* SessionThreadId */
    uint32_t buffers, free_buffers, events_lost, buffers_written, buffers_lost, real_time_buffers_lost;
};
void trace_session_free(struct trace_session *s); /* leaves it zero, and allows that */
struct trace_target trace_target_of(const struct trace_session *s);

/* Starts it and enables all its providers; nothing is left of a start that fails but a file that was there before.
   ERROR_ALREADY_EXISTS: a session has the name or the GUID. ERROR_NO_SYSTEM_RESOURCES: too many sessions, or of one
   provider. */
HRESULT trace_session_start(const struct trace_plan *plan, struct trace_session *out);
/* ERROR_WMI_INSTANCE_NOT_FOUND: there is none. */
HRESULT trace_session_query(const struct trace_target *t, struct trace_session *out);
/* Adds to the session's plan the providers that it has enabled, the kernel's with its flags; filters are not to be
 * known.
 */
HRESULT trace_session_providers(struct trace_session *s);
/* Makes a running session that was started by `from` (or is `from`: trace_session_query and _providers) as `to` says,
   without stopping it: providers that are new, gone or changed, the file, the FlushTimer, MaximumBuffers, real time or
   not. S_FALSE: `to` asks for what only a new session can be; nothing has changed then, nor after a failure. */
HRESULT trace_session_update(const struct trace_target *t, const struct trace_plan *from, const struct trace_plan *to,
                             struct trace_session *out);
/* All that is in buffers goes where it belongs; of a session in memory alone (TRACE_MODE_BUFFERING) a snapshot to
   `file`, else NULL. */
HRESULT trace_session_flush(const struct trace_target *t, const char *file);
/* With its last figures. */
HRESULT trace_session_stop(const struct trace_target *t, struct trace_session *out);
/* All that there are but private ones, in no order; without their providers. */
HRESULT trace_sessions_list(struct trace_session **list, size_t *count);
void trace_sessions_free(struct trace_session *list, size_t count);

#endif
