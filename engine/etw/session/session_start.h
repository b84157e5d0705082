/* SPDX-License-Identifier: MIT */
/* How a session comes into being: its entry in the directory, its host's process, and what that reports. */
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
/* The report; E_ABORT: the host ended without one; S_FALSE: there is none after timeout_ms. */
HRESULT session_report_wait(struct session_report *r, struct process *host, uint32_t timeout_ms, ULONG *code);
void session_report_close(struct session_report *r); /* NULL is allowed */

/* The process of a session: its arguments are the logger, its turn, and the key of the report. The exit code is the
   code that was reported. */
int session_host_main(int count, char *const *arguments);

#endif
