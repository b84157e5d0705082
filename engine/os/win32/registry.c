/* SPDX-License-Identifier: MIT */
/* The registry of Windows, and of a Wine prefix. */
#include "engine/os/registry.h"

#include "engine/os/memory.h"
#include "engine/os/win32/win32_call.h"

enum { NAME_UNITS = 256, MOST_KEYS = 65536, TRIES = 8 };

struct registry_key {
    HKEY handle;
    char *path; /* for messages */
};

static bool is_missing(LSTATUS status)
{
    return status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
}

static HRESULT failed(LSTATUS status, const char *path, const char *name)
{
    HRESULT hr = win32_failed((DWORD)status, name ? name : "registry");
    return error_prefix(hr, "HKEY_LOCAL_MACHINE\\%.300s", path);
}

static HRESULT key_of(HKEY handle, const char *path, struct registry_key **out)
{
    struct registry_key *key = memory_zero(1, sizeof *key);
    char *own = text_copy(path);
    if (key && own) {
        key->handle = handle;
        key->path = own;
        *out = key;
        return S_OK;
    }
    RegCloseKey(handle);
    memory_free(own);
    memory_free(key);
    return E_OUTOFMEMORY;
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
    return is_missing(status) ? S_FALSE : status ? failed(status, path, NULL) : key_of(handle, path, out);
}

HRESULT registry_make(const char *path, bool *made, struct registry_key **out)
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
    return status ? failed(status, path, NULL) : key_of(handle, path, out);
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
    /* RegDeleteTreeW takes no view: what is below goes by the key's handle, and then the key itself. */
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
        hr = status ? failed(status, key->path, NULL) : text_from_utf16(name, units, true, &text);
        if (SUCCEEDED(hr))
            hr = texts_give(out, text);
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
    /* Again where somebody makes it longer meanwhile. */
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
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "HKEY_LOCAL_MACHINE\\%.300s: %s has %lu bytes",
                       key->path, name, size);
    else if (SUCCEEDED(hr) && status)
        hr = is_missing(status) ? S_FALSE : failed(status, key->path, name);
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
    return status ? failed(status, key->path, name) : S_OK;
}

HRESULT registry_remove(struct registry_key *key, const char *name)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(name, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegDeleteValueW(key->handle, wide);
    memory_free(wide);
    return is_missing(status) ? S_FALSE : status ? failed(status, key->path, name) : S_OK;
}
