/* SPDX-License-Identifier: MIT */
/* What the service does by itself: starts sets when their schedules say so, notices hosts that die, starts again what
   was cut off, stops what has expired. */
#ifndef OPENPLA_SUPERVISOR_H
#define OPENPLA_SUPERVISOR_H

#include "engine/base/wintypes.h"

struct supervisor;
/* Begins on a thread of its own. Of several processes with one store one supervises; another takes over when that ends.
   `work` (may be NULL) is told, from that thread, whether there is something to do that no client waits for: an enabled
   schedule that has a start before it, a start that is pending, a definition that somebody is perhaps writing. */
HRESULT supervisor_start(void (*work)(void *user, bool any), void *user, struct supervisor **out);
/* Ends it; starts that are on their way are waited for. NULL is allowed. */
void supervisor_stop(struct supervisor *s);

#endif
