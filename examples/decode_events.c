/* SPDX-License-Identifier: MIT */
/* Reads a trace and decodes it with TDH, using only Windows' headers. Prints each event of a file with its names, and
   the name and text of each field; structs and arrays are printed as bytes.
   Usage: decode_events FILE */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>

/* Declared only in newer headers. */
typedef ULONG WINAPI format_property(PTRACE_EVENT_INFO info, PEVENT_MAP_INFO map, ULONG pointer_size, USHORT in,
                                     USHORT out, USHORT length, USHORT data_size, PBYTE data, ULONG *size, PWSTR buffer,
                                     USHORT *used);
static format_property *format;
static ULONG events, undecoded;

static void print_text(const WCHAR *text)
{
    char utf8[4096];
    if (WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, NULL, NULL) > 0)
        fputs(utf8, stdout);
}

static const WCHAR *text_of(const TRACE_EVENT_INFO *info, ULONG offset)
{
    return offset ? (const WCHAR *)(const void *)((const BYTE *)info + offset) : L"-";
}

static PEVENT_MAP_INFO map_of(PEVENT_RECORD event, PWSTR name)
{
    PEVENT_MAP_INFO map = NULL;
    ULONG size = 0;
    if (TdhGetEventMapInformation(event, name, NULL, &size) != ERROR_INSUFFICIENT_BUFFER)
        return NULL;
    map = malloc(size);
    if (map && TdhGetEventMapInformation(event, name, map, &size) == ERROR_SUCCESS)
        return map;
    free(map);
    return NULL;
}

static BOOL print_value(PEVENT_RECORD event, PTRACE_EVENT_INFO info, const EVENT_PROPERTY_INFO *p, PBYTE data,
                        ULONG size)
{
    const ULONG pointer_size = event->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
    WCHAR text[2048];
    ULONG room = sizeof text, error;
    USHORT used;
    PEVENT_MAP_INFO map = NULL;
    /* If another property contains the length, pass 0: `data` has exactly the bytes of this property. */
    const USHORT length = p->Flags & PropertyParamLength ? 0 : p->length;
    if (p->nonStructType.MapNameOffset)
        map = map_of(event, (PWSTR)(PVOID)((PBYTE)info + p->nonStructType.MapNameOffset));
    error = format(info, map, pointer_size, p->nonStructType.InType, p->nonStructType.OutType, length, (USHORT)size,
                   data, &room, text, &used);
    if (error == ERROR_EVT_INVALID_EVENT_DATA && map)
        error = format(info, NULL, pointer_size, p->nonStructType.InType, p->nonStructType.OutType, length,
                       (USHORT)size, data, &room, text, &used);
    free(map);
    if (error == ERROR_SUCCESS)
        print_text(text);
    return error == ERROR_SUCCESS;
}

static void print_property(PEVENT_RECORD event, PTRACE_EVENT_INFO info, const EVENT_PROPERTY_INFO *p)
{
    const WCHAR *name = text_of(info, p->NameOffset);
    PROPERTY_DATA_DESCRIPTOR path = {(ULONG_PTR)name, ULONG_MAX, 0};
    const BOOL plain = !(p->Flags & (PropertyStruct | PropertyParamCount)) && p->count == 1;
    ULONG size = 0, error = TdhGetPropertySize(event, 0, NULL, 1, &path, &size);
    PBYTE data = malloc(size + 1);
    if (!error)
        error = data ? TdhGetProperty(event, 0, NULL, 1, &path, size, data) : ERROR_NOT_ENOUGH_MEMORY;
    putchar(' ');
    print_text(name);
    putchar('=');
    if (error)
        printf("?%lu", error);
    else if (!plain || !print_value(event, info, p, data, size))
        for (ULONG i = 0; i < size; i++)
            printf("%02X", data[i]);
    free(data);
}

static VOID WINAPI on_event(PEVENT_RECORD event)
{
    PTRACE_EVENT_INFO info = NULL;
    ULONG size = 0, error = TdhGetEventInformation(event, 0, NULL, NULL, &size);
    if (error == ERROR_INSUFFICIENT_BUFFER) {
        info = malloc(size);
        error = info ? TdhGetEventInformation(event, 0, NULL, info, &size) : ERROR_NOT_ENOUGH_MEMORY;
    }
    events++;
    if (error) {
        undecoded++;
        printf("%08lX... id=%u: error %lu\n", event->EventHeader.ProviderId.Data1,
               event->EventHeader.EventDescriptor.Id, error);
        free(info);
        return;
    }
    print_text(text_of(info, info->ProviderNameOffset));
    putchar('/');
    print_text(text_of(info, info->TaskNameOffset));
    putchar('/');
    print_text(text_of(info, info->OpcodeNameOffset));
    putchar(':');
    for (ULONG i = 0; i < info->TopLevelPropertyCount; i++)
        print_property(event, info, &info->EventPropertyInfoArray[i]);
    puts("");
    free(info);
}

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    EVENT_TRACE_LOGFILEW log = {0};
    HMODULE tdh = GetModuleHandleW(L"openetw.dll");
    if (argc != 2) {
        fputs("decode_events FILE\n", stderr);
        return 2;
    }
    if (!tdh || !GetProcAddress(tdh, "TdhFormatProperty"))
        tdh = LoadLibraryExW(L"tdh.dll", NULL, 0);
    format = tdh ? (format_property *)(PVOID)GetProcAddress(tdh, "TdhFormatProperty") : NULL;
    if (!format) {
        fputs("there is no TdhFormatProperty\n", stderr);
        return 1;
    }
    log.LogFileName = argv[1];
    log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    log.EventRecordCallback = on_event;
    TRACEHANDLE trace = OpenTraceW(&log);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        fprintf(stderr, "OpenTrace: error %lu\n", GetLastError());
        return 1;
    }
    const ULONG error = ProcessTrace(&trace, 1, NULL, NULL);
    CloseTrace(trace);
    if (error) {
        fprintf(stderr, "ProcessTrace: error %lu\n", error);
        return 1;
    }
    printf("%lu events, %lu undecoded\n", events, undecoded);
    return 0;
}
