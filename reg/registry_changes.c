/* SPDX-License-Identifier: MIT */
/* Changes below HKEY_LOCAL_MACHINE that can be undone. */
#include "reg/registry_changes.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <windows.h>
#include <string.h>

struct registry_change {
    WCHAR *key, *name;               /* name NULL: the default value */
    bool made_key;                   /* the change created `key` */
    struct registered_value earlier; /* otherwise the previous value */
};

static void change_free(struct registry_change *change)
{
    memory_free(change->key);
    memory_free(change->name);
    registered_value_free(&change->earlier);
}

void registered_value_free(struct registered_value *value)
{
    memory_free(value->data);
    memset(value, 0, sizeof(*value));
}

bool registered_value_equal(const struct registered_value *a, const struct registered_value *b)
{
    if (!a->exists || !b->exists)
        return a->exists == b->exists;
    return a->type == b->type && a->size == b->size && !memcmp(a->data, b->data, a->size);
}

HRESULT registry_text(const char *text, struct registered_value *out)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    *out = (struct registered_value){true, REG_SZ, (DWORD)((units + 1) * sizeof(WCHAR)), (BYTE *)wide};
    return S_OK;
}

HRESULT registry_number(const char *digits, struct registered_value *out)
{
    uint64_t number;
    if (!text_to_u64(digits, &number) || number > UINT32_MAX)
        return error_set(E_INVALIDARG, "registration table: '%s' is not a 32-bit number", digits);
    DWORD *data = memory_alloc(sizeof *data);
    if (!data)
        return E_OUTOFMEMORY;
    *data = (DWORD)number;
    *out = (struct registered_value){true, REG_DWORD, sizeof *data, (BYTE *)data};
    return S_OK;
}

HRESULT registry_bytes(const char *digits, struct registered_value *out)
{
    const size_t size = strlen(digits) / 2;
    if (!size || strlen(digits) % 2 || strspn(digits, "0123456789abcdef") != 2 * size)
        return error_set(E_INVALIDARG, "registration table: '%s' is not a string of bytes", digits);
    BYTE *data = memory_alloc(size);
    if (!data)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < size; i++) {
        char pair[3] = {digits[2 * i], digits[2 * i + 1], 0};
        data[i] = (BYTE)strtoul(pair, NULL, 16);
    }
    *out = (struct registered_value){true, REG_BINARY, (DWORD)size, data};
    return S_OK;
}

static HRESULT registry_error(LSTATUS status, const char *what, const char *key)
{
    HRESULT hr = HRESULT_FROM_WIN32((DWORD)status);
    return error_set(hr, "%s HKLM\\%s: %s", what, key, error_standard_text(hr));
}

static bool is_missing(LSTATUS status)
{
    return status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
}

/* Converts both texts to UTF-16; `name` may be NULL. */
static HRESULT string_widen(const char *key, const char *name, WCHAR **wide_key, WCHAR **wide_name)
{
    *wide_name = NULL;
    HRESULT hr = text_to_utf16(key, wide_key, NULL);
    if (SUCCEEDED(hr) && name) {
        hr = text_to_utf16(name, wide_name, NULL);
        if (FAILED(hr))
            memory_free(*wide_key);
    }
    return hr;
}

static LSTATUS read_value(const WCHAR *key, const WCHAR *name, struct registered_value *out)
{
    HKEY handle;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, key, 0, KEY_QUERY_VALUE, &handle);
    memset(out, 0, sizeof(*out));
    if (status)
        return is_missing(status) ? ERROR_SUCCESS : status;
    do { /* repeated if the value grew between the two calls */
        memory_free(out->data);
        out->data = NULL;
        status = RegQueryValueExW(handle, name, NULL, &out->type, NULL, &out->size);
        if (!status) {
            out->data = memory_alloc(out->size);
            status =
                out->data ? RegQueryValueExW(handle, name, NULL, &out->type, out->data, &out->size) : ERROR_OUTOFMEMORY;
        }
    } while (status == ERROR_MORE_DATA);
    RegCloseKey(handle);
    if (status)
        registered_value_free(out);
    out->exists = !status;
    return is_missing(status) ? ERROR_SUCCESS : status;
}

HRESULT registry_get(const char *key, const char *name, struct registered_value *out)
{
    WCHAR *wide_key, *wide_name;
    memset(out, 0, sizeof(*out));
    HRESULT hr = string_widen(key, name, &wide_key, &wide_name);
    if (FAILED(hr))
        return hr;
    LSTATUS status = read_value(wide_key, wide_name, out);
    memory_free(wide_key);
    memory_free(wide_name);
    return status ? registry_error(status, "reading", key) : S_OK;
}

HRESULT registry_key_exists(const char *key, bool *exists)
{
    WCHAR *wide;
    HKEY handle;
    HRESULT hr = text_to_utf16(key, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_QUERY_VALUE, &handle);
    if (!status)
        RegCloseKey(handle);
    memory_free(wide);
    *exists = !status;
    return status && !is_missing(status) ? registry_error(status, "opening", key) : S_OK;
}

/* Writes or deletes a value of a key that exists. */
static LSTATUS write_value(const WCHAR *key, const WCHAR *name, const struct registered_value *value)
{
    HKEY handle;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, key, 0, KEY_SET_VALUE, &handle);
    if (status)
        return status;
    if (value->exists)
        status = RegSetValueExW(handle, name, 0, value->type, value->data, value->size);
    else
        status = RegDeleteValueW(handle, name);
    RegCloseKey(handle);
    return status;
}

/* Reserves the record first, so that every change can be recorded. */
static HRESULT reserve_change(struct registry_changes *changes)
{
    if (!memory_grow((void **)&changes->items, &changes->capacity, changes->count + 1, sizeof(*changes->items)))
        return E_OUTOFMEMORY;
    return S_OK;
}

static HRESULT make_one_key(struct registry_changes *changes, const WCHAR *key, size_t units, const char *whole)
{
    struct registry_change change = {.made_key = true};
    HKEY handle;
    DWORD disposition = 0;
    HRESULT hr = reserve_change(changes);
    if (FAILED(hr))
        return hr;
    change.key = memory_zero(units + 1, sizeof(WCHAR));
    if (!change.key)
        return E_OUTOFMEMORY;
    memcpy(change.key, key, units * sizeof(WCHAR));
    /* The system's parent keys may be read-only. */
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, change.key, 0, KEY_QUERY_VALUE, &handle);
    if (is_missing(status))
        status =
            RegCreateKeyExW(HKEY_LOCAL_MACHINE, change.key, 0, NULL, 0, KEY_QUERY_VALUE, NULL, &handle, &disposition);
    if (!status)
        RegCloseKey(handle);
    if (!status && disposition == REG_CREATED_NEW_KEY)
        changes->items[changes->count++] = change;
    else
        change_free(&change);
    return status ? registry_error(status, "making", whole) : S_OK;
}

HRESULT registry_make_key(struct registry_changes *changes, const char *key)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(key, &wide, NULL);
    if (FAILED(hr))
        return hr;
    for (WCHAR *end = wide; SUCCEEDED(hr) && end; end = *end ? end + 1 : NULL) {
        while (*end && *end != L'\\')
            end++;
        hr = make_one_key(changes, wide, (size_t)(end - wide), key);
    }
    memory_free(wide);
    return hr;
}

HRESULT registry_put(struct registry_changes *changes, const char *key, const char *name,
                     const struct registered_value *value)
{
    struct registry_change change = {0};
    HRESULT hr;
    if (value->exists) {
        hr = registry_make_key(changes, key);
        if (FAILED(hr))
            return hr;
    }
    hr = reserve_change(changes);
    if (FAILED(hr))
        return hr;
    hr = string_widen(key, name, &change.key, &change.name);
    if (FAILED(hr))
        return hr;
    LSTATUS status = read_value(change.key, change.name, &change.earlier);
    if (!status && !registered_value_equal(&change.earlier, value)) {
        status = write_value(change.key, change.name, value);
        if (!status) {
            changes->items[changes->count++] = change;
            return S_OK;
        }
    }
    change_free(&change);
    return status ? registry_error(status, "writing", key) : S_OK;
}

/* Returns ERROR_DIR_NOT_EMPTY if the key contains anything. */
static LSTATUS delete_empty_key(const WCHAR *key)
{
    HKEY handle;
    DWORD keys = 0, values = 0;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, key, 0, KEY_QUERY_VALUE, &handle);
    if (status)
        return is_missing(status) ? ERROR_SUCCESS : status;
    status = RegQueryInfoKeyW(handle, NULL, NULL, NULL, &keys, NULL, NULL, &values, NULL, NULL, NULL, NULL);
    RegCloseKey(handle);
    if (status)
        return status;
    return keys || values ? ERROR_DIR_NOT_EMPTY : RegDeleteKeyExW(HKEY_LOCAL_MACHINE, key, 0, 0);
}

HRESULT registry_prune(const char *root, const char *key)
{
    size_t root_units = text_utf16_length(root), units;
    WCHAR *wide;
    LSTATUS status = ERROR_SUCCESS;
    HRESULT hr = text_to_utf16(key, &wide, &units);
    if (FAILED(hr))
        return hr;
    while (!status && units > root_units) {
        status = delete_empty_key(wide);
        while (units > root_units && wide[units] != L'\\')
            units--;
        wide[units] = 0;
    }
    memory_free(wide);
    return status && status != ERROR_DIR_NOT_EMPTY ? registry_error(status, "deleting", key) : S_OK;
}

HRESULT registry_delete_tree(const char *root, const char *key)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(key, &wide, NULL);
    if (FAILED(hr))
        return hr;
    LSTATUS status = RegDeleteTreeW(HKEY_LOCAL_MACHINE, wide);
    memory_free(wide);
    if (status && !is_missing(status))
        return registry_error(status, "deleting", key);
    return registry_prune(root, key);
}

void registry_changes_undo(struct registry_changes *changes)
{
    while (changes->count) {
        struct registry_change *change = &changes->items[--changes->count];
        if (change->made_key)
            delete_empty_key(change->key);
        else
            write_value(change->key, change->name, &change->earlier);
        change_free(change);
    }
    registry_changes_free(changes);
}

void registry_changes_free(struct registry_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        change_free(&changes->items[i]);
    memory_free(changes->items);
    memset(changes, 0, sizeof(*changes));
}
