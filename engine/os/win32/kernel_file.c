/* SPDX-License-Identifier: MIT */
/* The Linux kernel's files from inside Wine. A kept handle and NtReadFile at offset 0 cost a few microseconds more than
   pread itself; opening afresh costs ten times as much, and so does ReadFile with an OVERLAPPED. */
#include <windows.h>
#include <winternl.h>
#include "engine/os/kernel_file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/win32/win32_call.h"

#include <stdio.h>
#include <string.h>

#define FILE_NAMES_INFORMATION_CLASS 12 /* FileNamesInformation */
#ifndef STATUS_NO_MORE_FILES
#define STATUS_NO_MORE_FILES ((NTSTATUS)0x80000006)
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

static HRESULT open_unix(const char *path, DWORD flags, HANDLE *out)
{
    char name[512];
    WCHAR *wide;
    HRESULT hr;

    if (!host_is_wine() || strlen(path) > sizeof(name) - 16)
        return win32_failed(ERROR_FILE_NOT_FOUND, path);
    snprintf(name, sizeof(name), "\\\\?\\unix%s", path);
    for (char *c = name; *c; c++) {
        if (*c == '/')
            *c = '\\';
    }
    hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    *out = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       flags, NULL);
    if (*out == INVALID_HANDLE_VALUE)
        hr = win32_failed(GetLastError() == ERROR_PATH_NOT_FOUND ? ERROR_FILE_NOT_FOUND : GetLastError(), path);
    memory_free(wide);
    return hr;
}

HRESULT kernel_file_open(const char *path, struct kernel_file **out)
{
    size_t length = strlen(path);
    struct kernel_file *f = memory_zero(1, sizeof(*f) + length + 1);
    HRESULT hr;

    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    memcpy(f->path, path, length + 1);
    hr = open_unix(path, 0, &f->handle);
    if (FAILED(hr)) {
        memory_free(f);
        return hr;
    }
    *out = f;
    return S_OK;
}

/* The files tell no size: read until nothing comes. */
HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size)
{
    LARGE_INTEGER offset = {0};

    for (;;) {
        IO_STATUS_BLOCK io = {0};
        void *grown = f->text;
        size_t room;
        NTSTATUS status;

        if (!memory_grow(&grown, &f->capacity, (size_t)offset.QuadPart + 4096, 1))
            return E_OUTOFMEMORY;
        f->text = grown;
        room = f->capacity - (size_t)offset.QuadPart - 1;
        status = NtReadFile(f->handle, NULL, NULL, NULL, &io, f->text + offset.QuadPart, (ULONG)room, &offset, NULL);
        if (status == STATUS_END_OF_FILE || (!status && !io.Information))
            break;
        if (status)
            return error_set(E_FAIL, "\"%s\": cannot be read (status 0x%08lX)", f->path, (unsigned long)status);
        offset.QuadPart += (LONGLONG)io.Information;
    }
    f->text[offset.QuadPart] = 0;
    *text = f->text;
    *size = (size_t)offset.QuadPart;
    return S_OK;
}

void kernel_file_close(struct kernel_file *f)
{
    if (!f)
        return;
    CloseHandle(f->handle);
    memory_free(f->text);
    memory_free(f);
}

/* As the system lays out one entry of FileNamesInformation. */
struct name_entry {
    ULONG next;
    ULONG index;
    ULONG length; /* bytes */
    WCHAR name[1];
};

struct id_list {
    void *ids;
    size_t count, capacity;
};

/* The ids among the names of one filled buffer. */
static HRESULT add_ids(const char *buffer, struct id_list *list)
{
    for (;;) {
        const struct name_entry *entry = (const void *)buffer;
        size_t units = entry->length / sizeof(WCHAR), i = 0;
        uint32_t id = 0;

        while (i < units && entry->name[i] >= '0' && entry->name[i] <= '9')
            id = id * 10 + (entry->name[i++] - '0');
        if (i == units && units) {
            if (!memory_grow(&list->ids, &list->capacity, list->count + 1, sizeof(uint32_t)))
                return E_OUTOFMEMORY;
            ((uint32_t *)list->ids)[list->count++] = id;
        }
        if (!entry->next)
            return S_OK;
        buffer += entry->next;
    }
}

HRESULT kernel_process_ids(uint32_t **ids, size_t *count)
{
    struct id_list list = {0};
    _Alignas(8) char buffer[16384];
    HANDLE handle;
    BOOLEAN restart = TRUE;
    HRESULT hr = open_unix("/proc", FILE_FLAG_BACKUP_SEMANTICS, &handle);

    *ids = NULL;
    *count = 0;
    if (FAILED(hr))
        return hr;
    for (; SUCCEEDED(hr); restart = FALSE) {
        IO_STATUS_BLOCK io = {0};
        NTSTATUS status =
            NtQueryDirectoryFile(handle, NULL, NULL, NULL, &io, buffer, sizeof(buffer),
                                 (FILE_INFORMATION_CLASS)FILE_NAMES_INFORMATION_CLASS, FALSE, NULL, restart);

        if (status == STATUS_NO_MORE_FILES)
            break;
        hr = status ? error_set(E_FAIL, "\"/proc\": cannot be listed (status 0x%08lX)", (unsigned long)status)
                    : add_ids(buffer, &list);
    }
    CloseHandle(handle);
    if (FAILED(hr)) {
        memory_free(list.ids);
        return hr;
    }
    *ids = list.ids;
    *count = list.count;
    return S_OK;
}
