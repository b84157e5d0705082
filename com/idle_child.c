/* SPDX-License-Identifier: MIT */
/* The child that keeps Wine up while a service has work to do. */
#include "com/idle_child.h"

#include <wchar.h>

#include "engine/os/error.h"

HRESULT idle_child_start(HANDLE *child)
{
    WCHAR program[MAX_PATH], command[MAX_PATH + 32];
    STARTUPINFOW startup = {.cb = sizeof(startup)};
    PROCESS_INFORMATION process;
    DWORD length = GetModuleFileNameW(NULL, program, ARRAYSIZE(program));

    if (!length || length >= ARRAYSIZE(program))
        return error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE), "idle child: path of the program");
    _snwprintf(command, ARRAYSIZE(command), L"\"%ls\" /idle %lu", program, GetCurrentProcessId());
    if (!CreateProcessW(program, command, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &startup, &process)) {
        HRESULT hr = HRESULT_FROM_WIN32(GetLastError());

        return error_set(hr, "idle child: %s", error_standard_text(hr));
    }
    CloseHandle(process.hThread);
    *child = process.hProcess;
    return S_OK;
}

void idle_child_end(HANDLE child)
{
    if (!child)
        return;
    TerminateProcess(child, 0);
    CloseHandle(child);
}

int idle_child_main(const WCHAR *parent)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, wcstoul(parent, NULL, 10));

    if (!process)
        return 1;
    WaitForSingleObject(process, INFINITE);
    CloseHandle(process);
    return 0;
}
