/* SPDX-License-Identifier: MIT */
/* Folders that are open, on Windows: held so that nobody can rename them, and asked for their final path. What is to be
   deleted is opened and asked too, since Wine follows the host's links whatever it is told. */
#include "engine/base/held_folder.h"

#include "engine/base/file_operation.h"
#include "engine/base/memory.h"
#include "engine/base/win32/open_file.h"
#include "engine/base/win32/win32_call.h"

#include <string.h>
#include <wchar.h>

struct held_folder {
    HANDLE handle;
    WCHAR *real;                /* its final path */
    struct held_folder *parent; /* owned: that it was opened by; NULL: the caller holds it */
    char path[];
};

static HRESULT is_a_link(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": is a link or a device", path);
}

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* Whether what is open lies in the folder under this name. */
static HRESULT check_in(const struct held_folder *f, const char *name, HANDLE handle, const char *path)
{
    WCHAR *real = NULL, *wide = NULL;
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    if (SUCCEEDED(hr))
        hr = file_final_path(handle, path, &real);
    if (SUCCEEDED(hr)) {
        size_t n = wcslen(f->real);
        while (n && f->real[n - 1] == L'\\')
            n--;
        if (wcsncmp(real, f->real, n) != 0 || real[n] != L'\\' ||
            CompareStringOrdinal(real + n + 1, -1, wide, -1, TRUE) != CSTR_EQUAL)
            hr = is_a_link(path);
    }
    memory_free(real);
    memory_free(wide);
    return hr;
}

static HRESULT open_handle(const char *path, DWORD access, DWORD share, DWORD flags, HANDLE *out)
{
    WCHAR *wide;
    HRESULT hr = win32_path(path, &wide);
    if (FAILED(hr))
        return hr;
    *out = CreateFileW(wide, access, share, NULL, OPEN_EXISTING, flags, NULL);
    DWORD code = GetLastError();
    memory_free(wide);
    return *out == INVALID_HANDLE_VALUE ? win32_failed(code, path) : S_OK;
}

static HRESULT attributes_of(HANDLE handle, const char *path, DWORD *attributes)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (!GetFileInformationByHandle(handle, &info))
        return win32_failed(GetLastError(), path);
    *attributes = info.dwFileAttributes;
    return S_OK;
}

/* Takes over `path`. `in` NULL: links are followed. */
static HRESULT take(const struct held_folder *in, const char *name, char *path, struct held_folder **out)
{
    DWORD attributes = 0;
    *out = NULL;
    if (!path)
        return E_OUTOFMEMORY;
    struct held_folder *f = memory_zero(1, sizeof *f + strlen(path) + 1);
    HRESULT hr = f ? S_OK : E_OUTOFMEMORY;
    if (f) {
        memcpy(f->path, path, strlen(path) + 1);
        f->handle = INVALID_HANDLE_VALUE;
    }
    if (SUCCEEDED(hr))
        hr = open_handle(path, FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE,
                         FILE_FLAG_BACKUP_SEMANTICS | (in ? FILE_FLAG_OPEN_REPARSE_POINT : 0), &f->handle);
    if (SUCCEEDED(hr))
        hr = attributes_of(f->handle, path, &attributes);
    if (SUCCEEDED(hr) && !(attributes & FILE_ATTRIBUTE_DIRECTORY))
        hr = win32_failed(ERROR_DIRECTORY, path);
    if (SUCCEEDED(hr) && in && (attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        hr = is_a_link(path);
    if (SUCCEEDED(hr) && in)
        hr = check_in(in, name, f->handle, path);
    if (SUCCEEDED(hr))
        hr = file_final_path(f->handle, path, &f->real);
    if (SUCCEEDED(hr))
        *out = f;
    else
        held_folder_close(f);
    memory_free(path);
    return hr;
}

HRESULT held_folder_enter(struct held_folder *f, const char *name, struct held_folder **out)
{
    *out = NULL;
    if (!*name || strpbrk(name, "\\/:") || !strcmp(name, ".") || !strcmp(name, ".."))
        return error_set(E_INVALIDARG, "\"%s\" is no name of a folder in \"%s\"", name, f->path);
    return take(f, name, path_join(f->path, name), out);
}

HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out)
{
    const char *fault = *names ? path_names_fault(names) : NULL;
    struct held_folder *f = NULL;
    *out = NULL;
    if (fault)
        return error_set(E_INVALIDARG, "\"%s\" is no place below \"%s\": %s", names, base, fault);
    HRESULT hr = take(NULL, "", path_with_separator(base), &f);
    while (SUCCEEDED(hr) && *names) {
        size_t length = strcspn(names, "\\/");
        char *name = text_copy_n(names, length);
        struct held_folder *next = NULL;
        hr = name ? held_folder_enter(f, name, &next) : E_OUTOFMEMORY;
        memory_free(name);
        if (SUCCEEDED(hr)) {
            next->parent = f;
            f = next;
        }
        for (names += length; is_separator(*names);)
            names++;
    }
    if (SUCCEEDED(hr))
        *out = f;
    else
        held_folder_close(f);
    return hr;
}

const char *held_folder_path(const struct held_folder *f)
{
    return f->path;
}

void held_folder_close(struct held_folder *f)
{
    while (f) {
        struct held_folder *parent = f->parent;
        if (f->handle != INVALID_HANDLE_VALUE)
            CloseHandle(f->handle);
        memory_free(f->real);
        memory_free(f);
        f = parent;
    }
}

static HRESULT give(const WIN32_FIND_DATAW *found, HRESULT (*each)(void *user, const struct held_entry *entry),
                    void *user)
{
    const FILETIME *written = &found->ftLastWriteTime;
    char *name;
    if (!wcscmp(found->cFileName, L".") || !wcscmp(found->cFileName, L".."))
        return S_OK;
    HRESULT hr = text_from_utf16(found->cFileName, wcslen(found->cFileName), true, &name);
    if (FAILED(hr))
        return hr;
    const bool folder = (found->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    struct held_entry entry = {
        .name = name,
        .kind = found->dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT ? HELD_OTHER
                : folder                                               ? HELD_FOLDER
                                                                       : HELD_FILE,
        .size = folder ? 0 : (uint64_t)found->nFileSizeHigh << 32 | found->nFileSizeLow,
        .written = (int64_t)((uint64_t)written->dwHighDateTime << 32 | written->dwLowDateTime),
    };
    hr = each(user, &entry);
    memory_free(name);
    return hr;
}

HRESULT held_folder_each(struct held_folder *f, HRESULT (*each)(void *user, const struct held_entry *entry), void *user)
{
    WIN32_FIND_DATAW found;
    WCHAR *wide = NULL;
    char *pattern = path_join(f->path, "*");
    HRESULT hr = pattern ? win32_path(pattern, &wide) : E_OUTOFMEMORY;
    memory_free(pattern);
    if (FAILED(hr))
        return hr;
    HANDLE search = FindFirstFileExW(wide, FindExInfoBasic, &found, FindExSearchNameMatch, NULL, 0);
    DWORD code = GetLastError();
    memory_free(wide);
    if (search == INVALID_HANDLE_VALUE)
        return code == ERROR_FILE_NOT_FOUND ? S_OK : win32_failed(code, f->path); /* the root of an empty disk */
    do
        hr = give(&found, each, user);
    while (SUCCEEDED(hr) && FindNextFileW(search, &found));
    code = GetLastError();
    FindClose(search);
    return SUCCEEDED(hr) && code != ERROR_NO_MORE_FILES ? win32_failed(code, f->path) : hr;
}

/* *path from memory_alloc. */
static HRESULT begin(struct held_folder *f, const char *name, enum file_operation operation, char **path)
{
    *path = NULL;
    if (!*name || strpbrk(name, "\\/:"))
        return error_set(E_INVALIDARG, "\"%s\" is no name in \"%s\"", name, f->path);
    *path = path_join(f->path, name);
    return *path ? file_operation(operation, *path) : E_OUTOFMEMORY;
}

static HRESULT check_file(struct held_folder *f, const char *name, HANDLE handle, const char *path)
{
    DWORD attributes = 0;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return is_a_link(path);
    HRESULT hr = attributes_of(handle, path, &attributes);
    if (SUCCEEDED(hr) && (attributes & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DIRECTORY)))
        hr = is_a_link(path);
    return SUCCEEDED(hr) ? check_in(f, name, handle, path) : hr;
}

HRESULT held_folder_file(struct held_folder *f, const char *name, enum file_mode mode, struct file **out)
{
    char *path;
    struct file *file = NULL;
    HANDLE handle = INVALID_HANDLE_VALUE;
    *out = NULL;
    HRESULT hr = begin(f, name, mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, &path);
    if (SUCCEEDED(hr) && !(file = file_reserve(path)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_create_handle(path, mode, mode == FILE_READ ? OPEN_EXISTING : CREATE_NEW,
                                FILE_FLAG_OPEN_REPARSE_POINT, PROTECTION_NONE, &handle);
    if (SUCCEEDED(hr))
        hr = check_file(f, name, handle, path);
    if (SUCCEEDED(hr)) {
        *out = file_take(file, handle);
    } else {
        if (handle != INVALID_HANDLE_VALUE)
            CloseHandle(handle);
        memory_free(file);
    }
    memory_free(path);
    return hr;
}

HRESULT held_folder_rename_new(struct held_folder *f, const char *from, const char *to)
{
    char *source, *target = path_join(f->path, to);
    HRESULT hr = target ? begin(f, from, FILE_OPERATION_OPEN, &source) : E_OUTOFMEMORY;
    if (target && SUCCEEDED(hr))
        hr = file_rename_new(source, target);
    if (target)
        memory_free(source);
    memory_free(target);
    return hr;
}

/* On the opened handle. */
static HRESULT delete_open(struct held_folder *f, const char *name, const char *path, bool folder)
{
    HANDLE handle;
    DWORD attributes = 0;
    FILE_DISPOSITION_INFO gone = {.DeleteFile = TRUE};
    HRESULT hr = open_handle(path, DELETE | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_DELETE,
                             FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, &handle);
    if (FAILED(hr))
        return hr;
    hr = attributes_of(handle, path, &attributes);
    if (SUCCEEDED(hr) &&
        ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) || folder != ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)))
        hr = is_a_link(path);
    if (SUCCEEDED(hr))
        hr = check_in(f, name, handle, path);
    if (SUCCEEDED(hr) && !SetFileInformationByHandle(handle, FileDispositionInfo, &gone, sizeof gone))
        hr = win32_failed(GetLastError(), path);
    CloseHandle(handle);
    return hr;
}

static HRESULT delete_entry(struct held_folder *f, const char *name, enum file_operation operation, bool folder)
{
    char *path;
    HRESULT hr = begin(f, name, operation, &path);
    if (SUCCEEDED(hr))
        hr = delete_open(f, name, path, folder);
    memory_free(path);
    return hr;
}

HRESULT held_folder_delete(struct held_folder *f, const char *name)
{
    return delete_entry(f, name, FILE_OPERATION_DELETE, false);
}

HRESULT held_folder_delete_folder(struct held_folder *f, const char *name)
{
    return delete_entry(f, name, FILE_OPERATION_DELETE_FOLDER, true);
}
