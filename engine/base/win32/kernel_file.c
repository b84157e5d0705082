/* SPDX-License-Identifier: MIT */
/* Reads the Linux kernel's files under Wine, with NtReadFile at offset 0 of a handle that stays open. Such a read costs
   a few microseconds more than pread in the native build. Opening the file for each read would cost ten times as much;
   ReadFile with an OVERLAPPED would be as expensive. */
#include "engine/base/kernel_file.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <winternl.h>
#include <string.h>

#define FILE_NAMES_INFORMATION_CLASS 12 /* FileNamesInformation */
#ifndef STATUS_NO_MORE_FILES
#define STATUS_NO_MORE_FILES ((NTSTATUS)0x80000006)
#endif
#ifndef STATUS_NO_SUCH_FILE
#define STATUS_NO_SUCH_FILE ((NTSTATUS)0xC000000F)
#endif
#ifndef STATUS_END_OF_FILE
#define STATUS_END_OF_FILE ((NTSTATUS)0xC0000011)
#endif

NTSTATUS NTAPI NtReadFile(HANDLE, HANDLE, PIO_APC_ROUTINE, void *, IO_STATUS_BLOCK *, void *, ULONG, LARGE_INTEGER *,
                          ULONG *);
NTSTATUS NTAPI NtQueryDirectoryFile(HANDLE, HANDLE, PIO_APC_ROUTINE, void *, IO_STATUS_BLOCK *, void *, ULONG,
                                    FILE_INFORMATION_CLASS, BOOLEAN, UNICODE_STRING *, BOOLEAN);

struct kernel_file {
    HANDLE handle;
    char *text;
    size_t capacity;
    char path[];
};

/* Converts a Unix path to the form \\?\unix\..., from memory_alloc. HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) on real
   Windows. */
static HRESULT unix_path(const char *path, WCHAR **out)
{
    char name[512];
    if (!os_is_wine() || strlen(path) > sizeof(name) - 16)
        return win32_failed(ERROR_FILE_NOT_FOUND, path);
    snprintf(name, sizeof(name), "\\\\?\\unix%s", path);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '\\';
    return text_to_utf16(name, out, NULL);
}

/* Opens the file with full sharing; `flags` are passed to CreateFileW. */
static HRESULT unix_open(const char *path, DWORD access, DWORD flags, HANDLE *out)
{
    WCHAR *wide;
    HRESULT hr = unix_path(path, &wide);
    if (FAILED(hr))
        return hr;
    *out = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, flags,
                       NULL);
    if (*out == INVALID_HANDLE_VALUE)
        hr = win32_failed(GetLastError() == ERROR_PATH_NOT_FOUND ? ERROR_FILE_NOT_FOUND : GetLastError(), path);
    memory_free(wide);
    return hr;
}

HRESULT kernel_file_open(const char *path, struct kernel_file **out)
{
    size_t length = strlen(path);
    struct kernel_file *f = memory_zero(1, sizeof(*f) + length + 1);
    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    memcpy(f->path, path, length + 1);
    HRESULT hr = unix_open(path, GENERIC_READ, 0, &f->handle);
    if (FAILED(hr)) {
        memory_free(f);
        return hr;
    }
    *out = f;
    return S_OK;
}

/* Reads until no more bytes arrive, because the files report no size. */
static HRESULT read_all(struct kernel_file *f, bool piece, const char **text, size_t *size)
{
    LARGE_INTEGER offset = {0};
    for (;;) {
        IO_STATUS_BLOCK io = {0};
        void *grown = f->text;
        size_t room;
        NTSTATUS status;
        /* Most files are short, and many are kept open. */
        if (f->capacity < (size_t)offset.QuadPart + 512 &&
            !memory_grow(&grown, &f->capacity, (size_t)offset.QuadPart + 2048, 1))
            return E_OUTOFMEMORY;
        f->text = grown;
        room = f->capacity - (size_t)offset.QuadPart - 1;
        status = NtReadFile(f->handle, NULL, NULL, NULL, &io, f->text + offset.QuadPart, (ULONG)room, &offset, NULL);
        if (status == STATUS_END_OF_FILE || (!status && !io.Information))
            break;
        if (status)
            return error_set(E_FAIL, "cannot read '%s' (status 0x%08lX)", f->path, (unsigned long)status);
        offset.QuadPart += (LONGLONG)io.Information;
        if (piece && io.Information < room)
            break;
    }
    f->text[offset.QuadPart] = 0;
    *text = f->text;
    *size = (size_t)offset.QuadPart;
    return S_OK;
}

HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size)
{
    return read_all(f, false, text, size);
}

HRESULT kernel_file_read_piece(struct kernel_file *f, const char **text, size_t *size)
{
    return read_all(f, true, text, size);
}

void kernel_file_close(struct kernel_file *f)
{
    if (!f)
        return;
    CloseHandle(f->handle);
    memory_free(f->text);
    memory_free(f);
}

/* Returns a share of wineserver's limit for open files. Each handle is an open file of wineserver, so wineserver's
   limit applies to all programs together. Because wineserver also opens /proc/self/limits for this program, this file
   shows wineserver's limit. */
size_t kernel_file_share(void)
{
    static const char name[] = "Max open files";
    struct kernel_file *f;
    const char *text = "", *line = NULL;
    size_t size;
    unsigned long limit = 0;
    if (FAILED(kernel_file_open("/proc/self/limits", &f)))
        return 64;
    if (SUCCEEDED(kernel_file_read(f, &text, &size)))
        line = strstr(text, name);
    if (line)
        limit = strtoul(line + sizeof(name) - 1, NULL, 10);
    kernel_file_close(f);
    return limit < 256 ? 64 : limit < 80000 ? limit / 4 : 20000;
}

/* The system's layout of an entry in FileNamesInformation. */
struct name_entry {
    ULONG next;
    ULONG index;
    ULONG length; /* bytes */
    WCHAR name[1];
};

/* Forwards one name; most names are short and ASCII. */
static HRESULT pipe_forward(const struct name_entry *entry, HRESULT (*each)(void *user, const char *name), void *user)
{
    size_t units = entry->length / sizeof(WCHAR), i = 0;
    char small[64], *text;
    while (i < units && i < sizeof(small) - 1 && entry->name[i] < 0x80) {
        small[i] = (char)entry->name[i];
        i++;
    }
    if (i == units) {
        small[i] = 0;
        return each(user, small);
    }
    HRESULT hr = text_from_utf16(entry->name, units, true, &text);
    if (SUCCEEDED(hr)) {
        hr = each(user, text);
        memory_free(text);
    }
    return hr;
}

/* Lists the names that match `mask`, as FindFirstFile does. If `mask` is NULL, lists all names. */
static HRESULT kernel_folder_list(const char *path, UNICODE_STRING *mask, HRESULT (*each)(void *user, const char *name),
                                  void *user)
{
    _Alignas(8) char buffer[16384];
    HANDLE handle;
    BOOLEAN restart = TRUE;
    HRESULT hr = unix_open(path, GENERIC_READ, FILE_FLAG_BACKUP_SEMANTICS, &handle);

    if (FAILED(hr))
        return hr;
    for (; SUCCEEDED(hr); restart = FALSE) {
        const struct name_entry *entry = (const void *)buffer;
        IO_STATUS_BLOCK io = {0};
        NTSTATUS status =
            NtQueryDirectoryFile(handle, NULL, NULL, NULL, &io, buffer, sizeof(buffer),
                                 (FILE_INFORMATION_CLASS)FILE_NAMES_INFORMATION_CLASS, FALSE, mask, restart);

        if (status == STATUS_NO_MORE_FILES || (mask && status == STATUS_NO_SUCH_FILE))
            break;
        if (status)
            hr = error_set(E_FAIL, "cannot list '%s' (status 0x%08lX)", path, (unsigned long)status);
        while (SUCCEEDED(hr)) {
            hr = pipe_forward(entry, each, user);
            if (!entry->next)
                break;
            entry = (const void *)((const char *)entry + entry->next);
        }
    }
    CloseHandle(handle);
    return hr;
}

HRESULT kernel_folder_each(const char *path, HRESULT (*each)(void *user, const char *name), void *user)
{
    return kernel_folder_list(path, NULL, each, user);
}

HRESULT kernel_folder_each_like(const char *path, const char *prefix, size_t more,
                                HRESULT (*each)(void *user, const char *name), void *user)
{
    WCHAR mask[64];
    size_t length = 0;
    if (strlen(prefix) + more >= sizeof(mask) / sizeof(*mask))
        return kernel_folder_each(path, each, user);
    while (*prefix)
        mask[length++] = (unsigned char)*prefix++;
    while (more-- > 0)
        mask[length++] = L'?';
    UNICODE_STRING text = {(USHORT)(length * sizeof(*mask)), (USHORT)(length * sizeof(*mask)), mask};
    return kernel_folder_list(path, &text, each, user);
}

HRESULT kernel_folder_space(const char *path, uint64_t *size, uint64_t *free)
{
    ULARGE_INTEGER available, total;
    WCHAR *wide;
    HRESULT hr = unix_path(path, &wide);
    if (FAILED(hr))
        return hr;
    if (GetDiskFreeSpaceExW(wide, &available, &total, NULL)) {
        *size = total.QuadPart;
        *free = available.QuadPart;
    } else {
        hr = win32_failed(GetLastError(), path);
    }
    memory_free(wide);
    return hr;
}

/* The functions below access tracefs under Wine. These functions differ from the functions for other files: in tracefs,
   CREATE_ALWAYS would not clear a file, RemoveDirectoryW always reports that the folder is not empty, and the pages of
   a stream have no offset. */

NTSTATUS NTAPI NtReadFile(HANDLE, HANDLE, PIO_APC_ROUTINE, void *, IO_STATUS_BLOCK *, void *, ULONG, LARGE_INTEGER *,
                          ULONG *);

struct kernel_stream {
    HANDLE handle;
    char path[];
};

HRESULT kernel_control_write(const char *path, const char *text)
{
    const DWORD length = (DWORD)strlen(text);
    DWORD written = 0;
    HANDLE file;
    HRESULT hr = unix_open(path, GENERIC_WRITE, 0, &file);
    if (FAILED(hr))
        return hr;
    if (!WriteFile(file, text, length, &written, NULL))
        hr = win32_failed(GetLastError(), path);
    else if (written != length)
        hr = win32_failed(ERROR_WRITE_FAULT, path);
    CloseHandle(file);
    return hr;
}

HRESULT kernel_control_folder(const char *path)
{
    WCHAR *wide;
    HRESULT hr = unix_path(path, &wide);
    if (FAILED(hr))
        return hr;
    if (!CreateDirectoryW(wide, NULL))
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    return hr;
}

/* Wine's server removes the folder when the last handle is closed, and does not report whether it succeeded. */
HRESULT kernel_control_remove(const char *path)
{
    HANDLE folder;
    WCHAR *wide;
    HRESULT hr = unix_open(path, DELETE, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_DELETE_ON_CLOSE, &folder);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_OK;
    if (FAILED(hr))
        return hr;
    CloseHandle(folder);
    hr = unix_path(path, &wide);
    if (SUCCEEDED(hr) && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES)
        hr = win32_failed(ERROR_BUSY, path);
    memory_free(wide);
    return hr;
}

const char *kernel_trace_clock(void)
{
    return "mono_raw";
}

HRESULT kernel_stream_open(const char *path, struct kernel_stream **out)
{
    const size_t length = strlen(path);
    struct kernel_stream *s = memory_zero(1, sizeof(*s) + length + 1);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    memcpy(s->path, path, length + 1);
    const HRESULT hr = unix_open(path, GENERIC_READ, 0, &s->handle);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

HRESULT kernel_stream_read(struct kernel_stream *s, void *to, uint32_t bytes)
{
    IO_STATUS_BLOCK io = {0};
    const NTSTATUS status = NtReadFile(s->handle, NULL, NULL, NULL, &io, to, bytes, NULL, NULL);
    if (status)
        return error_set(E_FAIL, "cannot read '%s' (status 0x%08lX)", s->path, (unsigned long)status);
    return io.Information == bytes ? S_OK : S_FALSE;
}

void kernel_stream_close(struct kernel_stream *s)
{
    if (!s)
        return;
    CloseHandle(s->handle);
    memory_free(s);
}
