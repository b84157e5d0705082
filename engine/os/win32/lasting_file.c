/* SPDX-License-Identifier: MIT */
/* Sections in files, under Wine: views of one file, however opened, are one memory. */
#include "engine/os/win32/lasting_file.h"

#include "engine/os/hash.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/win32/security.h"
#include "engine/os/win32/win32_call.h"

#include <stdatomic.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>

#define FOLDER     L"\\\\?\\unix\\dev\\shm"
#define PATH_UNITS 512
#define FILL_BYTES (256u << 10)
/* To read, to write and to delete for the owner alone: Wine makes the mode 0600 of it, and the owner who makes the
   file, but it takes the owner's rights for the Unix group as well if the owner it reads here is one of the token. */
#define OWN_RIGHTS "O:SYD:P(A;;0x13019f;;;SY)"

/* Wine refuses a prefix that is another account's, so where its files lie on the host tells both apart. Asked for once
   (host_is_wine says why). */
static uint64_t prefix_hash(const WCHAR *windows)
{
    static _Atomic uint64_t known;
    const uint64_t before = atomic_load(&known);
    if (before != 0)
        return before;
    FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
    char *(CDECL * unix_name)(const WCHAR *path);
    memcpy(&unix_name, &found, sizeof unix_name);
    char *name = found ? unix_name(windows) : NULL;
    const uint64_t hash = name ? hash_text(HASH_START, name) : 0;
    HeapFree(GetProcessHeap(), 0, name);
    atomic_store(&known, hash);
    return hash;
}

static HRESULT file_name(const char *name, WCHAR out[PATH_UNITS])
{
    WCHAR windows[MAX_PATH], *wide;
    const UINT length = GetWindowsDirectoryW(windows, MAX_PATH);
    HRESULT hr = length && length < MAX_PATH ? text_to_utf16(name, &wide, NULL) : win32_failed(GetLastError(), name);
    if (FAILED(hr))
        return hr;
    const uint64_t hash = prefix_hash(windows);
    const DWORD there = GetFileAttributesW(FOLDER);
    const bool in_memory = there != INVALID_FILE_ATTRIBUTES && (there & FILE_ATTRIBUTE_DIRECTORY);
    const int n = _snwprintf(out, PATH_UNITS, L"%ls%ls\\%ls-%08x%08x", in_memory ? FOLDER : windows,
                             in_memory ? L"" : L"\\temp", wide, (unsigned)(hash >> 32), (unsigned)hash);
    memory_free(wide);
    return n > 0 && n < PATH_UNITS ? S_OK : win32_failed(ERROR_FILENAME_EXCED_RANGE, name);
}

/* What another account has planted there is not used: Wine tells files of other accounts by another owner. */
static HRESULT check_own(HANDLE file, const char *own, const char *name)
{
    BYTE room[SECURITY_DESCRIPTOR_MIN_LENGTH + 1024];
    SECURITY_DESCRIPTOR *descriptor = (void *)room;
    DWORD size;
    PSID owner = NULL;
    BOOL defaulted;
    WCHAR *text = NULL;
    char *sid = NULL;
    HRESULT hr = S_OK;
    if (!GetKernelObjectSecurity(file, OWNER_SECURITY_INFORMATION, descriptor, sizeof room, &size) ||
        !GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) || !owner || !ConvertSidToStringSidW(owner, &text))
        return win32_failed(GetLastError(), name);
    hr = text_from_utf16(text, wcslen(text), true, &sid);
    if (SUCCEEDED(hr) && strcmp(sid, own) != 0)
        hr = error_set(E_ACCESSDENIED, "\"%s\": belongs to the account %s, not to %s", name, sid, own);
    LocalFree(text);
    memory_free(sid);
    return hr;
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
    WCHAR path[PATH_UNITS];
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

HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, uint64_t *number)
{
    WCHAR path[PATH_UNITS];
    HANDLE file = INVALID_HANDLE_VALUE;
    char *own = process_own_sid();
    HRESULT hr = own ? file_name(what->name, path) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = open_file(what, path, &file);
    if (SUCCEEDED(hr)) {
        hr = check_own(file, own, what->name);
        if (SUCCEEDED(hr))
            hr = fill(file, size, what->create, what->name);
        if (SUCCEEDED(hr))
            hr = number_of(file, what->name, number);
        if (SUCCEEDED(hr)) {
            *out = CreateFileMappingW(file, NULL, PAGE_READWRITE, (DWORD)(size >> 32), (DWORD)size, NULL);
            if (!*out)
                hr = win32_failed(GetLastError(), what->name);
        }
        CloseHandle(file);
        if (FAILED(hr) && what->fresh)
            DeleteFileW(path);
    }
    memory_free(own);
    return hr;
}

HRESULT section_delete(const char *name)
{
    WCHAR path[PATH_UNITS];
    if (!host_is_wine())
        return S_FALSE;
    HRESULT hr = file_name(name, path);
    if (FAILED(hr) || DeleteFileW(path))
        return hr;
    return GetLastError() == ERROR_FILE_NOT_FOUND ? S_FALSE : win32_failed(GetLastError(), name);
}
