/* SPDX-License-Identifier: MIT */
/* Loads odbc32.dll from the system folder; Wine's odbc32.dll passes every call on to the unixODBC of the host OS.

   Wine's odbc32 copies unixODBC's drivers and data sources into the registry. Wine 10's odbc32 finds a source and its
   driver in the list of sources. This list has only sources whose Driver is exactly the file of an installed driver. In
   odbc.ini, however, Driver is usually a driver name or a full path. Therefore this file adds the missing sources to
   the list. */
#include "engine/logs/odbc_library.h"

#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <stdbool.h>
#include <windows.h>
#include <wchar.h>

#define SOURCES     L"Software\\ODBC\\ODBC.INI"
#define SOURCE_LIST SOURCES L"\\ODBC Data Sources"
#define DRIVERS     L"Software\\ODBC\\ODBCINST.INI"
#define NAME_UNITS  256  /* maximum length of a key name, including the NUL */
#define MOST_KEYS   4096 /* maximum number of keys that a loop reads, even if other programs keep adding keys */

/* Reads the string value "Driver". False: the value is missing or too long. */
static bool read_driver(HKEY root, const WCHAR *folder, const WCHAR *key, WCHAR *out)
{
    WCHAR path[64 + NAME_UNITS];
    DWORD bytes = NAME_UNITS * sizeof *out;
    if (wcslen(folder) + 1 + wcslen(key) >= ARRAYSIZE(path))
        return false;
    wcscpy(path, folder);
    wcscat(path, L"\\");
    wcscat(path, key);
    return RegGetValueW(root, path, L"Driver", RRF_RT_REG_SZ, NULL, out, &bytes) == ERROR_SUCCESS;
}

static bool is_installed(const WCHAR *driver)
{
    WCHAR file[NAME_UNITS];
    return read_driver(HKEY_LOCAL_MACHINE, DRIVERS, driver, file);
}

static const WCHAR *file_of(const WCHAR *path)
{
    const WCHAR *slash = wcsrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the installed driver whose file has the same name as the file in this path. */
static bool find_by_file(const WCHAR *path, WCHAR *driver)
{
    WCHAR name[NAME_UNITS], file[NAME_UNITS];
    bool found = false;
    HKEY drivers;
    if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, DRIVERS, 0, KEY_READ, &drivers) != ERROR_SUCCESS)
        return false;
    for (DWORD i = 0; !found && i < MOST_KEYS; i++) {
        DWORD units = NAME_UNITS;
        if (RegEnumKeyExW(drivers, i, name, &units, NULL, NULL, NULL, NULL) != ERROR_SUCCESS)
            break;
        found = read_driver(HKEY_LOCAL_MACHINE, DRIVERS, name, file) && wcscmp(file_of(file), file_of(path)) == 0;
    }
    RegCloseKey(drivers);
    if (found)
        wcscpy(driver, name);
    return found;
}

static bool is_listed(HKEY root, const WCHAR *source)
{
    WCHAR driver[NAME_UNITS];
    DWORD bytes = sizeof driver;
    return RegGetValueW(root, SOURCE_LIST, source, RRF_RT_REG_SZ, NULL, driver, &bytes) == ERROR_SUCCESS &&
           is_installed(driver);
}

static void source_list_complete(HKEY root)
{
    WCHAR source[NAME_UNITS], driver[NAME_UNITS];
    HKEY sources;
    if (RegOpenKeyExW(root, SOURCES, 0, KEY_READ, &sources) != ERROR_SUCCESS)
        return;
    for (DWORD i = 0; i < MOST_KEYS; i++) {
        DWORD units = NAME_UNITS;
        if (RegEnumKeyExW(sources, i, source, &units, NULL, NULL, NULL, NULL) != ERROR_SUCCESS)
            break;
        if (is_listed(root, source) || !read_driver(root, SOURCES, source, driver))
            continue;
        if (is_installed(driver) || find_by_file(driver, driver))
            RegSetKeyValueW(root, SOURCE_LIST, source, REG_SZ, driver, (DWORD)((wcslen(driver) + 1) * sizeof(WCHAR)));
    }
    RegCloseKey(sources);
}

/* Completes the list of data sources after Wine's odbc32 was loaded, because odbc32 does not list some of unixODBC's
   data sources with their driver (behaviour 23). Ignores errors of the registry, because connecting reports them. */
static void odbc_sources_complete(void)
{
    source_list_complete(HKEY_CURRENT_USER);
    source_list_complete(HKEY_LOCAL_MACHINE);
}

#define LIBRARY "odbc32.dll"

HRESULT odbc_library_load(struct odbc_api *out)
{
    HMODULE module = LoadLibraryExW(L"odbc32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!module)
        return win32_failed(GetLastError(), LIBRARY);
#define FILL_ENTRY(name, parameters)                                                                                   \
    {                                                                                                                  \
        FARPROC entry = GetProcAddress(module, #name);                                                                 \
        if (!entry)                                                                                                    \
            return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "the library '%s' has no function %s", LIBRARY, \
                             #name);                                                                                   \
        out->name = (SQLRETURN(SQL_API *) parameters)(void *)entry;                                                    \
    }
    ODBC_API_LIST(FILL_ENTRY)
#undef FILL_ENTRY
    if (os_is_wine())
        odbc_sources_complete();
    return S_OK;
}
