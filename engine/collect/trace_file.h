/* SPDX-License-Identifier: MIT */
/* The file of a trace, which ETW opens by its name: what is at that place is looked at before. */
#ifndef OPENPLA_TRACE_FILE_H
#define OPENPLA_TRACE_FILE_H

#include "engine/os/error.h"

/* That `path` lies below `base`, and is free or, if `over`, a trace or empty, so that nothing is lost by writing there:
   ERROR_ALREADY_EXISTS's, ERROR_INVALID_DATA's, those of file_open_below. Leaves what is there. */
HRESULT trace_file_check(const char *base, const char *path, bool over);

#endif
