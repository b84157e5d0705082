/* SPDX-License-Identifier: MIT */
/* Whose an open file is. */
#ifndef OPENPLA_FILE_OWNER_H
#define OPENPLA_FILE_OWNER_H

#include "engine/base/file.h"

/* As file_load_trusted says. */
HRESULT file_check_owner(struct file *f);

#endif
