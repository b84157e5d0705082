/* SPDX-License-Identifier: MIT */
/* An event provider that uses only Windows' headers, nothing of OpenPLA. It registers, waits until a session has
   enabled it, and writes events with a number and a text.
   Usage: write_events [events [seconds to wait]] */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntprov.h>

/* {5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}, created for this example. */
static const GUID provider = {0x5C1D2A8E, 0x3B6F, 0x4E0A, {0x9D, 0x57, 0x1F, 0x0B, 0x6A, 0x2C, 0x8E, 0x43}};

enum { INFORMATION = 4, VERBOSE = 5, WORK = 1, DETAIL = 2 };
/* Id, version, channel, level, opcode, task, keyword. */
static const EVENT_DESCRIPTOR begun = {1, 0, 0, INFORMATION, 1, 1, WORK},
                              step = {2, 0, 0, VERBOSE, 0, 1, WORK | DETAIL},
                              ended = {3, 0, 0, INFORMATION, 2, 1, WORK};

static HANDLE enabled;

static VOID NTAPI on_enabled(LPCGUID source, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                             PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)all, (void)filter, (void)context;
    printf("%s, level %u, keywords 0x%llX\n", control ? "enabled" : "disabled", level, any);
    if (control)
        SetEvent(enabled);
}

static ULONG write_step(REGHANDLE handle, ULONG number)
{
    WCHAR text[40];
    EVENT_DATA_DESCRIPTOR data[2];
    swprintf(text, ARRAYSIZE(text), L"step %lu", number);
    EventDataDescCreate(&data[0], &number, sizeof number);
    EventDataDescCreate(&data[1], text, (ULONG)((wcslen(text) + 1) * sizeof(WCHAR)));
    return EventWrite(handle, &step, 2, data);
}

int main(int argc, char **argv)
{
    const ULONG count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    const DWORD wait = argc > 2 ? strtoul(argv[2], NULL, 10) * 1000 : 60000;
    REGHANDLE handle;
    GUID activity;
    ULONG lost = 0, error;
    enabled = CreateEventW(NULL, TRUE, FALSE, NULL);
    error = EventRegister(&provider, on_enabled, NULL, &handle);
    if (error) {
        fprintf(stderr, "EventRegister: %lu\n", error);
        return 1;
    }
    if (WaitForSingleObject(enabled, wait) != WAIT_OBJECT_0) {
        fprintf(stderr, "no session has enabled this provider\n");
        EventUnregister(handle);
        return 2;
    }
    /* Related events have the same activity ID, which is the thread's current one. */
    EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &activity);
    lost += EventWrite(handle, &begun, 0, NULL) != ERROR_SUCCESS;
    for (ULONG i = 0; i < count; i++)
        lost += EventEnabled(handle, &step) && write_step(handle, i) != ERROR_SUCCESS;
    lost += EventWriteTransfer(handle, &ended, NULL, &activity, 0, NULL) != ERROR_SUCCESS;
    EventUnregister(handle);
    printf("written, %lu of them in vain\n", lost);
    return lost ? 3 : 0;
}
