/* SPDX-License-Identifier: MIT */
/* Operations on files, seen by tests: which of them a disk that is full, or a process that ends, leaves undone. */
#ifndef OPENPLA_FILE_OPERATION_H
#define OPENPLA_FILE_OPERATION_H

#include "engine/base/wintypes.h"

enum file_operation {
    FILE_OPERATION_OPEN,          /* of what is there, to be read */
    FILE_OPERATION_CREATE,        /* or to be written */
    FILE_OPERATION_READ,          /* some bytes of an open file */
    FILE_OPERATION_WRITE,         /* all bytes of one call */
    FILE_OPERATION_RESIZE,        /* by file_set_size */
    FILE_OPERATION_FLUSH,         /* of a file */
    FILE_OPERATION_RENAME,        /* within a volume, over what has the name */
    FILE_OPERATION_FLUSH_FOLDER,  /* natively, behind a rename that is to last */
    FILE_OPERATION_DELETE,        /* of a file */
    FILE_OPERATION_CREATE_FOLDER, /* of one folder */
    FILE_OPERATION_DELETE_FOLDER,
    FILE_OPERATION_LOCK, /* one try */
    FILE_OPERATIONS
};

/* Asked before each operation of the thread that set it. A failure, with or without a text, is the operation's, which
   is then not begun. S_FALSE: a write stops in the middle, as a disk is full, and ends with ERROR_DISK_FULL's HRESULT;
   any other operation goes on. */
typedef HRESULT file_observer(void *user, enum file_operation operation, const char *path);
/* For this thread; NULL: nobody any more. */
void file_observe(file_observer *observer, void *user);

/* For the layer's own files: asks the observer. A failure has a text that names the path. */
HRESULT file_operation(enum file_operation operation, const char *path);

#endif
