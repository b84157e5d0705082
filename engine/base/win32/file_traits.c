/* SPDX-License-Identifier: MIT */
/* Times, attributes and identity of files on Windows. Wine shows a host's link as what it leads to. */
#include "engine/base/file_traits.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/win32/open_file.h"
#include "engine/base/win32/win32_call.h"

/* Attributes that a copy can be given; others say how the original is stored. */
#define KEPT_ATTRIBUTES (FILE_TRAIT_READ_ONLY | FILE_TRAIT_HIDDEN | FILE_TRAIT_SYSTEM | FILE_TRAIT_ARCHIVE)

static HRESULT check_kind(HANDLE handle, const char *path)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &info))
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "\"%s\": is no file but a device or a pipe", path);
    return S_OK;
}

HRESULT file_open_source(const char *path, struct file **out)
{
    HANDLE handle = INVALID_HANDLE_VALUE;
    struct file *f = file_reserve(path);
    *out = NULL;
    HRESULT hr =
        f ? file_create_handle(path, FILE_READ, OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, PROTECTION_NONE, &handle)
          : E_OUTOFMEMORY;
    if (FAILED(hr) && f && folder_exists(path))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "\"%s\": is a folder", path);
    if (SUCCEEDED(hr))
        hr = check_kind(handle, path);
    if (SUCCEEDED(hr)) {
        *out = file_take(f, handle);
        return S_OK;
    }
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    memory_free(f);
    return hr;
}

static int64_t time_of(FILETIME t)
{
    return (int64_t)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime);
}

HRESULT file_traits_of(struct file *f, struct file_traits *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (!GetFileInformationByHandle(file_handle(f), &info))
        return win32_failed(GetLastError(), file_path(f));
    *out = (struct file_traits){.size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                                .created = time_of(info.ftCreationTime),
                                .accessed = time_of(info.ftLastAccessTime),
                                .written = time_of(info.ftLastWriteTime),
                                .attributes = info.dwFileAttributes};
    return S_OK;
}

HRESULT file_put_traits(struct file *f, const struct file_traits *traits)
{
    /* 0 leaves what is there. */
    FILE_BASIC_INFO info = {.FileAttributes = traits->attributes & KEPT_ATTRIBUTES};
    info.CreationTime.QuadPart = traits->created;
    info.LastAccessTime.QuadPart = traits->accessed;
    info.LastWriteTime.QuadPart = traits->written;
    return SetFileInformationByHandle(file_handle(f), FileBasicInfo, &info, sizeof info)
               ? S_OK
               : win32_failed(GetLastError(), file_path(f));
}

HRESULT folder_identify(const char *path, struct folder_identity *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    WCHAR *wide;
    HRESULT hr = win32_path(*path ? path : ".", &wide);
    if (FAILED(hr))
        return hr;
    HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    DWORD code = GetLastError();
    memory_free(wide);
    if (handle == INVALID_HANDLE_VALUE)
        return win32_failed(code, path);
    BOOL told = GetFileInformationByHandle(handle, &info);
    code = GetLastError();
    WCHAR *real = NULL;
    hr = told ? file_final_path(handle, path, &real) : win32_failed(code, path);
    CloseHandle(handle);
    if (SUCCEEDED(hr) && !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "\"%s\": is no folder", path);
    /* Wine numbers the folders of all volumes of its host as if these were one. */
    if (SUCCEEDED(hr))
        *out = (struct folder_identity){.volume = info.dwVolumeSerialNumber,
                                        .number = hash_bytes(HASH_START, real, wcslen(real) * sizeof *real)};
    memory_free(real);
    return hr;
}
