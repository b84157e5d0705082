/* SPDX-License-Identifier: MIT */
/* The functions of controllers, behind their names. `wide`: names are WCHARs, else of the ANSI code page; nothing else
   differs. All answer with error codes of Windows, and with a text that names the member or the session. */
#ifndef OPENPLA_CONTROLLER_H
#define OPENPLA_CONTROLLER_H

#include "engine/etw/directory.h"
#include "engine/etw/session_layout.h"
#include "engine/os/etw_controller_types.h"

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
/* The session that runs, or stops, of this name, or of this handle if name is NULL. 87: the handle is none; 4201: it
   has no session now. One whose host has ended is rescued; with `give_up` also when its log cannot be written. */
ULONG controller_find(struct directory *d, TRACEHANDLE handle, const char *name, bool give_up,
                      struct directory_session *out);
/* The NT Kernel Logger. */
ULONG controller_find_kernel(struct directory *d, bool give_up, struct directory_session *out);

/* A session's figures, as long as it is open, even when the session has ended meanwhile. */
struct controller_view {
    struct section *section; /* NULL: it has none any more */
    struct session_buffers buffers;
};
void controller_view_open(const struct directory_session *s, struct controller_view *out);
void controller_view_close(struct controller_view *v);
/* Fills the block as all functions do. 234: a name had no room. */
ULONG controller_answer(bool wide, const struct directory_session *s, const struct controller_view *v,
                        EVENT_TRACE_PROPERTIES *p);
/* trace_block_check, and room for at least the end of a name at each offset (24). */
ULONG controller_check_block(bool wide, const EVENT_TRACE_PROPERTIES *p);

#endif
