/* SPDX-License-Identifier: MIT */
/* Finds extension DLLs in the registry and starts their host processes. Native builds have no extension DLLs. */
#include "engine/pdh/extension/extension_host.h"

#ifdef _WIN32
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <windows.h>

#define SERVICES u"SYSTEM\\CurrentControlSet\\Services"
#define NAMES    u"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009"

static bool has_value(HKEY key, const WCHAR *name)
{
    return RegQueryValueExW(key, name, NULL, NULL, NULL, NULL) == ERROR_SUCCESS;
}

/* Returns true if the registration is complete and not disabled. */
static bool is_extension(HKEY services, const WCHAR *service)
{
    HKEY key;
    WCHAR path[300];
    DWORD disabled = 0, size = sizeof disabled;
    if (lstrlenW(service) > 255)
        return false;
    lstrcpyW(path, service);
    lstrcatW(path, u"\\Performance");
    if (RegOpenKeyExW(services, path, 0, KEY_READ, &key) != ERROR_SUCCESS)
        return false;
    RegQueryValueExW(key, u"Disable Performance Counters", NULL, NULL, (BYTE *)&disabled, &size);
    bool whole =
        has_value(key, u"Library") && has_value(key, u"Open") && has_value(key, u"Collect") && has_value(key, u"Close");
    RegCloseKey(key);
    return whole && !disabled;
}

static HRESULT add_wide(struct texts *out, const WCHAR *text)
{
    char *copy;
    HRESULT hr = text_from_utf16(text, (size_t)lstrlenW(text), true, &copy);
    if (SUCCEEDED(hr)) {
        hr = texts_add(out, copy);
        memory_free(copy);
    }
    return hr;
}

HRESULT extension_services(struct texts *out)
{
    HKEY services;
    WCHAR name[256];
    HRESULT hr = S_OK;
    if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, SERVICES, 0, KEY_READ, &services) != ERROR_SUCCESS)
        return S_OK;
    for (DWORD i = 0; SUCCEEDED(hr); i++) {
        DWORD units = sizeof name / sizeof *name;
        LSTATUS status = RegEnumKeyExW(services, i, name, &units, NULL, NULL, NULL, NULL);
        if (status == ERROR_NO_MORE_ITEMS)
            break;
        if (status == ERROR_SUCCESS && is_extension(services, name))
            hr = add_wide(out, name);
    }
    RegCloseKey(services);
    return hr;
}

/* Adds the strings of a REG_MULTI_SZ value, if it exists. */
static HRESULT add_list(HKEY root, const WCHAR *path, const WCHAR *name, struct texts *out)
{
    HKEY key;
    DWORD bytes = 0;
    HRESULT hr = S_OK;
    if (RegOpenKeyExW(root, path, 0, KEY_READ, &key) != ERROR_SUCCESS)
        return S_OK;
    if (RegQueryValueExW(key, name, NULL, NULL, NULL, &bytes) == ERROR_SUCCESS && bytes < 64u << 20) {
        WCHAR *list = memory_zero(bytes + 2 * sizeof *list, 1);
        DWORD got = bytes;
        hr = list ? S_OK : E_OUTOFMEMORY;
        if (list && RegQueryValueExW(key, name, NULL, NULL, (BYTE *)list, &got) == ERROR_SUCCESS)
            for (const WCHAR *p = list; *p && SUCCEEDED(hr); p += lstrlenW(p) + 1)
                hr = add_wide(out, p);
        memory_free(list);
    }
    RegCloseKey(key);
    return hr;
}

/* Lists the system's table first, then the tables of the services. */
HRESULT extension_names(const struct texts *services, struct texts *out)
{
    HRESULT hr = add_list(HKEY_LOCAL_MACHINE, NAMES, u"Counter", out);
    if (SUCCEEDED(hr))
        hr = add_list(HKEY_LOCAL_MACHINE, NAMES, u"Help", out);
    for (size_t i = 0; i < services->count && SUCCEEDED(hr); i++) {
        WCHAR *service, path[400];
        hr = text_to_utf16(services->items[i], &service, NULL);
        if (SUCCEEDED(hr)) {
            lstrcpyW(path, SERVICES u"\\");
            lstrcatW(path, service);
            lstrcatW(path, u"\\Performance");
            hr = add_list(HKEY_LOCAL_MACHINE, path, u"Counter 009", out);
            if (SUCCEEDED(hr))
                hr = add_list(HKEY_LOCAL_MACHINE, path, u"Help 009", out);
            memory_free(service);
        }
    }
    return hr;
}

/* Uses rundll32, which every Windows version has, to call this DLL, whatever its file name is. */
HRESULT extension_start(const char *channel, const char *service, struct process **out)
{
    WCHAR wide[MAX_PATH], system[MAX_PATH];
    HMODULE self;
    char *module = NULL, *folder = NULL;
    *out = NULL;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const WCHAR *)(const void *)extension_start, &self) ||
        !GetModuleFileNameW(self, wide, MAX_PATH) || !GetProcAddress(self, "PdhExtensionHostW") ||
        !GetSystemDirectoryW(system, MAX_PATH)) {
        return error_set(
            HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            "cannot load the extension DLL of the service '%s': only programs that use openpdh.dll can load it",
            service);
    }
    /* rundll32 does not accept quotes around "DLL,entry". */
    WCHAR plain[MAX_PATH];
    const WCHAR *path = wcschr(wide, ' ') && GetShortPathNameW(wide, plain, MAX_PATH) ? plain : wide;
    HRESULT hr = text_from_utf16(path, (size_t)lstrlenW(path), true, &module);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(system, (size_t)lstrlenW(system), true, &folder);
    char *program = folder ? path_join(folder, "rundll32.exe") : NULL;
    char *entry = module ? text_format("%s,PdhExtensionHost", module) : NULL;
    if (SUCCEEDED(hr)) {
        const char *arguments[] = {entry, channel, service};
        hr = program && entry
                 ? process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 3}, out)
                 : E_OUTOFMEMORY;
    }
    memory_free(module);
    memory_free(folder);
    memory_free(program);
    memory_free(entry);
    return hr;
}

#else

HRESULT extension_services(struct texts *out)
{
    (void)out;
    return S_OK;
}

HRESULT extension_names(const struct texts *services, struct texts *out)
{
    (void)services;
    (void)out;
    return S_OK;
}

HRESULT extension_start(const char *channel, const char *service, struct process **out)
{
    *out = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "cannot load the extension DLL of the service '%s' (channel '%s'): extension DLLs need Wine",
                     service, channel);
}

#endif
