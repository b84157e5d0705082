/* SPDX-License-Identifier: MIT */
/* The entries of a private session's parts (directory.h): how one begins in a process, and what its session keeps of
   it. */
#ifndef OPENPLA_PRIVATE_PARTS_H
#define OPENPLA_PRIVATE_PARTS_H

#include "engine/etw/directory.h"
#include "engine/etw/session/session_buffers.h"

/* The parts that there are, freed by directory_sessions_free, and what those that are over have left then (NULL: not
   asked for). */
HRESULT private_parts(struct directory *d, const struct directory_session *s, struct directory_figures *ended,
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

#endif
