/* SPDX-License-Identifier: MIT */
/* The autologgers of the registry: reads them, starts each one once after a Wine prefix has started, and stores the
   results. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/registry.h"
#include "engine/etw/autologger.h"

#include <windows.h>
#include <wchar.h>

#define GLOBAL_GUID "{E8908ABC-AA84-11D2-9A93-00805F85D7C6}"
/* A volatile key: it disappears when the last process of the prefix exits. */
#define RUNNING_KEY L"SYSTEM\\CurrentControlSet\\Control\\WMI\\OpenETW\\%hs"
#define KEY_UNITS   256

/* Completes the settings of the GlobalLogger: its GUID is fixed, and it enables no providers. */
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

static void set_number(struct registry_key *key, const char *name, uint32_t value)
{
    /* if this process has no right to write to the key, the result is not stored */
    (void)registry_write_number(key, name, REGISTRY_NUMBER, value);
}

static void start_one(struct directory *d, const char *path, const char *name, bool global, const char *folder)
{
    struct autologger a;
    struct registry_key *key;
    uint32_t counter;
    if (registry_open(path, true, &key) != S_OK)
        return;
    HRESULT hr = autologger_load(path, name, &a);
    if (hr == S_OK && global)
        hr = make_global(&a);
    if (hr == S_OK && FAILED(hr = autologger_override(&a)))
        autologger_free(&a);
    if (FAILED(hr)) {
        set_number(key, "Status", ERROR_NOT_ENOUGH_MEMORY);
    } else if (hr == S_OK) {
        if (a.start.there && a.start.value == 1) {
            if (!a.file)
                (void)folder_create(folder);
            const ULONG code = autologger_start(d, &a, folder, &counter);
            set_number(key, "Status", code);
            if (code == ERROR_SUCCESS && counter != AUTOLOGGER_NO_COUNTER)
                set_number(key, "FileCounter", counter);
        }
        autologger_free(&a);
    }
    registry_close(key);
}

/* Returns true if no process has started the autologgers since the Wine prefix started; then this process must start
   them. Returns false if a process has already started them, or if the key cannot be created. */
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

static void start_all(struct directory *d, const char *directory, const char *folder)
{
    char *path = autologger_path(AUTOLOGGER_KEY, directory, NULL);
    struct registry_key *all = NULL;
    struct texts names = {0};
    if (path && registry_open(path, false, &all) == S_OK)
        (void)registry_list(all, &names);
    registry_close(all);
    memory_free(path);
    for (size_t i = 0; i < names.count; i++) {
        path = autologger_path(AUTOLOGGER_KEY, directory, names.items[i]);
        if (path)
            start_one(d, path, names.items[i], false, folder);
        memory_free(path);
    }
    texts_free(&names);
}

static bool is_there(const char *path)
{
    struct registry_key *key;
    const bool there = path && registry_open(path, false, &key) == S_OK;
    if (there)
        registry_close(key);
    return there;
}

void autologgers_begin(struct directory *d, const char *directory)
{
    if (!os_is_wine())
        return;
    char *all = autologger_path(AUTOLOGGER_KEY, directory, NULL),
         *global = autologger_path(AUTOLOGGER_ONE, directory, NULL), *folder = NULL;
    const bool has_global = is_there(global);
    if ((has_global || is_there(all)) && is_first(directory))
        folder = os_expand_environment(AUTOLOGGER_FOLDER);
    if (folder && has_global)
        start_one(d, global, AUTOLOGGER_ONE, true, folder);
    if (folder)
        start_all(d, directory, folder);
    memory_free(folder);
    memory_free(global);
    memory_free(all);
}
