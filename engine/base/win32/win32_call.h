/* SPDX-License-Identifier: MIT */
/* What the Windows files of this layer share: system codes as results, UTF-8 paths as the system wants them. */
#ifndef OPENPLA_WIN32_CALL_H
#define OPENPLA_WIN32_CALL_H

#include "engine/base/text.h"

#include <windows.h>

/* HRESULT_FROM_WIN32(code) with an error text that names `what`. */
HRESULT win32_report(DWORD code, const char *what);
/* For a call that has failed: never a success, whatever the system's code says. */
static inline HRESULT win32_failed(DWORD code, const char *what)
{
    HRESULT hr = win32_report(code, what);
    return FAILED(hr) ? hr : E_FAIL;
}
/* The path in UTF-16, made absolute and given the prefix \\?\ where the classic limit of 260 would be passed. From
   memory_alloc. */
HRESULT win32_path(const char *path, WCHAR **out);

#endif
