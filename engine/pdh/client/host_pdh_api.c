/* SPDX-License-Identifier: MIT */
/* Chooses the PDH of this host OS: the system's on Windows, openpdh.dll under Wine (Wine's pdh.dll is empty), and in
   native builds the core that is linked into this program. */
#include "engine/pdh/counter_query.h"

#ifdef _WIN32
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"
#include "engine/logs/pdh_types.h"

#include <windows.h>

/* Chosen once per process. The module stays loaded. */
static struct lock lock = LOCK_INIT;
static struct pdh_api chosen;
static bool ready;

static HRESULT load_module(const char *path, HMODULE *module)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    *module = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!*module)
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    return hr;
}

/* Returns the path of the module. The module is in the folder of this program or in the system folder, never in the
   current folder or in a folder of PATH. */
static char *module_path(void)
{
    WCHAR system[MAX_PATH];
    char *folder, *path;
    if (os_is_wine()) {
        folder = os_module_folder();
        path = folder ? path_join(folder, "openpdh.dll") : NULL;
    } else {
        UINT n = GetSystemDirectoryW(system, MAX_PATH);
        path = n && n < MAX_PATH && SUCCEEDED(text_from_utf16(system, n, true, &folder)) ? path_join(folder, "pdh.dll")
                                                                                         : NULL;
        if (!n || n >= MAX_PATH)
            folder = NULL;
    }
    memory_free(folder);
    return path;
}

static HRESULT fill_api_table(struct pdh_api *api)
{
    char *path = module_path();
    HMODULE module;
    HRESULT hr = path ? load_module(path, &module) : E_OUTOFMEMORY;
#define FILL_ENTRY(name, parameters)                                                                                   \
    if (SUCCEEDED(hr)) {                                                                                               \
        FARPROC entry = GetProcAddress(module, #name);                                                                 \
        if (!entry)                                                                                                    \
            hr = error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "'%s' does not export the function %s", path,     \
                           #name);                                                                                     \
        api->name = (PDH_STATUS(WINAPI *) parameters)(void *)entry;                                                    \
    }
    PDH_API_LIST(FILL_ENTRY)
#undef FILL_ENTRY
    memory_free(path);
    return hr;
}

HRESULT host_pdh(const struct pdh_api **out)
{
    struct pdh_api api = {0};
    HRESULT hr = S_OK;
    *out = NULL;
    lock_enter(&lock);
    if (!ready) {
        hr = fill_api_table(&api);
        if (SUCCEEDED(hr)) {
            chosen = api;
            ready = true;
        }
    }
    lock_leave(&lock);
    if (SUCCEEDED(hr))
        *out = &chosen;
    return hr;
}

#else
#include "engine/base/error.h"

HRESULT host_pdh(const struct pdh_api **out)
{
    *out = &openpdh_api;
    if (!*out)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND), "cannot find openpdh: not linked into this program");
    return S_OK;
}

#endif
