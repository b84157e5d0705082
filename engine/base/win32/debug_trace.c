/* SPDX-License-Identifier: MIT */
/* The trace switch on Windows: reads its environment variables and writes its file. */
#include "engine/base/base_private.h"

#include <stdio.h>
#include <windows.h>

enum { SETTING_UNITS = 1024 };

uint32_t debug_trace_process(void)
{
    return GetCurrentProcessId();
}

size_t debug_trace_head(char *text, size_t size)
{
    FILETIME now;
    SYSTEMTIME t;
    GetSystemTimePreciseAsFileTime(&now);
    FileTimeToSystemTime(&now, &t);
    const uint64_t ticks = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return (size_t)snprintf(text, size, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ %lu.%lu", t.wYear, t.wMonth, t.wDay,
                            t.wHour, t.wMinute, t.wSecond, (unsigned)(ticks / 10 % 1000000), GetCurrentProcessId(),
                            GetCurrentThreadId());
}

void debug_trace_setting(const char *name, char *text, size_t size)
{
    WCHAR wide[64], set[SETTING_UNITS];
    *text = 0;
    if (!MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, sizeof wide / sizeof wide[0]))
        return;
    const DWORD length = GetEnvironmentVariableW(wide, set, SETTING_UNITS);
    if (length && length < SETTING_UNITS && !WideCharToMultiByte(CP_UTF8, 0, set, -1, text, (int)size, NULL, NULL))
        *text = 0;
}

intptr_t debug_trace_open(const char *path)
{
    WCHAR wide[SETTING_UNITS];
    HANDLE file = INVALID_HANDLE_VALUE;
    if (*path && MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, SETTING_UNITS))
        file = CreateFileW(wide, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                           OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    return (intptr_t)(file == INVALID_HANDLE_VALUE ? GetStdHandle(STD_ERROR_HANDLE) : file);
}

void debug_trace_close(intptr_t file)
{
    if ((HANDLE)file != GetStdHandle(STD_ERROR_HANDLE))
        CloseHandle((HANDLE)file);
}

/* Wine determines the end of the file and then writes there, so lines of two threads or processes could overwrite each
   other. Threads therefore take a lock of the process, and processes lock a byte far after the lines. A thread that was
   terminated never releases its lock, so other threads wait for at most LOCK_MS and then write their lines without the
   lock. */
enum { LOCK_MS = 5000, LOCKED_BYTE_HIGH = 0x3FFFFFFF };

static bool take_trace_lock(SRWLOCK *lock)
{
    const ULONGLONG begin = GetTickCount64();
    while (!TryAcquireSRWLockExclusive(lock)) {
        if (GetTickCount64() - begin > LOCK_MS)
            return false;
        Sleep(0);
    }
    return true;
}

/* Also false for a console or a pipe, which need no lock. */
static bool take_file_lock(HANDLE file)
{
    const ULONGLONG begin = GetTickCount64();
    OVERLAPPED at = {.OffsetHigh = LOCKED_BYTE_HIGH};
    while (!LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)) {
        const DWORD error = GetLastError();
        if ((error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) || GetTickCount64() - begin > LOCK_MS)
            return false;
        Sleep(1);
    }
    return true;
}

void debug_trace_write(intptr_t file, const char *line, size_t size)
{
    static SRWLOCK lock = SRWLOCK_INIT;
    OVERLAPPED at = {.OffsetHigh = LOCKED_BYTE_HIGH};
    DWORD written;
    const bool own = take_trace_lock(&lock), locked = take_file_lock((HANDLE)file);
    WriteFile((HANDLE)file, line, (DWORD)size, &written, NULL);
    if (locked)
        UnlockFileEx((HANDLE)file, 0, 1, 0, &at);
    if (own)
        ReleaseSRWLockExclusive(&lock);
}

uint32_t debug_trace_last_error(void)
{
    return GetLastError();
}

void debug_trace_restore_last_error(uint32_t code)
{
    SetLastError(code);
}

void debug_trace_end_process(uint32_t code)
{
    if (IsDebuggerPresent())
        DebugBreak();
    TerminateProcess(GetCurrentProcess(), code);
    for (;;)
        Sleep(INFINITE); /* shows the compiler that this function does not return */
}
