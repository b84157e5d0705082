/* SPDX-License-Identifier: MIT */
/* Checks whether a program can be traced. */
#include "engine/etw/api_trace.h"
#include "engine/etw/injection.h"

HRESULT api_trace_check_program(const struct injection_source *from, const char *name)
{
    bool narrow;
    HRESULT hr = injection_program_read(from, name, &narrow);
    return SUCCEEDED(hr) && narrow ? api_trace_supports_32(name) : hr;
}
