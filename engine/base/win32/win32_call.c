/* SPDX-License-Identifier: MIT */
/* Converts system codes to results and paths to long paths, and reads Windows' messages and string resources. */
#include "engine/base/win32/win32_call.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

/* CreateDirectory reserves space for an 8.3 name, so its limit is the lowest. */
#define CLASSIC_PATH_MAX (MAX_PATH - 13)

HRESULT win32_report(DWORD code, const char *what)
{
    HRESULT hr = HRESULT_FROM_WIN32(code);
    return error_set(hr, "'%s': %s (system error %lu)", what, error_standard_text(hr), code);
}

static HRESULT long_path(const char *path, const WCHAR *given, WCHAR **out)
{
    DWORD room = GetFullPathNameW(given, 0, NULL, NULL);
    WCHAR *full = room ? memory_alloc(((size_t)room + 1) * sizeof(WCHAR)) : NULL;
    if (!full)
        return room ? E_OUTOFMEMORY : win32_failed(GetLastError(), path);
    DWORD length = GetFullPathNameW(given, room, full, NULL);
    if (!length || length >= room) {
        memory_free(full);
        return win32_failed(length ? ERROR_FILENAME_EXCED_RANGE : GetLastError(), path);
    }
    if (length <= CLASSIC_PATH_MAX) {
        *out = full;
        return S_OK;
    }
    bool unc = full[0] == '\\' && full[1] == '\\';
    WCHAR *prefixed = memory_alloc(((size_t)length + 9) * sizeof(WCHAR));
    if (prefixed) {
        wcscpy(prefixed, unc ? L"\\\\?\\UNC\\" : L"\\\\?\\");
        wcscat(prefixed, full + (unc ? 2 : 0));
    }
    memory_free(full);
    *out = prefixed;
    return prefixed ? S_OK : E_OUTOFMEMORY;
}

HRESULT win32_path(const char *path, WCHAR **out)
{
    WCHAR *given;
    size_t units;
    HRESULT hr = text_to_utf16(path, &given, &units);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    if (units <= CLASSIC_PATH_MAX / 2 || !wcsncmp(given, L"\\\\?\\", 4) || !wcsncmp(given, L"\\\\.\\", 4)) {
        *out = given;
        return S_OK;
    }
    hr = long_path(path, given, out); /* a short relative path can be long once it is absolute */
    memory_free(given);
    return hr;
}

/* ---- messages of error codes, and string resources of DLLs and programs ---- */

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

static char *system_message_from(DWORD source, HMODULE module, uint32_t code)
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
        return system_message_from(FORMAT_MESSAGE_FROM_SYSTEM, NULL, code);
    char *text = system_message_from(FORMAT_MESSAGE_FROM_HMODULE, GetModuleHandleW(L"ntdll.dll"), code);
    const ULONG system = text ? ERROR_MR_MID_NOT_FOUND : RtlNtStatusToDosError((NTSTATUS)code);
    return text || system == ERROR_MR_MID_NOT_FOUND ? text
                                                    : system_message_from(FORMAT_MESSAGE_FROM_SYSTEM, NULL, system);
}

#define STRINGS_PER_BLOCK 16 /* a resource of a string table holds 16 strings, numbered from 1 */

/* Whether the path has the form "C:\...". A UNC path or a device is rejected, because the author of a reference must
   not be able to direct the server to another machine. A folder is required, because the search would otherwise include
   the current folder. */
static bool is_local_path(const char *path)
{
    char drive = (char)(path[0] | 0x20);
    return drive >= 'a' && drive <= 'z' && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
}

/* Splits a reference into the file's full path and the string's number. S_FALSE: the string is not a reference. */
static HRESULT resource_reference_parse(const char *reference, char **path, unsigned *id)
{
    const char *comma = strrchr(reference, ',');
    int64_t number;
    *path = NULL;
    if (reference[0] != '@' || !comma || comma[1] != '#' || !text_to_i64(comma + 2, &number) || number < 0 ||
        number > UINT16_MAX)
        return S_FALSE;
    *id = (unsigned)number;
    char *binary = text_copy_n(reference + 1, (size_t)(comma - reference - 1));
    if (binary)
        *path = os_expand_environment(binary);
    memory_free(binary);
    if (!*path)
        return E_OUTOFMEMORY;
    return is_local_path(*path) ? S_OK : S_FALSE;
}

/* Reads a string from the module's string table. S_FALSE: the module has no such string. Each string consists of its
   length in units and the units. In a corrupt file, a length can lead past the end. */
static HRESULT read_string(HMODULE module, unsigned id, char **text)
{
    HRSRC found = FindResourceW(module, MAKEINTRESOURCEW(id / STRINGS_PER_BLOCK + 1), (LPCWSTR)RT_STRING);
    HGLOBAL block = found ? LoadResource(module, found) : NULL;
    const WCHAR *units = block ? LockResource(block) : NULL;
    size_t left = units ? SizeofResource(module, found) / sizeof(WCHAR) : 0, length = 0;
    for (unsigned i = 0; i <= id % STRINGS_PER_BLOCK; i++) {
        units += length;
        left -= length;
        if (!left || *units > left - 1)
            return S_FALSE;
        length = *units++;
        left--;
    }
    while (length && !units[length - 1]) /* some resource compilers include a NUL in the length */
        length--;
    return length ? text_from_utf16(units, length, true, text) : S_FALSE;
}

static HRESULT resource_load_string(const char *path, unsigned id, char **text)
{
    WCHAR *wide;
    DWORD mode = 0;
    HRESULT hr = win32_path(path, &wide);
    if (FAILED(hr))
        return hr;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mode); /* do not ask the user to insert a disk */
    HMODULE module = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_AS_IMAGE_RESOURCE);
    SetThreadErrorMode(mode, NULL);
    memory_free(wide);
    if (!module)
        return S_FALSE;
    hr = read_string(module, id, text);
    FreeLibrary(module);
    return hr;
}

char *os_resource_text(const char *reference)
{
    char *path = NULL, *text = NULL;
    unsigned id = 0;
    HRESULT hr = resource_reference_parse(reference, &path, &id);
    if (hr == S_OK)
        hr = resource_load_string(path, id, &text);
    memory_free(path);
    if (hr == E_OUTOFMEMORY)
        return NULL;
    return hr == S_OK ? text : text_copy(reference);
}
