/* SPDX-License-Identifier: MIT */
/* Entries of RegistryKeys taken apart. */
#include "engine/pla/collect/configuration_registry_path.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"

#include <string.h>

static HRESULT bad(const char *text, const char *why)
{
    return error_set(E_INVALIDARG, "RegistryKeys: \"%.600s\": %s", text, why);
}

static bool same(const char *a, const char *b, size_t bytes)
{
    char *copy = text_copy_n(a, bytes);
    const bool equal = copy && text_equal_nocase(copy, b);
    memory_free(copy);
    return equal;
}

/* Takes " /reg:32" off the end. */
static size_t read_view(const char *text, bool *of_32_bits)
{
    static const char behind[] = " /reg:32";
    size_t bytes = strlen(text);
    if (bytes < sizeof behind)
        return bytes;
    const char *end = text + bytes - (sizeof behind - 1);
    *of_32_bits = same(end, behind, sizeof behind - 1);
    if (!*of_32_bits && !same(end, " /reg:64", sizeof behind - 1))
        return bytes;
    for (bytes -= sizeof behind - 1; bytes && text[bytes - 1] == ' ';)
        bytes--;
    return bytes;
}

/* A computer that is this one is none. */
static HRESULT read_computer(const char *text, size_t bytes, const char **out)
{
    char *name = text_copy_n(text, bytes);
    bool own = true;
    const HRESULT hr = name ? host_is_own_name(name, &own) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !own) {
        *out = name;
        name = NULL;
    }
    memory_free(name);
    return hr;
}

static const char *read_hive(const char *at, enum registry_hive *out)
{
    static const char *const short_names[REGISTRY_HIVES] = {"HKCR", "HKCU", "HKLM", "HKU", "HKCC"};
    const size_t bytes = strcspn(at, "\\");
    for (int i = 0; i < REGISTRY_HIVES; i++)
        if (same(at, registry_hive_name((enum registry_hive)i), bytes) || same(at, short_names[i], bytes)) {
            *out = (enum registry_hive)i;
            return at + bytes;
        }
    return NULL;
}

/* What is behind the hive: "\Key..." */
static HRESULT read_key(const char *text, const char *at, struct registry_path *out)
{
    const char *marker = strstr(at, "\\\\");
    const size_t bytes = strlen(at);
    if (!bytes)
        return bad(text, "it names no key and no value");
    if (marker) {
        out->recursive = true;
        out->all = !marker[2];
        out->key = text_copy_n(at + 1, marker > at ? (size_t)(marker - at - 1) : 0);
        out->value = out->all ? NULL : text_copy(marker + 2);
        return out->key && (out->all || out->value) ? S_OK : E_OUTOFMEMORY;
    }
    out->all = at[bytes - 1] == '\\';
    out->key = text_copy_n(at + 1, bytes - 1 - (out->all && bytes > 1));
    return out->key ? S_OK : E_OUTOFMEMORY;
}

static HRESULT read_parts(const char *text, const char *at, struct registry_path *out)
{
    HRESULT hr = S_OK;
    if (at[0] == '\\' && at[1] == '\\') {
        const size_t bytes = strcspn(at + 2, "\\");
        if (!bytes || !at[2 + bytes])
            return bad(text, "no key is behind the computer's name");
        hr = read_computer(at + 2, bytes, &out->place.computer);
        at += 2 + bytes;
    }
    if (FAILED(hr))
        return hr;
    at = read_hive(at + (*at == '\\'), &out->place.hive);
    return at ? read_key(text, at, out)
              : bad(text, "it begins with no hive: HKEY_CLASSES_ROOT, HKEY_CURRENT_CONFIG, HKEY_CURRENT_USER, "
                          "HKEY_LOCAL_MACHINE or HKEY_USERS");
}

HRESULT registry_path_read(const char *text, struct registry_path *out)
{
    *out = (struct registry_path){.all = false};
    const size_t bytes = read_view(text, &out->place.of_32_bits);
    char *copy = text_copy_n(text, bytes);
    HRESULT hr = copy ? read_parts(text, copy, out) : E_OUTOFMEMORY;
    memory_free(copy);
    if (FAILED(hr))
        registry_path_free(out);
    return hr;
}

HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out)
{
    *out = *from;
    out->value = NULL;
    out->key = text_copy(key);
    out->place.computer = from->place.computer ? text_copy(from->place.computer) : NULL;
    if (out->key && (out->place.computer || !from->place.computer))
        return S_OK;
    registry_path_free(out);
    return E_OUTOFMEMORY;
}

void registry_path_free(struct registry_path *p)
{
    memory_free((char *)(uintptr_t)p->place.computer);
    memory_free(p->key);
    memory_free(p->value);
    *p = (struct registry_path){.all = false};
}
