/* SPDX-License-Identifier: MIT */
/* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE): the entries of its parts in the directory, and the part of
   this process, whose host is a thread here, with buffers and a file as any session has them. */
#ifndef OPENPLA_PRIVATE_SESSION_H
#define OPENPLA_PRIVATE_SESSION_H

#include "engine/etw/directory.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_buffers.h"

/* ---- the entries of parts: how one begins in a process, and what its session keeps of it ---- */

/* The parts that there are, freed by directory_sessions_free, and what those that are over have left then (NULL: not
   asked for). */
HRESULT private_parts(struct directory *d, const struct directory_session *s, struct directory_totals *ended,
                      struct directory_session **out, size_t *count);
/* Enters a part of this process, about to start. Its file has the name as given if it is the first part of all, or with
   EVENT_TRACE_PRIVATE_IN_PROC, else `name_<process id>`. S_FALSE: the session runs no more. */
HRESULT private_part_enter(struct directory *d, const struct directory_session *s, struct directory_session *part);
/* Takes out a part that could not start; another may have the name as given. */
void private_part_refuse(struct directory *d, const struct directory_session *part);
/* Its log has ended: what it counted is its session's (`b` NULL: nothing). Once, however often it is called. */
HRESULT private_part_over(struct directory *d, const struct directory_session *part, const struct session_buffers *b);
/* Ids of processes are given again: in place of a file of that name that has been written to since the session began
   the part has `name_<process id>_2` or a later number. ERROR_ALREADY_EXISTS's HRESULT, E_OUTOFMEMORY. */
HRESULT private_part_find_file(struct directory_session *part);
/* What its file is called when that of the session is `file`. From memory_alloc; NULL: out of memory, or no file. */
char *private_part_file(const struct directory_session *part, const char *file);

/* ---- the part of this process ---- */

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

#endif
