/* SPDX-License-Identifier: MIT */
/* Loads unixODBC's driver manager. A static program cannot load a library that was built for another C library. */
#include "engine/logs/odbc_library.h"

#include "engine/base/error.h"

#ifdef OPENPLA_STATIC

HRESULT odbc_library_load(struct odbc_api *out)
{
    (void)out;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program is linked statically and cannot load unixODBC (use the package openpla-tools)");
}

#else

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

#endif
