/* SPDX-License-Identifier: MIT */
/* The run folders of a set: registers their owner, runs the retention passes of the data manager (DECISIONS 103), and
   reports properties without effect. */
#ifndef OPENPLA_RUN_FOLDERS_H
#define OPENPLA_RUN_FOLDERS_H

#include "engine/base/error.h"
#include "engine/pla/model.h"
#include "engine/pla/run/segment.h"

/* Call it while a segment is being opened. Registers the set as the owner of the segment's folder, if the set's data
   manager is enabled and each run has a folder. `made`: the run has just created the folder. An existing folder that
   does not belong to the set loses its owner. Errors are added to the diagnostics; the folder then has no owner. */
void run_folder_take(struct run_set *r, const struct segment *s, bool made);
/* Undoes run_folder_take after a failed start that created the folder. */
void run_folder_give_back(const struct run_set *r, const struct segment *s);

struct run_pass {
    const char *space, *name;
    const struct data_collector_set *set; /* not changed during the pass */
    const char *root;                     /* RootPath, expanded */
    unsigned parts;                       /* RETENTION_ bits */
    const char *only;                     /* path of the only folder to process; NULL: all */
    const char *running;                  /* path of the active run's folder; NULL: none */
    bool latest_runs;                     /* the newest folder is being written */
    bool room_for_one;                    /* leaves room for one more folder under MaxFolderCount */
    /* Called for each failure of a folder. Failures for which the callback was called are not returned. The result of
       the callback is ignored. May be NULL. */
    HRESULT (*failed)(void *user, const char *folder, HRESULT hr);
    void *user;
};
/* Runs one pass; writes an event for each step. Returns the first failure of a folder; failures to send a cabinet do
   not count (MS-PLA 3.2.4.3). If no pass was run, returns the reason, such as HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION)
   if another pass is running. */
HRESULT run_folders_pass(const struct run_pass *pass);

/* ---- properties without effect ---- */

/* Reports PLA_S_PROPERTY_IGNORED for each data manager property that has no effect (MS-PLA 2.2.2.11). Without this
   report, users would not notice that retention does not work until the disk is full. */
HRESULT unsupported_validate(struct object *set, struct object *issues);

#endif
