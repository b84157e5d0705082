/* SPDX-License-Identifier: MIT */
/* The functions of controllers, behind their names. `wide`: names are WCHARs, else of the ANSI code page; nothing else
   differs. All answer with error codes of Windows, and with a text that names the member or the session. */
#ifndef OPENPLA_CONTROLLER_H
#define OPENPLA_CONTROLLER_H

#include "engine/etw/directory.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_drain.h"

ULONG controller_start(bool wide, TRACEHANDLE *handle, const void *name, EVENT_TRACE_PROPERTIES *p);
/* `code`: EVENT_TRACE_CONTROL_*. */
ULONG controller_control(bool wide, TRACEHANDLE handle, const void *name, EVENT_TRACE_PROPERTIES *p, ULONG code);
ULONG controller_query_all(bool wide, EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count);

struct controller_enable {
    TRACEHANDLE handle;
    const GUID *provider;
    ULONG code; /* EVENT_CONTROL_CODE_* */
    uint8_t level;
    uint64_t any, all;
    ULONG timeout;
    const ENABLE_TRACE_PARAMETERS *parameters; /* NULL: none */
    bool classic;                              /* EnableTrace */
};
ULONG controller_enable(const struct controller_enable *e);

/* ---- parts ---- */

ULONG controller_refuse(ULONG code, const char *format, ...) PRINTF_LIKE(2, 3);
/* The session that runs, or stops, of this name, or of this handle if name is NULL. A private one has a name with its
   bits of `mode` (LogFileMode) alone, and in its process if it is in that alone. 87: the handle is none; 4201: it has
   no session now. One whose host has ended is rescued; with `give_up` also when its log cannot be written. */
ULONG controller_find(struct directory *d, TRACEHANDLE handle, const char *name, uint32_t mode, bool give_up,
                      struct directory_session *out);

/* A session's figures, as long as it is open, even when the session has ended meanwhile. */
struct controller_view {
    struct section *section; /* NULL: it has none any more */
    struct session_buffers buffers;
};
void controller_view_open(const struct directory_session *s, struct controller_view *out);
void controller_view_close(struct controller_view *v);
struct controller_totals {
    struct session_statistics all;
    uint64_t realtime_lost, thread;
};
/* What the view shows is added. */
void controller_totals_add(const struct controller_view *v, struct controller_totals *f);
/* Fills the block as all functions do. 234: a name had no room. */
ULONG controller_answer(bool wide, const struct directory_session *s, const struct controller_totals *f,
                        EVENT_TRACE_PROPERTIES *p);

/* What ControlTrace is called with. */
struct controller_call {
    bool wide;
    ULONG code; /* EVENT_TRACE_CONTROL_* */
    EVENT_TRACE_PROPERTIES *properties;
};
/* What it asks of the session's host, taken from its block before anything is written there; to be freed by
   directory_request_free. */
ULONG controller_request(const struct controller_call *c, const struct directory_session *s,
                         struct directory_request *out);
/* Asks, and waits for the answer. */
ULONG controller_ask(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                     const struct directory_session *s);
/* What the call ends with when its answer ended with `code`: what was asked has happened, whatever of the session's
   names found no memory. */
ULONG controller_answered(const struct controller_call *c, ULONG code);
/* ControlTrace of a private session, which all its parts are asked for. */
ULONG controller_private(struct directory *d, const struct controller_call *c, struct directory_session *s);
/* The filters of EVENT_TRACE_PROPERTIES_V2; no other block has any. 87 for what is none of a process. */
ULONG controller_scope(const EVENT_TRACE_PROPERTIES *p, struct directory_scope *out);
/* Adds a filter that is checked; `member` has it, for texts. What it is of processes that live is in to->filter_data,
   the caller's to free; all else points to the caller's. 87, 8. */
ULONG controller_add_filter(struct directory_enable *to, const EVENT_FILTER_DESCRIPTOR *f, const char *member);

/* ---- trace_query.c ---- */

/* What TraceSetInformation does, for callers that have its data in another form: sets a list of a session that takes
   the kernel's events, in the place of the one it had: at most directory_kernel_room(list) hook ids or profile sources.
   An error code of Windows, with a text. */
ULONG trace_information_set_list(TRACEHANDLE session, enum directory_kernel_list list, const uint32_t *items,
                                 uint32_t count);

#endif
