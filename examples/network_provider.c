/* SPDX-License-Identifier: MIT */
/* The network provider. */
#include "examples/network_provider.h"

#include <stdio.h>
#include <evntrace.h>
#include <string.h>

const GUID network_provider = {0xA68CA8B7, 0x004F, 0xD7B6, {0xA6, 0x98, 0x07, 0xE2, 0xDE, 0x0F, 0x1F, 0x5D}};

/* Id, version, channel, level, opcode, task, keyword. */
static const EVENT_DESCRIPTOR failed_to_send = {PACKET_ERROR, 0, 0, LEVEL_ERROR, 0, 0, KEYWORD_SEND},
                              sent = {PACKET_SENT, 0, 0, LEVEL_INFORMATION, 0, 0, KEYWORD_SEND},
                              bytes = {PACKET_BYTES, 0, 0, LEVEL_VERBOSE, 0, 0, KEYWORD_SEND},
                              received = {PACKET_RECEIVED, 0, 0, LEVEL_INFORMATION, 0, 0, KEYWORD_RECEIVE};

static REGHANDLE provider;
static HANDLE changed; /* event: the callback was called */
static CRITICAL_SECTION lock;
/* The values of the last call. */
static BOOL enabled, ever_enabled;
static UCHAR wanted_level;
static char wanted_address[64]; /* "": any */

/* The filter data follow a header with the number of the provider's filter. */
static void take_filter(const EVENT_FILTER_DESCRIPTOR *filter)
{
    EVENT_FILTER_HEADER head;
    wanted_address[0] = 0;
    if (!filter || filter->Size < sizeof head)
        return;
    memcpy(&head, (const void *)(ULONG_PTR)filter->Ptr, sizeof head);
    if (head.Id != FILTER_ADDRESS || head.Size < sizeof head || head.Size - sizeof head >= sizeof wanted_address)
        return;
    memcpy(wanted_address, (const char *)(ULONG_PTR)filter->Ptr + sizeof head, head.Size - sizeof head);
    wanted_address[head.Size - sizeof head] = 0;
}

static VOID NTAPI on_enabled(LPCGUID source, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                             PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)context;
    if (control > EVENT_CONTROL_CODE_ENABLE_PROVIDER)
        return; /* a request to report the provider's state */
    EnterCriticalSection(&lock);
    enabled = control == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
    ever_enabled = ever_enabled || enabled;
    wanted_level = level;
    take_filter(filter);
    if (enabled)
        printf("Provider: enabled, level %u, any keyword of 0x%llX, all of 0x%llX, filter \"%s\"\n", level, any, all,
               wanted_address);
    else
        puts("Provider: disabled");
    fflush(stdout);
    LeaveCriticalSection(&lock);
    SetEvent(changed);
}

BOOL provider_begin(void)
{
    InitializeCriticalSection(&lock);
    changed = CreateEventW(NULL, FALSE, FALSE, NULL);
    const ULONG error = changed ? EventRegister(&network_provider, on_enabled, NULL, &provider) : GetLastError();
    if (error)
        printf("FAILED: the provider cannot be registered: error %lu\n", error);
    return error == ERROR_SUCCESS;
}

void provider_end(void)
{
    EventUnregister(provider);
    CloseHandle(changed);
    DeleteCriticalSection(&lock);
}

static BOOL is_at(UCHAR level)
{
    EnterCriticalSection(&lock);
    const BOOL at = enabled && wanted_level == level;
    LeaveCriticalSection(&lock);
    return at;
}

BOOL provider_wait(UCHAR level, DWORD milliseconds)
{
    const ULONGLONG until = GetTickCount64() + milliseconds;
    for (;;) {
        const ULONGLONG now = GetTickCount64();
        if (is_at(level))
            return TRUE;
        if (now >= until || WaitForSingleObject(changed, (DWORD)(until - now)) != WAIT_OBJECT_0)
            return is_at(level);
    }
}

BOOL provider_was_enabled(void)
{
    EnterCriticalSection(&lock);
    const BOOL was = ever_enabled && !enabled;
    LeaveCriticalSection(&lock);
    return was;
}

static void write_packet(const EVENT_DESCRIPTOR *what, const char *address)
{
    EVENT_DATA_DESCRIPTOR data;
    EventDataDescCreate(&data, address, (ULONG)strlen(address) + 1);
    EventWrite(provider, what, 1, &data);
}

/* EventWrite checks levels and keywords; the provider must apply its filter (MS-PLA 2.2.11.1.3). */
void provider_traffic(const char *address)
{
    EnterCriticalSection(&lock);
    const BOOL wanted = !wanted_address[0] || strcmp(wanted_address, address) == 0;
    LeaveCriticalSection(&lock);
    if (!wanted)
        return;
    write_packet(&failed_to_send, address);
    write_packet(&sent, address);
    write_packet(&bytes, address);
    write_packet(&received, address);
}
