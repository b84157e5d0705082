/* SPDX-License-Identifier: MIT */
/* Sets of the namespaces Session and Autosession: one trace collector, whose session has the set's name. */
#ifndef OPENPLA_TRACE_SET_H
#define OPENPLA_TRACE_SET_H

#include "engine/base/security.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* The set's only collector, as a reference. PLA_E_DCS_SINGLETON_REQUIRED. */
HRESULT trace_set_collector(struct object *set, struct object **out);
/* RootPath and FileName, without the subdirectory and decorations of other sets (MS-PLA 2.2.2.11). From
   memory_alloc. E_INVALIDARG: FileName leads out of RootPath. */
HRESULT trace_set_file(struct object *set, char **out);
/* The plan for a session named `name`. PLA_E_INVALID_SESSION_NAME: kernel events require another session name. */
HRESULT trace_set_plan(struct object *set, const char *name, struct trace_plan *out);
/* Sets Security as Windows reports it for a session: the descriptor of its Guid, which controls access to it (MS-PLA
   3.2.4.9, Guid), or of SystemTraceControlGuid for a session that may have kernel events. Unchanged if the host OS
   stores none. */
HRESULT trace_set_take_security(struct object *set, const struct trace_plan *session);
/* The same descriptor for a session that will be started; *sddl "": not set. From memory_alloc. */
HRESULT trace_plan_security(const struct trace_plan *plan, char **sddl);
/* The same for the session that the set would start. */
HRESULT trace_set_security(struct object *set, char **sddl);
/* Whether the set requests kernel events, or a session that may have them. */
HRESULT trace_set_asks_kernel(struct object *set, bool *asks);
/* Reports a SessionName that differs from the session's name. */
HRESULT trace_set_validate(struct object *set, const char *name, struct object *issues);

/* The running session of that name, also a private one. S_FALSE with *out empty: none. */
HRESULT trace_set_find(const char *name, struct trace_session *out);
/* Changes the running session to what the set specifies, as far as a running session can change; the rest stays if
   Commit reported so (MS-PLA 2.2.2.11). E_INVALIDARG, naming it, for a property that can neither be changed nor
   ignored. `stored`: the rest, including the file, is for the next start. */
HRESULT trace_set_update(struct object *set, const struct trace_session *running, bool stored);
/* MS-PLA 2.2.2.3, plaFlushTrace. PLA_E_DCS_NOT_FOUND: no such session. */
HRESULT trace_set_flush(struct object *set, const char *space, const char *name);

/* ---- Session: all running sessions, regardless of who started them ---- */

/* The definition made from the running session, from memory_alloc; PLA_E_DCS_NOT_FOUND. */
HRESULT session_set_load(const char *name, char **xml, size_t *size);
/* The names of the sessions; *out is empty on failure. */
HRESULT session_set_list(struct texts *out);
/* Its status and its file. */
HRESULT session_set_read_live(const char *name, struct set_live *out);
/* Checks that the caller may start such a session (SET_ACCESS_REFUSED) and starts it. PLA_E_DCS_IN_USE: a session of
   that name is running. HRESULT of ERROR_ALREADY_EXISTS: a session with that Guid is already running. */
HRESULT session_set_start(struct object *set, const struct caller *caller, const char *name);
HRESULT session_set_stop(const char *name); /* PLA_E_DCS_NOT_RUNNING */

/* ---- Autosession: all autologger keys in the registry, regardless of who wrote them ---- */

/* The definition made from the key, with the statistics of its session if that is running; from memory_alloc.
   PLA_E_DCS_NOT_FOUND; HRESULT of ERROR_INVALID_DATA, naming the corrupt value. */
HRESULT autosession_set_load(const char *name, char **xml, size_t *size);
/* The names of the keys; *out is empty on failure. */
HRESULT autosession_set_list(struct texts *out);
/* Writes the key, preserving values unknown to PLA. PLA_E_DCS_ALREADY_EXISTS, PLA_E_DCS_NOT_FOUND by mode;
   E_INVALIDARG for a session that cannot start with the system: a private session, EVENT_TRACE_FILE_MODE_NEWFILE.
   *created: the key did not exist. */
HRESULT autosession_set_save(struct object *set, const char *name, enum store_mode mode, bool *created);
HRESULT autosession_set_delete(const char *name); /* PLA_E_DCS_NOT_FOUND */

#endif
