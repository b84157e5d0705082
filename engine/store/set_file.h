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

/* What a lock is taken for. */
enum set_file_use {
    SET_FILE_READ,   /* where one may not write it goes without a lock: files are replaced whole */
    SET_FILE_CHANGE, /* what is there already */
    SET_FILE_CREATE, /* makes the folder of the namespace */
};
/* All readers and writers of a namespace follow one another. S_FALSE, and no lock, when its folder is not there. */
HRESULT set_file_lock(const struct set_file *at, enum set_file_use use, struct file_lock **lock);
/* Whether `hr` says that there is no such file or folder. */
bool set_file_is_missing(HRESULT hr);

#endif
