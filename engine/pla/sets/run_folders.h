/* SPDX-License-Identifier: MIT */
/* The run folders of a set: ownership, the retention passes of its data manager (DECISIONS 103), and a set's
   settings that have no effect. */
#ifndef OPENPLA_RUN_FOLDERS_H
#define OPENPLA_RUN_FOLDERS_H

#include "engine/base/error.h"
#include "engine/pla/model.h"
#include "engine/pla/run/segment.h"

/* Registers the folder of a segment that is being opened as the set's, if its data manager is on and runs have
   folders. `made`: the run has just created it. An existing folder that is not the set's loses its owner. Errors go
   to the diagnostics; the folder has no owner then. */
void run_folder_take(struct run_set *r, const struct segment *s, bool made);
/* Undoes it for a failed start that created the folder. */
void run_folder_give_back(const struct run_set *r, const struct segment *s);

struct run_pass {
    const char *space, *name;
    const struct data_collector_set *set; /* not changed during the pass */
    const char *root;                     /* RootPath, expanded */
    unsigned parts;                       /* RETENTION_ bits */
    const char *only;                     /* path of the only folder to process; NULL: all */
    const char *running;                  /* path of the active run's folder; NULL: none */
    bool latest_runs;                     /* the newest folder is being written */
    bool room_for_one;                    /* MaxFolderCount must hold with one more folder */
    /* Called for each folder with a failure, which is then not returned. A failure of the callback is ignored. May
       be NULL. */
    HRESULT (*failed)(void *user, const char *folder, HRESULT hr);
    void *user;
};
/* Runs one pass; each step writes an event. Returns the first failure of a folder, except that a cabinet could not
   be sent (MS-PLA 3.2.4.3), or why there was no pass: HRESULT of ERROR_LOCK_VIOLATION, another pass is running. */
HRESULT run_folders_pass(const struct run_pass *pass);

/* ---- properties without effect ---- */

/* Reports each such property with PLA_S_PROPERTY_IGNORED (MS-PLA 2.2.2.11), so that users do not discover only when the
   disk is full that retention does not work. */
HRESULT unsupported_validate(struct object *set, struct object *issues);

#endif
