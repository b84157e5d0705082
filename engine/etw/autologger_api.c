/* SPDX-License-Identifier: MIT */
/* The autologgers of the registry: read, started once as long as the prefix runs, and told how that went. */
#include "engine/etw/autologger.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

#include <windows.h>
#include <string.h>
#include <wchar.h>

#define WMI_KEY     L"SYSTEM\\CurrentControlSet\\Control\\WMI\\"
#define GLOBAL_NAME L"GlobalLogger"
#define GLOBAL_GUID "{E8908ABC-AA84-11D2-9A93-00805F85D7C6}"
/* A key that goes with the prefix's last process. */
#define RUNNING_KEY WMI_KEY L"OpenETW\\%hs"
#define KEY_UNITS   256
#define TEXT_UNITS  2048
#define LOG_FOLDER  "%SystemRoot%\\System32\\LogFiles\\WMI"

static struct autologger_number number(HKEY key, const WCHAR *name)
{
    struct autologger_number n = {.there = false};
    DWORD bytes = sizeof n.value;
    n.there = !RegGetValueW(key, NULL, name, RRF_RT_DWORD | RRF_RT_QWORD, NULL, &n.value, &bytes);
    if (!n.there)
        n.value = 0;
    return n;
}

/* *out NULL: there is none. */
static HRESULT text(HKEY key, const WCHAR *name, char **out)
{
    WCHAR value[TEXT_UNITS];
    DWORD bytes = sizeof value;
    *out = NULL;
    if (RegGetValueW(key, NULL, name, RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, value, &bytes) ||
        !value[0])
        return S_OK;
    return text_from_utf16(value, wcslen(value), true, out);
}

static HRESULT read_provider(HKEY session, const WCHAR *name, struct autologger *a)
{
    struct autologger_provider p = {.enabled = {.there = false}};
    char *narrow;
    HKEY key;
    HRESULT hr = text_from_utf16(name, wcslen(name), true, &narrow);
    if (FAILED(hr))
        return hr;
    const bool is_guid = text_to_guid(narrow, &p.guid);
    memory_free(narrow);
    if (!is_guid || RegOpenKeyExW(session, name, 0, KEY_READ, &key))
        return S_OK; /* not ours */
    p.enabled = number(key, L"Enabled");
    p.level = number(key, L"EnableLevel");
    p.flags = number(key, L"EnableFlags");
    p.any = number(key, L"MatchAnyKeyword");
    p.all = number(key, L"MatchAllKeyword");
    p.property = number(key, L"EnableProperty");
    RegCloseKey(key);
    if (!memory_grow((void **)&a->providers, &a->provider_capacity, a->provider_count + 1, sizeof p))
        return E_OUTOFMEMORY;
    a->providers[a->provider_count++] = p;
    return S_OK;
}

static HRESULT read_autologger(HKEY key, const WCHAR *name, struct autologger *a)
{
    *a = (struct autologger){
        .start = number(key, L"Start"),
        .buffer_kb = number(key, L"BufferSize"),
        .minimum_buffers = number(key, L"MinimumBuffers"),
        .maximum_buffers = number(key, L"MaximumBuffers"),
        .flush_timer = number(key, L"FlushTimer"),
        .clock = number(key, L"ClockType"),
        .mode = number(key, L"LogFileMode"),
        .maximum_file = number(key, L"MaxFileSize"),
        .file_max = number(key, L"FileMax"),
        .file_counter = number(key, L"FileCounter"),
    };
    HRESULT hr = text_from_utf16(name, wcslen(name), true, &a->name);
    if (SUCCEEDED(hr))
        hr = text(key, L"Guid", &a->guid);
    if (SUCCEEDED(hr))
        hr = text(key, L"FileName", &a->file);
    for (DWORD i = 0; SUCCEEDED(hr); i++) {
        WCHAR provider[KEY_UNITS];
        DWORD units = KEY_UNITS;
        if (RegEnumKeyExW(key, i, provider, &units, NULL, NULL, NULL, NULL))
            break;
        hr = read_provider(key, provider, a);
    }
    if (FAILED(hr))
        autologger_free(a);
    return hr;
}

static void set_number(HKEY key, const WCHAR *name, DWORD value)
{
    RegSetValueExW(key, name, 0, REG_DWORD, (const BYTE *)&value, sizeof value);
}

/* What the key of an autologger, or of the GlobalLogger, is made to. */
static HRESULT make_global(struct autologger *a)
{
    a->global = true;
    a->provider_count = 0;
    memory_free(a->guid);
    a->guid = text_copy(GLOBAL_GUID);
    if (a->guid)
        return S_OK;
    autologger_free(a);
    return E_OUTOFMEMORY;
}

static void start_one(struct directory *d, HKEY key, const WCHAR *name, bool global, const char *folder)
{
    struct autologger a;
    uint32_t counter;
    HRESULT hr = read_autologger(key, name, &a);
    if (SUCCEEDED(hr) && global)
        hr = make_global(&a);
    if (FAILED(hr)) {
        set_number(key, L"Status", ERROR_NOT_ENOUGH_MEMORY);
    } else {
        if (a.start.there && a.start.value == 1) {
            if (!a.file)
                (void)folder_create(folder);
            const ULONG code = autologger_start(d, &a, folder, &counter);
            set_number(key, L"Status", code);
            if (code == ERROR_SUCCESS && counter != 0)
                set_number(key, L"FileCounter", counter);
        }
        autologger_free(&a);
    }
}

/* A key below Control\WMI, of the host's directory or of the one of this name. */
static bool open_key(const WCHAR *kind, const char *directory, HKEY *key)
{
    const bool own = strcmp(directory, DIRECTORY_OF_HOST) != 0;
    WCHAR name[KEY_UNITS];
    _snwprintf(name, KEY_UNITS, WMI_KEY L"%ls%ls%hs", kind, own ? L"." : L"", own ? directory : "");
    return !RegOpenKeyExW(HKEY_LOCAL_MACHINE, name, 0, KEY_READ | KEY_SET_VALUE | KEY_WOW64_64KEY, key);
}

/* False: another process has begun already, or nobody can. */
static bool is_first(const char *directory)
{
    WCHAR name[KEY_UNITS];
    DWORD found = REG_OPENED_EXISTING_KEY;
    HKEY key;
    _snwprintf(name, KEY_UNITS, RUNNING_KEY, directory);
    if (RegCreateKeyExW(HKEY_LOCAL_MACHINE, name, 0, NULL, REG_OPTION_VOLATILE, KEY_READ | KEY_WOW64_64KEY, NULL, &key,
                        &found))
        return false;
    RegCloseKey(key);
    return found == REG_CREATED_NEW_KEY;
}

static void start_all(struct directory *d, HKEY all, const char *folder)
{
    for (DWORD i = 0;; i++) {
        WCHAR name[KEY_UNITS];
        DWORD units = KEY_UNITS;
        HKEY key;
        if (RegEnumKeyExW(all, i, name, &units, NULL, NULL, NULL, NULL))
            break;
        if (RegOpenKeyExW(all, name, 0, KEY_READ | KEY_SET_VALUE, &key))
            continue;
        start_one(d, key, name, false, folder);
        RegCloseKey(key);
    }
}

void autologgers_begin(struct directory *d, const char *directory)
{
    HKEY all, global;
    if (!host_is_wine())
        return;
    const bool has_all = open_key(L"Autologger", directory, &all),
               has_global = open_key(GLOBAL_NAME, directory, &global);
    char *folder = (has_all || has_global) && is_first(directory) ? host_expand_environment(LOG_FOLDER) : NULL;
    if (folder && has_global)
        start_one(d, global, GLOBAL_NAME, true, folder);
    if (folder && has_all)
        start_all(d, all, folder);
    memory_free(folder);
    if (has_all)
        RegCloseKey(all);
    if (has_global)
        RegCloseKey(global);
}
