/* SPDX-License-Identifier: MIT */
/* ETW's functions for consumers over the core. */
#include "engine/etw/consumer/consumer_api.h"

#include "engine/etw/consumer/consumer.h"

#include <string.h>

static TRACEHANDLE open_trace(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile)
{
    TRACEHANDLE handle;
    const ULONG status = consumer_open(form, logfile, &handle);
    if (status == ERROR_SUCCESS)
        return handle;
#ifdef _WIN32
    SetLastError(status);
#endif
    return INVALID_PROCESSTRACE_HANDLE;
}

TRACEHANDLE WINAPI OpenTraceW(EVENT_TRACE_LOGFILEW *logfile)
{
    return open_trace(CONSUMER_WIDE, logfile);
}

TRACEHANDLE WINAPI OpenTraceA(EVENT_TRACE_LOGFILEA *logfile)
{
    return open_trace(CONSUMER_ANSI, (EVENT_TRACE_LOGFILEW *)logfile); /* whose layout is the same */
}

ULONG WINAPI ProcessTrace(TRACEHANDLE *handles, ULONG count, FILETIME *start, FILETIME *end)
{
    return consumer_process(handles, count, start, end);
}

ULONG WINAPI CloseTrace(TRACEHANDLE handle)
{
    return consumer_close(handle);
}

ULONG WINAPI SetTraceCallback(const GUID *class, PEVENT_CALLBACK callback)
{
    return consumer_set_class(class, callback);
}

ULONG WINAPI RemoveTraceCallback(const GUID *class)
{
    return consumer_remove_class(class);
}

/* There are no partitions: all is in that of the computer, whose GUID is zero. */
ULONG WINAPI QueryTraceProcessingHandle(TRACEHANDLE handle, ETW_PROCESS_HANDLE_INFO_TYPE what, PVOID in, ULONG in_size,
                                        PVOID out, ULONG out_size, ULONG *length)
{
    (void)in, (void)in_size;
    if (!consumer_is_open(handle))
        return ERROR_INVALID_HANDLE;
    if (what != EtwQueryPartitionInformation)
        return ERROR_INVALID_PARAMETER;
    if (length)
        *length = sizeof(ETW_TRACE_PARTITION_INFORMATION);
    if (!out || out_size < sizeof(ETW_TRACE_PARTITION_INFORMATION))
        return ERROR_INSUFFICIENT_BUFFER;
    memset(out, 0, sizeof(ETW_TRACE_PARTITION_INFORMATION));
    return ERROR_SUCCESS;
}
