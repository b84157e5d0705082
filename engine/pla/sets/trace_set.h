/* SPDX-License-Identifier: MIT */
/* A set of the namespace Session or Autosession has exactly one trace collector. The session of the collector has the
   set's name. */
#ifndef OPENPLA_TRACE_SET_H
#define OPENPLA_TRACE_SET_H

#include "engine/base/security.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* Returns a reference to the set's only collector. PLA_E_DCS_SINGLETON_REQUIRED: the set has no trace collector. */
HRESULT trace_set_collector(struct object *set, struct object **out);
/* Returns the path of the session's file: RootPath and FileName, without the subdirectory and the decorations that
   other sets have (MS-PLA 2.2.2.11). *out is from memory_alloc. E_INVALIDARG: FileName leads out of RootPath. */
HRESULT trace_set_file(struct object *set, char **out);
/* Creates the plan for a session with the name `name`. PLA_E_INVALID_SESSION_NAME: kernel events require another
   session name. */
HRESULT trace_set_plan(struct object *set, const char *name, struct trace_plan *out);
/* Sets Security to the descriptor that Windows reports for a session. This is the descriptor of the session's Guid,
   which controls access to the session (MS-PLA 3.2.4.9, Guid). For a session that may have kernel events, Windows
   reports the descriptor of SystemTraceControlGuid. Security is unchanged if the host OS has no such descriptor. */
HRESULT trace_set_take_security(struct object *set, const struct trace_plan *session);
/* Returns the descriptor that trace_set_take_security would use for a session started from the plan. *sddl is from
   memory_alloc; "": Security is not set. */
HRESULT trace_plan_security(const struct trace_plan *plan, char **sddl);
/* Works like trace_plan_security, for the session that the set would start. */
HRESULT trace_set_security(struct object *set, char **sddl);
/* Determines whether the set requests kernel events, or a session that may have them. */
HRESULT trace_set_asks_kernel(struct object *set, bool *asks);
/* Reports a Security or a SessionName that differs from the session's. */
HRESULT trace_set_validate(struct object *set, const char *name, struct object *issues);

/* Finds the running session with that name; it may be a private session. S_FALSE, with *out empty: none. */
HRESULT trace_set_find(const char *name, struct trace_session *out);
/* Applies the set's properties to the running session. Properties that ETW cannot change are ignored if Commit reports
   them as ignored (MS-PLA 2.2.2.11). E_INVALIDARG: a property can neither be changed nor ignored; the message names the
   property. `stored`: the set is stored, so properties that cannot be changed now, including the file, apply to the
   next start. */
HRESULT trace_set_update(struct object *set, const struct trace_session *running, bool stored);
/* Flushes the session (MS-PLA 2.2.2.3, plaFlushTrace). PLA_E_DCS_NOT_FOUND: the session does not exist. */
HRESULT trace_set_flush(struct object *set, const char *space, const char *name);

/* ---- Session: all running sessions, regardless of who started them ---- */

/* Creates the definition from the running session; *xml is from memory_alloc. PLA_E_DCS_NOT_FOUND. */
HRESULT session_set_load(const char *name, char **xml, size_t *size);
/* Lists the names of the sessions; *out is empty on failure. */
HRESULT session_set_list(struct texts *out);
/* Reads the session's status and file. */
HRESULT session_set_read_live(const char *name, struct set_live *out);
/* Checks that the caller may start the set's session, and starts it. SET_ACCESS_REFUSED: the caller may not.
   PLA_E_DCS_IN_USE: a session with that name is running. HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS): another session with
   that Guid is running. */
HRESULT session_set_start(struct object *set, const struct caller *caller, const char *name);
HRESULT session_set_stop(const char *name); /* PLA_E_DCS_NOT_RUNNING */

/* ---- Autosession: all autologger keys in the registry, regardless of who wrote them ---- */

/* Creates the definition from the key, with the statistics of its session if that is running; *xml is from
   memory_alloc. Fails with PLA_E_DCS_NOT_FOUND, or with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and a message that names
   the corrupt value. */
HRESULT autosession_set_load(const char *name, char **xml, size_t *size);
/* Lists the names of the keys; *out is empty on failure. */
HRESULT autosession_set_list(struct texts *out);
/* Writes the key; keeps values that PLA does not know. PLA_E_DCS_ALREADY_EXISTS and PLA_E_DCS_NOT_FOUND, depending on
   the mode; E_INVALIDARG: the session cannot start with the system, because it is private or uses
   EVENT_TRACE_FILE_MODE_NEWFILE. *created: the key did not exist. */
HRESULT autosession_set_save(struct object *set, const char *name, enum store_mode mode, bool *created);
HRESULT autosession_set_delete(const char *name); /* PLA_E_DCS_NOT_FOUND */

#endif
