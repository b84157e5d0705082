/* SPDX-License-Identifier: MIT */
#include "engine/base/system_message.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <windows.h>
#include <winternl.h>

static char *one_line(WCHAR *text, DWORD units)
{
    char *out;
    while (units != 0 && (text[units - 1] == L'\r' || text[units - 1] == L'\n' || text[units - 1] == L' '))
        units--;
    for (DWORD i = 0; i < units; i++)
        if (text[i] == L'\r' || text[i] == L'\n')
            text[i] = L' ';
    return units != 0 && SUCCEEDED(text_from_utf16(text, units, true, &out)) ? out : NULL;
}

static char *message(DWORD source, HMODULE module, uint32_t code)
{
    WCHAR *text = NULL;
    const DWORD units = FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_IGNORE_INSERTS | source, module,
                                       code, 0, (LPWSTR)(void *)&text, 0, NULL);
    char *out = units ? one_line(text, units) : NULL;
    LocalFree(text);
    return out;
}

char *system_message(enum system_message kind, uint32_t code)
{
    if (kind != SYSTEM_MESSAGE_NTSTATUS)
        return message(FORMAT_MESSAGE_FROM_SYSTEM, NULL, code);
    char *text = message(FORMAT_MESSAGE_FROM_HMODULE, GetModuleHandleW(L"ntdll.dll"), code);
    const ULONG system = text ? ERROR_MR_MID_NOT_FOUND : RtlNtStatusToDosError((NTSTATUS)code);
    return text || system == ERROR_MR_MID_NOT_FOUND ? text : message(FORMAT_MESSAGE_FROM_SYSTEM, NULL, system);
}
