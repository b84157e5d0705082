/* SPDX-License-Identifier: MIT */
/* Manifests as origins of schemas: a list of them, which grows by those that are registered when they are asked for. */
#include "engine/etw/manifest_origins.h"

#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/etw/registered_manifests.h"

#include <string.h>

#define MOST_ABSENT 4096 /* providers that are not registered are remembered; a trace may name any number */

struct manifest_origin {
    struct provider_manifests list;
    char *languages;
    bool registered; /* what is not in the list is looked for in the registry */
    struct host_lock lock;
    struct unknown {
        GUID guid;
        HRESULT hr;
        char *why;
    } * unknown;
    size_t unknown_count, unknown_capacity;
};

static void origin_free(void *context)
{
    struct manifest_origin *o = context;
    provider_manifests_free(&o->list);
    for (size_t i = 0; i < o->unknown_count; i++)
        memory_free(o->unknown[i].why);
    memory_free(o->unknown);
    memory_free(o->languages);
    memory_free(o);
}

static const struct provider_manifest *find_listed(const struct manifest_origin *o, const GUID *guid)
{
    for (size_t i = 0; i < o->list.count; i++)
        if (guid_equal(&o->list.items[i]->guid, guid))
            return o->list.items[i];
    return NULL;
}

static const struct unknown *find_unknown(const struct manifest_origin *o, const GUID *guid)
{
    for (size_t i = 0; i < o->unknown_count; i++)
        if (guid_equal(&o->unknown[i].guid, guid))
            return &o->unknown[i];
    return NULL;
}

/* That nothing is known is worth remembering; when memory is out, it is looked for again. */
static void remember(struct manifest_origin *o, const GUID *guid, HRESULT hr)
{
    void *items = o->unknown;
    char *why = o->unknown_count < MOST_ABSENT ? text_copy(error_text(hr)) : NULL;
    bool room = why && memory_grow(&items, &o->unknown_capacity, o->unknown_count + 1, sizeof *o->unknown);
    o->unknown = items;
    if (room)
        o->unknown[o->unknown_count++] = (struct unknown){*guid, hr, why};
    else
        memory_free(why);
}

static HRESULT load_registered(struct manifest_origin *o, const GUID *guid, const struct provider_manifest **out)
{
    struct provider_manifest *m;
    const struct unknown *u = find_unknown(o, guid);
    if (u)
        return error_set(u->hr, "%s", u->why);
    HRESULT hr = registered_manifest_load(guid, o->languages, &m);
    if (hr != S_OK) {
        if (hr != E_OUTOFMEMORY)
            remember(o, guid, hr);
        return hr;
    }
    void *items = o->list.items;
    bool room = memory_grow(&items, &o->list.capacity, o->list.count + 1, sizeof *o->list.items);
    o->list.items = items;
    if (!room) {
        provider_manifest_free(m);
        return E_OUTOFMEMORY;
    }
    *out = o->list.items[o->list.count++] = m;
    return S_OK;
}

static HRESULT origin_manifest(void *context, const GUID *guid, const struct provider_manifest **out)
{
    struct manifest_origin *o = context;
    HRESULT hr = S_FALSE;
    host_lock_enter(&o->lock);
    *out = find_listed(o, guid);
    if (!*out && o->registered)
        hr = load_registered(o, guid, out);
    host_lock_leave(&o->lock);
    return *out ? S_OK : hr;
}

static HRESULT origin_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    struct manifest_origin *o = context;
    const struct provider_manifest *m;
    (void)pointer_size;
    *out = NULL;
    HRESULT hr = origin_manifest(context, &event->EventHeader.ProviderId, &m);
    return hr == S_OK ? provider_manifest_schema(m, &event->EventHeader.EventDescriptor, o->languages, out) : hr;
}

static HRESULT origin_providers(void *context, struct known_providers *list)
{
    struct manifest_origin *o = context;
    HRESULT hr = S_OK;
    if (o->registered)
        return registered_providers_list(list);
    for (size_t i = 0; SUCCEEDED(hr) && i < o->list.count; i++) {
        char guid[39];
        const struct provider_manifest *m = o->list.items[i];
        text_from_guid(&m->guid, guid);
        hr = known_providers_add(list, &m->guid, SCHEMA_MANIFEST, text_copy(m->name ? m->name : guid));
    }
    return hr;
}

static HRESULT make_origin(struct provider_manifests *list, const char *languages, bool registered,
                           struct schema_origin *out)
{
    struct manifest_origin *o = memory_zero(1, sizeof *o);
    char *wanted = languages ? text_copy(languages) : host_ui_languages();
    if (!o || !wanted) {
        memory_free(o);
        memory_free(wanted);
        provider_manifests_free(list);
        return E_OUTOFMEMORY;
    }
    const struct host_lock lock = HOST_LOCK_INIT;
    *o = (struct manifest_origin){.list = *list, .languages = wanted, .registered = registered, .lock = lock};
    *list = (struct provider_manifests){0};
    *out = (struct schema_origin){.source = SCHEMA_MANIFEST,
                                  .context = o,
                                  .schema = origin_schema,
                                  .providers = origin_providers,
                                  .manifest = origin_manifest,
                                  .free = origin_free};
    return S_OK;
}

HRESULT manifests_origin(struct provider_manifests *list, const char *languages, struct schema_origin *out)
{
    return make_origin(list, languages, false, out);
}

HRESULT registered_manifests_origin(const char *languages, struct schema_origin *out)
{
    struct provider_manifests none = {0};
    return make_origin(&none, languages, true, out);
}

/* ---- files ---- */

static HRESULT load_xml(const char *path, struct texts *remarks, struct provider_manifests *out)
{
    char *xml;
    size_t size;
    *out = (struct provider_manifests){0};
    HRESULT hr = file_load(path, MANIFEST_MOST_BYTES, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = manifest_xml_read(xml, size, remarks, out);
    memory_free(xml);
    return FAILED(hr) && hr != E_OUTOFMEMORY ? error_prefix(hr, "%s", path) : hr;
}

HRESULT manifest_file_load(const char *path, struct texts *remarks, struct provider_manifests *out)
{
    struct file *f;
    char begin[2] = "";
    size_t got = 0;
    *out = (struct provider_manifests){0};
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (FAILED(hr))
        return hr;
    hr = file_read_at(f, 0, begin, sizeof begin, &got);
    file_close(f);
    if (FAILED(hr))
        return hr;
    if (got < 2 || begin[0] != 'M' || begin[1] != 'Z')
        return load_xml(path, remarks, out);
    hr = wevt_template_load(path, out);
    return hr == S_FALSE ? error_set(HRESULT_FROM_WIN32(1813), "%s: it has no WEVT_TEMPLATE", path) : hr;
}

HRESULT manifest_file_origin(const char *path, const char *languages, struct schema_origin *out)
{
    struct provider_manifests list;
    HRESULT hr = load_xml(path, NULL, &list);
    return SUCCEEDED(hr) ? manifests_origin(&list, languages, out) : hr;
}

HRESULT manifest_binary_origin(const char *path, const char *languages, struct schema_origin *out)
{
    struct provider_manifests list;
    HRESULT hr = wevt_template_load(path, &list);
    return hr == S_OK ? manifests_origin(&list, languages, out) : hr;
}

/* Moves them to the end of the other list. */
static HRESULT append(struct provider_manifests *to, struct provider_manifests *from)
{
    void *items = to->items;
    bool room = memory_grow(&items, &to->capacity, to->count + from->count, sizeof *to->items);
    to->items = items;
    if (room && from->count) {
        memcpy(to->items + to->count, from->items, from->count * sizeof *to->items);
        to->count += from->count;
        from->count = 0;
    }
    provider_manifests_free(from);
    return room ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_binary(const char *path, struct texts *remarks, struct provider_manifests *all)
{
    struct provider_manifests one;
    HRESULT hr = wevt_template_load(path, &one);
    if (hr == S_OK)
        return append(all, &one);
    if (hr == E_OUTOFMEMORY || hr == S_FALSE || !remarks)
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    return texts_add(remarks, error_text(hr));
}

HRESULT manifest_folder_origin(const char *folder, const char *languages, struct texts *remarks,
                               struct schema_origin *out)
{
    static const char *const endings[] = {".dll", ".exe", ".sys"};
    struct provider_manifests all = {0};
    struct texts names = {0};
    HRESULT hr = folder_list(folder, false, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        bool program = false;
        for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++)
            program = program || text_equal_nocase(path_extension(names.items[i]), endings[k]);
        char *path = program ? path_join(folder, names.items[i]) : NULL;
        if (program)
            hr = path ? add_binary(path, remarks, &all) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&names);
    if (FAILED(hr)) {
        provider_manifests_free(&all);
        return hr;
    }
    return manifests_origin(&all, languages, out);
}
