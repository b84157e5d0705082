/* SPDX-License-Identifier: MIT */
/* Which providers are registered. */
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/etw/decode/manifest/registered_keys.h"
#include "engine/etw/registered_manifests.h"

HRESULT registered_provider_open(const GUID *guid, bool to_change, struct registry_key **out)
{
    char text[39];
    text_from_guid(guid, text);
    char *path = text_format(PUBLISHERS_KEY "\\%s", text);
    HRESULT hr = path ? registry_open(path, to_change, out) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static HRESULT add_one(struct known_providers *list, const char *key_name)
{
    struct registry_key *key;
    GUID guid;
    char *name;
    if (!text_to_guid(key_name, &guid))
        return S_OK;
    HRESULT hr = registered_provider_open(&guid, false, &key);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK; /* it has gone meanwhile */
    hr = registry_read_text(key, "", &name);
    registry_close(key);
    if (hr == S_OK)
        return known_providers_add(list, &guid, SCHEMA_MANIFEST, name);
    return hr == E_OUTOFMEMORY ? hr : S_OK; /* none that could be asked for by name */
}

HRESULT registered_providers_list(struct known_providers *list)
{
    struct registry_key *publishers;
    struct texts keys = {0};
    HRESULT hr = registry_open(PUBLISHERS_KEY, false, &publishers);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = registry_list(publishers, &keys);
    registry_close(publishers);
    for (size_t i = 0; SUCCEEDED(hr) && i < keys.count; i++)
        hr = add_one(list, keys.items[i]);
    texts_free(&keys);
    return hr;
}
