/* SPDX-License-Identifier: MIT */
/* What PDH_HLOG stands for: a log that is written, or log files (or this computer) bound as a source. */
#ifndef OPENPLA_PDH_LOG_HANDLE_H
#define OPENPLA_PDH_LOG_HANDLE_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

/* The files of a handle that is a source, none of them for this computer; NULL when it is no such handle. */
const struct texts *log_handle_paths(PDH_HLOG handle);
/* The name of what is written, or of the source's first file; NULL when it is no handle, or the source is this
 * computer.
 */
const char *log_handle_name(PDH_HLOG handle);

#endif
