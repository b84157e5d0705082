/* SPDX-License-Identifier: MIT */
/* Reads and writes registry values as numbers and strings. */
#include "engine/base/registry.h"

#include "engine/base/memory.h"

#include <string.h>

#define NOT_AS_IT_SHOULD_BE HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

const char *registry_hive_name(enum registry_hive hive)
{
    static const char *const names[REGISTRY_HIVES] = {"HKEY_CLASSES_ROOT", "HKEY_CURRENT_USER", "HKEY_LOCAL_MACHINE",
                                                      "HKEY_USERS", "HKEY_CURRENT_CONFIG"};
    return names[hive];
}

void registry_entry_free(struct registry_entry *e)
{
    memory_free(e->data);
    e->data = NULL;
    e->size = e->capacity = 0;
}

void registry_value_free(struct registry_value *v)
{
    memory_free(v->data);
    *v = (struct registry_value){.type = 0};
}

HRESULT registry_read_number(struct registry_key *key, const char *name, uint64_t *out)
{
    struct registry_value v;
    *out = 0;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    if (v.type == REGISTRY_NUMBER && v.size == sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, v.data, sizeof number);
        *out = number;
    } else if (v.type == REGISTRY_LONG_NUMBER && v.size == sizeof *out) {
        memcpy(out, v.data, sizeof *out);
    } else {
        hr = error_set(NOT_AS_IT_SHOULD_BE, "invalid value '%s': expected a number, not type %u with %u bytes", name,
                       (unsigned)v.type, (unsigned)v.size);
    }
    registry_value_free(&v);
    return hr;
}

HRESULT registry_read_text(struct registry_key *key, const char *name, char **out)
{
    struct registry_value v;
    *out = NULL;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    if ((v.type == REGISTRY_TEXT || v.type == REGISTRY_EXPAND_TEXT) && v.size % sizeof(WCHAR) == 0) {
        const WCHAR *text = (const WCHAR *)(const void *)v.data;
        size_t units = 0;
        while (units < v.size / sizeof(WCHAR) && text[units])
            units++;
        hr = units ? text_from_utf16(text, units, true, out) : S_FALSE;
    } else {
        hr = error_set(NOT_AS_IT_SHOULD_BE, "invalid value '%s': expected a string, not type %u with %u bytes", name,
                       (unsigned)v.type, (unsigned)v.size);
    }
    registry_value_free(&v);
    return hr;
}

HRESULT registry_write_number(struct registry_key *key, const char *name, uint32_t type, uint64_t number)
{
    const uint32_t small = (uint32_t)number;
    return type == REGISTRY_LONG_NUMBER ? registry_write(key, name, type, &number, sizeof number)
                                        : registry_write(key, name, type, &small, sizeof small);
}

HRESULT registry_write_text(struct registry_key *key, const char *name, const char *text)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    hr = registry_write(key, name, REGISTRY_TEXT, wide, (units + 1) * sizeof(WCHAR));
    memory_free(wide);
    return hr;
}
