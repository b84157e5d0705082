/* SPDX-License-Identifier: MIT */
/* Trace sessions of collectors. A plan is what a collector requests from ETW: EVENT_TRACE_PROPERTIES and the arguments
   of EnableTraceEx2, with strings in UTF-8 (behaviour 10 has the mapping). The functions here create plans from
   collectors, running sessions and autologgers, write plans to collectors and autologgers, and start, query, update and
   stop sessions. */
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
    char *name; /* for display: DisplayName, else the GUID; NULL in the plan of a running session */
    uint8_t level;
    /* KeywordsAny and KeywordsAll. KeywordsAny 0 means all keywords; a running session shows UINT64_MAX instead. */
    uint64_t any, all;
    uint32_t properties; /* EVENT_ENABLE_PROPERTY_ */
    bool filtered;
    uint32_t filter_type; /* EVENT_FILTER_TYPE_ */
    struct bytes filter;  /* in ETW's format; unknown for a running session */
};
struct trace_plan {
    char *session;                             /* session name */
    char *file;                                /* NULL: no file */
    GUID guid;                                 /* zero: generate one */
    uint32_t clock;                            /* Wnode.ClientContext: 0 or 1: QPC, 2: system time, 3: cycles */
    uint32_t mode;                             /* LogFileMode: TRACE_MODE_ bits, including unknown bits */
    uint32_t buffer_kb;                        /* 0: ETW's default */
    uint32_t minimum_buffers, maximum_buffers; /* suggestions, MS-PLA notes 28 to 31; 0: ETW's default */
    uint32_t maximum_file;                     /* MB, or KB with TRACE_MODE_USE_KBYTES; 0: none */
    uint32_t flush_timer;                      /* s; ms with TRACE_MODE_USE_MS_FLUSH_TIMER */
    const struct kernel_provider *kernel;      /* the kernel provider whose events are also collected; NULL: none */
    uint32_t masks[GROUP_MASKS];               /* kernel event flags by group mask */
    struct trace_enable *enables; /* the event providers; includes the kernel provider, whose settings are above */
    size_t count;
};

/* The mode bits for which the trace collector has a property (engine/pla/collect/trace_plan_modes.def). All other mode
   bits are in ExtendedModes. */
#define TRACE_PLAN_MODE(property, bits) TRACE_PLAN_OF_##property = (bits),
enum trace_plan_mode {
#include "engine/pla/collect/trace_plan_modes.def"
};

/* Returns whether the session must have the kernel's name and GUID, as ETW requires of all sessions with kernel events
   except system loggers. */
bool trace_plan_is_reserved(const struct trace_plan *plan);

/* The bits of StreamMode. */
enum { TRACE_STREAM_FILE = 1, TRACE_STREAM_REAL_TIME = 2, TRACE_STREAM_BUFFERING = 4 };

/* The set's settings for a collector's file. */
struct trace_output {
    const char *file;    /* full path; ignored for a collector without a file */
    uint32_t maximum_mb; /* SegmentMaxSize, 0: none */
    bool segmented;      /* the session changes to a new file when one is full, so ETW gets no size limit */
};
/* Creates the plan for a collector. E_INVALIDARG (HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER)): no such session is
   possible; the message names the property. Reasons: ProcessMode without an event provider or with a kernel provider,
   two kernel providers, a level above 255, a zero GUID, a filter above 1024 bytes. PLA_E_INVALID_SESSION_NAME:
   SessionName is not valid. A session of kernel events gets the kernel's name regardless of SessionName. */
HRESULT trace_plan_make(struct object *collector, const struct trace_output *output, struct trace_plan *out);
void trace_plan_free(struct trace_plan *plan); /* zeroes the plan; a zeroed plan is allowed */
/* Returns whether StreamMode makes the collector write a file. */
bool trace_plan_writes_file(const struct object *collector);
/* Returns whether both entries enable the event provider in the same way. */
bool trace_enable_same(const struct trace_enable *a, const struct trace_enable *b);
bool trace_plan_same_file(const struct trace_plan *a, const struct trace_plan *b);
/* Returns whether trace_session_update can change a running session from plan `from` to plan `to`. */
bool trace_plan_can_become(const struct trace_plan *from, const struct trace_plan *to);
/* Adds a copy of the entry to the plan. */
HRESULT trace_plan_add(struct trace_plan *plan, const struct trace_enable *enable);

/* ---- sessions ---- */

/* Failures are ETW's codes as HRESULTs. The messages name the session, and also the event provider or the file that is
   the reason for a failure. */

/* Identifies a session. */
struct trace_target {
    const char *name; /* also used in messages */
    /* 0: `name` alone identifies the session. Otherwise a later session with the same name is not the target. */
    uint64_t handle;
    bool is_private; /* the session's LogFileMode has TRACE_MODE_PRIVATE_LOGGER */
};
/* A running session. */
struct trace_session {
    struct trace_plan is; /* the session as ETW reports it; trace_session_providers adds the event providers */
    uint64_t handle;
    uint16_t number; /* SessionId */
    uint32_t thread; /* SessionThreadId */
    uint32_t buffers, free_buffers, events_lost, buffers_written, buffers_lost, real_time_buffers_lost;
};
void trace_session_free(struct trace_session *s); /* zeroes the struct; a zeroed struct is allowed */
struct trace_target trace_target_of(const struct trace_session *s);

/* Starts the session and enables its event providers. On failure, stops the session and deletes its file, unless the
   file existed before. ERROR_ALREADY_EXISTS: a session has that name or GUID. ERROR_NO_SYSTEM_RESOURCES: ETW lacks a
   resource, for example because too many sessions exist, or because too many sessions have enabled one event
   provider. */
HRESULT trace_session_start(const struct trace_plan *plan, struct trace_session *out);
/* ERROR_WMI_INSTANCE_NOT_FOUND: no such session. */
HRESULT trace_session_query(const struct trace_target *t, struct trace_session *out);
/* Adds the enabled event providers and the kernel's flags to the session's plan; filters are unknown. */
HRESULT trace_session_providers(struct trace_session *s);
/* Changes a running session from plan `from` to plan `to` without stopping it. `from` is the plan that started the
   session or that was read from it. Can change the event providers, the file, FlushTimer, MaximumBuffers, and real-time
   mode. S_FALSE: `to` requires a new session. After S_FALSE or a failure nothing has changed. */
HRESULT trace_session_update(const struct trace_target *t, const struct trace_plan *from, const struct trace_plan *to,
                             struct trace_session *out);
/* Flushes all buffers. For a session in memory (TRACE_MODE_BUFFERING), writes a snapshot to `file`; for other sessions
   `file` is NULL. */
HRESULT trace_session_flush(const struct trace_target *t, const char *file);
/* Stops the session and returns its final statistics. */
HRESULT trace_session_stop(const struct trace_target *t, struct trace_session *out);
/* Lists all sessions except private ones, unsorted, without their event providers. */
HRESULT trace_sessions_list(struct trace_session **list, size_t *count);
void trace_sessions_free(struct trace_session *list, size_t count);

/* ---- trace files: ETW opens a file by its name, so these functions check the path first ---- */

/* Checks that `path` is below `base` and does not exist. With `over`, the file may exist if it is a trace or empty, so
   that no other data can be overwritten. Fails with the HRESULTs of ERROR_ALREADY_EXISTS and ERROR_INVALID_DATA, and
   with the errors of file_open_below. Does not change the file. */
HRESULT trace_file_check(const char *base, const char *path, bool over);

/* Calls `each` for the files of a private session: ETW appends each process's id, and possibly a number, to `path`.
   Returns the first failure of `each`, and makes no further calls. */
HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user);
/* Calls trace_file_check for `path` and for all files of the private session. */
HRESULT trace_file_check_private(const char *base, const char *path, bool over);
bool trace_file_private_exists(const char *path); /* whether `path` or another of these files exists; true if unknown */
/* Deletes the files of a private session that is not active. `base` NULL: anywhere. */
void trace_file_delete_parts(const char *base, const char *path);

/* ---- plans as collectors: sets made from sessions and autologgers ---- */

/* Writes the plan to the set's only trace collector, and creates the collector if it is missing. Keeps values that a
   plan does not have, such as names of event providers; removes event providers that are not in the plan. `live`:
   statistics of a running session (MS-PLA 3.2.4.9, notes 22 to 27); NULL: none. `filters`: the plan includes filters.
   Discard the set after a failure. */
HRESULT trace_fill(struct object *set, const struct trace_plan *plan, bool filters, const struct trace_session *live);

/* ---- plans as autologgers ---- */

/* Creates the plan of the session that the autologger starts, with its enabled event providers. Fails only with
   E_OUTOFMEMORY. */
HRESULT trace_plan_from_autologger(const struct autologger *a, struct trace_plan *out);
/* Writes the plan to `a`, which is empty or was read from the registry. Keeps the values in `a` that a plan cannot
   contain, and the event providers in `a` that are disabled. Generates a Guid if neither the plan nor `a` has one.
   Discard `a` after a failure. */
HRESULT trace_plan_to_autologger(const struct trace_plan *plan, struct autologger *a);

#endif
