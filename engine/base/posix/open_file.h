/* SPDX-License-Identifier: MIT */
/* Files from descriptors that were opened otherwise than by a path. */
#ifndef OPENPLA_OPEN_FILE_H
#define OPENPLA_OPEN_FILE_H

#include "engine/base/file.h"

extern const int file_mode_flags[]; /* of open, by file_mode */
/* Memory for a file, before one is made that would be left behind without it. NULL: out of memory. */
struct file *file_reserve(const char *path);
/* Makes an open file of it and the descriptor; on failure closes and frees both. */
HRESULT file_take(struct file *f, int fd, enum file_mode mode, struct file **out);
/* Of an open file, borrowed. */
int file_descriptor(const struct file *f);
const char *file_path(const struct file *f);

#endif
