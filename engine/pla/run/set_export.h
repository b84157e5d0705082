/* SPDX-License-Identifier: MIT */
/* The export of a running set: sends the set's counters to a server if OpenPLA.ExportUrl is set. */
#ifndef OPENPLA_SET_EXPORT_H
#define OPENPLA_SET_EXPORT_H

#include "engine/pla/run/run_state.h"

struct set_export;
/* Begins the export on a separate thread, so that no sample of the set waits for the export. Never fails; if the set
   cannot export, the reason becomes a note. *out NULL: the settings do not request an export. `wake` is called from any
   thread when there is a note. */
void set_export_begin(struct run_set *set, void (*wake)(void *user), void *user, struct set_export **out);
/* Adds new notes to the diagnostics; true: there were new notes. */
bool set_export_take_notes(struct set_export *x, struct diagnostics *out);
/* Ends the export, writes unsent data to the queue, and adds the last notes. Abandons a sample that hangs. NULL is
   allowed. */
void set_export_end(struct set_export *x, struct diagnostics *out);

#endif
