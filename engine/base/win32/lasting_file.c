/* SPDX-License-Identifier: MIT */
/* Sections in files, under Wine: views of one file, however opened, are one memory. Opening a file by its name follows
   links there and makes what they name, so no file lies where another account could put a link (lasting_folder.h). */
#include "engine/base/win32/lasting_file.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/win32/lasting_folder.h"
#include "engine/base/win32/security.h"
#include "engine/base/win32/win32_call.h"

#include <wchar.h>

#define FILL_BYTES (256u << 10)
/* To read, to write and to delete for the owner alone: Wine makes the mode 0600 of it, and the owner who makes the
   file, but it takes the owner's rights for the Unix group as well if the owner it reads here is one of the token. */
#define OWN_RIGHTS "O:SYD:P(A;;0x13019f;;;SY)"

static HRESULT file_name(const char *name, WCHAR out[LASTING_PATH_UNITS])
{
    WCHAR folder[LASTING_PATH_UNITS], *wide;
    HRESULT hr = lasting_folder(folder);
    if (SUCCEEDED(hr))
        hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    const int n = _snwprintf(out, LASTING_PATH_UNITS, L"%ls\\%ls", folder, wide);
    memory_free(wide);
    return n > 0 && n < LASTING_PATH_UNITS ? S_OK : win32_failed(ERROR_FILENAME_EXCED_RANGE, name);
}

/* The bytes are written, so that they are there: what a full disk cannot give would end the process at its use. */
static HRESULT fill(HANDLE file, uint64_t size, bool create, const char *name)
{
    LARGE_INTEGER at, zero = {.QuadPart = 0};
    DWORD done = FILL_BYTES;
    if (!GetFileSizeEx(file, &at))
        return win32_failed(GetLastError(), name);
    if ((uint64_t)at.QuadPart >= size)
        return S_OK;
    if (!create)
        return error_set(E_INVALIDARG, "\"%s\": has %lld bytes, not %llu", name, (long long)at.QuadPart,
                         (unsigned long long)size);
    void *zeroes = memory_zero(1, FILL_BYTES);
    HRESULT hr = zeroes ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !SetFilePointerEx(file, zero, NULL, FILE_END))
        hr = win32_failed(GetLastError(), name);
    for (uint64_t left = size - (uint64_t)at.QuadPart; SUCCEEDED(hr) && left; left -= done) {
        const DWORD piece = left < FILL_BYTES ? (DWORD)left : FILL_BYTES;
        if (!WriteFile(file, zeroes, piece, &done, NULL))
            hr = win32_failed(GetLastError(), name);
        else if (!done)
            hr = win32_failed(ERROR_DISK_FULL, name);
    }
    memory_free(zeroes);
    return hr;
}

static HRESULT open_file(const struct shared *what, const WCHAR *path, HANDLE *out)
{
    SECURITY_ATTRIBUTES attributes;
    HRESULT hr = win32_security(OWN_RIGHTS, &attributes);
    if (FAILED(hr))
        return hr;
    const DWORD how = what->fresh ? CREATE_NEW : what->create ? OPEN_ALWAYS : OPEN_EXISTING;
    *out = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | READ_CONTROL | (what->fresh ? DELETE : 0),
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &attributes, how, 0, NULL);
    const DWORD code = GetLastError();
    LocalFree(attributes.lpSecurityDescriptor);
    if (*out != INVALID_HANDLE_VALUE)
        return S_OK;
    if (what->fresh && code == ERROR_FILE_EXISTS)
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\" is another's", what->name);
    return win32_failed(code, what->name);
}

/* The number of its node on the host, which a file that is mapped keeps when it is deleted. */
static HRESULT number_of(HANDLE file, const char *name, uint64_t *out)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (!GetFileInformationByHandle(file, &about))
        return win32_failed(GetLastError(), name);
    *out = (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow;
    return S_OK;
}

HRESULT lasting_number(const char *name, uint64_t *file)
{
    WCHAR path[LASTING_PATH_UNITS];
    HRESULT hr = file_name(name, path);
    if (FAILED(hr))
        return hr;
    const HANDLE there = CreateFileW(path, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                     NULL, OPEN_EXISTING, 0, NULL);
    if (there == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND ? S_FALSE : win32_failed(GetLastError(), name);
    hr = number_of(there, name, file);
    CloseHandle(there);
    return hr;
}

HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, HANDLE *of, uint64_t *number)
{
    WCHAR path[LASTING_PATH_UNITS];
    HANDLE file = INVALID_HANDLE_VALUE;
    HRESULT hr = file_name(what->name, path);
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = open_file(what, path, &file);
    if (SUCCEEDED(hr)) {
        hr = lasting_check_own(file, what->name);
        if (SUCCEEDED(hr))
            hr = fill(file, size, what->create, what->name);
        if (SUCCEEDED(hr))
            hr = number_of(file, what->name, number);
        if (SUCCEEDED(hr)) {
            *out = CreateFileMappingW(file, NULL, PAGE_READWRITE, (DWORD)(size >> 32), (DWORD)size, NULL);
            if (!*out)
                hr = win32_failed(GetLastError(), what->name);
        }
        if (SUCCEEDED(hr))
            *of = file;
        else
            CloseHandle(file);
        if (FAILED(hr) && what->fresh)
            DeleteFileW(path);
    }
    return hr;
}

HRESULT section_delete(const char *name)
{
    WCHAR path[LASTING_PATH_UNITS];
    if (!host_is_wine())
        return S_FALSE;
    HRESULT hr = file_name(name, path);
    if (FAILED(hr) || DeleteFileW(path))
        return hr;
    return GetLastError() == ERROR_FILE_NOT_FOUND ? S_FALSE : win32_failed(GetLastError(), name);
}
