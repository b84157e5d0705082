/* SPDX-License-Identifier: MIT */
/* The folders of a set's runs: whose they are, the passes of its data manager over them (DECISIONS 103), and what of
   that a set asks for in vain. */
#ifndef OPENPLA_RUN_FOLDERS_H
#define OPENPLA_RUN_FOLDERS_H

#include "engine/base/error.h"
#include "engine/pla/model.h"
#include "engine/pla/run/segment.h"

/* The folder of a segment that is being opened becomes the set's, if its data manager is on and runs have folders;
   `made`: the run has just made it. One that was there and is not the set's is no set's from now on. What fails is
   noted in the diagnostics: the folder is nobody's then. */
void run_folder_take(struct run_set *r, const struct segment *s, bool made);
/* For a start that fails, of a folder that it has made. */
void run_folder_give_back(const struct run_set *r, const struct segment *s);

struct run_pass {
    const char *space, *name;
    const struct data_collector_set *set; /* nobody changes it meanwhile */
    const char *root;                     /* RootPath as the host has it */
    unsigned parts;                       /* RETENTION_ */
    const char *only;                     /* path of the one folder that it is about; NULL: all */
    const char *running;                  /* path of the folder of the run that goes on; NULL: none */
    bool latest_runs;                     /* the newest one is being written, whichever it is */
    bool room_for_one;                    /* MaxFolderCount is to hold with one folder more */
    /* Called for each folder that something failed with, which is then not returned; a failure of its own ends nothing.
       May be NULL. */
    HRESULT (*failed)(void *user, const char *folder, HRESULT hr);
    void *user;
};
/* One pass, each step an event. The first failure of a folder, but not that a cabinet could not be sent (MS-PLA
   3.2.4.3), or what keeps the pass from being made: HRESULT of ERROR_LOCK_VIOLATION, another is at work. */
HRESULT run_folders_pass(const struct run_pass *pass);

/* ---- what is kept without being done ---- */

/* Tells of each such property with PLA_S_PROPERTY_IGNORED, which is there for it (MS-PLA 2.2.2.11): who has retention
   in mind must not find out from a full disk. */
HRESULT unsupported_validate(struct object *set, struct object *issues);

#endif
