/* SPDX-License-Identifier: MIT */
/* The host OS and this process on Windows and under Wine, and the folders from which libraries are loaded. */
#include "engine/base/os.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/base/win32/win32_call.h"

#include <stdatomic.h>
#include <windows.h>
#include <ntsecapi.h>

/* Queries the loader only once, because a query can wait for the loader's lock. A thread that loads a DLL holds the
   loader's lock, even while it waits for one of OpenPLA's locks. If the caller holds such a lock, each thread would
   wait for the other. */
bool os_is_wine(void)
{
    enum { UNKNOWN, WINE, WINDOWS };
    static atomic_int known;
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is == UNKNOWN) {
        HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
        is = ntdll && GetProcAddress(ntdll, "wine_get_version") ? WINE : WINDOWS;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == WINE;
}

/* Queries the name only once, because under Wine a query reads the registry. The name does not change while the system
   runs. */
char *os_computer_name(void)
{
    static struct lock lock = LOCK_INIT;
    static WCHAR name[MAX_COMPUTERNAME_LENGTH + 1];
    static DWORD length;
    char *text, *upper;
    lock_enter(&lock);
    if (!length) {
        length = MAX_COMPUTERNAME_LENGTH + 1;
        if (!GetComputerNameW(name, &length))
            length = 0;
    }
    lock_leave(&lock);
    if (FAILED(text_from_utf16(name, length, true, &text)))
        return NULL;
    upper = text_fold(*text ? text : "localhost");
    memory_free(text);
    return upper;
}

/* Queries the name only once, like the computer's name. */
void os_dns_name(char name[OS_DNS_NAME_BYTES])
{
    static struct lock lock = LOCK_INIT;
    static char known[OS_DNS_NAME_BYTES];
    static bool asked;
    WCHAR wide[256];
    DWORD units = sizeof wide / sizeof *wide;
    lock_enter(&lock);
    if (!asked && GetComputerNameExW(ComputerNameDnsFullyQualified, wide, &units) &&
        !WideCharToMultiByte(CP_UTF8, 0, wide, -1, known, sizeof known, NULL, NULL))
        known[0] = 0;
    asked = true;
    memcpy(name, known, sizeof known);
    lock_leave(&lock);
}

HRESULT environment_get(const char *name, char **value)
{
    WCHAR *wide, *set = NULL;
    DWORD room = 0, length;
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    *value = NULL;
    if (FAILED(hr))
        return hr;
    /* Tries again if another thread makes the value longer between the calls. */
    for (length = GetEnvironmentVariableW(wide, NULL, 0); length > room;) {
        room = length;
        memory_free(set);
        set = memory_alloc(room * sizeof(WCHAR));
        length = set ? GetEnvironmentVariableW(wide, set, room) : 0;
    }
    if (room && !set)
        hr = E_OUTOFMEMORY;
    else
        hr = length ? text_from_utf16(set, length, true, value) : S_FALSE;
    memory_free(set);
    memory_free(wide);
    return hr;
}

uint64_t os_memory_bytes(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

char *os_full_path(const char *path)
{
    WCHAR *given, *full = NULL;
    DWORD length = 0;
    char *text = NULL;
    if (FAILED(text_to_utf16(path, &given, NULL)))
        return NULL;
    DWORD room = GetFullPathNameW(given, 0, NULL, NULL);
    if (room)
        full = memory_alloc(room * sizeof(WCHAR));
    if (full)
        length = GetFullPathNameW(given, room, full, NULL);
    if (length && length < room)
        text_from_utf16(full, length, true, &text);
    memory_free(full);
    memory_free(given);
    return text;
}

/* Reads the folder from the registry, not from %ProgramData%. Under Wine that variable differs between a service that
   starts with the prefix and the programs that call the service, but both must find the same store. */
static HRESULT program_data(char **out)
{
    static const WCHAR profiles[] = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\ProfileList";
    static struct lock lock = LOCK_INIT;
    static WCHAR value[MAX_PATH]; /* queried once: it does not change while the system runs */
    DWORD size = sizeof(value);
    bool got;
    lock_enter(&lock);
    /* RRF_RT_REG_SZ also accepts a REG_EXPAND_SZ and expands it. */
    if (!value[0] && RegGetValueW(HKEY_LOCAL_MACHINE, profiles, L"ProgramData", RRF_RT_REG_SZ, NULL, value, &size))
        value[0] = 0;
    got = value[0] != 0;
    lock_leave(&lock);
    if (!got)
        return environment_get("ProgramData", out);
    return text_from_utf16(value, wcslen(value), true, out);
}

char *os_data_folder(void)
{
    char *set, *folder;
    HRESULT hr = environment_get("OPENPLA_DATA", &set);
    if (hr == S_OK) {
        folder = os_full_path(set);
    } else {
        if (SUCCEEDED(hr))
            hr = program_data(&set);
        folder = FAILED(hr) ? NULL : path_join(set ? set : "C:\\ProgramData", "OpenPLA");
    }
    memory_free(set);
    return folder;
}

char *os_module_folder(void)
{
    static const WCHAR here; /* any address in this module */
    HMODULE module = NULL;
    WCHAR *path = NULL;
    DWORD room = MAX_PATH, length = 0;
    char *text = NULL, *folder = NULL;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, &here,
                       &module);
    do {
        memory_free(path);
        room *= 2;
        path = memory_alloc(room * sizeof(WCHAR));
        length = path ? GetModuleFileNameW(module, path, room) : 0;
    } while (length >= room && room < 65536);
    if (length && SUCCEEDED(text_from_utf16(path, length, true, &text)))
        folder = path_folder(text);
    memory_free(text);
    memory_free(path);
    return folder;
}

/* Queries the account only once, because a query takes several requests to another process, and the account of a
   process does not change. */
char *os_user_name(void)
{
    static struct lock lock = LOCK_INIT;
    static struct account_name own;
    static bool known;
    HANDLE token;
    lock_enter(&lock);
    if (!known && OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        known = win32_account(token, &own);
        CloseHandle(token);
    }
    lock_leave(&lock);
    return known ? win32_account_text(&own) : text_copy("");
}

char *os_ui_languages(void)
{
    WCHAR names[512];
    ULONG count, units = sizeof names / sizeof names[0];
    char *text;
    if (!GetUserPreferredUILanguages(MUI_LANGUAGE_NAME, &count, names, &units) || units < 2)
        return text_copy("");
    for (ULONG i = 0; i + 2 < units; i++) /* each string has a NUL, and another NUL ends the list */
        if (!names[i])
            names[i] = ';';
    return SUCCEEDED(text_from_utf16(names, wcslen(names), true, &text)) ? text : NULL;
}

HRESULT os_random(void *out, size_t size)
{
    if (size > ULONG_MAX || !RtlGenRandom(out, (ULONG)size))
        return win32_failed(GetLastError(), "random numbers");
    return S_OK;
}

HRESULT os_new_guid(GUID *out)
{
    const HRESULT hr = os_random(out, sizeof *out);
    if (FAILED(hr))
        return hr;
    out->Data3 = (uint16_t)((out->Data3 & 0x0FFF) | 0x4000);
    out->Data4[0] = (uint8_t)((out->Data4[0] & 0x3F) | 0x80);
    return S_OK;
}

/* SRWLOCK is not used: under Wine, each release of such a lock searches for waiting threads, which costs more than most
   locked operations. */
enum { LOCK_FREE, LOCK_HELD, LOCK_WAITED_FOR };

void lock_enter(struct lock *lock)
{
    volatile LONG *state = (volatile LONG *)(void *)lock->opaque;
    LONG waited_for = LOCK_WAITED_FOR;
    if (InterlockedCompareExchange(state, LOCK_HELD, LOCK_FREE) == LOCK_FREE)
        return;
    /* While the process exits, a terminated thread can hold the lock, and nothing will release it. */
    while (InterlockedExchange(state, LOCK_WAITED_FOR) != LOCK_FREE && !process_is_ending())
        WaitOnAddress(state, &waited_for, sizeof(waited_for), INFINITE);
}

void lock_leave(struct lock *lock)
{
    volatile LONG *state = (volatile LONG *)(void *)lock->opaque;
    if (InterlockedExchange(state, LOCK_FREE) == LOCK_WAITED_FOR)
        WakeByAddressSingle((void *)lock->opaque);
}

void libraries_restrict(void)
{
    /* These two calls also restrict LoadLibrary without flags, for example in the system's libraries. The results are
       not checked: on Windows versions that support both functions they do not fail, and on other versions the folder
       is specified wherever OpenPLA loads a library. */
    SetDllDirectoryW(L"");
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
}
