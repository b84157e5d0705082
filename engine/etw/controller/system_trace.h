/* SPDX-License-Identifier: MIT */
/* Implements NtQuerySystemInformation and NtSetSystemInformation for the class SystemPerformanceTraceInformation.
   Programs that use krabsetw, for example, read and set the group masks of a kernel session with this class (behaviour
   22, DECISIONS 122). */
#ifndef OPENPLA_SYSTEM_TRACE_H
#define OPENPLA_SYSTEM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SYSTEM_PERFORMANCE_TRACE = 31 }; /* SystemPerformanceTraceInformation */

/* `information` has `bytes` bytes from the program; the first four select the request (EVENT_TRACE_INFORMATION_CLASS).
   *need is the size of the result, *status an NTSTATUS. Both functions return false for a request that they do not
   implement; the system must then execute it. */
bool system_trace_query(void *information, uint32_t bytes, uint32_t *need, int32_t *status);
bool system_trace_set(const void *information, uint32_t bytes, int32_t *status);

#endif
