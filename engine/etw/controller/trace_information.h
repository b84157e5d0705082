/* SPDX-License-Identifier: MIT */
/* What TraceSetInformation does, for those who have its data in another form. */
#ifndef OPENPLA_TRACE_INFORMATION_H
#define OPENPLA_TRACE_INFORMATION_H

#include "engine/etw/directory.h"
#include "engine/etw/etw_controller_types.h"

/* Sets a list of a session that takes the kernel's events, in the place of the one it had: at most
   directory_kernel_room(list) hook ids or profile sources. An error code of Windows, with a text. */
ULONG trace_information_set_list(TRACEHANDLE session, enum directory_kernel_list list, const uint32_t *items,
                                 uint32_t count);

#endif
