/* SPDX-License-Identifier: MIT */
/* Names in cabinets: judged before anything is made of them. */
#ifndef OPENPLA_CABINET_NAME_H
#define OPENPLA_CABINET_NAME_H

#include "engine/base/text.h"

/* Why these names, UTF-8 with either separator, are no place below a folder on every host: static text, NULL where
   nothing is wrong. */
const char *cabinet_name_fault(const char *name);
/* The name with '/' for every separator, from memory_alloc. */
char *cabinet_name_copy(const char *name);
/* Of a name that was refused, what can be shown: what is not plain ASCII becomes \\xNN. From memory_alloc. */
char *cabinet_name_shown(const char *name);

/* What two entries cannot both be: S_OK: none are. S_FALSE: *first and *second, indices into names, are the same name
   without case, or the second is a folder in the way of the first. E_OUTOFMEMORY. */
HRESULT cabinet_names_clash(const char *const *names, size_t count, size_t *first, size_t *second);

#endif
