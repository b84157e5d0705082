/* SPDX-License-Identifier: MIT */
/* What providers define beside their events. */
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/schemas.h"
#include "engine/etw/provider_manifest.h"

HRESULT known_fields_add(struct known_fields *list, const char *name, const char *description, uint64_t value)
{
    void *items = list->items;
    const struct known_field field = {text_copy(name), description ? text_copy(description) : NULL, value};
    bool room = field.name && (!description || field.description);
    room = room && memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (!room) {
        memory_free(field.name);
        memory_free(field.description);
        return E_OUTOFMEMORY;
    }
    list->items[list->count++] = field;
    return S_OK;
}

void known_fields_free(struct known_fields *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free(list->items[i].name);
        memory_free(list->items[i].description);
    }
    memory_free(list->items);
    *list = (struct known_fields){0};
}

struct asked {
    unsigned kind;
    struct known_fields *out;
};

static HRESULT take_fields(void *context, const struct provider_manifest *manifest)
{
    const struct asked *asked = context;
    char *languages = host_ui_languages();
    HRESULT hr = languages ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < manifest->fields[asked->kind].count; i++) {
        const struct manifest_field *f = &manifest->fields[asked->kind].items[i];
        const char *message = manifest_field_message(manifest, f, languages);
        const char *name = f->name ? f->name : message ? message : "";
        hr = known_fields_add(asked->out, name, message,
                              asked->kind == MANIFEST_OPCODES ? f->value << 16 | f->task : f->value);
    }
    memory_free(languages);
    return hr;
}

HRESULT event_schemas_fields(struct event_schemas *schemas, const GUID *provider, unsigned kind,
                             struct known_fields *out)
{
    struct asked asked = {kind, out};
    if (kind >= MANIFEST_KINDS)
        return E_INVALIDARG;
    const HRESULT hr = event_schemas_manifest(schemas, provider, take_fields, &asked);
    return hr == S_FALSE ? event_schemas_origin_fields(schemas, provider, kind, out) : hr;
}
