/* SPDX-License-Identifier: MIT */
/* unixODBC's driver manager. */
#include "engine/logs/odbc_library.h"

#include "engine/base/error.h"

#include <dlfcn.h>

#define LIBRARY "libodbc.so.2"

HRESULT odbc_library_load(struct odbc_api *out)
{
    void *module = dlopen(LIBRARY, RTLD_NOW);
    if (!module)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND), "unixODBC: %s", dlerror());
#define FILL_ENTRY(name, parameters)                                                                                   \
    out->name = (SQLRETURN(SQL_API *) parameters)dlsym(module, #name);                                                 \
    if (!out->name)                                                                                                    \
        return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "the library '%s' has no function %s", LIBRARY,     \
                         #name);
    ODBC_API_LIST(FILL_ENTRY)
#undef FILL_ENTRY
    return S_OK;
}
