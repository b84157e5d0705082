/* SPDX-License-Identifier: MIT */
/* A file that is being stored, for the layer's own files: what is the same on every host OS is in file.c. */
#ifndef OPENPLA_FILE_STORING_H
#define OPENPLA_FILE_STORING_H

#include "engine/base/file.h"

struct file_storing {
    struct file *file;
    char *folder, *temporary;
    char path[];
};

/* Opens the temporary file, which is not there, as this host wants it for what follows. */
HRESULT file_storing_open(struct file_storing *s);
/* Gives the temporary file, which is written and flushed, the name `path`, and closes it if that takes it. */
HRESULT file_storing_rename(struct file_storing *s);

#endif
