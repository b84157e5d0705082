/* SPDX-License-Identifier: MIT */
/* The file of a trace, which ETW opens by its name: what is at that place is looked at before. */
#ifndef OPENPLA_TRACE_FILE_H
#define OPENPLA_TRACE_FILE_H

#include "engine/base/error.h"

/* That `path` lies below `base`, and is free or, if `over`, a trace or empty, so that nothing is lost by writing there:
   ERROR_ALREADY_EXISTS's, ERROR_INVALID_DATA's, those of file_open_below. Leaves what is there. */
HRESULT trace_file_check(const char *base, const char *path, bool over);

/* As ETW names the files of a private session: each process' has its id behind `path`, and a number may come behind it.
   Calls `each` for those that are there, until one call fails; that failure is returned. */
HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user);
/* trace_file_check, for `path` and for them. */
HRESULT trace_file_check_private(const char *base, const char *path, bool over);
bool trace_file_private_exists(const char *path); /* it, or one of them; also when that cannot be known */
/* Of a private session that has not begun. `base` NULL: wherever they lie. */
void trace_file_delete_parts(const char *base, const char *path);

#endif
