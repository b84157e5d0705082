/* SPDX-License-Identifier: MIT */
/* Files on Windows: open files, stored files, lock files. */
#include "engine/base/file.h"

#include "engine/base/base_private.h"
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define CHUNK_MAX      (1u << 30) /* maximum bytes of one system call */
#define STORE_PATIENCE 1000       /* ms to wait while other processes have the file open */

struct file {
    HANDLE handle;
    uint64_t at;  /* the system's file pointer */
    uint64_t end; /* offset of the next file_write */
    char path[];
};

static HRESULT file_seek(struct file *f, uint64_t offset)
{
    LARGE_INTEGER to = {.QuadPart = (LONGLONG)offset};
    if (f->at == offset)
        return S_OK;
    if (offset > INT64_MAX)
        return win32_failed(ERROR_DISK_FULL, f->path);
    if (!SetFilePointerEx(f->handle, to, NULL, FILE_BEGIN)) {
        f->at = UINT64_MAX;
        return win32_failed(GetLastError(), f->path);
    }
    f->at = offset;
    return S_OK;
}

HANDLE file_handle(const struct file *f)
{
    return f->handle;
}

const char *file_path(const struct file *f)
{
    return f->path;
}

struct file *file_reserve(const char *path)
{
    size_t length = strlen(path);
    struct file *f = memory_alloc(sizeof(*f) + length + 1);
    if (f)
        memcpy(f->path, path, length + 1);
    return f;
}

struct file *file_take(struct file *f, HANDLE handle)
{
    LARGE_INTEGER size = {0};
    GetFileSizeEx(handle, &size); /* 0 for a device, which has no size */
    f->handle = handle;
    f->at = 0;
    f->end = (uint64_t)size.QuadPart;
    return f;
}

/* Like CreateFile. A file with a protection usually exists already, so its descriptor is built only if the file must be
   created. */
static DWORD open_or_make(const WCHAR *path, DWORD access, DWORD share, DWORD disposition, DWORD flags,
                          enum protection what, HANDLE *out)
{
    SECURITY_ATTRIBUTES attributes;
    const bool made_late = what != PROTECTION_NONE && disposition == OPEN_ALWAYS;
    DWORD code = ERROR_FILE_NOT_FOUND;
    *out = INVALID_HANDLE_VALUE;
    if (made_late) {
        *out = CreateFileW(path, access, share, NULL, OPEN_EXISTING, flags, NULL);
        code = GetLastError();
    }
    if (*out != INVALID_HANDLE_VALUE || code != ERROR_FILE_NOT_FOUND)
        return *out == INVALID_HANDLE_VALUE ? code : ERROR_SUCCESS;
    char *sddl = protection_sddl(what);
    if ((!sddl && what != PROTECTION_NONE) || FAILED(win32_security(sddl, &attributes))) {
        memory_free(sddl);
        return ERROR_OUTOFMEMORY;
    }
    memory_free(sddl);
    *out = CreateFileW(path, access, share, &attributes, disposition, flags, NULL);
    code = GetLastError();
    LocalFree(attributes.lpSecurityDescriptor);
    return *out == INVALID_HANDLE_VALUE ? code : ERROR_SUCCESS;
}

HRESULT file_create_handle(const char *path, enum file_mode mode, DWORD disposition, DWORD more, enum protection what,
                           HANDLE *out)
{
    DWORD share = FILE_SHARE_READ | FILE_SHARE_DELETE | (mode == FILE_READ ? FILE_SHARE_WRITE : 0);
    DWORD access = GENERIC_READ | (mode == FILE_READ ? 0 : GENERIC_WRITE);
    WCHAR *wide;
    *out = INVALID_HANDLE_VALUE;
    HRESULT hr = file_operation(mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, path);
    if (SUCCEEDED(hr))
        hr = win32_path(path, &wide);
    if (FAILED(hr))
        return hr;
    if (more & FILE_FLAG_WRITE_THROUGH)
        access |= DELETE;
    const DWORD code = open_or_make(wide, access, share, disposition, FILE_ATTRIBUTE_NORMAL | more, what, out);
    const DWORD traits = code == ERROR_ACCESS_DENIED ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    memory_free(wide);
    /* Otherwise the text would report missing rights. */
    if (traits != INVALID_FILE_ATTRIBUTES && traits & FILE_ATTRIBUTE_DIRECTORY)
        return error_set(E_ACCESSDENIED, "'%s' is a folder", path);
    return code == ERROR_SUCCESS ? S_OK : win32_failed(code, path);
}

static HRESULT open_as(const char *path, enum file_mode mode, DWORD more, enum protection what, struct file **out)
{
    static const DWORD dispositions[] = {
        [FILE_READ] = OPEN_EXISTING,
        [FILE_CREATE_NEW] = CREATE_NEW,
        [FILE_REPLACE] = CREATE_ALWAYS,
        [FILE_APPEND] = OPEN_ALWAYS,
    };
    HANDLE handle;
    struct file *f = file_reserve(path);
    *out = NULL;
    HRESULT hr = f ? file_create_handle(path, mode, dispositions[mode], more, what, &handle) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        *out = file_take(f, handle);
    else
        memory_free(f);
    return hr;
}

HRESULT file_open(const char *path, enum file_mode mode, struct file **out)
{
    return open_as(path, mode, 0, PROTECTION_NONE, out);
}

HRESULT file_open_as(const char *path, enum file_mode mode, enum protection what, struct file **out)
{
    return open_as(path, mode, 0, what, out);
}

HRESULT file_open_scratch(struct file **out)
{
    WCHAR folder[MAX_PATH + 1], wide[MAX_PATH + 1];
    char *path = NULL;
    struct file *f = NULL;
    *out = NULL;
    /* Creates an empty file with an unused name. */
    if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"pla", 0, wide))
        return win32_failed(GetLastError(), "the folder for temporary files");
    HRESULT hr = text_from_utf16(wide, wcslen(wide), true, &path);
    if (SUCCEEDED(hr)) {
        f = file_reserve(path);
        hr = f ? S_OK : E_OUTOFMEMORY;
    }
    HANDLE handle = FAILED(hr) ? INVALID_HANDLE_VALUE
                               : CreateFileW(wide, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, TRUNCATE_EXISTING,
                                             FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (SUCCEEDED(hr) && handle == INVALID_HANDLE_VALUE)
        hr = win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr)) {
        *out = file_take(f, handle);
    } else {
        DeleteFileW(wide);
        memory_free(f);
    }
    memory_free(path);
    return hr;
}

HRESULT file_open_wait(const char *path, enum file_mode mode, uint32_t timeout_ms, struct file **out)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    DWORD wait = 0;
    HRESULT hr;
    while ((hr = file_open(path, mode, out)) == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) &&
           clock_monotonic_ms() < limit) {
        Sleep(wait);
        if (wait < 5)
            wait++;
    }
    return hr;
}

/* Reports a failed write, and removes the part of it that is after the file's old end. */
static HRESULT write_failed(struct file *f, DWORD code)
{
    if (f->at > f->end) {
        if (FAILED(file_seek(f, f->end)) || !SetEndOfFile(f->handle))
            return win32_failed(GetLastError(), f->path);
        code = ERROR_DISK_FULL;
    }
    return win32_failed(code, f->path);
}

HRESULT file_write_at(struct file *f, uint64_t offset, const void *data, size_t size)
{
    const HRESULT asked = file_operation(FILE_OPERATION_WRITE, f->path);
    HRESULT hr = SUCCEEDED(asked) ? file_seek(f, offset) : asked;
    const size_t room = asked == S_FALSE ? size / 2 : size;
    for (size_t done = 0; SUCCEEDED(hr) && done < size;) {
        size_t rest = room - done;
        DWORD ask = rest > CHUNK_MAX ? CHUNK_MAX : (DWORD)rest, n = 0;
        BOOL ok = WriteFile(f->handle, (const char *)data + done, ask, &n, NULL);
        DWORD code = ok ? ERROR_DISK_FULL : GetLastError();
        f->at += n;
        done += n;
        if (!ok || !n)
            return write_failed(f, done ? ERROR_DISK_FULL : code);
    }
    if (SUCCEEDED(hr) && f->at > f->end)
        f->end = f->at;
    return hr;
}

HRESULT file_write(struct file *f, const void *data, size_t size)
{
    return file_write_at(f, f->end, data, size);
}

HRESULT file_read_at(struct file *f, uint64_t offset, void *data, size_t size, size_t *got)
{
    HRESULT hr = file_operation(FILE_OPERATION_READ, f->path);
    *got = 0;
    if (SUCCEEDED(hr))
        hr = file_seek(f, offset);
    while (SUCCEEDED(hr) && *got < size) {
        DWORD ask = size - *got > CHUNK_MAX ? CHUNK_MAX : (DWORD)(size - *got), n = 0;
        if (!ReadFile(f->handle, (char *)data + *got, ask, &n, NULL))
            return win32_failed(GetLastError(), f->path);
        if (!n)
            break;
        f->at += n;
        *got += n;
    }
    return hr;
}

HRESULT file_size(struct file *f, uint64_t *size)
{
    LARGE_INTEGER now;
    if (!GetFileSizeEx(f->handle, &now))
        return win32_failed(GetLastError(), f->path);
    *size = (uint64_t)now.QuadPart;
    return S_OK;
}

HRESULT file_set_size(struct file *f, uint64_t size)
{
    HRESULT hr = file_operation(FILE_OPERATION_RESIZE, f->path);
    if (SUCCEEDED(hr))
        hr = file_seek(f, size);
    if (FAILED(hr))
        return hr;
    if (!SetEndOfFile(f->handle))
        return win32_failed(GetLastError(), f->path);
    f->end = size;
    return S_OK;
}

HRESULT file_flush(struct file *f)
{
    HRESULT hr = file_operation(FILE_OPERATION_FLUSH, f->path);
    if (FAILED(hr))
        return hr;
    return FlushFileBuffers(f->handle) ? S_OK : win32_failed(GetLastError(), f->path);
}

void file_close(struct file *f)
{
    if (!f)
        return;
    CloseHandle(f->handle);
    memory_free(f);
}

static HRESULT rename_patiently(const char *old_path, const char *path, DWORD flags)
{
    uint64_t limit = clock_monotonic_ms() + STORE_PATIENCE;
    WCHAR *from = NULL, *to = NULL;
    HRESULT hr = win32_path(old_path, &from);
    if (SUCCEEDED(hr))
        hr = win32_path(path, &to);
    while (SUCCEEDED(hr) && !MoveFileExW(from, to, flags | MOVEFILE_WRITE_THROUGH)) {
        DWORD code = GetLastError();
        if (code == ERROR_ALREADY_EXISTS)
            code = ERROR_FILE_EXISTS;
        if ((code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED) || clock_monotonic_ms() >= limit)
            hr = win32_failed(code, path);
        else
            Sleep(10);
    }
    memory_free(from);
    memory_free(to);
    return hr;
}

HRESULT file_rename(const char *old_path, const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, path);
    return SUCCEEDED(hr) ? rename_patiently(old_path, path, MOVEFILE_REPLACE_EXISTING) : hr;
}

/* Under Wine, Wine's server checks the new name and renames the file, so no Windows program can interfere in
   between. */
HRESULT file_rename_new(const char *old_path, const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, path);
    return SUCCEEDED(hr) ? rename_patiently(old_path, path, 0) : hr;
}

/* Renames through the open handle, which is far cheaper under Wine than a rename by name. S_FALSE: the system
   refused. */
static HRESULT rename_open(struct file *f, const char *path)
{
    WCHAR *to;
    HRESULT hr = win32_path(path, &to);
    if (FAILED(hr))
        return hr;
    size_t bytes = wcslen(to) * sizeof(WCHAR);
    FILE_RENAME_INFO *info = memory_zero(1, sizeof(*info) + bytes);
    if (info) {
        info->ReplaceIfExists = TRUE;
        info->FileNameLength = (DWORD)bytes;
        memcpy(info->FileName, to, bytes);
        hr = SetFileInformationByHandle(f->handle, FileRenameInfo, info, (DWORD)(sizeof(*info) + bytes)) ? S_OK
                                                                                                         : S_FALSE;
    }
    memory_free(to);
    if (!info)
        return E_OUTOFMEMORY;
    memory_free(info);
    return hr;
}

/* Opens the temporary file with the write-through flag, so that the rename by this handle reaches the disk, as in
   file_rename. */
HRESULT file_storing_open(struct file_storing *s)
{
    return open_as(s->temporary, FILE_REPLACE, FILE_FLAG_WRITE_THROUGH, PROTECTION_NONE, &s->file);
}

HRESULT file_storing_rename(struct file_storing *s)
{
    HRESULT hr = file_operation(FILE_OPERATION_RENAME, s->path);
    if (FAILED(hr))
        return hr;
    hr = rename_open(s->file, s->path);
    file_close(s->file);
    s->file = NULL;
    /* S_FALSE: another process has the target open, or this host OS does not support the rename by handle. */
    return hr == S_FALSE ? rename_patiently(s->temporary, s->path, MOVEFILE_REPLACE_EXISTING) : hr;
}

HRESULT file_delete(const char *path)
{
    WCHAR *wide = NULL;
    HRESULT hr = file_operation(FILE_OPERATION_DELETE, path);
    if (SUCCEEDED(hr))
        hr = win32_path(path, &wide);
    if (SUCCEEDED(hr) && !DeleteFileW(wide))
        hr = win32_failed(GetLastError(), path);
    memory_free(wide);
    return hr;
}

/* While a process has a lock on a file, other processes may open and close the file. Until the lock is released, Wine's
   server keeps the descriptors of the handles that these processes opened. A run's lock is held for days, and it is
   tested every second. If each test opened the file, Wine's server would run out of descriptors. Under Wine the holder
   therefore also has an event, whose name contains a hash of the path. A process that finds the event knows that the
   lock is held, and does not open the file. A process that does not find the event tries to lock the file; the holder
   creates the event shortly after it has locked the file. */
struct file_lock {
    HANDLE handle;
    HANDLE event; /* NULL: none */
};

enum { EVENT_UNITS = 40 };

static void lock_event_name(const char *path, WCHAR out[EVENT_UNITS])
{
    _snwprintf(out, EVENT_UNITS, L"Global\\openpla-lock-%016llx", (unsigned long long)text_hash_nocase(path));
}

static HANDLE lock_event_create(const char *path)
{
    WCHAR name[EVENT_UNITS];
    lock_event_name(path, name);
    return os_is_wine() ? CreateEventW(NULL, TRUE, FALSE, name) : NULL;
}

static bool lock_event_exists(const char *path)
{
    WCHAR name[EVENT_UNITS];
    lock_event_name(path, name);
    const HANDLE event = os_is_wine() ? OpenEventW(SYNCHRONIZE, FALSE, name) : NULL;
    if (event)
        CloseHandle(event);
    return event != NULL;
}

/* The lock covers one byte far beyond the end of the file, so a process that has the file open to read, copy or scan it
   does not hold the lock. */
#define LOCKED_BYTE (INT64_MAX - 1)

/* Tries once. ERROR_SHARING_VIOLATION: another process has opened the file exclusively, which OpenPLA never does. */
static DWORD lock_once(const WCHAR *path, enum protection what, HANDLE *out)
{
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    OVERLAPPED at = {.Offset = (DWORD)LOCKED_BYTE, .OffsetHigh = (DWORD)(LOCKED_BYTE >> 32)};
    FILE_STANDARD_INFO info;
    HANDLE h;
    DWORD code = open_or_make(path, GENERIC_READ, share, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, what, &h);
    if (code != ERROR_SUCCESS)
        return code;
    if (!LockFileEx(h, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at))
        code = GetLastError() == ERROR_IO_PENDING ? ERROR_LOCK_VIOLATION : GetLastError();
    else if (GetFileInformationByHandleEx(h, FileStandardInfo, &info, sizeof info) &&
             (info.DeletePending || !info.NumberOfLinks))
        code = ERROR_LOCK_VIOLATION; /* no other process can open a deleted file to see this lock */
    if (code == ERROR_SUCCESS)
        *out = h;
    else
        CloseHandle(h);
    return code;
}

HRESULT file_lock_take(const char *path, uint32_t timeout_ms, struct file_lock **out)
{
    return file_lock_take_as(path, PROTECTION_LOCK, timeout_ms, out);
}

HRESULT file_lock_take_as(const char *path, enum protection what, uint32_t timeout_ms, struct file_lock **out)
{
    uint64_t limit = clock_monotonic_ms() + timeout_ms;
    TRACE_STEP(base, "lock file %s: wait up to %u ms", path, (unsigned)timeout_ms);
    struct file_lock *lock = memory_alloc(sizeof(*lock));
    DWORD wait = 0;
    WCHAR *wide = NULL;
    HRESULT hr = lock ? file_operation(FILE_OPERATION_LOCK, path) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = win32_path(path, &wide);
    while (SUCCEEDED(hr)) {
        DWORD code = lock_event_exists(path) ? ERROR_LOCK_VIOLATION : lock_once(wide, what, &lock->handle);
        bool held = code == ERROR_SHARING_VIOLATION || code == ERROR_LOCK_VIOLATION;
        if (code == ERROR_SUCCESS) {
            lock->event = lock_event_create(path);
            *out = lock;
            break;
        }
        /* Access is also denied while the system removes a lock file that its last holder has deleted. */
        if ((held || (code == ERROR_ACCESS_DENIED && timeout_ms)) && clock_monotonic_ms() < limit) {
            Sleep(wait);
            if (wait < 5)
                wait++;
        } else if (!held) {
            hr = win32_failed(code, path);
        } else {
            hr = error_set(HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION), "'%s': %s after %lu ms", path,
                           code == ERROR_SHARING_VIOLATION ? "another process still has it open exclusively"
                                                           : "another process holds the lock",
                           (unsigned long)timeout_ms);
        }
    }
    memory_free(wide);
    if (FAILED(hr))
        memory_free(lock);
    return hr;
}

void file_lock_release(struct file_lock *lock)
{
    if (!lock)
        return;
    CloseHandle(lock->handle);
    if (lock->event)
        CloseHandle(lock->event);
    memory_free(lock);
}

/* ---- files below a base folder ----
   Each folder on the way is opened, and its final path is queried. The folder is kept open until the file is open, so
   that nobody can replace the folder with a link. The final path of the file is queried too. Links under Wine are links
   of the host OS; a final path that Wine returns has these links resolved. */

enum { TRIES = 3 }; /* attempts, for a file that is created and deleted repeatedly between two calls */

/* The base folder, and the folders on the way, which are kept open. */
struct walk {
    const char *base, *path;
    WCHAR *real; /* path of the base with all links resolved */
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
        code = units ? ERROR_RETRY : GetLastError(); /* renamed between the calls */
        memory_free(text);
    }
    return win32_failed(code, path);
}

static HRESULT leads_out(const struct walk *w)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                     "cannot follow a link in '%s': it leads out of '%s' or its target does not exist", w->path,
                     w->base);
}

static HRESULT check_below(const struct walk *w, HANDLE handle)
{
    WCHAR *real;
    HRESULT hr = file_final_path(handle, w->path, &real);
    if (!real)
        return hr;
    size_t n = wcslen(w->real);
    while (n && w->real[n - 1] == L'\\')
        n--;
    if (wcsncmp(real, w->real, n) != 0 || (real[n] && real[n] != L'\\'))
        hr = leads_out(w);
    memory_free(real);
    return hr;
}

/* Opens a folder and keeps it open. Other processes cannot delete it, so it cannot be replaced until it is closed. */
static HRESULT walk_hold_folder(struct walk *w, const char *folder)
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

/* Enters the folder, and creates it if it is missing and `make` is set. */
static HRESULT walk_enter_folder(struct walk *w, const char *folder, bool make)
{
    HRESULT hr = make ? folder_create(folder) : S_OK;
    if (SUCCEEDED(hr))
        hr = walk_hold_folder(w, folder);
    return SUCCEEDED(hr) ? check_below(w, w->held[w->count - 1]) : hr;
}

static HRESULT walk_begin(struct walk *w, const char *base, const char *path, const char **names)
{
    *w = (struct walk){.base = base, .path = path};
    *names = path_names_behind(base, path);
    const char *fault = *names ? path_names_fault(*names) : "it does not begin with the path of the base folder";
    if (fault)
        return error_set(E_INVALIDARG, "'%s' is not below '%s': %s", path, base, fault);
    char *folder = path_with_separator(base); /* "C:" alone is the current folder of that drive */
    HRESULT hr = folder ? walk_hold_folder(w, folder) : E_OUTOFMEMORY;
    memory_free(folder);
    return SUCCEEDED(hr) ? file_final_path(w->held[0], base, &w->real) : hr;
}

static void walk_end(struct walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        CloseHandle(w->held[i]);
    memory_free(w->held);
    memory_free(w->real);
}

/* Walks to the folder that contains the path's last component. If `whole` is set, also enters the folder that the last
   component names. */
static HRESULT walk_to_folder(struct walk *w, const char *base, const char *path, bool make, bool whole)
{
    const char *at;
    HRESULT hr = walk_begin(w, base, path, &at);
    while (SUCCEEDED(hr)) {
        size_t length = strcspn(at, "\\/");
        if (!at[length] && (!whole || !length))
            return S_OK;
        char *folder = length ? text_copy_n(path, (size_t)(at + length - path)) : NULL;
        if (length)
            hr = folder ? walk_enter_folder(w, folder, make) : E_OUTOFMEMORY;
        memory_free(folder);
        at += length + (at[length] != 0);
    }
    return hr;
}

HRESULT folder_create_below(const char *base, const char *path)
{
    struct walk w;
    HRESULT hr = walk_to_folder(&w, base, path, true, true);
    walk_end(&w);
    return hr;
}

/* Opens or creates the file that is the path's last component. Creating a file follows no link. The caller checks an
   existing file before it is changed. */
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
    return hr == missing ? leads_out(w) : hr; /* missing: the name is a link without a target */
}

static HRESULT check_file(const struct walk *w, HANDLE handle, enum file_mode mode)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "cannot open '%s': it is a device or a pipe", w->path);
    if (mode != FILE_READ && GetFileInformationByHandle(handle, &info) && info.nNumberOfLinks > 1)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                         "cannot open '%s': it has several hard links, and some may be outside '%s'", w->path, w->base);
    return check_below(w, handle);
}

HRESULT file_open_below(const char *base, const char *path, enum file_mode mode, struct file **out)
{
    struct walk w;
    HANDLE handle = INVALID_HANDLE_VALUE;
    struct file *f = NULL;
    bool made = false;
    *out = NULL;
    HRESULT hr = walk_to_folder(&w, base, path, false, false);
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
    walk_end(&w);
    return hr;
}

HRESULT file_delete_below(const char *base, const char *path)
{
    struct walk w;
    HRESULT hr = walk_to_folder(&w, base, path, false, false);
    if (SUCCEEDED(hr))
        hr = file_delete(path);
    walk_end(&w);
    return hr;
}

/* ---- times, attributes and identity: Wine shows a link of the host OS as its target ---- */

/* Attributes that a copy can get; all other attributes describe how the original is stored. */
#define KEPT_ATTRIBUTES (FILE_TRAIT_READ_ONLY | FILE_TRAIT_HIDDEN | FILE_TRAIT_SYSTEM | FILE_TRAIT_ARCHIVE)

static HRESULT check_kind(HANDLE handle, const char *path)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &info))
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot open '%s': it is a device or a pipe", path);
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
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "'%s' is a folder", path);
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

HRESULT file_set_traits(struct file *f, const struct file_traits *traits)
{
    /* 0 keeps the existing value. */
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
    BOOL is_known = GetFileInformationByHandle(handle, &info);
    code = GetLastError();
    WCHAR *real = NULL;
    hr = is_known ? file_final_path(handle, path, &real) : win32_failed(code, path);
    CloseHandle(handle);
    if (SUCCEEDED(hr) && !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_DIRECTORY), "'%s' is not a folder", path);
    /* Wine numbers the folders of all volumes of the host OS as if they were one volume. */
    if (SUCCEEDED(hr))
        *out = (struct folder_identity){.volume = info.dwVolumeSerialNumber,
                                        .number = hash_bytes(HASH_START, real, wcslen(real) * sizeof *real)};
    memory_free(real);
    return hr;
}
