/* SPDX-License-Identifier: MIT */
/* Stand-ins for openetw.dll's functions: their result shows that they were called. */
#include "engine/etw/controller/system_trace.h"
#include "tests/cli/reach/mark.h"

#include <stddef.h>

#define NAME(name)                                                                                                     \
    __declspec(dllexport) uint32_t name(void);                                                                         \
    uint32_t name(void)                                                                                                \
    {                                                                                                                  \
        return mark_of(#name);                                                                                         \
    }
#include "tests/cli/reach/names.def"
#undef NAME

/* There are no event providers, so no thread waits for their sessions. The function is declared here because its header
   declares the names above with other types. */
void provider_thread_leaves(void);
void provider_thread_leaves(void)
{
}

bool system_trace_query(void *information, uint32_t bytes, uint32_t *need, int32_t *status)
{
    *need = bytes;
    *status = (int32_t)mark_of("NtQuerySystemInformation");
    return information != NULL;
}

bool system_trace_set(const void *information, uint32_t bytes, int32_t *status)
{
    *status = (int32_t)mark_of("NtSetSystemInformation");
    return information != NULL && bytes != 0;
}
