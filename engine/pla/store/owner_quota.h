/* SPDX-License-Identifier: MIT */
/* What of a namespace belongs to whom: the quotas "sets" and "bytes". */
#ifndef OPENPLA_STORE_OWNER_QUOTA_H
#define OPENPLA_STORE_OWNER_QUOTA_H

#include "engine/base/caller.h"
#include "engine/pla/store/set_file.h"

/* Under the lock of `at`: whose its definition is once `caller` has written `size` bytes of it, as UTF-8 in *owner,
   from memory_alloc; "" is nobody, as of what a program writes without a server. A definition stays with who made it.
   HRESULT of ERROR_NOT_ENOUGH_QUOTA where it would be one set too many, or too many bytes; what is not more than it was
   is always taken. */
HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner);

#endif
