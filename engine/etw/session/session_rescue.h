/* SPDX-License-Identifier: MIT */
/* What becomes of a session whose host has ended: whoever finds it puts all that its buffers hold into its log. */
#ifndef OPENPLA_SESSION_RESCUE_H
#define OPENPLA_SESSION_RESCUE_H

#include "engine/etw/directory.h"

/* If the session's host has ended (or, while it starts, its starter): appends every event that was accepted to the log,
   takes the session out of the directory, wakes those who had it enabled, and says so in the event journal. Waits while
   another process is at it; goes on with what a rescuer that ended had begun. S_FALSE: there is nothing to do.
   A failure of the log, with a text: the session stays, to be tried again; with `give_up` what it held is lost. A
   private session ends with its parts, when nobody is left who could be in it; dead parts of it are rescued first. */
HRESULT session_rescue_or(struct directory *d, uint32_t logger, uint32_t turn, bool give_up);
static inline HRESULT session_rescue(struct directory *d, uint32_t logger, uint32_t turn)
{
    return session_rescue_or(d, logger, turn, false);
}
/* Of the part of a private session whose host was a thread of this process, which is ending: no other thread runs any
   more. Nothing is told. */
HRESULT session_rescue_own(struct directory *d, uint32_t logger, uint32_t turn);
/* The parts of a private session. */
void session_rescue_parts(struct directory *d, const struct directory_session *s);
/* All of the directory. */
void session_rescue_all(struct directory *d);

/* Takes the session out of the directory and wakes those who had it enabled. */
HRESULT session_remove(struct directory *d, const struct directory_session *s);
/* The same; *generation is that of the directory without it, for directory_wait_applied. */
HRESULT session_remove_at(struct directory *d, const struct directory_session *s, uint64_t *generation);

#endif
