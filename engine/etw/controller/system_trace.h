/* SPDX-License-Identifier: MIT */
/* NtQuerySystemInformation and NtSetSystemInformation of the class SystemPerformanceTraceInformation, by which programs
   such as those with krabsetw read and set the group masks of a kernel session (behaviour 22, DECISIONS 122). */
#ifndef OPENPLA_SYSTEM_TRACE_H
#define OPENPLA_SYSTEM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { SYSTEM_PERFORMANCE_TRACE = 31 }; /* SystemPerformanceTraceInformation */

/* `information` has `bytes` bytes of the program, of which the first four say what is asked for
   (EVENT_TRACE_INFORMATION_CLASS). *need: the bytes of the answer. *status: an NTSTATUS. False: it asks for something
   else, which is the system's to answer. */
bool system_trace_query(void *information, uint32_t bytes, uint32_t *need, int32_t *status);
bool system_trace_set(const void *information, uint32_t bytes, int32_t *status);

#endif
