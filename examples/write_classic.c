/* SPDX-License-Identifier: MIT */
/* A classic event provider, which uses RegisterTraceGuids and TraceEvent. classic_events.mof describes its events.
   Usage: write_classic [events [seconds to wait]] */
#define INITGUID
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntrace.h>
#include <wmistr.h>

/* The GUIDs of classic_events.mof. */
static const GUID provider = {0x2E8B7A54, 0x91C3, 0x4D0F, {0xB6, 0xA2, 0x5C, 0x7D, 0x3E, 0x1F, 0x90, 0x84}};
static const GUID sale = {0x6F3A1C92, 0x0B7E, 0x4E58, {0x8D, 0x14, 0xA9, 0x5B, 0x2C, 0x60, 0xD7, 0xE3}};
enum { SOLD = 1, RETURNED = 2, SALE_VERSION = 1, CASH = 1, CARD = 2, FIELDS = 5 };

static HANDLE enabled;
static TRACEHANDLE session;

static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)context, (void)size;
    if (code == WMI_ENABLE_EVENTS) {
        session = GetTraceLoggerHandle(buffer);
        SetEvent(enabled);
    }
    return ERROR_SUCCESS;
}

static void field(MOF_FIELD *to, const void *data, ULONG size)
{
    to->DataPtr = (ULONG64)(ULONG_PTR)data;
    to->Length = size;
    to->DataType = 0;
}

static ULONG write_sale(ULONG number)
{
    static const WCHAR article[] = L"Apple";
    const BYTE paid = number % 2 ? CASH : CARD;
    const LONGLONG price = number * -25LL;
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[FIELDS];
    } event = {{0}, {{0}}};
    event.header.Size = sizeof event;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    event.header.Guid = sale;
    event.header.Class.Type = number % 3 ? SOLD : RETURNED;
    event.header.Class.Version = SALE_VERSION;
    event.header.Class.Level = TRACE_LEVEL_INFORMATION;
    field(&event.fields[0], &number, sizeof number);
    field(&event.fields[1], article, sizeof article);
    field(&event.fields[2], &paid, sizeof paid);
    field(&event.fields[3], &price, sizeof price);
    field(&event.fields[4], &provider, sizeof provider);
    return TraceEvent(session, &event.header);
}

int main(int argc, char **argv)
{
    const ULONG count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    const DWORD wait = argc > 2 ? strtoul(argv[2], NULL, 10) * 1000 : 60000;
    TRACE_GUID_REGISTRATION classes[] = {{&sale, NULL}};
    TRACEHANDLE registration;
    ULONG lost = 0, error;
    enabled = CreateEventW(NULL, TRUE, FALSE, NULL);
    error = RegisterTraceGuidsW(on_request, NULL, &provider, 1, classes, NULL, NULL, &registration);
    if (error) {
        fprintf(stderr, "RegisterTraceGuids: %lu\n", error);
        return 1;
    }
    if (WaitForSingleObject(enabled, wait) != WAIT_OBJECT_0) {
        fprintf(stderr, "no session has enabled this provider\n");
        UnregisterTraceGuids(registration);
        return 2;
    }
    for (ULONG number = 1; number <= count; number++)
        lost += write_sale(number) != ERROR_SUCCESS;
    UnregisterTraceGuids(registration);
    printf("%lu events written, %lu of them in vain\n", count, lost);
    return lost != 0;
}
