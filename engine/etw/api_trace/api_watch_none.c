/* SPDX-License-Identifier: MIT */
/* Stubs for the native build, in which there are no Windows programs to trace. */
#include "engine/etw/api_trace/api_watch.h"

static HRESULT none(void)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "API tracing is only available under Wine and Windows");
}

HRESULT api_trace_supported(void)
{
    return none();
}

HRESULT api_trace_supports_32(const char *name)
{
    (void)name;
    return none();
}

HRESULT api_watch_start(const char *program, bool attach, struct api_watch **out)
{
    (void)program;
    (void)attach;
    *out = NULL;
    return none();
}

void api_watch_stop(struct api_watch *w)
{
    (void)w;
}

void api_watch_read(struct api_watch *w, struct api_watch_numbers *out)
{
    (void)w;
    *out = (struct api_watch_numbers){.late = 0};
}

char *api_watch_take_failure(struct api_watch *w)
{
    (void)w;
    return NULL;
}

uint64_t api_watch_cycles_per_second(void)
{
    return UINT64_C(1000000000);
}

HRESULT api_trace_inject(void *process, const char *name)
{
    (void)process;
    (void)name;
    return none();
}
