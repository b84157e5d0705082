/* SPDX-License-Identifier: MIT */
/* ETW's functions for controllers. */
#include "engine/etw/controller/controller_api.h"

#include "engine/etw/controller/controller.h"

/* StartTrace also sets the thread's last error. */
static ULONG set_last_error(ULONG code)
{
#ifdef _WIN32
    SetLastError(code);
#endif
    return code;
}

ULONG WINAPI StartTraceW(TRACEHANDLE *handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties)
{
    return set_last_error(controller_start(true, handle, name, properties));
}

ULONG WINAPI StartTraceA(TRACEHANDLE *handle, const char *name, EVENT_TRACE_PROPERTIES *properties)
{
    return set_last_error(controller_start(false, handle, name, properties));
}

ULONG WINAPI ControlTraceW(TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES *properties, ULONG code)
{
    return controller_control(true, handle, name, properties, code);
}

ULONG WINAPI ControlTraceA(TRACEHANDLE handle, const char *name, EVENT_TRACE_PROPERTIES *properties, ULONG code)
{
    return controller_control(false, handle, name, properties, code);
}

#define VERB(name, code)                                                                                               \
    ULONG WINAPI name##W(TRACEHANDLE handle, LPCWSTR instance, EVENT_TRACE_PROPERTIES *properties)                     \
    {                                                                                                                  \
        return controller_control(true, handle, instance, properties, code);                                           \
    }                                                                                                                  \
    ULONG WINAPI name##A(TRACEHANDLE handle, const char *instance, EVENT_TRACE_PROPERTIES *properties)                 \
    {                                                                                                                  \
        return controller_control(false, handle, instance, properties, code);                                          \
    }
VERB(StopTrace, EVENT_TRACE_CONTROL_STOP)
VERB(QueryTrace, EVENT_TRACE_CONTROL_QUERY)
VERB(UpdateTrace, EVENT_TRACE_CONTROL_UPDATE)
VERB(FlushTrace, EVENT_TRACE_CONTROL_FLUSH)

ULONG WINAPI QueryAllTracesW(EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count)
{
    return controller_query_all(true, list, room, count);
}

ULONG WINAPI QueryAllTracesA(EVENT_TRACE_PROPERTIES **list, ULONG room, ULONG *count)
{
    return controller_query_all(false, list, room, count);
}

ULONG WINAPI EnableTrace(ULONG enable, ULONG flags, ULONG level, LPCGUID provider, TRACEHANDLE handle)
{
    return controller_enable(&(struct controller_enable){
        .handle = handle,
        .provider = provider,
        .code = enable ? EVENT_CONTROL_CODE_ENABLE_PROVIDER : EVENT_CONTROL_CODE_DISABLE_PROVIDER,
        .level = (uint8_t)level,
        .any = flags,
        .classic = true,
    });
}

ULONG WINAPI EnableTraceEx(LPCGUID provider, LPCGUID source, TRACEHANDLE handle, ULONG enable, UCHAR level,
                           ULONGLONG any, ULONGLONG all, ULONG property, EVENT_FILTER_DESCRIPTOR *filter)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = 1, .EnableProperty = property, .EnableFilterDesc = filter};
    if (source)
        parameters.SourceId = *source;
    return controller_enable(&(struct controller_enable){
        .handle = handle,
        .provider = provider,
        .code = enable,
        .level = level,
        .any = any,
        .all = all,
        .parameters = &parameters,
    });
}

ULONG WINAPI EnableTraceEx2(TRACEHANDLE handle, LPCGUID provider, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
                            ULONG timeout, ENABLE_TRACE_PARAMETERS *parameters)
{
    return controller_enable(&(struct controller_enable){
        .handle = handle,
        .provider = provider,
        .code = code,
        .level = level,
        .any = any,
        .all = all,
        .timeout = timeout,
        .parameters = parameters,
    });
}
