/* SPDX-License-Identifier: MIT */
/* Consumes traces, using only Windows' headers. Prints the events of a file, or the events of a real-time session until
   the requested number has arrived.
   Usage: read_events FILE
          read_events -session NAME [events] */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#include <string.h>

static const GUID header_guid = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
static ULONG events, most;
static TRACEHANDLE trace;

static void print_guid(const GUID *g)
{
    printf("{%08lX-%04X-%04X-%02X%02X-", g->Data1, g->Data2, g->Data3, g->Data4[0], g->Data4[1]);
    for (int i = 2; i < 8; i++)
        printf("%02X", g->Data4[i]);
    printf("}");
}

static VOID WINAPI on_event(PEVENT_RECORD event)
{
    const EVENT_HEADER *h = &event->EventHeader;
    const BYTE *data = event->UserData;
    if (memcmp(&h->ProviderId, &header_guid, sizeof header_guid) == 0)
        return; /* an event of the file itself */
    if (most && events == most)
        return;
    events++;
    printf("%lld ", h->TimeStamp.QuadPart);
    print_guid(&h->ProviderId);
    printf(" id=%u version=%u level=%u opcode=%u task=%u keyword=0x%llX process=%lu thread=%lu data=",
           h->EventDescriptor.Id, h->EventDescriptor.Version, h->EventDescriptor.Level, h->EventDescriptor.Opcode,
           h->EventDescriptor.Task, h->EventDescriptor.Keyword, h->ProcessId, h->ThreadId);
    for (USHORT i = 0; i < event->UserDataLength; i++)
        printf("%02X", data[i]);
    puts("");
    fflush(stdout);
    if (most && events == most)
        CloseTrace(trace); /* ProcessTrace returns after the current buffer */
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    EVENT_TRACE_LOGFILEW log = {0};
    if (argc > 2 && wcscmp(argv[1], L"-session") == 0) {
        log.LoggerName = argv[2];
        log.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME;
        most = argc > 3 ? wcstoul(argv[3], NULL, 10) : 0;
    } else if (argc == 2) {
        log.LogFileName = argv[1];
    } else {
        fputs("read_events FILE | read_events -session NAME [events]\n", stderr);
        return 2;
    }
    log.ProcessTraceMode |= PROCESS_TRACE_MODE_EVENT_RECORD;
    log.EventRecordCallback = on_event;
    trace = OpenTraceW(&log);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        fprintf(stderr, "OpenTrace: error %lu\n", GetLastError());
        return 1;
    }
    const ULONG error = ProcessTrace(&trace, 1, NULL, NULL);
    CloseTrace(trace);
    if (error && error != ERROR_CANCELLED) {
        fprintf(stderr, "ProcessTrace: error %lu\n", error);
        return 1;
    }
    printf("%lu events, %lu lost\n", events, log.LogfileHeader.EventsLost);
    return 0;
}
