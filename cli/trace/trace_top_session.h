/* SPDX-License-Identifier: MIT */
/* The session that `openpla trace top` looks at: one of the kernel's events, in real time, of its own. */
#ifndef OPENPLA_CLI_TRACE_TOP_SESSION_H
#define OPENPLA_CLI_TRACE_TOP_SESSION_H

#include "engine/base/text.h"

/* Starts it; what one left whose program was killed is ended before. *name from memory_alloc. Errors are ETW's, with a
   text: ERROR_ACCESS_DENIED, ERROR_NO_SYSTEM_RESOURCES (there are six such sessions already) and others. */
HRESULT top_session_start(char **name);
void top_session_stop(const char *name);

#endif
