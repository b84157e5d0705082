/* SPDX-License-Identifier: MIT */
/* live_session start|stop NAME: starts or stops a real-time session with the event provider that `write` uses.
   live_session kernel FILE FLAGS: starts the NT Kernel Logger with these EnableFlags; `stop` stops it too.
   live_session write COUNT: writes this number of events; the data of each event is its number. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const GUID provider = {0x3C0B1A52, 0x6E7F, 0x4D18, {0x9A, 0x2B, 0x51, 0x0C, 0x7D, 0x4E, 0x93, 0xF6}};

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[100], file[1000];
};

static void properties_clear(struct block *b)
{
    memset(b, 0, sizeof *b);
    b->p.Wnode.BufferSize = sizeof *b;
    b->p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b->p.LoggerNameOffset = offsetof(struct block, name);
}

static ULONG start_kernel(const char *path, const char *flags)
{
    enum { BUFFER_KB = 1024, BUFFERS = 32 };
    struct block b;
    WCHAR *units;
    TRACEHANDLE handle;
    size_t length;
    properties_clear(&b);
    if (FAILED(text_to_utf16(path, &units, &length)))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (length < sizeof b.file / sizeof *b.file)
        memcpy(b.file, units, (length + 1) * sizeof *units);
    memory_free(units);
    b.p.LogFileNameOffset = offsetof(struct block, file);
    b.p.BufferSize = BUFFER_KB;
    b.p.MinimumBuffers = b.p.MaximumBuffers = BUFFERS;
    b.p.EnableFlags = (ULONG)strtoul(flags, NULL, 0);
    return StartTraceW(&handle, u"NT Kernel Logger", &b.p);
}

static ULONG session_control(const char *verb, const char *session)
{
    struct block b;
    WCHAR *name;
    TRACEHANDLE handle;
    properties_clear(&b);
    b.p.LogFileMode = TRACE_MODE_REAL_TIME;
    b.p.FlushTimer = 1;
    if (FAILED(text_to_utf16(session, &name, NULL)))
        return ERROR_NOT_ENOUGH_MEMORY;
    ULONG code;
    if (strcmp(verb, "stop") == 0)
        code = ControlTraceW(0, name, &b.p, EVENT_TRACE_CONTROL_STOP);
    else if ((code = StartTraceW(&handle, name, &b.p)) == ERROR_SUCCESS)
        code = EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL);
    memory_free(name);
    return code;
}

static ULONG write_events(uint32_t count)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
    REGHANDLE handle;
    ULONG code = EventRegister(&provider, NULL, NULL, &handle);
    for (uint32_t i = 0; i < count && code == ERROR_SUCCESS; i++) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&i, .Size = sizeof i};
        code = EventWrite(handle, &descriptor, 1, &data);
    }
    return code == ERROR_SUCCESS ? EventUnregister(handle) : code;
}

int main(int argc, char **argv)
{
    const bool kernel = argc == 4 && strcmp(argv[1], "kernel") == 0;
    if (argc != 3 && !kernel)
        return 2;
    const ULONG code = kernel                          ? start_kernel(argv[2], argv[3])
                       : strcmp(argv[1], "write") == 0 ? write_events((uint32_t)strtoul(argv[2], NULL, 10))
                                                       : session_control(argv[1], argv[2]);
    if (code != ERROR_SUCCESS)
        fprintf(stderr, "%s %s: error %lu\n", argv[1], argv[2], (unsigned long)code);
    return code != ERROR_SUCCESS;
}
