/* SPDX-License-Identifier: MIT */
/* tracefs from inside Wine. Opening with CREATE_ALWAYS would clear nothing there, RemoveDirectoryW always finds the
   folder full, and the pages of a stream have no offset. */
#include "engine/base/kernel_control.h"

#include "engine/base/memory.h"
#include "engine/base/win32/unix_path.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

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

/* Wine's server removes it when the last handle is closed, and tells nobody whether it could. */
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
        return error_set(E_FAIL, "\"%s\": cannot be read (status 0x%08lX)", s->path, (unsigned long)status);
    return io.Information == bytes ? S_OK : S_FALSE;
}

void kernel_stream_close(struct kernel_stream *s)
{
    if (!s)
        return;
    CloseHandle(s->handle);
    memory_free(s);
}
