/* SPDX-License-Identifier: MIT */
/* The functions of controllers. If `wide` is set, names consist of WCHARs; otherwise they are in the ANSI code page.
   All functions return Windows error codes, with an error text that names the member or the session. */
#ifndef OPENPLA_CONTROLLER_H
#define OPENPLA_CONTROLLER_H

#include "engine/etw/directory.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_drain.h"

ULONG controller_start(bool wide, TRACEHANDLE *handle, const void *name, EVENT_TRACE_PROPERTIES *p);
/* `code` is an EVENT_TRACE_CONTROL_* value. */
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
    bool classic;                              /* EnableTrace was called */
};
ULONG controller_enable(const struct controller_enable *e);

/* ---- shared by the source files of this folder ---- */

ULONG controller_refuse(ULONG code, const char *format, ...) PRINTF_LIKE(2, 3);
/* Finds the running or stopping session with this name or, if `name` is NULL, with this handle. A search by name
   requires that the private-session bits of `mode` and of the session's LogFileMode are equal, and finds an in-process
   session only in the process of the session. If the session's host process has exited, recovers and removes the
   session; `give_up` allows this even if the log of the session cannot be written. Fails with ERROR_INVALID_PARAMETER
   if the handle is invalid, and with ERROR_WMI_INSTANCE_NOT_FOUND if the session does not exist or was removed. */
ULONG controller_find(struct directory *d, TRACEHANDLE handle, const char *name, uint32_t mode, bool give_up,
                      struct directory_session *out);

/* A view of the statistics of a session. The statistics are valid while the view is open, even if the session ends. */
struct controller_view {
    struct section *section; /* NULL: the session no longer has a section */
    struct session_buffers buffers;
};
void controller_view_open(const struct directory_session *s, struct controller_view *out);
void controller_view_close(struct controller_view *v);
struct controller_totals {
    struct session_statistics all;
    uint64_t realtime_lost, thread;
};
/* Adds the view's statistics to the totals. */
void controller_totals_add(const struct controller_view *v, struct controller_totals *f);
/* Fills in the caller's block. Fails with ERROR_MORE_DATA if the block has not enough room for a name. */
ULONG controller_answer(bool wide, const struct directory_session *s, const struct controller_totals *f,
                        EVENT_TRACE_PROPERTIES *p);

/* The arguments of ControlTrace. */
struct controller_call {
    bool wide;
    ULONG code; /* EVENT_TRACE_CONTROL_* */
    EVENT_TRACE_PROPERTIES *properties;
};
/* Creates the request to the session's host process from the caller's block. Does not change the block. Free the
   request with directory_request_free. */
ULONG controller_request(const struct controller_call *c, const struct directory_session *s,
                         struct directory_request *out);
/* Sends the request and waits for the answer. */
ULONG controller_ask(struct directory *d, const struct controller_call *c, const struct directory_request *r,
                     const struct directory_session *s);
/* Returns the result of ControlTrace; `code` is the result of filling in the block. If there is no memory for a name,
   only a query fails, because all other requests have already been executed. */
ULONG controller_answered(const struct controller_call *c, ULONG code);
/* Implements ControlTrace for a private session: sends the request to all parts of the session. */
ULONG controller_private(struct directory *d, const struct controller_call *c, struct directory_session *s);
/* Reads the filters; only an EVENT_TRACE_PROPERTIES_V2 has filters. Fails with ERROR_INVALID_PARAMETER if a filter is
   invalid or does not select processes. */
ULONG controller_scope(const EVENT_TRACE_PROPERTIES *p, struct directory_scope *out);
/* Checks and adds a filter; `member` is the name of the filter in error texts. The start times of processes go to
   to->filter_data, which the caller frees; everything else points to the caller's data. Errors:
   ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY. */
ULONG controller_add_filter(struct directory_enable *to, const EVENT_FILTER_DESCRIPTOR *f, const char *member);

/* ---- trace_query.c ---- */

/* Replaces a list of the session with `items`: hook ids or profile sources, at most directory_kernel_room(list). Does
   the same as TraceSetInformation, for callers that already have hook ids or sources. The session must accept kernel
   events. Returns a Windows error code with an error text. */
ULONG trace_information_set_list(TRACEHANDLE session, enum directory_kernel_list list, const uint32_t *items,
                                 uint32_t count);

#endif
