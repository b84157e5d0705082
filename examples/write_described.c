/* SPDX-License-Identifier: MIT */
/* A TraceLogging provider: its events describe themselves, so it needs neither a manifest nor its registration. It
   contains what the macros of TraceLoggingProvider.h, which MinGW lacks, generate for TraceLoggingWrite(provider,
   "Sold", TraceLoggingUInt32(n, "Number"), TraceLoggingWideString(..., "Article"), TraceLoggingStruct(2, "Price"),
   TraceLoggingFloat64(..., "Amount"), TraceLoggingString(..., "Currency"), TraceLoggingUInt8Array(codes, count,
   "Codes")).
   Usage: write_described [events [seconds to wait]] */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntprov.h>
#include <string.h>

/* {7D4C9E11-52A0-4E5B-8C1F-6A2B0D9E3F77}, created for this example. */
static const GUID provider = {0x7D4C9E11, 0x52A0, 0x4E5B, {0x8C, 0x1F, 0x6A, 0x2B, 0x0D, 0x9E, 0x3F, 0x77}};
static HANDLE enabled;

/* The size, then the provider's name with its NUL. */
static const char traits[] = "\x0F\0Example.Shop";
/* The size, the tags and the event's name; then each field's name and type: 8 UINT32, 1 UTF-16, 0x98 a struct, with its
   number of members, 12 DOUBLE, 2 with 0x80 and 35 UTF-8, 0x44 UINT8 with a count in the data. */
static const char metadata[] = "\0\0\0Sold\0"
                               "Number\0\x08"
                               "Article\0\x01"
                               "Price\0\x98\x02"
                               "Amount\0\x0C"
                               "Currency\0\x82\x23"
                               "Codes\0\x44";
enum { METADATA = sizeof metadata - 1, TYPE_EVENT_METADATA = 1, TYPE_PROVIDER_METADATA = 2 };

static VOID NTAPI on_enabled(LPCGUID source, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                             PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)context;
    if (control)
        SetEvent(enabled);
}

static ULONG write_sale(REGHANDLE handle, ULONG number)
{
    static const EVENT_DESCRIPTOR sold = {0, 0, 11, 4, 0, 0, 1};
    static const WCHAR article[] = L"Apple";
    static const char currency[] = "\xE2\x82\xAC";
    static const BYTE codes[] = {1, 2, 3};
    const USHORT code_count = sizeof codes;
    const double amount = number * 0.25;
    char own[METADATA];
    EVENT_DATA_DESCRIPTOR data[8];
    memcpy(own, metadata, METADATA);
    own[0] = METADATA;
    EventDataDescCreate(&data[0], traits, sizeof traits);
    EventDataDescCreate(&data[1], own, METADATA);
    data[0].Reserved = TYPE_PROVIDER_METADATA;
    data[1].Reserved = TYPE_EVENT_METADATA;
    EventDataDescCreate(&data[2], &number, sizeof number);
    EventDataDescCreate(&data[3], article, sizeof article);
    EventDataDescCreate(&data[4], &amount, sizeof amount);
    EventDataDescCreate(&data[5], currency, sizeof currency);
    EventDataDescCreate(&data[6], &code_count, sizeof code_count);
    EventDataDescCreate(&data[7], codes, sizeof codes);
    return EventWriteTransfer(handle, &sold, NULL, NULL, 8, data);
}

int main(int argc, char **argv)
{
    const ULONG count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    const DWORD wait = argc > 2 ? strtoul(argv[2], NULL, 10) * 1000 : 60000;
    REGHANDLE handle;
    ULONG lost = 0, error;
    enabled = CreateEventW(NULL, TRUE, FALSE, NULL);
    error = EventRegister(&provider, on_enabled, NULL, &handle);
    if (!error)
        error = EventSetInformation(handle, (EVENT_INFO_CLASS)2 /* EventProviderSetTraits */, (PVOID)(ULONG_PTR)traits,
                                    sizeof traits);
    if (error) {
        fprintf(stderr, "EventRegister: %lu\n", error);
        return 1;
    }
    if (WaitForSingleObject(enabled, wait) != WAIT_OBJECT_0) {
        fprintf(stderr, "no session has enabled this provider\n");
        EventUnregister(handle);
        return 2;
    }
    for (ULONG number = 1; number <= count; number++)
        lost += write_sale(handle, number) != ERROR_SUCCESS;
    EventUnregister(handle);
    printf("%lu events written, %lu of them in vain\n", count, lost);
    return lost != 0;
}
