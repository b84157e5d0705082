/* SPDX-License-Identifier: MIT */
/* Trace sessions of collectors. A plan says what a collector asks of ETW (EVENT_TRACE_PROPERTIES and the arguments of
   EnableTraceEx2, in UTF-8, by the mapping of behaviour 10). A session is started from a plan, changed, asked and
   ended. Plans are also read from collectors, sessions and autologgers, and written to them. */
#ifndef OPENPLA_TRACE_SESSION_H
#define OPENPLA_TRACE_SESSION_H

#include "engine/base/error.h"
#include "engine/etw/autologger.h"
#include "engine/etw/trace_properties.h"
#include "engine/pla/model.h"

/* ---- plans: nothing here asks the host ---- */

/* One provider of a session. */
struct trace_enable {
    GUID guid;
    char *name; /* for people: DisplayName, else the GUID; NULL: of a live session, nobody has looked it up */
    uint8_t level;
    uint64_t any, all;   /* KeywordsAny 0: all, which a live session reads as UINT64_MAX */
    uint32_t properties; /* EVENT_ENABLE_PROPERTY_ */
    bool filtered;
    uint32_t filter_type; /* EVENT_FILTER_TYPE_ */
    struct bytes filter;  /* as ETW takes it; of a live session it is not known */
};
struct trace_plan {
    char *session;                             /* its name */
    char *file;                                /* NULL: it writes none */
    GUID guid;                                 /* zero: one is to be made */
    uint32_t clock;                            /* Wnode.ClientContext: 0 (as 1), 1 QPC, 2 system time, 3 cycles */
    uint32_t mode;                             /* LogFileMode: TRACE_MODE_ bits, unknown ones too */
    uint32_t buffer_kb;                        /* 0: as ETW thinks right, as all that follow */
    uint32_t minimum_buffers, maximum_buffers; /* suggestions, MS-PLA notes 28 to 31 */
    uint32_t maximum_file;                     /* MB, or KB with TRACE_MODE_USE_KBYTES; 0: none */
    uint32_t flush_timer;                      /* s; ms with TRACE_MODE_USE_MS_FLUSH_TIMER */
    const struct kernel_provider *kernel;      /* whose events it takes beside others'; NULL: none of the kernel's */
    uint32_t masks[GROUP_MASKS];               /* of these, each flag in its place */
    struct trace_enable *enables;              /* the kernel's among them, which says nothing by itself */
    size_t count;
};

/* The modes that a property of a trace collector stands for; all others are its ExtendedModes (engine/pla/collect/
   trace_plan_modes.def). */
#define TRACE_PLAN_MODE(property, bits) TRACE_PLAN_OF_##property = (bits),
enum trace_plan_mode {
#include "engine/pla/collect/trace_plan_modes.def"
};

/* Whether the kernel's events are all that the session's name and GUID stand for: what ETW asks of each session of them
   but system loggers, which have both for themselves. */
bool trace_plan_is_reserved(const struct trace_plan *plan);

/* The bits of StreamMode. */
enum { TRACE_STREAM_FILE = 1, TRACE_STREAM_REAL_TIME = 2, TRACE_STREAM_BUFFERING = 4 };

/* What the set says of a collector's file. */
struct trace_output {
    const char *file;    /* full path; not used by a collector without a file */
    uint32_t maximum_mb; /* SegmentMaxSize, 0: none */
    bool segmented;      /* a full file is followed by another one: by UPDATE, so no mode tells of its end */
};
/* E_INVALIDARG (ERROR_INVALID_PARAMETER's HRESULT) with the property's name for what no session can be: ProcessMode
   without a provider or with one of the kernel's, two of these, a level above 255, a GUID of zeros, a filter above 1024
   bytes; PLA_E_INVALID_SESSION_NAME. The name of a session of the kernel's is the kernel's, whatever was put. */
HRESULT trace_plan_make(struct object *collector, const struct trace_output *output, struct trace_plan *out);
void trace_plan_free(struct trace_plan *plan); /* leaves it zero, and allows that */
/* Whether the collector writes a file: StreamMode says so. */
bool trace_plan_writes_file(const struct object *collector);
/* Whether both ask the same of the provider. */
bool trace_enable_same(const struct trace_enable *a, const struct trace_enable *b);
bool trace_plan_same_file(const struct trace_plan *a, const struct trace_plan *b);
/* Whether a session of the one can become one of the other without being stopped (trace_session_update). */
bool trace_plan_can_become(const struct trace_plan *from, const struct trace_plan *to);
/* Adds a provider; takes nothing over. */
HRESULT trace_plan_add(struct trace_plan *plan, const struct trace_enable *enable);

/* ---- sessions ---- */

/* All failures are the codes of ETW as HRESULTs, with a message that names the session and, where one is the reason,
   the provider or the file. */

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

/* ---- the file of a trace: ETW opens it by its name, so that place is checked before ---- */

/* That `path` lies below `base`, and is free or, if `over`, a trace or empty, so that nothing is lost by writing there:
   ERROR_ALREADY_EXISTS's, ERROR_INVALID_DATA's, those of file_open_below. Leaves what is there. */
HRESULT trace_file_check(const char *base, const char *path, bool over);

/* As ETW names the files of a private session: each process' has its id behind `path`, and a number may come behind it.
   Calls `each` for those that are there, until one call fails; that failure is returned. */
HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user);
/* trace_file_check, for `path` and for them. */
HRESULT trace_file_check_private(const char *base, const char *path, bool over);
bool trace_file_private_exists(const char *path); /* it, or one of them; also when that cannot be known */
/* Of a private session that has not begun. `base` NULL: wherever they lie. */
void trace_file_delete_parts(const char *base, const char *path);

/* ---- plans as collectors: what ETW or the registry says of a session becomes a set ---- */

/* Makes the set say what the plan says: in its one trace collector, which it gets if it has none. What a plan does not
   know stays as it is, providers' names too; a provider that is not in the plan goes. `live`: of a session
   that runs, its figures (MS-PLA 3.2.4.9, notes 22 to 27); NULL: none. `filters`: the plan knows of filters, too. After
   a failure the set is to be thrown away. */
HRESULT trace_fill(struct object *set, const struct trace_plan *plan, bool filters, const struct trace_session *live);

/* ---- plans as autologgers ---- */

/* What the session of the autologger will be asked to be; its enabled providers. E_OUTOFMEMORY. */
HRESULT trace_plan_from_autologger(const struct autologger *a, struct trace_plan *out);
/* Changes `a`, which is empty or what is in the registry, to what the plan says; values that the plan does not know,
   and providers that are not enabled, stay. Guid is made if neither has one. After a failure `a` is to be thrown away.
 */
HRESULT trace_plan_to_autologger(const struct trace_plan *plan, struct autologger *a);

#endif
