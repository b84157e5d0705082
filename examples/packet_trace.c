/* SPDX-License-Identifier: MIT */
/* Reads the events of a file with Windows' consumer functions. */
#include "examples/packet_trace.h"

#include "examples/network_provider.h"

#include <stdio.h>
#include <evntcons.h>
#include <evntrace.h>
#include <string.h>

static const char *name_of(USHORT id)
{
    static const char *const names[] = {"?", "sent", "received", "error", "bytes"};
    return names[id < sizeof names / sizeof *names ? id : 0];
}

static VOID WINAPI on_event(PEVENT_RECORD event)
{
    const EVENT_DESCRIPTOR *e = &event->EventHeader.EventDescriptor;
    struct packet_trace *trace = event->UserContext;
    if (memcmp(&event->EventHeader.ProviderId, &network_provider, sizeof network_provider) != 0)
        return; /* an event of the file itself */
    printf("  level %u, keyword 0x%llX: %s %.*s\n", e->Level, e->Keyword, name_of(e->Id), event->UserDataLength,
           (const char *)event->UserData);
    if (trace->count < MOST_PACKETS)
        trace->ids[trace->count] = e->Id;
    trace->count++;
}

BOOL packet_trace_read(const WCHAR *path, struct packet_trace *out)
{
    EVENT_TRACE_LOGFILEW log = {.LogFileName = (WCHAR *)path, .EventRecordCallback = on_event, .Context = out};
    log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    out->count = 0;
    TRACEHANDLE trace = OpenTraceW(&log);
    ULONG error = trace == INVALID_PROCESSTRACE_HANDLE ? GetLastError() : ProcessTrace(&trace, 1, NULL, NULL);
    if (trace != INVALID_PROCESSTRACE_HANDLE)
        CloseTrace(trace);
    if (error)
        printf("FAILED: %ls cannot be read: error %lu\n", path, error);
    return error == ERROR_SUCCESS;
}
