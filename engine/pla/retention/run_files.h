/* SPDX-License-Identifier: MIT */
/* Which files of a folder its runs have made: lines of its mark, each written there before its file is. What is not
   named is somebody else's, and nothing is done with it (DECISIONS 113). */
#ifndef OPENPLA_RUN_FILES_H
#define OPENPLA_RUN_FILES_H

#include "engine/base/held_folder.h"

#define FOLDER_MARK       "openpla.run" /* the name of the mark's file */
#define FOLDER_MARK_FIRST "openpla-folder 1\n"

struct run_files {
    struct texts names; /* below the folder, with '/'; sorted */
    struct texts parts; /* of files that have several: a number is in place of "%d", or behind the name */
};
/* The open folder's mark, to be read. S_FALSE, and NULL: it has none, but maybe a link of that name. A failure says why
   that cannot be known: who took it for none would give the folder up. */
HRESULT run_files_mark(struct held_folder *f, struct file **out);

/* Of the folder's mark; empty where it has none, or one without names, as marks of before there were lists. A line that
   is cut off is none. run_files_mark's failures, and nothing in *out. */
HRESULT run_files_read(struct held_folder *f, struct run_files *out);
void run_files_free(struct run_files *r);
bool run_files_have(const struct run_files *r, const char *name);
bool run_files_below(const struct run_files *r, const char *folder); /* whether one of them is in it */

/* A run is about to make `path` in its `folder`, or in one of that, below `root`: names it in the folder's mark. The
   mark of one that the folder lies in is another run's, which would delete what is named there. `parts`: it is the name
   of several files. S_FALSE: nothing to name, since the folder has no mark, something has that name already, which is
   not the run's then, or the name has characters that no list can hold. ERROR_FILE_TOO_LARGE's HRESULT: the list is
   full. A mark that another has open is waited for, two seconds at most, and then a minute long not again: a thousand
   copies are not to wait for it each. */
HRESULT run_files_add(const char *root, const char *folder, const char *path, bool parts);

#endif
