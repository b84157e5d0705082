/* SPDX-License-Identifier: MIT */
/* Where the files of one set are, and the lock under which they are read and written. */
#ifndef OPENPLA_STORE_SET_FILE_H
#define OPENPLA_STORE_SET_FILE_H

#include "engine/os/caller.h"
#include "engine/os/file.h"

struct set_file {
    const char *space; /* static */
    char *folder;      /* of the namespace */
    char *definition;  /* <folder>/<file>.xml */
    char *run;         /* <folder>/<file>.run */
    char *run_lock;    /* <folder>/<file>.running */
    char *host;        /* <folder>/<file>.host */
    struct file_lock *lock;
};
/* The paths alone. name NULL: the namespace only. E_NOINTERFACE for an unknown namespace. Zero on failure. */
HRESULT set_file_locate(const char *space, const char *name, struct set_file *out);

/* What a lock is taken for. */
enum set_file_use {
    SET_FILE_READ,   /* where one may not write it goes without a lock: files are replaced whole */
    SET_FILE_CHANGE, /* what is there already */
    SET_FILE_CREATE, /* makes the folder of the namespace */
};
/* Locates and locks: all readers and writers of a namespace follow one another. Here, under the lock, is the place to
   refuse the caller; nobody is refused yet. S_FALSE, and no lock, when the folder is not there. Zero on failure. */
HRESULT set_file_open(const struct caller *caller, const char *space, const char *name, enum set_file_use use,
                      struct set_file *out);
/* Unlocks, and frees what either gave. */
void set_file_close(struct set_file *at);
/* Whether `hr` says that there is no such file or folder. */
bool set_file_is_missing(HRESULT hr);

struct run_change;
/* Loads the run record, has it changed and saves it. */
HRESULT set_file_change_run(const struct set_file *at, const struct run_change *change);

#endif
