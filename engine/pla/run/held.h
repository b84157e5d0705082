/* SPDX-License-Identifier: MIT */
/* What a run leaves if its host is killed: trace sessions that its collectors have made, a report that is not whole.
   The host writes it down beside the set before it is made; who finds that the host has died, the supervisor or the
   set's next host, ends it. */
#ifndef OPENPLA_HELD_H
#define OPENPLA_HELD_H

#include "engine/pla/run/run_set.h"

/* Writes the line down, if it is not there yet. */
HRESULT held_add(struct run_set *r, const char *line);
/* The data manager is at work on that folder: who finds that the host has died tells of it (event 9023), and puts it
   into the run's message. */
HRESULT held_add_report(struct run_set *r, const char *folder);
/* The run is over, and has ended all that. */
void held_clear(struct run_set *r);
/* Ends what a host that is gone has left; nothing if there is a host. What cannot be ended is tried again by the next
   who asks. S_FALSE: there was nothing. */
HRESULT held_let_go(const char *space, const char *name);
/* The same by the set's host, which has the run lock. */
HRESULT held_let_go_by_host(const char *space, const char *name);

#endif
