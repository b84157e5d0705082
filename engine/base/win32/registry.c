/* SPDX-License-Identifier: MIT */
/* The registry of Windows, and of a Wine prefix. */
#include "engine/base/registry.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/win32/win32_call.h"

#include <winternl.h>

NTSTATUS NTAPI NtOpenKey(PHANDLE key, ACCESS_MASK access, POBJECT_ATTRIBUTES attributes);

enum { NAME_UNITS = 256, MOST_KEYS = 65536, TRIES = 8 };

struct registry_key {
    HKEY handle;
    REGSAM view;
    char *path; /* the key's path, including its hive */
};

static bool is_missing(LSTATUS status)
{
    return status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
}

static HRESULT failed_at(LSTATUS status, const char *path, const char *name)
{
    HRESULT hr = win32_failed((DWORD)status, name ? name : "registry");
    return error_prefix(hr, "%.300s", path);
}

static HRESULT failed(LSTATUS status, const char *path, const char *name)
{
    HRESULT hr = win32_failed((DWORD)status, name ? name : "registry");
    return error_prefix(hr, "HKEY_LOCAL_MACHINE\\%.300s", path);
}

/* Takes ownership of `handle` and of `own`, the key's path. If `own` is NULL, fails with E_OUTOFMEMORY. */
static HRESULT key_of(HKEY handle, REGSAM view, char *own, struct registry_key **out)
{
    struct registry_key *key = memory_zero(1, sizeof *key);
    if (key && own) {
        key->handle = handle;
        key->view = view;
        key->path = own;
        *out = key;
        return S_OK;
    }
    RegCloseKey(handle);
    memory_free(own);
    memory_free(key);
    return E_OUTOFMEMORY;
}

static HRESULT local_key(HKEY handle, const char *path, struct registry_key **out)
{
    return key_of(handle, KEY_WOW64_64KEY, text_format("HKEY_LOCAL_MACHINE\\%s", path), out);
}

HRESULT registry_open(const char *path, bool to_change, struct registry_key **out)
{
    const REGSAM access = KEY_READ | (to_change ? KEY_SET_VALUE | KEY_CREATE_SUB_KEY | DELETE : 0);
    WCHAR *wide;
    HKEY handle;
    *out = NULL;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, access | KEY_WOW64_64KEY, &handle);
    memory_free(wide);
    return is_missing(status) ? S_FALSE : status ? failed(status, path, NULL) : local_key(handle, path, out);
}

HRESULT registry_create(const char *path, bool *made, struct registry_key **out)
{
    DWORD found = 0;
    WCHAR *wide;
    HKEY handle;
    *out = NULL;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegCreateKeyExW(HKEY_LOCAL_MACHINE, wide, 0, NULL, 0,
                                     KEY_READ | KEY_SET_VALUE | KEY_CREATE_SUB_KEY | DELETE | KEY_WOW64_64KEY, NULL,
                                     &handle, &found);
    memory_free(wide);
    *made = !status && found == REG_CREATED_NEW_KEY;
    return status ? failed(status, path, NULL) : local_key(handle, path, out);
}

void registry_close(struct registry_key *key)
{
    if (!key)
        return;
    RegCloseKey(key->handle);
    memory_free(key->path);
    memory_free(key);
}

HRESULT registry_delete(const char *path)
{
    struct registry_key *key;
    WCHAR *wide;
    HRESULT hr = registry_open(path, true, &key);
    if (hr != S_OK)
        return hr;
    /* RegDeleteTreeW does not accept a view. Therefore the subkeys are deleted through the key's handle, and then the
       key itself. */
    LSTATUS status = RegDeleteTreeW(key->handle, NULL);
    registry_close(key);
    hr = status && !is_missing(status) ? failed(status, path, NULL) : text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    status = RegDeleteKeyExW(HKEY_LOCAL_MACHINE, wide, KEY_WOW64_64KEY, 0);
    memory_free(wide);
    return is_missing(status) ? S_OK : status ? failed(status, path, NULL) : S_OK;
}

HRESULT registry_list(struct registry_key *key, struct texts *out)
{
    HRESULT hr = S_OK;
    *out = (struct texts){0};
    for (DWORD i = 0; SUCCEEDED(hr) && i < MOST_KEYS; i++) {
        WCHAR name[NAME_UNITS];
        DWORD units = NAME_UNITS;
        char *text;
        LSTATUS status = RegEnumKeyExW(key->handle, i, name, &units, NULL, NULL, NULL, NULL);
        if (status == ERROR_NO_MORE_ITEMS)
            break;
        hr = status ? failed_at(status, key->path, NULL) : text_from_utf16(name, units, true, &text);
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, text);
    }
    if (FAILED(hr))
        texts_free(out);
    return hr;
}

HRESULT registry_read(struct registry_key *key, const char *name, struct registry_value *out)
{
    LSTATUS status = ERROR_MORE_DATA;
    DWORD size = 0;
    WCHAR *wide;
    *out = (struct registry_value){.type = 0};
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    /* Tries again if another process makes the value longer between the calls. */
    for (int i = 0; SUCCEEDED(hr) && i < TRIES && status == ERROR_MORE_DATA; i++) {
        DWORD type;
        registry_value_free(out);
        if (!(out->data = memory_alloc(size + 1))) {
            hr = E_OUTOFMEMORY;
            break;
        }
        status = RegQueryValueExW(key->handle, wide, NULL, &type, out->data, &size);
        out->type = type;
        out->size = size;
        if (status == ERROR_MORE_DATA && size > REGISTRY_MOST_BYTES)
            break;
    }
    memory_free(wide);
    if (SUCCEEDED(hr) && status == ERROR_MORE_DATA)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%.300s: %s has %lu bytes", key->path, name, size);
    else if (SUCCEEDED(hr) && status)
        hr = is_missing(status) ? S_FALSE : failed_at(status, key->path, name);
    if (hr != S_OK)
        registry_value_free(out);
    return hr;
}

HRESULT registry_write(struct registry_key *key, const char *name, uint32_t type, const void *data, size_t size)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegSetValueExW(key->handle, wide, 0, type, data, (DWORD)size);
    memory_free(wide);
    return status ? failed_at(status, key->path, name) : S_OK;
}

HRESULT registry_remove(struct registry_key *key, const char *name)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegDeleteValueW(key->handle, wide);
    memory_free(wide);
    return is_missing(status) ? S_FALSE : status ? failed_at(status, key->path, name) : S_OK;
}

static char *path_in(const struct registry_place *place, const char *path)
{
    const char *hive = registry_hive_name(place->hive);
    return place->computer ? text_format("\\\\%s\\%s%s%s", place->computer, hive, *path ? "\\" : "", path)
                           : text_format("%s%s%s", hive, *path ? "\\" : "", path);
}

static HRESULT registry_connect(const struct registry_place *place, HKEY root, HKEY *out)
{
    char *machine = text_format("\\\\%s", place->computer);
    WCHAR *wide;
    if (!machine)
        return E_OUTOFMEMORY;
    HRESULT hr = text_to_utf16(machine, &wide, NULL);
    LSTATUS status = SUCCEEDED(hr) ? RegConnectRegistryW(wide, root, out) : 0;
    if (SUCCEEDED(hr))
        memory_free(wide);
    if (status)
        hr = failed_at(status, machine, registry_hive_name(place->hive));
    memory_free(machine);
    return hr;
}

HRESULT registry_open_in(const struct registry_place *place, const char *path, struct registry_key **out)
{
    static const HKEY roots[REGISTRY_HIVES] = {HKEY_CLASSES_ROOT, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, HKEY_USERS,
                                               HKEY_CURRENT_CONFIG};
    const REGSAM view = place->of_32_bits ? KEY_WOW64_32KEY : KEY_WOW64_64KEY;
    HKEY root = roots[place->hive], handle;
    WCHAR *wide;
    *out = NULL;
    if (place->computer && os_is_wine())
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "cannot open the registry of '%s': Wine cannot access the registry of another computer",
                         place->computer);
    char *full = path_in(place, path);
    HRESULT hr = full ? text_to_utf16(path, &wide, NULL) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(full);
        return hr;
    }
    hr = place->computer ? registry_connect(place, root, &root) : S_OK;
    LSTATUS status = SUCCEEDED(hr) ? RegOpenKeyExW(root, wide, 0, KEY_READ | view, &handle) : 0;
    memory_free(wide);
    if (place->computer && SUCCEEDED(hr))
        RegCloseKey(root);
    if (SUCCEEDED(hr) && !status)
        return key_of(handle, view, full, out);
    if (status)
        hr = is_missing(status) ? S_FALSE : failed_at(status, full, NULL);
    memory_free(full);
    return hr;
}

const char *registry_key_path(const struct registry_key *key)
{
    return key->path;
}

HRESULT registry_key_at(struct registry_key *key, uint32_t index, struct registry_entry *out)
{
    DWORD units = REGISTRY_NAME_UNITS;
    LSTATUS status = RegEnumKeyExW(key->handle, index, out->name, &units, NULL, NULL, NULL, NULL);
    out->name_units = status ? 0 : units;
    return status == ERROR_NO_MORE_ITEMS ? S_FALSE : status ? failed_at(status, key->path, NULL) : S_OK;
}

HRESULT registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out)
{
    LSTATUS status = ERROR_MORE_DATA;
    DWORD type = 0, size = 0, units = 0;
    out->name_units = out->size = 0;
    /* Tries again if another process makes the value longer between the calls. */
    for (int i = 0; i < TRIES && status == ERROR_MORE_DATA; i++) {
        if (!memory_grow((void **)&out->data, &out->capacity, (size_t)size + 1, 1))
            return E_OUTOFMEMORY;
        units = REGISTRY_NAME_UNITS;
        size = (DWORD)out->capacity;
        status = RegEnumValueW(key->handle, index, out->name, &units, NULL, &type, out->data, &size);
        if (status == ERROR_MORE_DATA && size > REGISTRY_MOST_BYTES)
            break;
    }
    if (status == ERROR_NO_MORE_ITEMS)
        return S_FALSE;
    if (status && !(status == ERROR_MORE_DATA && size > REGISTRY_MOST_BYTES))
        return failed_at(status, key->path, NULL);
    if (status) {
        /* Reads the name again, because not every system returns the name if the space for the data is too small. */
        units = REGISTRY_NAME_UNITS;
        status = RegEnumValueW(key->handle, index, out->name, &units, NULL, &type, NULL, &size);
        if (status)
            return status == ERROR_NO_MORE_ITEMS ? S_FALSE : failed_at(status, key->path, NULL);
    }
    out->name_units = units;
    out->type = type;
    out->size = size;
    return S_OK;
}

HRESULT registry_counts(struct registry_key *key, uint32_t *keys, uint32_t *values)
{
    DWORD below = 0, own = 0;
    LSTATUS status = RegQueryInfoKeyW(key->handle, NULL, NULL, NULL, &below, NULL, NULL, &own, NULL, NULL, NULL, NULL);
    *keys = below;
    *values = own;
    return status ? failed_at(status, key->path, NULL) : S_OK;
}

/* Opens a subkey whose name contains a NUL. Only the native interface accepts such a name. */
static LSTATUS open_counted(struct registry_key *key, const struct registry_entry *e, HKEY *out)
{
    UNICODE_STRING name = {(USHORT)(e->name_units * sizeof(WCHAR)), (USHORT)(e->name_units * sizeof(WCHAR)),
                           (WCHAR *)(uintptr_t)e->name};
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle;
    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_OPENLINK, key->handle, NULL);
    NTSTATUS status = NtOpenKey(&handle, KEY_READ | key->view, &attributes);
    *out = status ? NULL : (HKEY)handle;
    return status ? (LSTATUS)RtlNtStatusToDosError(status) : 0;
}

HRESULT registry_open_at(struct registry_key *key, const struct registry_entry *entry, struct registry_key **out)
{
    HKEY handle;
    char *name;
    *out = NULL;
    HRESULT hr = text_from_utf16(entry->name, entry->name_units, true, &name);
    if (FAILED(hr))
        return hr;
    bool counted = false;
    for (size_t i = 0; i < entry->name_units; i++)
        counted = counted || !entry->name[i];
    char *path = text_format("%s\\%s", key->path, name);
    LSTATUS status = counted
                         ? open_counted(key, entry, &handle)
                         : RegOpenKeyExW(key->handle, entry->name, REG_OPTION_OPEN_LINK, KEY_READ | key->view, &handle);
    memory_free(name);
    if (!status)
        return key_of(handle, key->view, path, out);
    hr = is_missing(status) ? S_FALSE : path ? failed_at(status, path, NULL) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}
