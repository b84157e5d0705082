/* SPDX-License-Identifier: MIT */
/* Starts sessions (entry in the directory, host process, report of the host process) and recovers sessions whose host
   processes have exited. */
#ifndef OPENPLA_SESSION_START_H
#define OPENPLA_SESSION_START_H

#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"

/* Starts a session in a new host process, and waits until it accepts events. The settings must be complete
   (trace_settings_complete). Returns a Windows error code with an error text. *out is a copy. */
ULONG session_start(struct directory *d, const struct trace_settings *s, struct directory_session *out);

/* Starts a private session, which has no host process: each process in `scope` that has registered the session's
   provider begins a part when it is notified (private_session.h). */
ULONG session_start_private(struct directory *d, const struct trace_settings *s, const struct directory_scope *scope,
                            struct directory_session *out);

/* The single report of a host process to the process that started it: a Windows error code with its error text. */
struct session_report;
/* `key`: hexadecimal digits. `create` is true in the process that starts the host process. */
HRESULT session_report_open(const char *key, bool create, struct session_report **out);
void session_report_send(struct session_report *r, ULONG code, const char *text);
void session_report_close(struct session_report *r); /* NULL is allowed */

/* The main function of a session's host process. Arguments: logger, generation, and the key of the report. Returns the
   reported code. */
int session_host_main(int count, char *const *arguments);

/* ---- recovery ---- */

/* Recovers a session whose host process has exited (or, while the session is starting, whose starter has exited).
   Appends all accepted events to the log, removes the session from the directory, notifies the processes whose
   providers the session had enabled, and adds an entry to the event journal. If another process is recovering the
   session, waits for that process. If a process was killed during a recovery, continues this recovery. Returns S_FALSE
   if there is nothing to do. If the log cannot be written, returns a failure with an error text. The session then stays
   in the directory, so that the recovery can be tried again; but if `give_up` is set, the session is removed and its
   events are lost. For a private session, first recovers its dead parts. The session itself ends when its starter has
   exited, it has no parts, and no process can begin one. */
HRESULT session_recover_or(struct directory *d, uint32_t logger, uint32_t generation, bool give_up);
static inline HRESULT session_recover(struct directory *d, uint32_t logger, uint32_t generation)
{
    return session_recover_or(d, logger, generation, false);
}
/* Recovers the part of a private session whose host was a thread of this process. Call it only when the process is
   exiting and no other thread runs any more. Nothing is written to the journal. */
HRESULT session_recover_own(struct directory *d, uint32_t logger, uint32_t generation);
/* Recovers the parts of a private session. */
void session_recover_parts(struct directory *d, const struct directory_session *s);
/* Recovers all sessions of the directory. */
void session_recover_all(struct directory *d);

/* Removes the session from the directory and notifies the processes whose providers it had enabled. */
HRESULT session_remove(struct directory *d, const struct directory_session *s);

#endif
