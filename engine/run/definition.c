/* SPDX-License-Identifier: MIT */
/* Definitions of sets by namespace. */
#include "engine/run/definition.h"

#include "engine/os/memory.h"
#include "engine/run/category.h"
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

HRESULT definition_load(const char *space, const char *name, char **xml, size_t *size)
{
    const struct category *c = category_of(space);
    *xml = NULL;
    *size = 0;
    if (c && c->source == DEFINITION_SHIPPED)
        return load_shipped(name, xml, size);
    if (c && c->source == DEFINITION_NONE)
        return error_set(PLA_E_DCS_NOT_FOUND, "\"%s\\%.300s\": %s", space, name, c->none);
    return store_load(space, name, xml, size);
}

HRESULT definition_list(const char *space, struct texts *names)
{
    const struct category *c = category_of(space);
    struct texts found = {0};
    HRESULT hr = S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_list(space, names);
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
