/* SPDX-License-Identifier: MIT */
/* Trace sessions of collectors. A plan contains what a collector requests from ETW (EVENT_TRACE_PROPERTIES and the
   arguments of EnableTraceEx2, in UTF-8, by the mapping of behaviour 10). Sessions are started from plans, updated,
   queried and stopped. Plans are also read from and written to collectors, sessions and autologgers. */
#ifndef OPENPLA_TRACE_SESSION_H
#define OPENPLA_TRACE_SESSION_H

#include "engine/base/error.h"
#include "engine/etw/autologger.h"
#include "engine/etw/trace_properties.h"
#include "engine/pla/model.h"

/* ---- plans: no calls to the host OS ---- */

/* One event provider of a session. */
struct trace_enable {
    GUID guid;
    char *name; /* for display: DisplayName, else the GUID; NULL: not looked up, for a running session */
    uint8_t level;
    uint64_t any, all;   /* KeywordsAny 0 means all, which a running session reports as UINT64_MAX */
    uint32_t properties; /* EVENT_ENABLE_PROPERTY_ */
    bool filtered;
    uint32_t filter_type; /* EVENT_FILTER_TYPE_ */
    struct bytes filter;  /* as ETW takes it; unknown for a running session */
};
struct trace_plan {
    char *session;                             /* its name */
    char *file;                                /* NULL: no file */
    GUID guid;                                 /* zero: will be generated */
    uint32_t clock;                            /* Wnode.ClientContext: 0 (as 1), 1 QPC, 2 system time, 3 cycles */
    uint32_t mode;                             /* LogFileMode: TRACE_MODE_ bits, also unknown ones */
    uint32_t buffer_kb;                        /* 0: ETW's default, as for the following */
    uint32_t minimum_buffers, maximum_buffers; /* suggestions, MS-PLA notes 28 to 31 */
    uint32_t maximum_file;                     /* MB, or KB with TRACE_MODE_USE_KBYTES; 0: none */
    uint32_t flush_timer;                      /* s; ms with TRACE_MODE_USE_MS_FLUSH_TIMER */
    const struct kernel_provider *kernel;      /* kernel events collected besides others; NULL: none */
    uint32_t masks[GROUP_MASKS];               /* kernel event flags by group mask */
    struct trace_enable *enables;              /* includes the kernel provider, whose settings are above */
    size_t count;
};

/* The modes that have a property of the trace collector; all others are ExtendedModes
   (engine/pla/collect/trace_plan_modes.def). */
#define TRACE_PLAN_MODE(property, bits) TRACE_PLAN_OF_##property = (bits),
enum trace_plan_mode {
#include "engine/pla/collect/trace_plan_modes.def"
};

/* Whether the session must have the kernel's name and GUID, as ETW requires of all sessions with kernel events
   except system loggers. */
bool trace_plan_is_reserved(const struct trace_plan *plan);

/* The bits of StreamMode. */
enum { TRACE_STREAM_FILE = 1, TRACE_STREAM_REAL_TIME = 2, TRACE_STREAM_BUFFERING = 4 };

/* The set's settings for a collector's file. */
struct trace_output {
    const char *file;    /* full path; ignored for a collector without a file */
    uint32_t maximum_mb; /* SegmentMaxSize, 0: none */
    bool segmented;      /* a full file is followed by another one (UPDATE), so its mode has no end */
};
/* E_INVALIDARG (HRESULT of ERROR_INVALID_PARAMETER), naming the property, for an impossible session: ProcessMode
   without an event provider or with a kernel provider, two kernel providers, a level above 255, a zero GUID, a
   filter above 1024 bytes; PLA_E_INVALID_SESSION_NAME. A session of kernel events gets the kernel's name, whatever
   was put. */
HRESULT trace_plan_make(struct object *collector, const struct trace_output *output, struct trace_plan *out);
void trace_plan_free(struct trace_plan *plan); /* leaves it zero, which is allowed again */
/* Whether StreamMode makes the collector write a file. */
bool trace_plan_writes_file(const struct object *collector);
/* Whether both enable the event provider the same way. */
bool trace_enable_same(const struct trace_enable *a, const struct trace_enable *b);
bool trace_plan_same_file(const struct trace_plan *a, const struct trace_plan *b);
/* Whether a running session can be changed from one to the other (trace_session_update). */
bool trace_plan_can_become(const struct trace_plan *from, const struct trace_plan *to);
/* Adds a copy of the event provider. */
HRESULT trace_plan_add(struct trace_plan *plan, const struct trace_enable *enable);

/* ---- sessions ---- */

/* Failures are ETW's codes as HRESULTs; messages name the session and, if it is the reason, the event provider or
   the file. */

/* Identifies a session. */
struct trace_target {
    const char *name; /* also for messages */
    uint64_t handle;  /* 0: by name; else this session only, not a later one of that name */
    bool is_private;  /* its LogFileMode has TRACE_MODE_PRIVATE_LOGGER */
};
/* A running session. */
struct trace_session {
    struct trace_plan is; /* as ETW runs it; with event providers only where stated */
    uint64_t handle;
    uint16_t number; /* SessionId */
    uint32_t thread; /* SessionThreadId */
    uint32_t buffers, free_buffers, events_lost, buffers_written, buffers_lost, real_time_buffers_lost;
};
void trace_session_free(struct trace_session *s); /* leaves it zero, and allows that */
struct trace_target trace_target_of(const struct trace_session *s);

/* Starts the session and enables its event providers. A failed start leaves nothing behind, except a file that
   existed before. ERROR_ALREADY_EXISTS: a session has that name or GUID. ERROR_NO_SYSTEM_RESOURCES: too many
   sessions, or too many of one event provider. */
HRESULT trace_session_start(const struct trace_plan *plan, struct trace_session *out);
/* ERROR_WMI_INSTANCE_NOT_FOUND: no such session. */
HRESULT trace_session_query(const struct trace_target *t, struct trace_session *out);
/* Adds the enabled event providers to the session's plan, with the kernel's flags; filters are unknown. */
HRESULT trace_session_providers(struct trace_session *s);
/* Changes a running session that was started from `from` (or whose plan was read into `from`) to `to` without
   stopping it: new, removed and changed event providers, the file, FlushTimer, MaximumBuffers, real time. S_FALSE:
   `to` requires a new session. Nothing has changed after S_FALSE or a failure. */
HRESULT trace_session_update(const struct trace_target *t, const struct trace_plan *from, const struct trace_plan *to,
                             struct trace_session *out);
/* Flushes all buffers; for a session in memory (TRACE_MODE_BUFFERING) writes a snapshot to `file`, else NULL. */
HRESULT trace_session_flush(const struct trace_target *t, const char *file);
/* Returns its final statistics. */
HRESULT trace_session_stop(const struct trace_target *t, struct trace_session *out);
/* All sessions except private ones, unsorted, without event providers. */
HRESULT trace_sessions_list(struct trace_session **list, size_t *count);
void trace_sessions_free(struct trace_session *list, size_t count);

/* ---- trace files: ETW opens a file by its name, so the path is checked before ---- */

/* Checks that `path` is below `base` and does not exist; with `over`, it may also be a trace or empty, so that no
   other data are lost. HRESULTs of ERROR_ALREADY_EXISTS, ERROR_INVALID_DATA, and those of file_open_below. Does not
   change the file. */
HRESULT trace_file_check(const char *base, const char *path, bool over);

/* Calls `each` for the files of a private session: ETW appends each process's id to `path`, and possibly a number.
   Stops at the first failure and returns it. */
HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user);
/* trace_file_check for `path` and all of these files. */
HRESULT trace_file_check_private(const char *base, const char *path, bool over);
bool trace_file_private_exists(const char *path); /* whether it or one of them exists; true if unknown */
/* Deletes the files of a private session that is not active. `base` NULL: anywhere. */
void trace_file_delete_parts(const char *base, const char *path);

/* ---- plans as collectors: sets made from sessions and autologgers ---- */

/* Changes the set's only trace collector, which is created if missing, to what the plan contains. Values unknown to
   the plan, such as names of event providers, stay; event providers that are not in the plan are removed. `live`:
   statistics of a running session (MS-PLA 3.2.4.9, notes 22 to 27); NULL: none. `filters`: the plan includes
   filters. Discard the set after a failure. */
HRESULT trace_fill(struct object *set, const struct trace_plan *plan, bool filters, const struct trace_session *live);

/* ---- plans as autologgers ---- */

/* The plan of the session that the autologger will start, with its enabled event providers. E_OUTOFMEMORY. */
HRESULT trace_plan_from_autologger(const struct autologger *a, struct trace_plan *out);
/* Changes `a`, empty or as in the registry, to the plan. Values unknown to the plan and disabled event providers
   stay. Generates the Guid if neither has one. Discard `a` after a failure. */
HRESULT trace_plan_to_autologger(const struct trace_plan *plan, struct autologger *a);

#endif
