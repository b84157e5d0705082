/* SPDX-License-Identifier: MIT */
/* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE), in one of the processes that it is in: buffers in the process'
   own memory, a thread that empties them, and a file. The directory has the session as any other, so it is found,
   enabled and stopped as any other; nobody maps anything of it. */
#ifndef OPENPLA_PRIVATE_SESSION_H
#define OPENPLA_PRIVATE_SESSION_H

#include "engine/etw/directory.h"
#include "engine/etw/session_layout.h"

struct private_session;
/* Whether this process takes part in it. */
bool private_session_is_here(const struct directory_session *s);
/* *s is copied. The file has the name as given in the process that is the first to come, or with
   EVENT_TRACE_PRIVATE_IN_PROC; in others `name_<process id>`. */
HRESULT private_session_create(const struct directory_session *s, struct private_session **out,
                               struct session_buffers *buffers);
/* The FlushTimer; 0: each second, so that a process that is killed loses little. */
void private_session_set_flush(struct private_session *p, uint32_t ms);
/* Takes no more events; all that was taken is in the file, which ends. */
void private_session_stop(struct private_session *p);
void private_session_free(struct private_session *p); /* NULL is allowed; when nobody can be writing any more */
/* The session is over for all processes: what told whose file has the plain name goes. */
void private_session_forget(const struct directory_session *s);
/* The process ends, in order. */
void private_sessions_end(void);

#endif
