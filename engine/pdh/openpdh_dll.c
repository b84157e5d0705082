/* SPDX-License-Identifier: MIT */
/* What only openpdh.dll has: the ANSI variants in use, and the answer of the functions that are not implemented. */
#include "engine/pdh/pdh.h"
#include "engine/os/memory.h"

/* Target of the .def file's aliases. The x64 convention lets one function stand for any list of parameters. */
PDH_STATUS WINAPI pdh_not_implemented(void);
PDH_STATUS WINAPI pdh_not_implemented(void)
{
    return PDH_NOT_IMPLEMENTED;
}

/* NULL stays NULL. */
static PDH_STATUS widen(LPCSTR text, WCHAR **out)
{
    *out = NULL;
    if (!text) {
        return ERROR_SUCCESS;
    }
    int units = MultiByteToWideChar(CP_ACP, 0, text, -1, NULL, 0);
    if (units <= 0) {
        return PDH_INVALID_ARGUMENT;
    }
    *out = memory_alloc((size_t)units * sizeof **out);
    if (!*out) {
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    MultiByteToWideChar(CP_ACP, 0, text, -1, *out, units);
    return ERROR_SUCCESS;
}

PDH_STATUS WINAPI PdhOpenQueryA(LPCSTR data_source, DWORD_PTR user_data, PDH_HQUERY *query)
{
    WCHAR *wide;
    PDH_STATUS status = widen(data_source, &wide);
    if (status == ERROR_SUCCESS) {
        status = PdhOpenQueryW(wide, user_data, query);
    }
    memory_free(wide);
    return status;
}

PDH_STATUS WINAPI PdhAddEnglishCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter)
{
    WCHAR *wide;
    PDH_STATUS status = widen(path, &wide);
    if (status == ERROR_SUCCESS) {
        status = PdhAddEnglishCounterW(query, wide, user_data, counter);
    }
    memory_free(wide);
    return status;
}

PDH_STATUS WINAPI PdhAddCounterA(PDH_HQUERY query, LPCSTR path, DWORD_PTR user_data, PDH_HCOUNTER *counter)
{
    return PdhAddEnglishCounterA(query, path, user_data, counter);
}
