/* SPDX-License-Identifier: MIT */
/* Files below a base folder on Windows. Each folder on the way is opened, asked for its final path and held, so that
   nobody puts a link in its place until the file is open; the file is asked too. Wine's links are those of the host,
   and its final paths have them followed. */
#include "engine/base/memory.h"
#include "engine/base/win32/open_file.h"
#include "engine/base/win32/win32_call.h"

#include <wchar.h>

enum { TRIES = 3 }; /* for a file that comes and goes between two calls */

/* The base, and the folders that the walk holds. */
struct walk {
    const char *base, *path;
    WCHAR *real; /* of the base, all links followed */
    HANDLE *held;
    size_t count, capacity;
};

HRESULT file_final_path(HANDLE handle, const char *path, WCHAR **out)
{
    static const DWORD forms[] = {VOLUME_NAME_DOS, VOLUME_NAME_NT};
    DWORD code = ERROR_SUCCESS;
    *out = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        DWORD room = GetFinalPathNameByHandleW(handle, NULL, 0, forms[i]);
        code = GetLastError();
        if (!room)
            continue;
        WCHAR *text = memory_alloc(((size_t)room + 1) * sizeof *text);
        if (!text)
            return E_OUTOFMEMORY;
        DWORD units = GetFinalPathNameByHandleW(handle, text, room + 1, forms[i]);
        if (units && units <= room) {
            *out = text;
            return S_OK;
        }
        code = units ? ERROR_RETRY : GetLastError(); /* renamed meanwhile */
        memory_free(text);
    }
    return win32_failed(code, path);
}

static HRESULT leads_out(const struct walk *w)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": a link leads out of \"%s\" or nowhere", w->path,
                     w->base);
}

static HRESULT check_below(const struct walk *w, HANDLE handle)
{
    WCHAR *real;
    HRESULT hr = file_final_path(handle, w->path, &real);
    if (FAILED(hr))
        return hr;
    size_t n = wcslen(w->real);
    while (n && w->real[n - 1] == L'\\')
        n--;
    if (wcsncmp(real, w->real, n) != 0 || (real[n] && real[n] != L'\\'))
        hr = leads_out(w);
    memory_free(real);
    return hr;
}

/* Opens a folder and keeps it. Without the right to delete for others it cannot be replaced meanwhile. */
static HRESULT hold(struct walk *w, const char *folder)
{
    WCHAR *wide;
    void *held = w->held;
    if (!memory_grow(&held, &w->capacity, w->count + 1, sizeof *w->held))
        return E_OUTOFMEMORY;
    w->held = held;
    HRESULT hr = win32_path(folder, &wide);
    if (FAILED(hr))
        return hr;
    HANDLE handle = CreateFileW(wide, FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS, NULL);
    DWORD code = GetLastError();
    memory_free(wide);
    if (handle == INVALID_HANDLE_VALUE)
        return win32_failed(code, folder);
    w->held[w->count++] = handle;
    return S_OK;
}

/* Into the folder, which is made where `make` says so and it is missing. */
static HRESULT enter(struct walk *w, const char *folder, bool make)
{
    HRESULT hr = make ? folder_create(folder) : S_OK;
    if (SUCCEEDED(hr))
        hr = hold(w, folder);
    return SUCCEEDED(hr) ? check_below(w, w->held[w->count - 1]) : hr;
}

static HRESULT begin(struct walk *w, const char *base, const char *path, const char **names)
{
    *w = (struct walk){.base = base, .path = path};
    *names = path_names_behind(base, path);
    const char *fault = *names ? path_names_fault(*names) : "it does not begin with its base";
    if (fault)
        return error_set(E_INVALIDARG, "\"%s\" is no place below \"%s\": %s", path, base, fault);
    char *folder = path_with_separator(base); /* "C:" alone is the current folder of that drive */
    HRESULT hr = folder ? hold(w, folder) : E_OUTOFMEMORY;
    memory_free(folder);
    return SUCCEEDED(hr) ? file_final_path(w->held[0], base, &w->real) : hr;
}

static void end(struct walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        CloseHandle(w->held[i]);
    memory_free(w->held);
    memory_free(w->real);
}

/* As far as the folder of the last name, or into that too. */
static HRESULT walk(struct walk *w, const char *base, const char *path, bool make, bool whole)
{
    const char *at;
    HRESULT hr = begin(w, base, path, &at);
    while (SUCCEEDED(hr)) {
        size_t length = strcspn(at, "\\/");
        if (!at[length] && (!whole || !length))
            return S_OK;
        char *folder = length ? text_copy_n(path, (size_t)(at + length - path)) : NULL;
        if (length)
            hr = folder ? enter(w, folder, make) : E_OUTOFMEMORY;
        memory_free(folder);
        at += length + (at[length] != 0);
    }
    return hr;
}

HRESULT folder_create_below(const char *base, const char *path)
{
    struct walk w;
    HRESULT hr = walk(&w, base, path, true, true);
    end(&w);
    return hr;
}

/* Creating follows no link; what was there already is opened, and looked at before anything is done to it. */
static HRESULT open_last(const struct walk *w, enum file_mode mode, HANDLE *out, bool *made)
{
    const HRESULT exists = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), missing = HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    if (mode == FILE_READ)
        return file_create_handle(w->path, mode, OPEN_EXISTING, 0, PROTECTION_NONE, out);
    HRESULT hr = missing;
    for (int i = 0; i < TRIES && hr == missing; i++) {
        hr = file_create_handle(w->path, mode, CREATE_NEW, FILE_FLAG_OPEN_REPARSE_POINT, PROTECTION_NONE, out);
        *made = SUCCEEDED(hr);
        if (hr == exists && mode != FILE_CREATE_NEW)
            hr = file_create_handle(w->path, mode, OPEN_EXISTING, 0, PROTECTION_NONE, out);
    }
    return hr == missing ? leads_out(w) : hr; /* creating finds a name, opening finds no file */
}

static HRESULT check_file(const struct walk *w, HANDLE handle, enum file_mode mode)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": is no file but a device or a pipe", w->path);
    if (mode != FILE_READ && GetFileInformationByHandle(handle, &info) && info.nNumberOfLinks > 1)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                         "\"%s\": the file has another name (a hard link), which may lie outside \"%s\"", w->path,
                         w->base);
    return check_below(w, handle);
}

HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out)
{
    struct walk w;
    HANDLE handle = INVALID_HANDLE_VALUE;
    struct file *f = NULL;
    bool made = false;
    *out = NULL;
    HRESULT hr = walk(&w, base, path, false, false);
    if (SUCCEEDED(hr)) {
        f = file_reserve(path);
        hr = f ? open_last(&w, mode, &handle, &made) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = check_file(&w, handle, mode);
    if (SUCCEEDED(hr) && mode == FILE_REPLACE && !SetEndOfFile(handle))
        hr = win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr)) {
        *out = file_take(f, handle);
    } else {
        struct error_kept why = error_keep(hr);
        if (handle != INVALID_HANDLE_VALUE)
            CloseHandle(handle);
        if (made)
            file_delete(path);
        error_restore(&why);
        memory_free(f);
    }
    end(&w);
    return hr;
}

HRESULT file_delete_below(const char *base, const char *path)
{
    struct walk w;
    HRESULT hr = walk(&w, base, path, false, false);
    if (SUCCEEDED(hr))
        hr = file_delete(path);
    end(&w);
    return hr;
}
