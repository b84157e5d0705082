/* SPDX-License-Identifier: MIT */
/* Folders and drives on Windows. */
#include "engine/base/drives.h"
#include "engine/base/file.h"
#include "engine/base/file_operation.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"

#include <stdlib.h>
#include <windows.h>
#include <string.h>

static HRESULT find(const char *path, DWORD *attributes)
{
    WCHAR *wide;
    HRESULT hr = win32_path(path, &wide);
    if (FAILED(hr))
        return hr;
    *attributes = GetFileAttributesW(wide);
    DWORD code = GetLastError();
    memory_free(wide);
    if (*attributes != INVALID_FILE_ATTRIBUTES)
        return S_OK;
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND ? S_FALSE : win32_failed(code, path);
}

HRESULT file_find(const char *path)
{
    DWORD attributes;
    return find(path, &attributes);
}

bool file_exists(const char *path)
{
    DWORD attributes;
    return find(path, &attributes) == S_OK && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

bool folder_exists(const char *path)
{
    DWORD attributes;
    return find(path, &attributes) == S_OK && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

static HRESULT create_one(const char *path)
{
    WCHAR *wide = NULL;
    HRESULT hr = file_operation(FILE_OPERATION_CREATE_FOLDER, path);
    if (SUCCEEDED(hr))
        hr = win32_path(path, &wide);
    if (SUCCEEDED(hr) && !CreateDirectoryW(wide, NULL))
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    return hr;
}

HRESULT folder_create(const char *path)
{
    size_t length = strlen(path);
    if (folder_exists(path))
        return S_OK;
    while (length && (path[length - 1] == '\\' || path[length - 1] == '/'))
        length--;
    char *parent = text_copy_n(path, length);
    if (parent) {
        char *up = path_folder(parent);
        memory_free(parent);
        parent = up;
    }
    if (!parent)
        return E_OUTOFMEMORY;
    HRESULT hr = *parent && strlen(parent) < length ? folder_create(parent) : S_OK;
    memory_free(parent);
    if (SUCCEEDED(hr))
        hr = create_one(path);
    if (FAILED(hr) && folder_exists(path))
        return S_OK; /* another was faster */
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) || file_exists(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\": a file is in the way", path);
    return hr;
}

HRESULT folder_delete(const char *path)
{
    WCHAR *wide = NULL;
    HRESULT hr = file_operation(FILE_OPERATION_DELETE_FOLDER, path);
    if (SUCCEEDED(hr))
        hr = win32_path(path, &wide);
    if (SUCCEEDED(hr) && !RemoveDirectoryW(wide))
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    return hr;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* path\* in UTF-16, long or not */
static HRESULT search_pattern(const char *path, WCHAR **out)
{
    char *pattern = path_join(*path ? path : ".", "*");
    HRESULT hr = E_OUTOFMEMORY;
    *out = NULL;
    if (pattern)
        hr = win32_path(pattern, out);
    memory_free(pattern);
    return hr;
}

static HRESULT walk(const char *path, HRESULT (*each)(void *user, const WIN32_FIND_DATAW *entry), void *user)
{
    WIN32_FIND_DATAW entry;
    WCHAR *pattern;
    HRESULT hr = search_pattern(path, &pattern);
    if (FAILED(hr))
        return hr;
    HANDLE search = FindFirstFileExW(pattern, FindExInfoBasic, &entry, FindExSearchNameMatch, NULL, 0);
    DWORD code = GetLastError();
    memory_free(pattern);
    if (search == INVALID_HANDLE_VALUE && code == ERROR_FILE_NOT_FOUND && folder_exists(path))
        code = ERROR_NO_MORE_FILES; /* the root of an empty disk */
    else if (search == INVALID_HANDLE_VALUE)
        return win32_failed(code == ERROR_FILE_NOT_FOUND ? ERROR_PATH_NOT_FOUND : code, path);
    if (search != INVALID_HANDLE_VALUE) {
        do
            hr = each(user, &entry);
        while (SUCCEEDED(hr) && FindNextFileW(search, &entry));
        code = GetLastError();
        FindClose(search);
    }
    return SUCCEEDED(hr) && code != ERROR_NO_MORE_FILES ? win32_failed(code, path) : hr;
}

struct names {
    bool folders;
    struct texts found;
};

static HRESULT add_entry(void *user, const WIN32_FIND_DATAW *entry)
{
    struct names *names = user;
    bool is_folder = (entry->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    char *name;
    if (is_folder != names->folders || !wcscmp(entry->cFileName, L".") || !wcscmp(entry->cFileName, L".."))
        return S_OK;
    HRESULT hr = text_from_utf16(entry->cFileName, wcslen(entry->cFileName), true, &name);
    if (SUCCEEDED(hr))
        hr = texts_add(&names->found, name);
    memory_free(name);
    return hr;
}

HRESULT folder_list(const char *path, bool folders, struct texts *names)
{
    struct names list = {.folders = folders};
    HRESULT hr = walk(path, add_entry, &list);
    if (FAILED(hr)) {
        texts_free(&list.found);
        return hr;
    }
    if (list.found.count)
        qsort(list.found.items, list.found.count, sizeof(char *), by_bytes);
    texts_free(names);
    *names = list.found;
    return S_OK;
}

struct each_file {
    HRESULT (*each)(void *user, const struct seen_file *file);
    void *user;
};

static HRESULT give_file(void *user, const WIN32_FIND_DATAW *entry)
{
    const struct each_file *f = user;
    char *name;
    if (entry->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        return S_OK;
    HRESULT hr = text_from_utf16(entry->cFileName, wcslen(entry->cFileName), true, &name);
    if (FAILED(hr))
        return hr;
    const FILETIME *written = &entry->ftLastWriteTime;
    uint64_t stamp = hash_number(hash_number(HASH_START, entry->nFileSizeLow), entry->nFileSizeHigh);
    stamp = hash_number(hash_number(stamp, written->dwLowDateTime), written->dwHighDateTime);
    hr = f->each(
        f->user,
        &(struct seen_file){name, stamp, (int64_t)((uint64_t)written->dwHighDateTime << 32 | written->dwLowDateTime)});
    memory_free(name);
    return hr;
}

HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct seen_file *file), void *user)
{
    return walk(path, give_file, &(struct each_file){each, user});
}

HRESULT folder_free_bytes(const char *path, uint64_t *bytes)
{
    ULARGE_INTEGER available;
    WCHAR *wide;
    HRESULT hr = win32_path(path, &wide);
    if (SUCCEEDED(hr) && !GetDiskFreeSpaceExW(wide, &available, NULL, NULL))
        hr = win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr))
        *bytes = available.QuadPart;
    memory_free(wide);
    return hr;
}

static void root_of(char letter, WCHAR root[4])
{
    root[0] = (WCHAR)letter;
    root[1] = ':';
    root[2] = '\\';
    root[3] = 0;
}

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    DWORD letters = GetLogicalDrives();
    size_t count = 0;
    for (unsigned i = 0; i < DRIVES_MOST; i++) {
        WCHAR root[4];
        UINT type;
        if (!(letters >> i & 1))
            continue;
        root_of((char)('A' + i), root);
        type = GetDriveTypeW(root);
        if (type == DRIVE_FIXED || type == DRIVE_REMOVABLE)
            drives[count++] = (struct drive){{(char)('A' + i), ':', 0}};
    }
    return count;
}

HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free)
{
    ULARGE_INTEGER available, total;
    WCHAR root[4];
    root_of(drive->name[0], root);
    if (!GetDiskFreeSpaceExW(root, &available, &total, NULL))
        return win32_failed(GetLastError(), drive->name);
    *size = total.QuadPart;
    *free = available.QuadPart;
    return S_OK;
}
