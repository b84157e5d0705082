/* SPDX-License-Identifier: MIT */
/* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE) in this process: its part here, an entry of the directory whose
   host is a thread of this process, with buffers and a file as any session has them. */
#ifndef OPENPLA_PRIVATE_SESSION_H
#define OPENPLA_PRIVATE_SESSION_H

#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_buffers.h"

/* What says which processes are in it, as filters that point into it. */
void private_session_filters(const struct directory_scope *scope, struct directory_enable *out);
/* Whether this process is one of them. */
bool private_session_is_here(const struct directory_session *s, const struct provider_scope *own);

struct private_session;
/* Begins the part of this process. S_FALSE: the session runs no more. */
HRESULT private_session_create(struct directory *d, const struct directory_session *s, struct private_session **out,
                               struct session_buffers *buffers);
/* Takes no more events; all that was taken is in the file, which ends. */
void private_session_stop(struct private_session *p);
void private_session_free(struct private_session *p); /* NULL is allowed; when nobody can be writing any more */
/* How many threads of this process private sessions have, all of which exist, in the low 32 bits. It never has the same
   value again when one has begun or ended since. */
uint64_t private_sessions_threads(void);
/* The process ends, in order. */
void private_sessions_end(void);

#endif
