/* SPDX-License-Identifier: MIT */
/* Controls event tracing sessions, using only Windows' headers.
   Usage: trace_session start NAME FILE PROVIDER...    FILE "-": in real time
          trace_session stop|query|flush NAME
          trace_session list */
#include <objbase.h>
#include <stddef.h>
#include <stdio.h>
#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <string.h>

enum { NAME_ROOM = 1024, MOST_SESSIONS = 64, BUFFER_KB = 64, LEVEL_VERBOSE = 5, CLOCK_QPC = 1 };

/* As the API requires, both names follow the structure. */
struct properties {
    EVENT_TRACE_PROPERTIES head;
    WCHAR name[NAME_ROOM], file[NAME_ROOM];
};

static void properties_prepare(struct properties *p)
{
    memset(p, 0, sizeof *p);
    p->head.Wnode.BufferSize = sizeof *p;
    p->head.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    p->head.LoggerNameOffset = offsetof(struct properties, name);
    p->head.LogFileNameOffset = offsetof(struct properties, file);
}

static int failed(const char *what, ULONG error)
{
    fprintf(stderr, "%s: error %lu\n", what, error);
    return 1;
}

static int session_start(const WCHAR *name, const WCHAR *file, int count, WCHAR **providers)
{
    static struct properties p;
    TRACEHANDLE session;
    properties_prepare(&p);
    p.head.Wnode.ClientContext = CLOCK_QPC;
    p.head.BufferSize = BUFFER_KB;
    p.head.FlushTimer = 1;
    if (wcscmp(file, L"-") == 0) {
        p.head.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
        p.head.LogFileNameOffset = 0;
    } else {
        p.head.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
        wcsncpy(p.file, file, NAME_ROOM - 1);
    }
    ULONG error = StartTraceW(&session, name, &p.head);
    if (error)
        return failed("StartTrace", error);
    for (int i = 0; i < count; i++) {
        GUID provider;
        if (FAILED(CLSIDFromString(providers[i], &provider)))
            error = ERROR_INVALID_PARAMETER;
        /* Any keyword. With a timeout the call would wait until running providers have received it. */
        if (!error)
            error =
                EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL_VERBOSE, 0, 0, 0, NULL);
        if (error) {
            ControlTraceW(session, NULL, &p.head, EVENT_TRACE_CONTROL_STOP);
            return failed("EnableTraceEx2", error);
        }
    }
    printf("started, handle 0x%llX\n", (unsigned long long)session);
    return 0;
}

static void show(const struct properties *p)
{
    printf("%ls: buffers of %lu KB, %lu written, %lu of %lu free; lost: %lu events, %lu buffers; file %ls\n", p->name,
           p->head.BufferSize, p->head.BuffersWritten, p->head.FreeBuffers, p->head.NumberOfBuffers, p->head.EventsLost,
           p->head.LogBuffersLost + p->head.RealTimeBuffersLost, p->file[0] ? p->file : L"-");
}

static int session_control(const WCHAR *name, ULONG code, const char *what)
{
    static struct properties p;
    properties_prepare(&p);
    const ULONG error = ControlTraceW(0, name, &p.head, code);
    if (error)
        return failed(what, error);
    show(&p);
    return 0;
}

static int sessions_list(void)
{
    static struct properties all[MOST_SESSIONS];
    EVENT_TRACE_PROPERTIES *pointers[MOST_SESSIONS];
    ULONG count = 0;
    for (int i = 0; i < MOST_SESSIONS; i++) {
        properties_prepare(&all[i]);
        pointers[i] = &all[i].head;
    }
    const ULONG error = QueryAllTracesW(pointers, MOST_SESSIONS, &count);
    if (error)
        return failed("QueryAllTraces", error);
    for (ULONG i = 0; i < count; i++)
        show(&all[i]);
    return 0;
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    const WCHAR *verb = argc > 1 ? argv[1] : L"";
    if (wcscmp(verb, L"start") == 0 && argc > 4)
        return session_start(argv[2], argv[3], argc - 4, argv + 4);
    if (wcscmp(verb, L"stop") == 0 && argc == 3)
        return session_control(argv[2], EVENT_TRACE_CONTROL_STOP, "stop");
    if (wcscmp(verb, L"query") == 0 && argc == 3)
        return session_control(argv[2], EVENT_TRACE_CONTROL_QUERY, "query");
    if (wcscmp(verb, L"flush") == 0 && argc == 3)
        return session_control(argv[2], EVENT_TRACE_CONTROL_FLUSH, "flush");
    if (wcscmp(verb, L"list") == 0 && argc == 2)
        return sessions_list();
    fputs("trace_session start NAME FILE PROVIDER... | stop NAME | query NAME | flush NAME | list\n", stderr);
    return 2;
}
