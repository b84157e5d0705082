/* SPDX-License-Identifier: MIT */
#include "engine/pdh/perflib/registry_texts.h"

#include "engine/base/memory.h"

#include <string.h>

HRESULT registry_read_texts(struct registry_key *key, const char *name, struct texts *out)
{
    struct registry_value v;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    const WCHAR *list = (const WCHAR *)(const void *)v.data;
    const size_t units = v.size / sizeof *list;
    if (v.type != REGISTRY_TEXTS || v.size % sizeof *list)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: the value has the type %u and is no list of texts",
                       name, (unsigned)v.type);
    for (size_t at = 0; SUCCEEDED(hr) && at < units && list[at];) {
        size_t length = 0;
        char *text = NULL;
        while (at + length < units && list[at + length])
            length++;
        hr = text_from_utf16(list + at, length, true, &text);
        if (SUCCEEDED(hr))
            hr = texts_give(out, text);
        at += length + 1;
    }
    registry_value_free(&v);
    return hr;
}

HRESULT registry_write_texts(struct registry_key *key, const char *name, const struct texts *texts)
{
    WCHAR *list = NULL;
    size_t capacity = 0, used = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < texts->count; i++) {
        WCHAR *wide = NULL;
        size_t units = 0;
        void *grown = list;
        if (!*texts->items[i])
            hr = error_set(E_INVALIDARG, "%s: an empty text would end the list", name);
        if (SUCCEEDED(hr))
            hr = text_to_utf16(texts->items[i], &wide, &units);
        if (SUCCEEDED(hr) && !memory_grow(&grown, &capacity, used + units + 2, sizeof *list))
            hr = E_OUTOFMEMORY;
        list = grown;
        if (SUCCEEDED(hr)) {
            memcpy(list + used, wide, (units + 1) * sizeof *list);
            used += units + 1;
            list[used] = 0;
        }
        memory_free(wide);
    }
    if (SUCCEEDED(hr) && (used + 1) * sizeof *list > REGISTRY_MOST_BYTES)
        hr = error_set(E_INVALIDARG, "%s: the texts need more than %u bytes", name, (unsigned)REGISTRY_MOST_BYTES);
    if (SUCCEEDED(hr))
        hr = used ? registry_write(key, name, REGISTRY_TEXTS, list, (used + 1) * sizeof *list)
                  : registry_remove(key, name);
    memory_free(list);
    return FAILED(hr) ? hr : S_OK;
}
