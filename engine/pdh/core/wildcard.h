/* SPDX-License-Identifier: MIT */
/* Expansion of wildcard paths over the objects, counters and instances that are there now. */
#ifndef OPENPLA_PDH_WILDCARD_H
#define OPENPLA_PDH_WILDCARD_H

#include "engine/base/text.h"
#include "engine/pdh/core/query.h"

/* Adds to `paths` every path that `path` stands for: * and ? in object, instance and counter. Counter by counter,
   within one counter instance by instance; without an instance in `path` there is none in the results either. `flags`
   are PDH_NOEXPANDCOUNTERS and PDH_NOEXPANDINSTANCES: what they name stays as it was written. The computer's name is
   written when `path` has one, and always for log files. A path without wildcards is checked and gives itself.
   PDH_CSTATUS_NO_MACHINE, NO_OBJECT, NO_COUNTER, NO_INSTANCE when nothing fits, BAD_COUNTERNAME, or
   PDH_MEMORY_ALLOCATION_FAILURE; *paths is then to be freed all the same. Locks the query. */
PDH_STATUS wildcard_expand(struct query *q, const char *path, DWORD flags, struct texts *paths);

#endif
