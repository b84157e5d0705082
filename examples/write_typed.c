/* SPDX-License-Identifier: MIT */
/* An event provider with a manifest (typed_events.man) that uses only Windows' headers. It waits until a session has
   enabled it, and writes an event with a field of each type, and an event that reports a failure.
   Usage: write_typed [seconds to wait] */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntprov.h>

/* {9A3E6C1B-4D27-4B8E-A5F0-2C7B91D8E364}, as the manifest says. */
static const GUID provider = {0x9A3E6C1B, 0x4D27, 0x4B8E, {0xA5, 0xF0, 0x2C, 0x7B, 0x91, 0xD8, 0xE3, 0x64}};
/* The descriptors that mc would generate: id, version, channel, level, opcode, task, keyword. */
static const EVENT_DESCRIPTOR measured = {1, 0, 0, 4, 10, 1, 1}, broken = {2, 0, 0, 2, 0, 0, 2};

static HANDLE enabled;

static VOID NTAPI on_enabled(LPCGUID source, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                             PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
    if (control)
        SetEvent(enabled);
}

static ULONG write_measured(REGHANDLE handle)
{
    const INT8 int8 = -8;
    const UINT8 uint8 = 200, colour = 2, address[] = {192, 168, 0, 7}, port[] = {0x1F, 0x90}; /* as on the wire */
    const INT16 int16 = -16000;
    const UINT16 uint16 = 60000, three[] = {1, 2, 3}, count = 2;
    const INT32 int32 = -2000000000, points[] = {1, -2, 3, -4};
    const UINT32 uint32 = 4000000000u, hex32 = 0xBEEF, state = 5;
    const INT64 int64 = -9000000000000000000;
    const UINT64 uint64 = 18000000000000000000u, hex64 = 0xFEEDBEEF, time = 132537600000000000u; /* 2020-12-30 */
    const FLOAT single = 1.5f;
    const double twice = -2.25;
    const BOOL boolean = TRUE;
    const SIZE_T pointer = 0x12345678;
    const SYSTEMTIME moment = {2021, 2, 3, 17, 8, 30, 15, 250};
    const BYTE system[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}; /* S-1-5-18 */
    const BYTE size = 3, bytes[] = {0xC0, 0xFF, 0xEE};
    const struct {
        const void *data;
        ULONG size;
    } fields[] = {
        {L"Gr\u00FC\u00DFe", 6 * sizeof(WCHAR)},
        {"plain", 6},
        {&int8, 1},
        {&uint8, 1},
        {&int16, 2},
        {&uint16, 2},
        {port, 2},
        {&int32, 4},
        {&uint32, 4},
        {address, 4},
        {&int64, 8},
        {&uint64, 8},
        {&single, 4},
        {&twice, 8},
        {&boolean, 4},
        {&provider, 16},
        {&pointer, sizeof pointer},
        {&time, 8},
        {&moment, 16},
        {system, sizeof system},
        {&hex32, 4},
        {&hex64, 8},
        {&colour, 1},
        {&state, 4},
        {"four", 4},
        {three, sizeof three},
        {&count, 2},
        {points, sizeof points},
        {&size, 1},
        {bytes, sizeof bytes},
    };
    EVENT_DATA_DESCRIPTOR data[ARRAYSIZE(fields)];
    for (ULONG i = 0; i < ARRAYSIZE(fields); i++)
        EventDataDescCreate(&data[i], fields[i].data, fields[i].size);
    return EventWrite(handle, &measured, ARRAYSIZE(fields), data);
}

static ULONG write_broken(REGHANDLE handle)
{
    static const WCHAR path[] = L"C:\\no <file>";
    const ULONG code = ERROR_FILE_NOT_FOUND;
    EVENT_DATA_DESCRIPTOR data[2];
    EventDataDescCreate(&data[0], path, sizeof path);
    EventDataDescCreate(&data[1], &code, sizeof code);
    return EventWrite(handle, &broken, 2, data);
}

int main(int argc, char **argv)
{
    const DWORD wait = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000 : 60000;
    REGHANDLE handle;
    enabled = CreateEventW(NULL, TRUE, FALSE, NULL);
    ULONG error = EventRegister(&provider, on_enabled, NULL, &handle), lost = 0;
    if (error) {
        fprintf(stderr, "EventRegister: %lu\n", error);
        return 1;
    }
    if (WaitForSingleObject(enabled, wait) != WAIT_OBJECT_0) {
        fprintf(stderr, "no session has enabled this provider\n");
        EventUnregister(handle);
        return 2;
    }
    lost += write_measured(handle) != ERROR_SUCCESS;
    lost += write_broken(handle) != ERROR_SUCCESS;
    EventUnregister(handle);
    printf("2 events written, %lu of them in vain\n", lost);
    return lost != 0;
}
