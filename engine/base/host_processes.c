/* SPDX-License-Identifier: MIT */
#include "engine/base/environment.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/registry.h"

static HRESULT read_value(struct registry_key *key, const char *name, char **out)
{
    struct registry_value v;
    uint64_t number;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    const bool is_text = v.type == REGISTRY_TEXT || v.type == REGISTRY_EXPAND_TEXT;
    registry_value_free(&v);
    if (is_text)
        return registry_read_text(key, name, out);
    hr = registry_read_number(key, name, &number);
    if (hr != S_OK)
        return hr;
    *out = text_format("%llu", (unsigned long long)number);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT environment_read_setting(const char *variable, const char *name, char **out)
{
    struct registry_key *key = NULL;
    HRESULT hr = environment_get(variable, out);
    if (hr == S_FALSE)
        hr = registry_open("Software\\OpenPLA", false, &key);
    if (hr == S_OK && key)
        hr = read_value(key, name, out);
    registry_close(key);
    return hr;
}

char *environment_setting(const char *variable, const char *name)
{
    char *said = NULL;
    (void)environment_read_setting(variable, name, &said);
    return said;
}

bool host_processes_wanted(void)
{
    char *said = environment_setting("OPENPLA_PROCESSES", "Processes");
    const bool wanted = said && text_equal_nocase(said, "host");
    memory_free(said);
    return wanted;
}
