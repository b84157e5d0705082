/* SPDX-License-Identifier: MIT */
/* The Linux host's own paths, as Wine's programs write them. */
#ifndef OPENPLA_UNIX_PATH_H
#define OPENPLA_UNIX_PATH_H

#include "engine/base/win32/win32_call.h"

/* \\?\unix\... of a path in Unix form; from memory_alloc. ERROR_FILE_NOT_FOUND's HRESULT on real Windows. */
HRESULT unix_path(const char *path, WCHAR **out);
/* Opens it shared with all. `flags` of CreateFileW. */
HRESULT unix_open(const char *path, DWORD access, DWORD flags, HANDLE *out);

#endif
