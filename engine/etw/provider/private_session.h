/* SPDX-License-Identifier: MIT */
/* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE) has a part in each of its processes. The functions below handle
   the directory's entries of all parts, and the part of this process. A thread of this process is the host of that
   part, which has buffers and a file like any other session. */
#ifndef OPENPLA_PRIVATE_SESSION_H
#define OPENPLA_PRIVATE_SESSION_H

#include "engine/etw/directory.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_buffers.h"

/* ---- the entries of parts in the directory ---- */

/* Lists the current parts; free the list with directory_sessions_free. *ended receives the totals of parts that have
   ended (NULL: not needed). */
HRESULT private_parts(struct directory *d, const struct directory_session *s, struct directory_totals *ended,
                      struct directory_session **out, size_t *count);
/* Adds the entry of this process's part, which is about to start. The part's file gets the session's log file name if
   no other part has used this name, or if the session has EVENT_TRACE_PRIVATE_IN_PROC. Otherwise, and always with
   CONTROLLER_NUMBERED, its name is `name_<process id>`. Returns S_FALSE if the session has ended. */
HRESULT private_part_enter(struct directory *d, const struct directory_session *s, struct directory_session *part);
/* Removes a part that could not start, so that another part can use the session's log file name. */
void private_part_refuse(struct directory *d, const struct directory_session *part);
/* Adds the part's totals to its session (`b` NULL: no totals). Call it when the log of the part has ended. Later calls
   do nothing. */
HRESULT private_part_over(struct directory *d, const struct directory_session *part, const struct session_buffers *b);
/* Chooses the part's file name. Process ids are reused, so a file of that name may already have been written since the
   session began. If such a file exists, the part uses `name_<process id>_2` or a higher number. Errors:
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), E_OUTOFMEMORY. */
HRESULT private_part_find_file(struct directory_session *part);
/* Returns the part's file name for a session whose file name is `file`. The name is from memory_alloc. Returns NULL if
   `file` is NULL or memory runs out. */
char *private_part_file(const struct directory_session *part, const char *file);

/* ---- the part of this process ---- */

/* Returns whether the session includes this process. */
bool private_session_is_here(const struct directory_session *s, const struct provider_scope *own);

struct private_session;
/* Starts the part of this process. Returns S_FALSE if the session has ended. */
HRESULT private_session_create(struct directory *d, const struct directory_session *s, struct private_session **out,
                               struct session_buffers *buffers);
/* Stops the part: writes all accepted events to the file and completes it. */
void private_session_stop(struct private_session *p);
/* Frees the part. Call it when no thread can write events to the part any more. NULL is allowed. */
void private_session_free(struct private_session *p);
/* Returns the number of existing threads of this process's private sessions in the low 32 bits. Each time a thread
   begins or ends, the complete value changes, and it never repeats. */
uint64_t private_sessions_threads(void);

#endif
