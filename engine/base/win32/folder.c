/* SPDX-License-Identifier: MIT */
/* Lists, holds and watches folders on Windows, and lists drives. */
#include "engine/base/folder.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/base/win32/win32_call.h"

#include <stdlib.h>
#include <windows.h>
#include <string.h>
#include <wchar.h>

static HRESULT folder_read_attributes(const char *path, DWORD *attributes)
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
    return folder_read_attributes(path, &attributes);
}

bool file_exists(const char *path)
{
    DWORD attributes;
    return folder_read_attributes(path, &attributes) == S_OK && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

bool folder_exists(const char *path)
{
    DWORD attributes;
    return folder_read_attributes(path, &attributes) == S_OK && (attributes & FILE_ATTRIBUTE_DIRECTORY);
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
        return S_OK; /* another thread or process created it first */
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) || file_exists(path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                         "cannot create the folder '%s': a file with this name exists", path);
    return hr;
}

/* Creates the folder in the folder for temporary files, which belongs to the user. */
HRESULT folder_create_temporary(char **out)
{
    WCHAR folder[MAX_PATH + 1], wide[MAX_PATH + 1];
    *out = NULL;
    /* Creates an empty file with an unused name, and then a folder in its place. */
    if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"pla", 0, wide) || !DeleteFileW(wide) ||
        !CreateDirectoryW(wide, NULL))
        return win32_failed(GetLastError(), "the folder for temporary files");
    return text_from_utf16(wide, wcslen(wide), true, out);
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

/* Returns path\* in UTF-16, in the long form if necessary. */
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

static HRESULT folder_find_each(const char *path, HRESULT (*each)(void *user, const WIN32_FIND_DATAW *entry),
                                void *user)
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
        code = ERROR_NO_MORE_FILES; /* the result for the root of an empty disk */
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
    bool files, folders;
    struct texts found;
};

static HRESULT add_entry(void *user, const WIN32_FIND_DATAW *entry)
{
    struct names *names = user;
    bool is_folder = (entry->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    char *name;
    if (!(is_folder ? names->folders : names->files) || !wcscmp(entry->cFileName, L".") ||
        !wcscmp(entry->cFileName, L".."))
        return S_OK;
    HRESULT hr = text_from_utf16(entry->cFileName, wcslen(entry->cFileName), true, &name);
    if (SUCCEEDED(hr))
        hr = texts_add(&names->found, name);
    memory_free(name);
    return hr;
}

static HRESULT names_list(const char *path, struct names list, struct texts *names)
{
    HRESULT hr = folder_find_each(path, add_entry, &list);
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

HRESULT folder_list(const char *path, bool folders, struct texts *names)
{
    return names_list(path, (struct names){.files = !folders, .folders = folders}, names);
}

HRESULT folder_list_all(const char *path, struct texts *names)
{
    return names_list(path, (struct names){.files = true, .folders = true}, names);
}

struct each_file {
    HRESULT (*each)(void *user, const struct file_entry *file);
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
        &(struct file_entry){name, stamp, (int64_t)((uint64_t)written->dwHighDateTime << 32 | written->dwLowDateTime)});
    memory_free(name);
    return hr;
}

HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct file_entry *file), void *user)
{
    return folder_find_each(path, give_file, &(struct each_file){each, user});
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

/* ---- drives ----
   Listing the drives takes some hundred calls to Wine's server. Wine stores the drive letters as links in a folder, and
   reading this folder's time of last change takes no such call. The list is therefore kept until that time changes, but
   for at most a minute, because the types of the drives are stored elsewhere. */

enum { DRIVES_AGAIN_MS = 60000 };

struct drive_list {
    FILETIME written; /* the folder's last change before the list was read */
    uint64_t listed;  /* clock_monotonic_ms(); 0: the list must not be used again */
    size_t count;
    struct drive drives[DRIVES_MOST];
};
static struct lock drives_lock = LOCK_INIT;
static struct drive_list kept_drives;

/* Reads the time of the last change of the prefix's folder "dosdevices". Wine passes the prefix's path to programs as
   "\??\unix\...". */
static bool letters_written(FILETIME *written)
{
    static const WCHAR folder[] = L"\\dosdevices";
    WCHAR path[MAX_PATH + sizeof folder / sizeof *folder];
    WIN32_FILE_ATTRIBUTE_DATA data;
    const DWORD length = os_is_wine() ? GetEnvironmentVariableW(L"WINECONFIGDIR", path, MAX_PATH) : 0;
    if (length < 4 || length >= MAX_PATH || wcsncmp(path, L"\\??\\", 4) != 0)
        return false;
    path[1] = L'\\'; /* "\\?\" */
    wcscpy(path + length, folder);
    const bool found = GetFileAttributesExW(path, GetFileExInfoStandard, &data);
    *written = data.ftLastWriteTime;
    return found;
}

/* False: the folder has changed so recently that the next change can have the same time. */
static bool is_some_time_ago(const FILETIME *written)
{
    return clock_utc() - (int64_t)((uint64_t)written->dwHighDateTime << 32 | written->dwLowDateTime) > 20000000;
}

static size_t drives_find(struct drive drives[DRIVES_MOST])
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

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    FILETIME written = {0};
    const bool known = letters_written(&written);
    const uint64_t now = clock_monotonic_ms();
    lock_enter(&drives_lock);
    struct drive_list list = kept_drives;
    lock_leave(&drives_lock);
    if (!known || !list.listed || CompareFileTime(&written, &list.written) != 0 ||
        clock_passed_ms(list.listed, now) >= DRIVES_AGAIN_MS) {
        list.count = drives_find(list.drives);
        list.written = written;
        list.listed = known && is_some_time_ago(&written) ? now : 0;
        lock_enter(&drives_lock);
        kept_drives = list;
        lock_leave(&drives_lock);
    }
    memcpy(drives, list.drives, list.count * sizeof *drives);
    return list.count;
}

bool drive_is_remote(char letter)
{
    WCHAR root[4];
    root_of(letter, root);
    return GetDriveTypeW(root) == DRIVE_REMOTE;
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

/* ---- open folders ----
   The folders are kept open so that they cannot be renamed, and their final path is queried. Before an entry is
   deleted, it is opened and its final path is queried too, because Wine follows links of the host OS regardless of the
   flags. */

struct held_folder {
    HANDLE handle;
    WCHAR *real;                /* the folder's final path */
    struct held_folder *parent; /* parent folder, owned; NULL: the caller keeps it open */
    char path[];
};

static HRESULT is_a_link(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "'%s' is a link or a device", path);
}

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* Checks that the opened object is in the folder under this name. */
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

/* Opens the folder. Takes ownership of `path`. If `in` is NULL, links are followed. */
static HRESULT held_folder_take(const struct held_folder *in, const char *name, char *path, struct held_folder **out)
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
        return error_set(E_INVALIDARG, "invalid folder name '%s' in '%s'", name, f->path);
    return held_folder_take(f, name, path_join(f->path, name), out);
}

HRESULT held_folder_open(const char *base, const char *names, struct held_folder **out)
{
    const char *fault = *names ? path_names_fault(names) : NULL;
    struct held_folder *f = NULL;
    *out = NULL;
    if (fault)
        return error_set(E_INVALIDARG, "'%s' is not below '%s': %s", names, base, fault);
    HRESULT hr = held_folder_take(NULL, "", path_with_separator(base), &f);
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

static HRESULT held_folder_report_entry(const WIN32_FIND_DATAW *found,
                                        HRESULT (*each)(void *user, const struct held_entry *entry), void *user)
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
        hr = held_folder_report_entry(&found, each, user);
    while (SUCCEEDED(hr) && FindNextFileW(search, &found));
    code = GetLastError();
    FindClose(search);
    return SUCCEEDED(hr) && code != ERROR_NO_MORE_FILES ? win32_failed(code, f->path) : hr;
}

/* *path from memory_alloc. */
static HRESULT held_folder_begin_operation(struct held_folder *f, const char *name, enum file_operation operation,
                                           char **path)
{
    *path = NULL;
    if (!*name || strpbrk(name, "\\/:"))
        return error_set(E_INVALIDARG, "invalid name '%s' in '%s'", name, f->path);
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
    HRESULT hr =
        held_folder_begin_operation(f, name, mode == FILE_READ ? FILE_OPERATION_OPEN : FILE_OPERATION_CREATE, &path);
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
    HRESULT hr = target ? held_folder_begin_operation(f, from, FILE_OPERATION_OPEN, &source) : E_OUTOFMEMORY;
    if (target && SUCCEEDED(hr))
        hr = file_rename_new(source, target);
    if (target)
        memory_free(source);
    memory_free(target);
    return hr;
}

/* Deletes through a handle, after checking what the handle refers to. */
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
    HRESULT hr = held_folder_begin_operation(f, name, operation, &path);
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

/* ---- watched folders: a change notification, and an event that wakes the waiting thread ---- */

struct folder_watch {
    HANDLE handles[1 + FOLDERS_WATCHED]; /* the event that wakes the thread, then one per folder */
    char *paths[1 + FOLDERS_WATCHED];    /* paths[i] is the folder of handles[i] */
    DWORD count;
};

HRESULT folder_watch_open(const char *path, struct folder_watch **out)
{
    struct folder_watch *w = memory_zero(1, sizeof(*w));
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->handles[0] = CreateEventW(NULL, FALSE, FALSE, NULL);
    HRESULT hr = w->handles[0] ? S_OK : win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr)) {
        w->count = 1;
        hr = folder_watch_add(w, path);
    }
    if (FAILED(hr)) {
        folder_watch_close(w);
        return hr;
    }
    *out = w;
    return S_OK;
}

HRESULT folder_watch_add(struct folder_watch *w, const char *path)
{
    HANDLE change = INVALID_HANDLE_VALUE;
    WCHAR *wide = NULL;
    char *copy = text_copy(path);
    HRESULT hr =
        w->count <= FOLDERS_WATCHED
            ? win32_path(path, &wide)
            : error_set(E_INVALIDARG, "cannot watch '%s': %d folders are already watched", path, FOLDERS_WATCHED);
    if (SUCCEEDED(hr) && !copy)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        change = FindFirstChangeNotificationW(
            wide, FALSE, FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_SIZE | FILE_NOTIFY_CHANGE_LAST_WRITE);
    if (SUCCEEDED(hr) && change == INVALID_HANDLE_VALUE)
        hr = win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr)) {
        w->handles[w->count] = change;
        w->paths[w->count++] = copy;
    } else {
        memory_free(copy);
    }
    memory_free(wide);
    return hr;
}

HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms)
{
    DWORD which = WaitForMultipleObjects(w->count, w->handles, FALSE, timeout_ms);
    if (which == WAIT_OBJECT_0)
        return S_OK;
    if (which == WAIT_TIMEOUT)
        return S_FALSE;
    if (which > WAIT_OBJECT_0 + FOLDERS_WATCHED)
        return win32_failed(GetLastError(), w->paths[1]);
    return FindNextChangeNotification(w->handles[which - WAIT_OBJECT_0])
               ? S_OK
               : win32_failed(GetLastError(), w->paths[which - WAIT_OBJECT_0]);
}

void folder_watch_wake(struct folder_watch *w)
{
    SetEvent(w->handles[0]);
}

void folder_watch_close(struct folder_watch *w)
{
    if (!w)
        return;
    for (DWORD i = 1; i < w->count; i++) {
        FindCloseChangeNotification(w->handles[i]);
        memory_free(w->paths[i]);
    }
    if (w->handles[0])
        CloseHandle(w->handles[0]);
    memory_free(w);
}
