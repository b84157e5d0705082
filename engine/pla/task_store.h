/* SPDX-License-Identifier: MIT */
/* The tasks of hosts without a Task Scheduler that works: <data folder>/tasks/<name>.xml, a file each. */
#ifndef OPENPLA_TASK_STORE_H
#define OPENPLA_TASK_STORE_H

#include "engine/pla/task/task_definition.h"

/* The name without a backslash at its beginning, borrowed: folders and name with backslashes between (MS-TSCH 2.3.11).
   E_INVALIDARG with a text that shows the name for an empty part, / : * ? " < > | and controls, "." and "..". */
HRESULT task_name_check(const char *name, const char **bare);
/* Under d->name. HRESULT of ERROR_ALREADY_EXISTS for one that is there, unless it is to be replaced. */
HRESULT task_store_save(const struct task_definition *d, bool replace);
/* HRESULT of ERROR_FILE_NOT_FOUND, named; what task_definition_read says, with the file's path before. */
HRESULT task_store_load(const char *name, struct task_definition *out);
HRESULT task_store_remove(const char *name);
/* The names of all, in the order of their files. */
HRESULT task_store_list(struct texts *names);

#endif
