/* SPDX-License-Identifier: MIT */
/* openplasrv.exe: loads openpla.dll from its own folder and runs the server that is in it. */
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

typedef int(server_main)(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    WCHAR path[32768];
    DWORD length = GetModuleFileNameW(NULL, path, ARRAYSIZE(path));
    WCHAR *name = length && length < ARRAYSIZE(path) ? wcsrchr(path, L'\\') : NULL;
    HMODULE module = NULL;
    union {
        FARPROC address;
        server_main *run;
    } entry = {NULL};

    if (name && (size_t)(path + ARRAYSIZE(path) - name) > wcslen(L"\\openpla.dll")) {
        wcscpy(name, L"\\openpla.dll");
        module = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    }
    if (module)
        entry.address = GetProcAddress(module, "OpenPlaServer");
    if (!entry.run) {
        fprintf(stderr, "openplasrv: error %lu loading openpla.dll\n", GetLastError());
        return 1;
    }
    return entry.run(argc, argv);
}
