/* SPDX-License-Identifier: MIT */
#include "engine/base/win32/lasting_folder.h"

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/win32/security.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>

#define IN_MEMORY  L"\\\\?\\unix\\dev\\shm"
#define MUTEX      "openpla-folder"
/* For the owner alone: Wine makes the mode 0700 of it. */
#define OWN_FOLDER "O:SYD:P(A;;FA;;;SY)"

enum { RECORD_BYTES = 128, KNOWN_OF = 16 /* digits of a 64-bit number */ };

/* What the prefix's file says. */
struct record {
    uint64_t prefix; /* prefix_hash */
    char key[SHARED_KEY_DIGITS + 1];
    uint64_t number; /* of the folder on the host */
};

struct places {
    WCHAR windows[MAX_PATH];
    char *record; /* the path of the prefix's file; from memory_alloc */
    uint64_t prefix;
};

/* Wine refuses a prefix that is another account's, so where its files lie on the host tells both apart. */
static uint64_t prefix_hash(const WCHAR *windows)
{
    FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
    char *(CDECL * unix_name)(const WCHAR *path);
    memcpy(&unix_name, &found, sizeof unix_name);
    char *name = found ? unix_name(windows) : NULL;
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
        return win32_failed(GetLastError(), "folder of Windows");
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
    return n > 0 && n < LASTING_PATH_UNITS ? S_OK : win32_failed(ERROR_FILENAME_EXCED_RANGE, "folder of sections");
}

/* ---- the folder itself ---- */

HRESULT lasting_check_own(HANDLE file, const char *name)
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
        hr = error_set(E_ACCESSDENIED, "\"%s\": belongs to the account %s, not to %s", name, sid, own);
    LocalFree(text);
    memory_free(sid);
    memory_free(own);
    return hr;
}

/* Wine shows what mode bits give others as an entry for everybody. */
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

/* Whether the path leads to a folder of this account alone, and its number. */
static bool is_own_folder(const WCHAR *path, uint64_t *number)
{
    BY_HANDLE_FILE_INFORMATION about;
    const HANDLE folder =
        CreateFileW(path, READ_CONTROL | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (folder == INVALID_HANDLE_VALUE)
        return false;
    const bool own = GetFileInformationByHandle(folder, &about) &&
                     (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
                     SUCCEEDED(lasting_check_own(folder, "folder of sections")) && !others_may_enter(folder);
    CloseHandle(folder);
    *number = own ? (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow : 0;
    return own;
}

/* ---- the prefix's file ---- */

static bool is_key(const char *key)
{
    return strspn(key, "0123456789abcdef") == SHARED_KEY_DIGITS && key[SHARED_KEY_DIGITS] == 0;
}

static bool read_record(const char *path, struct record *out)
{
    char *text, *end;
    size_t size;
    if (FAILED(file_load_trusted(path, RECORD_BYTES, &text, &size)))
        return false;
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
    return good;
}

static HRESULT write_record(const char *path, const struct record *r)
{
    char text[RECORD_BYTES];
    const int n = snprintf(text, sizeof text, "%08x%08x %s %llu\n", (unsigned)(r->prefix >> 32), (unsigned)r->prefix,
                           r->key, (unsigned long long)r->number);
    return file_store(path, text, (size_t)n);
}

/* ---- both ---- */

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
        hr = win32_failed(GetLastError(), "folder of sections");
    LocalFree(attributes.lpSecurityDescriptor);
    if (SUCCEEDED(hr) && !is_own_folder(path, &r.number)) {
        hr = error_set(E_ACCESSDENIED, "folder of sections: it is not this account's alone");
        RemoveDirectoryW(path);
    }
    if (SUCCEEDED(hr))
        hr = write_record(p->record, &r);
    *number = r.number;
    return hr;
}

/* Under the mutex. */
static HRESULT find_or_make(const struct places *p, WCHAR path[LASTING_PATH_UNITS], uint64_t *number)
{
    struct record r;
    if (read_record(p->record, &r) && r.prefix == p->prefix && SUCCEEDED(folder_path(p, r.key, path)) &&
        is_own_folder(path, number) && *number == r.number)
        return S_OK;
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
            mutex_give(mutex);
        }
        mutex_close(mutex);
    }
    memory_free(p.record);
    return hr;
}

HRESULT lasting_folder(WCHAR out[LASTING_PATH_UNITS])
{
    static struct host_lock lock = HOST_LOCK_INIT;
    static WCHAR known[LASTING_PATH_UNITS];
    static uint64_t known_number;
    uint64_t number;
    HRESULT hr = S_OK;
    host_lock_enter(&lock);
    if (!known[0] || !is_own_folder(known, &number) || number != known_number)
        hr = look_up(known, &known_number);
    if (SUCCEEDED(hr))
        wcscpy(out, known);
    else
        known[0] = 0;
    host_lock_leave(&lock);
    return hr;
}

HRESULT section_folder(char **out)
{
    WCHAR path[LASTING_PATH_UNITS];
    *out = NULL;
    if (!host_is_wine())
        return S_FALSE;
    HRESULT hr = lasting_folder(path);
    return SUCCEEDED(hr) ? text_from_utf16(path, wcslen(path), true, out) : hr;
}
