/* SPDX-License-Identifier: MIT */
/* Sets of Session and Autosession: one trace collector, and a session that has the set's name. */
#ifndef OPENPLA_TRACE_SET_H
#define OPENPLA_TRACE_SET_H

#include "engine/base/security.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* The set's one collector, a reference. PLA_E_DCS_SINGLETON_REQUIRED. */
HRESULT trace_set_collector(struct object *set, struct object **out);
/* RootPath and FileName, without Subdirectory and what decorates names in other sets (MS-PLA 2.2.2.11). From
   memory_alloc. E_INVALIDARG: FileName leads out of RootPath. */
HRESULT trace_set_file(struct object *set, char **out);
/* What the set asks for, under the session's name `name`. PLA_E_INVALID_SESSION_NAME: of the kernel's events, which are
   in sessions of other names. */
HRESULT trace_set_plan(struct object *set, const char *name, struct trace_plan *out);
/* Security as Windows tells it of a session: that of its Guid, which says who may use it (MS-PLA 3.2.4.9, Guid); of
   one that may have the kernel's events that of SystemTraceControlGuid. As it is where the host keeps none. */
HRESULT trace_set_take_security(struct object *set, const struct trace_plan *session);
/* The same of a session that is to begin; *sddl "": nobody has said so. From memory_alloc. */
HRESULT trace_plan_security(const struct trace_plan *plan, char **sddl);
/* And of the one that the set would begin. */
HRESULT trace_set_security(struct object *set, char **sddl);
/* Whether the set asks for the kernel's events, or for a session that may have them. */
HRESULT trace_set_asks_kernel(struct object *set, bool *asks);
/* What Commit has to tell: a SessionName that is not the session's. */
HRESULT trace_set_validate(struct object *set, const char *name, struct object *issues);

/* A session of that name that runs, a private one too. S_FALSE with *out empty: there is none. */
HRESULT trace_set_find(const char *name, struct trace_session *out);
/* Changes the session to what the set says, in what a running one can change; the rest stays as it is, where Commit
   has said so (MS-PLA 2.2.2.11). E_INVALIDARG, naming it, for a property that neither is changed nor said to be
   ignored. `stored`: what else the set says is for the next start, the file too. */
HRESULT trace_set_update(struct object *set, const struct trace_session *running, bool stored);
/* MS-PLA 2.2.2.3, plaFlushTrace. PLA_E_DCS_NOT_FOUND: no session has the name. */
HRESULT trace_set_flush(struct object *set, const char *space, const char *name);

/* ---- Session: the sessions that run, whoever has started them ---- */

/* The definition that the running session makes, from memory_alloc; PLA_E_DCS_NOT_FOUND. */
HRESULT session_set_load(const char *name, char **xml, size_t *size);
/* Their names; *out is empty on failure. */
HRESULT session_set_list(struct texts *out);
/* Whether it runs, and what it writes. */
HRESULT session_set_read_live(const char *name, struct set_live *out);
/* For who may begin such a session (SET_ACCESS_REFUSED). PLA_E_DCS_IN_USE: a session of the name runs.
   ERROR_ALREADY_EXISTS's HRESULT: one of the Guid. */
HRESULT session_set_start(struct object *set, const struct caller *caller, const char *name);
HRESULT session_set_stop(const char *name); /* PLA_E_DCS_NOT_RUNNING */

/* ---- Autosession: the keys of autologgers in the registry, whoever has written them ---- */

/* The definition that the key makes, with the figures of its session if that runs; from memory_alloc.
   PLA_E_DCS_NOT_FOUND; ERROR_INVALID_DATA's HRESULT, naming the value that is damaged. */
HRESULT autosession_set_load(const char *name, char **xml, size_t *size);
/* Their names; *out is empty on failure. */
HRESULT autosession_set_list(struct texts *out);
/* Writes the key; what PLA does not know of it stays. PLA_E_DCS_ALREADY_EXISTS, PLA_E_DCS_NOT_FOUND by mode;
   E_INVALIDARG for what cannot begin by itself: a private session, EVENT_TRACE_FILE_MODE_NEWFILE. *created: it was not
   there. */
HRESULT autosession_set_save(struct object *set, const char *name, enum store_mode mode, bool *created);
HRESULT autosession_set_delete(const char *name); /* PLA_E_DCS_NOT_FOUND */

#endif
