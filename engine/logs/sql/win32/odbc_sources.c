/* SPDX-License-Identifier: MIT */
/* Wine's odbc32 copies unixODBC's drivers and data sources into the registry. That of Wine 10 finds a source by the
   list of sources, which tells each one's driver, and lists those alone whose Driver is, letter by letter, the file of
   a driver; in odbc.ini it is mostly a driver's name, or a whole path. */
#include "engine/logs/sql/win32/odbc_sources.h"

#include <stdbool.h>
#include <windows.h>
#include <wchar.h>

#define SOURCES     L"Software\\ODBC\\ODBC.INI"
#define SOURCE_LIST SOURCES L"\\ODBC Data Sources"
#define DRIVERS     L"Software\\ODBC\\ODBCINST.INI"
#define NAME_UNITS  256  /* of a key, with the NUL */
#define MOST_KEYS   4096 /* of a prefix: a loop that ends whatever others write meanwhile */

/* The text of a value "Driver"; false if there is none or it is longer than a name. */
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

/* The installed driver that has the file of this path. */
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

static void complete(HKEY root)
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

void odbc_sources_complete(void)
{
    complete(HKEY_CURRENT_USER);
    complete(HKEY_LOCAL_MACHINE);
}
