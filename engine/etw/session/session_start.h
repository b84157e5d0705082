/* SPDX-License-Identifier: MIT */
/* How a session begins and how a broken one ends: its entry in the directory, its host's process and what that
   reports; and the recovery of a session whose host has ended. */
#ifndef OPENPLA_SESSION_START_H
#define OPENPLA_SESSION_START_H

#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"

/* Starts a session of these settings, which are complete (trace_settings_complete), in a host process of its own, and
   waits until it takes events. An error code of Windows with a text. *out is a copy. */
ULONG session_start(struct directory *d, const struct trace_settings *s, struct directory_session *out);

/* Starts a private one, which has no host: the processes that have its provider registered, of those in `scope`, begin
   a part each when they hear of it (private_session.h). */
ULONG session_start_private(struct directory *d, const struct trace_settings *s, const struct directory_scope *scope,
                            struct directory_session *out);

/* What a host tells who started it: once, an error code of Windows and its text. */
struct session_report;
/* `key`: hexadecimal digits. `create`: by the starter. */
HRESULT session_report_open(const char *key, bool create, struct session_report **out);
void session_report_send(struct session_report *r, ULONG code, const char *text);
void session_report_close(struct session_report *r); /* NULL is allowed */

/* The process of a session: its arguments are the logger, its generation, and the key of the report. The exit code is
   the code that was reported. */
int session_host_main(int count, char *const *arguments);

/* ---- recovery ---- */

/* If the session's host has ended (or, while it starts, its starter): appends every event that was accepted to the log,
   takes the session out of the directory, wakes those who had it enabled, and says so in the event journal. Waits while
   another process is at it; goes on with what a rescuer that ended had begun. S_FALSE: there is nothing to do.
   A failure of the log, with a text: the session stays, to be tried again; with `give_up` what it held is lost. A
   private session ends with its parts, when nobody is left who could be in it; dead parts of it are rescued first. */
HRESULT session_recover_or(struct directory *d, uint32_t logger, uint32_t generation, bool give_up);
static inline HRESULT session_recover(struct directory *d, uint32_t logger, uint32_t generation)
{
    return session_recover_or(d, logger, generation, false);
}
/* Of the part of a private session whose host was a thread of this process, which is ending: no other thread runs any
   more. Nothing is told. */
HRESULT session_recover_own(struct directory *d, uint32_t logger, uint32_t generation);
/* The parts of a private session. */
void session_recover_parts(struct directory *d, const struct directory_session *s);
/* All of the directory. */
void session_recover_all(struct directory *d);

/* Takes the session out of the directory and wakes those who had it enabled. */
HRESULT session_remove(struct directory *d, const struct directory_session *s);

#endif
