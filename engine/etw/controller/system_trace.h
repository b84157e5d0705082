/* SPDX-License-Identifier: MIT */
/* NtQuerySystemInformation and NtSetSystemInformation for the class SystemPerformanceTraceInformation. Programs such
   as those with krabsetw use it to read and set the group masks of a kernel session (behaviour 22, DECISIONS 122). */
#ifndef OPENPLA_SYSTEM_TRACE_H
#define OPENPLA_SYSTEM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SYSTEM_PERFORMANCE_TRACE = 31 }; /* SystemPerformanceTraceInformation */

/* `information`: `bytes` bytes of the program, of which the first four select what is requested
   (EVENT_TRACE_INFORMATION_CLASS). *need: size of the answer. *status: an NTSTATUS. False: another request, for the
   system to answer. */
bool system_trace_query(void *information, uint32_t bytes, uint32_t *need, int32_t *status);
bool system_trace_set(const void *information, uint32_t bytes, int32_t *status);

#endif
