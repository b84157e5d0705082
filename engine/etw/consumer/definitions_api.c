/* SPDX-License-Identifier: MIT */
/* Passes the definitions in a merged trace to TDH. Some programs query TDH only for the events that they know, and skip
   the definitions that are needed to decode those events. TDH stores a definition when it receives a query for the
   event with this definition. */
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/decode/tdh/tdh.h"

#ifdef _WIN32
#include <windows.h>
#include <string.h>

/* Returns whether the module is opentdh.dll or a copy of it. Wine's own tdh.dll has functions with these names, but
   they terminate the program. The export directory contains the name with which the module was linked. */
static bool is_our_tdh(HMODULE module)
{
    const uint8_t *base = (const uint8_t *)module;
    const IMAGE_DOS_HEADER *dos = (const void *)base;
    const IMAGE_NT_HEADERS *nt = (const void *)(base + dos->e_lfanew);
    const DWORD at = nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress;
    const IMAGE_EXPORT_DIRECTORY *exports = (const void *)(base + at);
    return at != 0 && _stricmp((const char *)base + exports->Name, "opentdh.dll") == 0;
}

/* openetw.dll does not contain TDH. A program that has not loaded TDH yet does not decode events. */
void consumer_pass_definition(EVENT_RECORD *event)
{
    static const WCHAR *const modules[] = {L"opentdh.dll", L"tdh.dll"}; /* tdh.dll may be a copy of opentdh.dll */
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        HMODULE module = GetModuleHandleW(modules[i]);
        FARPROC found = module && is_our_tdh(module) ? GetProcAddress(module, "TdhGetEventInformation") : NULL;
        ULONG(WINAPI * get)(const EVENT_RECORD *, ULONG, const struct tdh_parameter *, void *, ULONG *);
        ULONG size = 0;
        if (!found)
            continue;
        memcpy(&get, &found, sizeof get);
        (void)get(event, 0, NULL, NULL, &size);
    }
}
#else
void consumer_pass_definition(EVENT_RECORD *event)
{
    ULONG size = 0;
    (void)tdh_get_event_information(event, 0, NULL, NULL, &size);
}
#endif
