/* SPDX-License-Identifier: MIT */
/* Definitions of sets by namespace. */
#include "engine/run/definition.h"

#include "engine/model/model.h"
#include "engine/os/memory.h"
#include "engine/run/autosession_set.h"
#include "engine/run/category.h"
#include "engine/run/session_set.h"
#include "engine/store/store.h"

#include <string.h>

static HRESULT load_shipped(const char *name, char **xml, size_t *size)
{
    for (const struct system_set *set = system_sets; set->name; set++) {
        if (!text_equal_nocase(set->name, name))
            continue;
        *xml = text_copy(set->xml);
        *size = *xml ? strlen(*xml) : 0;
        return *xml ? S_OK : E_OUTOFMEMORY;
    }
    return error_set(PLA_E_DCS_NOT_FOUND, "\"System\\%.300s\": no such set came with the program", name);
}

HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size)
{
    const struct category *c = category_of(space);
    *xml = NULL;
    *size = 0;
    if (c && c->source == DEFINITION_SHIPPED)
        return load_shipped(name, xml, size);
    if (c && c->source == DEFINITION_LIVE)
        return session_set_load(name, xml, size);
    if (c && c->source == DEFINITION_REGISTRY)
        return autosession_set_load(name, xml, size);
    if (c && c->source == DEFINITION_NONE)
        return error_set(PLA_E_DCS_NOT_FOUND, "\"%s\\%.300s\": %s", space, name, c->none);
    return store_load(caller, space, name, xml, size);
}

bool definition_is_damaged(HRESULT hr)
{
    return hr == OPENPLA_E_MALFORMED_XML || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) ||
           hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) || hr == E_ACCESSDENIED;
}

HRESULT definition_name_file(HRESULT hr, const char *space, const char *name)
{
    const struct category *c = category_of(space);
    bool stored = hr == OPENPLA_E_MALFORMED_XML && c && c->source == DEFINITION_STORED;
    char *path = stored ? store_definition_path(space, name) : NULL;
    if (path)
        hr = error_prefix(hr, "\"%s\"", path);
    memory_free(path);
    return hr;
}

HRESULT definition_load_matching(const struct caller *caller, const char *space, const char *pattern,
                                 struct stored_sets *out)
{
    const struct category *c = category_of(space);
    struct texts names = {0};
    HRESULT hr = S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_load_matching(caller, space, pattern, out);
    *out = (struct stored_sets){0};
    hr = definition_list(caller, space, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        struct stored_set set = {0};
        void *items = out->items;
        if (!text_matches(pattern, names.items[i]))
            continue;
        set.name = text_copy(names.items[i]);
        hr = set.name && memory_grow(&items, &out->capacity, out->count + 1, sizeof set)
                 ? definition_load(caller, space, set.name, &set.xml, &set.size)
                 : E_OUTOFMEMORY;
        out->items = items;
        /* One that is damaged is there all the same, one that has gone meanwhile is not. */
        const bool gone = hr == PLA_E_DCS_NOT_FOUND;
        if (gone || definition_is_damaged(hr))
            hr = S_OK;
        if (SUCCEEDED(hr) && !gone)
            out->items[out->count++] = set;
        else
            memory_free(set.name);
    }
    texts_free(&names);
    if (FAILED(hr))
        stored_sets_free(out);
    return hr;
}

HRESULT definition_list(const struct caller *caller, const char *space, struct texts *names)
{
    const struct category *c = category_of(space);
    struct texts found = {0};
    HRESULT hr = S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_list(caller, space, names);
    if (c->source == DEFINITION_LIVE)
        hr = session_set_list(&found);
    else if (c->source == DEFINITION_REGISTRY)
        hr = autosession_set_list(&found);
    for (const struct system_set *set = system_sets; c->source == DEFINITION_SHIPPED && SUCCEEDED(hr) && set->name;
         set++)
        hr = texts_add(&found, set->name);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    texts_free(names);
    *names = found;
    return S_OK;
}
