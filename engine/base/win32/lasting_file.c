/* SPDX-License-Identifier: MIT */
/* Sections in files, for Wine. All views of a file are the same memory, regardless of how the file was opened. Opening
   a file by its name follows links under Wine and creates their targets, so no file is located where another account
   could create a link.

   The files of this Wine prefix's lasting sections are in one folder: in memory (/dev/shm) if the host OS has it,
   otherwise among the prefix's temporary files. Every account of the host OS can create files and links in /dev/shm
   under any name that it can guess, and Wine follows the links. Therefore the folder's name has 128 random bits, and
   only this account can enter it (mode 0700). The file windows\openpla.shared of the prefix records the folder. The
   file contains the prefix (a copy of a prefix is a different prefix), the folder's name, and its inode number. The
   inode number is needed because, after a restart of the host OS, the name can belong to another folder or to a link. A
   folder that no longer exists, or differs from the record, is replaced by a new one with a new name.

   A prefix that is deleted leaves its folder behind. Another prefix can find and delete such a folder (sections_sweep):
   the file "prefix" in the folder repeats the record, and names the Windows folder of the prefix that owns the
   folder. */
#include "engine/base/file.h"
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>

enum { LASTING_PATH_UNITS = 512 };
/* Creates the folder if it does not exist. Each call checks it. */
static HRESULT lasting_folder(WCHAR out[LASTING_PATH_UNITS]);
/* Checks that an object opened for READ_CONTROL belongs to this account. Fails with E_ACCESSDENIED if another account
   owns the object; the error text names both accounts. */
static HRESULT lasting_check_own(HANDLE file, const char *name);

#define FILL_BYTES (256u << 10)
/* Only the owner may read, write and delete the file. Wine converts this descriptor to mode 0600. The account that
   creates the file owns it; if the descriptor named an owner that is in the token, Wine would also grant the owner's
   rights to the Unix group. */
#define OWN_RIGHTS "O:SYD:P(A;;0x13019f;;;SY)"

static HRESULT file_name(const char *name, WCHAR out[LASTING_PATH_UNITS])
{
    WCHAR folder[LASTING_PATH_UNITS], *wide;
    HRESULT hr = lasting_folder(folder);
    if (SUCCEEDED(hr))
        hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    const int n = _snwprintf(out, LASTING_PATH_UNITS, L"%ls\\%ls", folder, wide);
    memory_free(wide);
    return n > 0 && n < LASTING_PATH_UNITS ? S_OK : win32_failed(ERROR_FILENAME_EXCED_RANGE, name);
}

/* Writes the bytes so that their space is allocated. Otherwise, if the disk is full, the first use of a page would
   terminate the process. */
static HRESULT lasting_file_fill(HANDLE file, uint64_t size, bool create, const char *name)
{
    LARGE_INTEGER at, zero = {.QuadPart = 0};
    DWORD done = FILL_BYTES;
    if (!GetFileSizeEx(file, &at))
        return win32_failed(GetLastError(), name);
    if ((uint64_t)at.QuadPart >= size)
        return S_OK;
    if (!create)
        return error_set(E_INVALIDARG, "'%s' has %lld bytes, not %llu", name, (long long)at.QuadPart,
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
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' is another's", what->name);
    return win32_failed(code, what->name);
}

/* Returns the inode number, which a mapped file keeps after it is deleted. */
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
    WCHAR path[LASTING_PATH_UNITS];
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

HRESULT lasting_mapping(const struct shared *what, uint64_t size, HANDLE *out, HANDLE *of, uint64_t *number)
{
    WCHAR path[LASTING_PATH_UNITS];
    HANDLE file = INVALID_HANDLE_VALUE;
    HRESULT hr = file_name(what->name, path);
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = open_file(what, path, &file);
    if (SUCCEEDED(hr)) {
        hr = lasting_check_own(file, what->name);
        if (SUCCEEDED(hr))
            hr = lasting_file_fill(file, size, what->create, what->name);
        if (SUCCEEDED(hr))
            hr = number_of(file, what->name, number);
        if (SUCCEEDED(hr)) {
            *out = CreateFileMappingW(file, NULL, PAGE_READWRITE, (DWORD)(size >> 32), (DWORD)size, NULL);
            if (!*out)
                hr = win32_failed(GetLastError(), what->name);
        }
        if (SUCCEEDED(hr))
            *of = file;
        else
            CloseHandle(file);
        if (FAILED(hr) && what->fresh)
            DeleteFileW(path);
    }
    return hr;
}

HRESULT section_delete(const char *name)
{
    WCHAR path[LASTING_PATH_UNITS];
    if (!os_is_wine())
        return S_FALSE;
    HRESULT hr = file_name(name, path);
    if (FAILED(hr) || DeleteFileW(path))
        return hr;
    return GetLastError() == ERROR_FILE_NOT_FOUND ? S_FALSE : win32_failed(GetLastError(), name);
}

#define IN_MEMORY  L"\\\\?\\unix\\dev\\shm"
#define MUTEX      "openpla-folder"
/* Grants access only to the owner: Wine converts this descriptor to mode 0700. */
#define OWN_FOLDER "O:SYD:P(A;;FA;;;SY)"

enum { RECORD_BYTES = 128, KNOWN_OF = 16 /* digits of a 64-bit number */ };

/* The record in the prefix's file. */
struct record {
    uint64_t prefix; /* prefix_hash */
    char key[SHARED_KEY_DIGITS + 1];
    uint64_t number; /* inode number of the folder */
};

struct places {
    WCHAR windows[MAX_PATH];
    char *record; /* the path of the prefix's file; from memory_alloc */
    uint64_t prefix;
};

typedef char *(CDECL *unix_name_fn)(const WCHAR *path);

/* Looks up the function only once, because the lookup takes the loader lock and callers hold locks. NULL: not found. */
static unix_name_fn find_unix_name(void)
{
    static _Atomic(unix_name_fn) known;
    unix_name_fn found = atomic_load(&known);
    if (!found) {
        const FARPROC function = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
        memcpy(&found, &function, sizeof found);
        atomic_store(&known, found);
    }
    return found;
}

/* Hashes the host OS's path of the prefix. Wine rejects a prefix of another account, so this path identifies prefix and
   account. */
static uint64_t prefix_hash(const WCHAR *windows)
{
    const unix_name_fn unix_name = find_unix_name();
    char *name = unix_name ? unix_name(windows) : NULL;
    const uint64_t hash = name ? hash_text(HASH_START, name) : 0;
    HeapFree(GetProcessHeap(), 0, name);
    return hash;
}

static HRESULT find_places(struct places *p)
{
    const UINT length = GetWindowsDirectoryW(p->windows, MAX_PATH);
    char *windows = NULL;
    p->record = NULL;
    if (!length || length >= MAX_PATH)
        return win32_failed(GetLastError(), "Windows folder");
    HRESULT hr = text_from_utf16(p->windows, length, true, &windows);
    if (FAILED(hr))
        return hr;
    p->record = path_join(windows, "openpla.shared");
    p->prefix = prefix_hash(p->windows);
    memory_free(windows);
    return p->record ? S_OK : E_OUTOFMEMORY;
}

static HRESULT folder_path(const struct places *p, const char *key, WCHAR out[LASTING_PATH_UNITS])
{
    const DWORD shm = GetFileAttributesW(IN_MEMORY);
    const bool in_memory = shm != INVALID_FILE_ATTRIBUTES && (shm & FILE_ATTRIBUTE_DIRECTORY);
    const int n =
        _snwprintf(out, LASTING_PATH_UNITS, L"%ls%ls\\openpla-%08x%08x-%hs", in_memory ? IN_MEMORY : p->windows,
                   in_memory ? L"" : L"\\temp", (unsigned)(p->prefix >> 32), (unsigned)p->prefix, key);
    return n > 0 && n < LASTING_PATH_UNITS ? S_OK
                                           : win32_failed(ERROR_FILENAME_EXCED_RANGE, "folder for shared sections");
}

/* ---- the folder itself ---- */

static HRESULT lasting_check_own(HANDLE file, const char *name)
{
    BYTE room[SECURITY_DESCRIPTOR_MIN_LENGTH + 1024];
    SECURITY_DESCRIPTOR *descriptor = (void *)room;
    DWORD size;
    PSID owner = NULL;
    BOOL defaulted;
    WCHAR *text = NULL;
    char *sid = NULL, *own = process_own_sid();
    if (!own)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    if (!GetKernelObjectSecurity(file, OWNER_SECURITY_INFORMATION, descriptor, sizeof room, &size) ||
        !GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) || !owner || !ConvertSidToStringSidW(owner, &text))
        hr = win32_failed(GetLastError(), name);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(text, wcslen(text), true, &sid);
    if (SUCCEEDED(hr) && strcmp(sid, own) != 0)
        hr = error_set(E_ACCESSDENIED, "'%s' belongs to the account %s, not to %s", name, sid, own);
    LocalFree(text);
    memory_free(sid);
    memory_free(own);
    return hr;
}

/* Whether other accounts may enter the folder. Wine represents the mode bits for others as an entry for Everyone. */
static bool others_may_enter(HANDLE folder)
{
    BYTE room[SECURITY_DESCRIPTOR_MIN_LENGTH + 1024];
    DWORD size;
    PACL list = NULL;
    BOOL present, defaulted;
    if (!GetKernelObjectSecurity(folder, DACL_SECURITY_INFORMATION, (void *)room, sizeof room, &size) ||
        !GetSecurityDescriptorDacl((void *)room, &present, &list, &defaulted) || !present || !list)
        return true;
    for (DWORD i = 0; i < list->AceCount; i++) {
        ACCESS_ALLOWED_ACE *entry;
        if (!GetAce(list, i, (void **)&entry) ||
            (entry->Header.AceType == ACCESS_ALLOWED_ACE_TYPE && IsWellKnownSid((PSID)&entry->SidStart, WinWorldSid)))
            return true;
    }
    return false;
}

/* S_OK: the path is a folder that only this account can access, with that inode number. S_FALSE: it is not.
   E_OUTOFMEMORY: the function could not check the folder, so the caller must not replace the folder. */
static HRESULT find_own_folder(const WCHAR *path, uint64_t *number)
{
    BY_HANDLE_FILE_INFORMATION about;
    *number = 0;
    const HANDLE folder =
        CreateFileW(path, READ_CONTROL | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (folder == INVALID_HANDLE_VALUE)
        return S_FALSE;
    HRESULT hr = GetFileInformationByHandle(folder, &about) && (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
                         !others_may_enter(folder)
                     ? lasting_check_own(folder, "folder for shared sections")
                     : S_FALSE;
    CloseHandle(folder);
    if (hr == S_OK)
        *number = (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow;
    return hr == S_OK || hr == E_OUTOFMEMORY ? hr : S_FALSE;
}

/* ---- the prefix's file ---- */

static bool is_key(const char *key)
{
    return strspn(key, "0123456789abcdef") == SHARED_KEY_DIGITS && key[SHARED_KEY_DIGITS] == 0;
}

/* S_FALSE: the record is missing or cannot be used. Fails with E_OUTOFMEMORY. */
static HRESULT read_record(const char *path, struct record *out)
{
    char *text, *end;
    size_t size;
    const HRESULT hr = file_load_trusted(path, RECORD_BYTES, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    bool good = size > KNOWN_OF + 1 + SHARED_KEY_DIGITS + 1 && text[KNOWN_OF] == ' ' &&
                text[KNOWN_OF + 1 + SHARED_KEY_DIGITS] == ' ';
    if (good) {
        out->prefix = strtoull(text, NULL, 16);
        memcpy(out->key, text + KNOWN_OF + 1, SHARED_KEY_DIGITS);
        out->key[SHARED_KEY_DIGITS] = 0;
        out->number = strtoull(text + KNOWN_OF + 1 + SHARED_KEY_DIGITS + 1, &end, 10);
        good = is_key(out->key) && strcmp(end, "\n") == 0;
    }
    memory_free(text);
    return good ? S_OK : S_FALSE;
}

static int record_text(const struct record *r, char out[RECORD_BYTES])
{
    return snprintf(out, RECORD_BYTES, "%08x%08x %s %llu\n", (unsigned)(r->prefix >> 32), (unsigned)r->prefix, r->key,
                    (unsigned long long)r->number);
}

static HRESULT write_record(const char *path, const struct record *r)
{
    char text[RECORD_BYTES];
    const int n = record_text(r, text);
    return file_store(path, text, (size_t)n);
}

/* ---- the folder together with the prefix's file ---- */

#define OWNER_FILE L"prefix"

enum { OWNER_BYTES = 4096 };

/* In the prefix's folder, writes the file "prefix", which names the prefix. Without this file, nobody deletes the
   folder. */
static void write_owner(const struct places *p, const struct record *r, const WCHAR *folder)
{
    WCHAR path[LASTING_PATH_UNITS];
    char text[OWNER_BYTES], record[RECORD_BYTES];
    SECURITY_ATTRIBUTES attributes;
    const unix_name_fn unix_name = find_unix_name();
    char *windows = unix_name ? unix_name(p->windows) : NULL;
    (void)record_text(r, record);
    const int size = windows ? snprintf(text, sizeof text, "%s%s\n", record, windows) : 0;
    HeapFree(GetProcessHeap(), 0, windows);
    const int length = _snwprintf(path, LASTING_PATH_UNITS, L"%ls\\%ls", folder, OWNER_FILE);
    if (size <= 0 || size >= (int)sizeof text || length <= 0 || length >= LASTING_PATH_UNITS ||
        FAILED(win32_security(OWN_RIGHTS, &attributes)))
        return;
    DWORD done = 0;
    const HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, &attributes, CREATE_NEW, 0, NULL);
    if (file != INVALID_HANDLE_VALUE) {
        (void)WriteFile(file, text, (DWORD)size, &done, NULL);
        CloseHandle(file);
    }
    LocalFree(attributes.lpSecurityDescriptor);
}

static HRESULT make_folder(const struct places *p, WCHAR path[LASTING_PATH_UNITS], uint64_t *number)
{
    struct record r = {.prefix = p->prefix};
    SECURITY_ATTRIBUTES attributes;
    HRESULT hr = shared_new_key(r.key);
    if (SUCCEEDED(hr))
        hr = folder_path(p, r.key, path);
    if (SUCCEEDED(hr))
        hr = win32_security(OWN_FOLDER, &attributes);
    if (FAILED(hr))
        return hr;
    if (!CreateDirectoryW(path, &attributes))
        hr = win32_failed(GetLastError(), "folder for shared sections");
    LocalFree(attributes.lpSecurityDescriptor);
    if (SUCCEEDED(hr)) {
        hr = find_own_folder(path, &r.number);
        if (hr == S_FALSE)
            hr = error_set(E_ACCESSDENIED, "the folder for shared sections is accessible to other accounts");
        if (SUCCEEDED(hr))
            hr = write_record(p->record, &r);
        if (FAILED(hr)) {
            RemoveDirectoryW(path); /* nothing refers to the folder, and each call would leave another one behind */
        } else {
            write_owner(p, &r, path);
            sections_sweep();
        }
    }
    *number = r.number;
    return hr;
}

/* The caller must hold the mutex. */
static HRESULT find_or_make(const struct places *p, WCHAR path[LASTING_PATH_UNITS], uint64_t *number)
{
    struct record r;
    HRESULT hr = read_record(p->record, &r);
    if (hr == S_OK)
        hr = r.prefix == p->prefix && SUCCEEDED(folder_path(p, r.key, path)) ? find_own_folder(path, number) : S_FALSE;
    if (FAILED(hr) || (hr == S_OK && *number == r.number))
        return hr;
    error_clear();
    return make_folder(p, path, number);
}

static HRESULT look_up(WCHAR path[LASTING_PATH_UNITS], uint64_t *number)
{
    struct places p;
    struct mutex *mutex;
    HRESULT hr = find_places(&p);
    if (SUCCEEDED(hr))
        hr = mutex_open(MUTEX, &mutex);
    if (SUCCEEDED(hr)) {
        hr = mutex_take(mutex, UINT32_MAX);
        if (SUCCEEDED(hr)) {
            hr = find_or_make(&p, path, number);
            mutex_release(mutex);
        }
        mutex_close(mutex);
    }
    memory_free(p.record);
    return hr;
}

static HRESULT lasting_folder(WCHAR out[LASTING_PATH_UNITS])
{
    static struct lock lock = LOCK_INIT;
    static WCHAR known[LASTING_PATH_UNITS];
    static uint64_t known_number;
    uint64_t number = 0;
    lock_enter(&lock);
    HRESULT hr = known[0] ? find_own_folder(known, &number) : S_FALSE;
    if (hr == S_FALSE || (hr == S_OK && number != known_number)) {
        hr = look_up(known, &known_number);
        if (FAILED(hr))
            known[0] = 0;
    }
    if (SUCCEEDED(hr))
        wcscpy(out, known);
    lock_leave(&lock);
    return hr;
}

HRESULT section_folder(char **out)
{
    WCHAR path[LASTING_PATH_UNITS];
    *out = NULL;
    if (!os_is_wine())
        return S_FALSE;
    HRESULT hr = lasting_folder(path);
    return SUCCEEDED(hr) ? text_from_utf16(path, wcslen(path), true, out) : hr;
}

/* ---- folders of prefixes that no longer exist ---- */

/* Reads at most `room` - 1 bytes; false: the file cannot be read. */
static bool read_small(const WCHAR *path, char *out, size_t room)
{
    DWORD done = 0;
    const HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    const bool is_read = ReadFile(file, out, (DWORD)room - 1, &done, NULL);
    CloseHandle(file);
    out[is_read ? done : 0] = 0;
    return is_read;
}

static bool is_missing(const WCHAR *folder)
{
    if (GetFileAttributesW(folder) != INVALID_FILE_ATTRIBUTES)
        return false;
    const DWORD code = GetLastError();
    return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
}

/* Whether the prefix that owns the folder was deleted, or has another folder now. `owner` is the text of
   write_owner. */
static bool is_abandoned(const char *folder_name, uint64_t number, char *owner)
{
    WCHAR path[OWNER_BYTES];
    char record[RECORD_BYTES], expected[RECORD_BYTES];
    char *windows = strchr(owner, '\n'), *end = windows ? strchr(windows + 1, '\n') : NULL;
    if (!end || end[1] || windows[1] != '/' || windows - owner >= RECORD_BYTES)
        return false;
    *end = 0;
    /* The text must have been written for this folder. */
    const int n = snprintf(expected, sizeof expected, "openpla-%.16s-%.32s", owner, owner + KNOWN_OF + 1);
    if (n < 0 || strcmp(expected, folder_name) != 0 ||
        strtoull(owner + KNOWN_OF + 1 + SHARED_KEY_DIGITS + 1, NULL, 10) != number)
        return false;
    WCHAR *wide;
    if (FAILED(text_to_utf16(windows + 1, &wide, NULL)))
        return false;
    for (WCHAR *c = wide; *c; c++)
        if (*c == L'/')
            *c = L'\\';
    int length = _snwprintf(path, OWNER_BYTES, L"\\\\?\\unix%ls", wide);
    const bool is_gone = length > 0 && length < OWNER_BYTES && is_missing(path);
    length = _snwprintf(path, OWNER_BYTES, L"\\\\?\\unix%ls\\openpla.shared", wide);
    memory_free(wide);
    if (is_gone || length <= 0 || length >= OWNER_BYTES || !read_small(path, record, sizeof record))
        return is_gone;
    return strlen(record) > KNOWN_OF + 1 + SHARED_KEY_DIGITS &&
           strncmp(record, owner, KNOWN_OF + 1 + SHARED_KEY_DIGITS) != 0;
}

static void delete_lasting_folder(const WCHAR *folder)
{
    WCHAR path[LASTING_PATH_UNITS];
    WIN32_FIND_DATAW found;
    int length = _snwprintf(path, LASTING_PATH_UNITS, L"%ls\\*", folder);
    const HANDLE list = length > 0 && length < LASTING_PATH_UNITS ? FindFirstFileW(path, &found) : INVALID_HANDLE_VALUE;
    if (list == INVALID_HANDLE_VALUE)
        return;
    do {
        length = _snwprintf(path, LASTING_PATH_UNITS, L"%ls\\%ls", folder, found.cFileName);
        if (length > 0 && length < LASTING_PATH_UNITS && !(found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
            DeleteFileW(path);
    } while (FindNextFileW(list, &found));
    FindClose(list);
    RemoveDirectoryW(folder);
}

/* `name` comes from a folder in which every account can create files and links. */
static void sweep_one(const WCHAR *name)
{
    WCHAR folder[LASTING_PATH_UNITS], path[LASTING_PATH_UNITS];
    char owner[OWNER_BYTES], *text;
    uint64_t number;
    const int length = _snwprintf(folder, LASTING_PATH_UNITS, L"%ls\\%ls", IN_MEMORY, name);
    if (length <= 0 || length >= LASTING_PATH_UNITS || find_own_folder(folder, &number) != S_OK ||
        FAILED(text_from_utf16(name, wcslen(name), true, &text)))
        return;
    const int file = _snwprintf(path, LASTING_PATH_UNITS, L"%ls\\%ls", folder, OWNER_FILE);
    if (file > 0 && file < LASTING_PATH_UNITS && read_small(path, owner, sizeof owner) &&
        is_abandoned(text, number, owner))
        delete_lasting_folder(folder);
    memory_free(text);
}

void sections_sweep(void)
{
    WIN32_FIND_DATAW found;
    if (!os_is_wine())
        return;
    const HANDLE list = FindFirstFileW(IN_MEMORY L"\\openpla-*-*", &found);
    if (list == INVALID_HANDLE_VALUE)
        return;
    do
        if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            sweep_one(found.cFileName);
    while (FindNextFileW(list, &found));
    FindClose(list);
    error_clear();
}

/* Under Wine, accessing a mapped file after its end raises an access violation; on Windows a mapped file cannot be
   truncated. OpenPLA's handler runs before the program's handlers, because these may treat such an exception as a
   crash. */

enum { FUTILE_MOST = 1000 }; /* more than the number of threads that access a truncated file at the same time */

static bool has_room_again(struct mapped_file *m)
{
    const HANDLE file = (HANDLE)atomic_load(&m->file);
    const LONGLONG size = (LONGLONG)atomic_load(&m->size);
    LARGE_INTEGER now;
    if (!GetFileSizeEx(file, &now))
        return false;
    if (now.QuadPart >= size) /* another thread extended the file first, or memory is full and no page is available */
        return atomic_fetch_add(&m->futile, 1) < FUTILE_MOST;
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = size};
    atomic_store(&m->futile, 0);
    return SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof end);
}

static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception)
{
    const EXCEPTION_RECORD *record = exception->ExceptionRecord;
    if ((record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION && record->ExceptionCode != EXCEPTION_IN_PAGE_ERROR) ||
        record->NumberParameters < 2)
        return EXCEPTION_CONTINUE_SEARCH;
    struct mapped_file *m = mapped_file_at(record->ExceptionInformation[1]);
    const DWORD last = GetLastError();
    const bool goes_on = m && has_room_again(m);
    SetLastError(last);
    return goes_on ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

HRESULT mapped_file_watch(void)
{
    static struct lock lock = LOCK_INIT;
    static void *handler;
    module_pin(); /* the handler is never removed, so its code must stay loaded */
    lock_enter(&lock);
    if (!handler)
        handler = AddVectoredExceptionHandler(1, on_exception);
    const bool watches = handler != NULL;
    lock_leave(&lock);
    return watches ? S_OK : win32_failed(ERROR_NOT_ENOUGH_MEMORY, "installing an exception handler");
}
