/* SPDX-License-Identifier: MIT */
/* Where the files of one set are, and the lock under which they are read and written. */
#ifndef OPENPLA_STORE_SET_FILE_H
#define OPENPLA_STORE_SET_FILE_H

#include "engine/os/file.h"

struct set_file {
    const char *space; /* static */
    char *folder;      /* of the namespace */
    char *definition;  /* <folder>/<file>.xml */
    char *run;         /* <folder>/<file>.run */
    char *run_lock;    /* <folder>/<file>.running */
};
/* name NULL: the namespace only. E_NOINTERFACE for an unknown namespace. Zero on failure. */
HRESULT set_file_locate(const char *space, const char *name, struct set_file *out);
void set_file_free(struct set_file *at);

/* All readers and writers of a namespace follow one another. Writing makes the folder. Reading gives S_FALSE, and no
   lock, when the folder is not there: then there are no sets. Reading where one may not write goes without a lock:
   files are replaced whole. */
HRESULT set_file_lock(const struct set_file *at, bool writing, struct file_lock **lock);

#endif
