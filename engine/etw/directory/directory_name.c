/* SPDX-License-Identifier: MIT */
/* Which directory this process is of. */
#include "engine/etw/directory_name.h"

#include "engine/base/environment.h"
#include "engine/base/memory.h"

#include <string.h>

HRESULT directory_name(char out[DIRECTORY_NAME_BYTES])
{
    char *given = NULL;
    HRESULT hr = environment_get("OPENPLA_ETW", &given);
    if (FAILED(hr))
        return hr;
    const char *name = given ? given : DIRECTORY_OF_HOST;
    const size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    if (name[length] || length >= DIRECTORY_NAME_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                       "OPENPLA_ETW: '%.80s' is no name of at most 32 letters and digits", name);
    else
        memcpy(out, name, length + 1);
    memory_free(given);
    return SUCCEEDED(hr) ? S_OK : hr;
}
