/* SPDX-License-Identifier: MIT */
/* odbc32.dll of the system folder; Wine's passes every call on to the host's unixODBC. */
#include "engine/logs/odbc_library.h"

#include "engine/base/host.h"
#include "engine/base/win32/win32_call.h"
#include "engine/logs/sql/win32/odbc_sources.h"

#include <windows.h>

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
            return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "\"%s\": has no function %s", LIBRARY, #name);  \
        out->name = (SQLRETURN(SQL_API *) parameters)(void *)entry;                                                    \
    }
    ODBC_API_LIST(FILL_ENTRY)
#undef FILL_ENTRY
    if (host_is_wine())
        odbc_sources_complete();
    return S_OK;
}
