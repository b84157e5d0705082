/* SPDX-License-Identifier: MIT */
/* The export of a running set: sends its counters to a server if OpenPLA.ExportUrl says so. */
#ifndef OPENPLA_SET_EXPORT_H
#define OPENPLA_SET_EXPORT_H

#include "engine/pla/run/run_state.h"

struct set_export;
/* Begins on a separate thread, so no sample of the set waits. Nothing fails: why the set does not export is a note.
 *out NULL: its settings do not ask for it. `wake` is called from any thread when there is a note. */
void set_export_begin(struct run_set *set, void (*wake)(void *user), void *user, struct set_export **out);
/* Adds new notes; true: there were some. */
bool set_export_take_notes(struct set_export *x, struct diagnostics *out);
/* Ends it, writes what was not sent to the queue, and adds the last notes. A sample that hangs is abandoned. NULL is
   allowed. */
void set_export_end(struct set_export *x, struct diagnostics *out);

#endif
