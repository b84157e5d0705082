/* SPDX-License-Identifier: MIT */
/* Two sources of schemas: a list of manifests, to which registered manifests are added on demand; and the manifests
   that .NET writes into a trace in pieces. */
#include "engine/etw/manifest_origins.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define MOST_ABSENT 4096 /* limit for the list of unknown providers: a trace can contain any number of GUIDs */

struct manifest_origin {
    struct provider_manifests list;
    char *languages;
    bool registered; /* search the registry for event providers that are not in the list */
    struct lock lock;
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

/* Remembers that an event provider is unknown. If the entry cannot be stored, the next event of this provider causes
   another search of the registry. */
static void origin_note_absent(struct manifest_origin *o, const GUID *guid, HRESULT hr)
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
            origin_note_absent(o, guid, hr);
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
    lock_enter(&o->lock);
    *out = find_listed(o, guid);
    if (!*out && o->registered)
        hr = load_registered(o, guid, out);
    lock_leave(&o->lock);
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
    char *wanted = languages ? text_copy(languages) : os_ui_languages();
    if (!o || !wanted) {
        memory_free(o);
        memory_free(wanted);
        provider_manifests_free(list);
        return E_OUTOFMEMORY;
    }
    const struct lock lock = LOCK_INIT;
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

static HRESULT load_xml(const char *path, struct texts *warnings, struct provider_manifests *out)
{
    char *xml;
    size_t size;
    *out = (struct provider_manifests){0};
    HRESULT hr = file_load(path, MANIFEST_MOST_BYTES, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = manifest_xml_read(xml, size, warnings, out);
    memory_free(xml);
    return FAILED(hr) && hr != E_OUTOFMEMORY ? error_prefix(hr, "%s", path) : hr;
}

HRESULT manifest_file_load(const char *path, struct texts *warnings, struct provider_manifests *out)
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
        return load_xml(path, warnings, out);
    hr = wevt_template_load(path, out);
    return hr == S_FALSE ? error_set(HRESULT_FROM_WIN32(1813),
                                     "cannot read the manifest in '%s': the file has no WEVT_TEMPLATE resource", path)
                         : hr;
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

HRESULT provider_manifests_append(struct provider_manifests *to, struct provider_manifests *from)
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

static HRESULT add_binary(const char *path, struct texts *warnings, struct provider_manifests *all)
{
    struct provider_manifests one;
    HRESULT hr = wevt_template_load(path, &one);
    if (hr == S_OK)
        return provider_manifests_append(all, &one);
    if (hr == E_OUTOFMEMORY || hr == S_FALSE || !warnings)
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    return texts_add(warnings, error_text(hr));
}

HRESULT manifest_folder_origin(const char *folder, const char *languages, struct texts *warnings,
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
            hr = path ? add_binary(path, warnings, &all) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&names);
    if (FAILED(hr)) {
        provider_manifests_free(&all);
        return hr;
    }
    return manifests_origin(&all, languages, out);
}

/* ---- pieces in traces written by .NET ---- */

/* A piece of a manifest: {u8 format 1, u8 major, u8 minor, u8 0x5B, u16 pieces, u16 number}, then UTF-8. Any program
   can write such events, so their contents are untrusted. */

#define MANIFEST_EVENT 0xFFFE
#define HEADER         8
#define FORMAT         1
#define MAGIC          0x5B
#define MOST_PIECES    16384u
#define MOST_GATHERED  (32u << 20) /* limit for the pieces of all incomplete manifests */
#define MOST_PROVIDERS 1024u

struct gathering {
    GUID guid;
    uint16_t pieces, have;
    struct piece {
        uint8_t *bytes; /* NULL: the piece was not received */
        size_t size;
    } * all;
    size_t size;
    /* A complete manifest was received; `hash` is its text's hash, `origin` its id in the schemas. */
    bool known;
    bool refused; /* this manifest is unusable */
    uint64_t hash, origin;
};
struct inband_manifests {
    struct gathering *items;
    size_t count, capacity;
    size_t gathered; /* bytes of all stored pieces */
    char *languages; /* NULL: the languages of the current user */
};

static void drop_pieces(struct inband_manifests *all, struct gathering *g)
{
    for (size_t i = 0; g->all && i < g->pieces; i++)
        memory_free(g->all[i].bytes);
    memory_free(g->all);
    all->gathered -= g->size;
    g->all = NULL;
    g->size = 0;
    g->pieces = g->have = 0;
}

struct inband_manifests *inband_manifests_create(const char *languages)
{
    struct inband_manifests *all = memory_zero(1, sizeof *all);
    char *copy = all && languages ? text_copy(languages) : NULL;
    if (all && languages && !copy) {
        memory_free(all);
        return NULL;
    }
    if (all)
        all->languages = copy;
    return all;
}

void inband_manifests_free(struct inband_manifests *all)
{
    for (size_t i = 0; all && i < all->count; i++)
        drop_pieces(all, &all->items[i]);
    if (all) {
        memory_free(all->items);
        memory_free(all->languages);
    }
    memory_free(all);
}

bool inband_manifest_event(const EVENT_RECORD *event)
{
    const uint8_t *data = event->UserData;
    return event->EventHeader.EventDescriptor.Id == MANIFEST_EVENT && event->UserDataLength > HEADER &&
           data[0] == FORMAT && data[3] == MAGIC;
}

static HRESULT manifest_unusable(const char *why, unsigned long long value)
{
    error_set(S_FALSE, "cannot use a manifest in the trace: %s (%llu)", why, value);
    return S_FALSE;
}

/* Returns the entry for an event provider, and adds it if it is new. NULL: *hr is the reason. */
static struct gathering *gathering_of(struct inband_manifests *all, const GUID *guid, HRESULT *hr)
{
    void *items = all->items;
    for (size_t i = 0; i < all->count; i++)
        if (guid_equal(&all->items[i].guid, guid))
            return &all->items[i];
    *hr = all->count < MOST_PROVIDERS ? S_OK : manifest_unusable("too many providers", MOST_PROVIDERS);
    if (*hr != S_OK)
        return NULL;
    bool room = memory_grow(&items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items = items;
    if (!room) {
        *hr = E_OUTOFMEMORY;
        return NULL;
    }
    all->items[all->count] = (struct gathering){.guid = *guid};
    return &all->items[all->count++];
}

/* ---- rejected manifests ---- */

/* An origin that has no schemas. It only provides the reason why the events of one event provider cannot be decoded. */
struct refusal {
    GUID provider;
    char *why;
};

static HRESULT refusal_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size,
                              struct event_schema **out)
{
    const struct refusal *r = context;
    (void)pointer_size;
    *out = NULL;
    if (guid_equal(&r->provider, &event->EventHeader.ProviderId))
        error_set(S_FALSE, "%s", r->why);
    return S_FALSE;
}

static void refusal_free(void *context)
{
    struct refusal *r = context;
    memory_free(r->why);
    memory_free(r);
}

static HRESULT refusal_origin(const GUID *provider, const char *why, struct schema_origin *out)
{
    struct refusal *r = memory_zero(1, sizeof *r);
    char *copy = text_copy(why);
    if (!r || !copy) {
        memory_free(r);
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    *r = (struct refusal){*provider, copy};
    *out =
        (struct schema_origin){.source = SCHEMA_MANIFEST, .context = r, .schema = refusal_schema, .free = refusal_free};
    return S_OK;
}

/* Reads a complete manifest. Returns S_FALSE, with the reason in the error text, if the manifest is unusable. */
static HRESULT read_manifest(const char *xml, size_t size, const GUID *provider, struct provider_manifests *list)
{
    HRESULT hr = manifest_xml_read(xml, size, NULL, list);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        if (hr == E_OUTOFMEMORY)
            return hr;
        error_set(S_FALSE, "invalid manifest in the trace: %.900s", why.text);
        return S_FALSE;
    }
    if (list->count == 1 && guid_equal(&list->items[0]->guid, provider))
        return S_OK;
    hr = manifest_unusable("it does not describe the provider that wrote it", list->count);
    provider_manifests_free(list);
    return hr;
}

/* Adds a complete manifest to the schemas. Returns S_FALSE if the manifest is unusable. The reason is reported once;
   each event of the event provider that is not decoded gets the same reason. */
static HRESULT gathering_join_schemas(struct inband_manifests *all, struct gathering *g, const char *xml, size_t size,
                                      struct event_schemas *schemas)
{
    struct provider_manifests list;
    struct schema_origin origin;
    const uint64_t hash = hash_bytes(HASH_START, xml, size);
    if (g->known && g->hash == hash)
        return S_OK; /* .NET writes the manifest again for each session that enables the event provider */
    const HRESULT read = read_manifest(xml, size, &g->guid, &list);
    const struct error_kept why = error_keep(read);
    if (FAILED(read))
        return read;
    if (read != S_OK && g->known && !g->refused) /* keep using the last valid manifest */
        return error_restore(&why);
    HRESULT hr =
        read == S_OK ? manifests_origin(&list, all->languages, &origin) : refusal_origin(&g->guid, why.text, &origin);
    origin.place = SCHEMA_OF_WRITER;
    if (SUCCEEDED(hr) && g->known) {
        g->known = false;
        hr = event_schemas_remove(schemas, g->origin);
    }
    if (SUCCEEDED(hr))
        hr = event_schemas_add(schemas, &origin, &g->origin);
    if (SUCCEEDED(hr)) {
        g->known = true;
        g->refused = read != S_OK;
        g->hash = hash;
    }
    return FAILED(hr) ? hr : read == S_OK ? S_OK : error_restore(&why);
}

static HRESULT join_pieces(struct inband_manifests *all, struct gathering *g, struct event_schemas *schemas)
{
    struct text_buffer whole = {0};
    for (size_t i = 0; i < g->pieces; i++)
        text_buffer_add_n(&whole, (const char *)g->all[i].bytes, g->all[i].size);
    HRESULT hr = whole.failed ? E_OUTOFMEMORY : gathering_join_schemas(all, g, whole.text, whole.length, schemas);
    text_buffer_free(&whole);
    drop_pieces(all, g);
    return hr;
}

HRESULT inband_manifests_take(struct inband_manifests *all, const EVENT_RECORD *event, struct event_schemas *schemas)
{
    const uint8_t *data = event->UserData;
    HRESULT hr = S_OK;
    if (!inband_manifest_event(event))
        return manifest_unusable("the event is not a piece of a manifest", event->UserDataLength);
    const uint16_t pieces = get_u16(data + 4), number = get_u16(data + 6);
    const size_t size = event->UserDataLength - HEADER;
    if (!pieces || number >= pieces || pieces > MOST_PIECES)
        return manifest_unusable("invalid piece number", number);
    struct gathering *g = gathering_of(all, &event->EventHeader.ProviderId, &hr);
    if (!g)
        return hr;
    if (g->pieces != pieces || (number == 0 && g->all && g->all[0].bytes)) /* another copy of the manifest begins */
        drop_pieces(all, g);
    if (!g->all) {
        g->all = memory_zero(pieces, sizeof *g->all);
        if (!g->all)
            return E_OUTOFMEMORY;
        g->pieces = pieces;
    }
    if (g->all[number].bytes)
        return S_OK; /* the piece was received twice */
    if (g->size + size > MANIFEST_MOST_BYTES || all->gathered + size > MOST_GATHERED) {
        drop_pieces(all, g);
        return manifest_unusable("the pieces are too large", g->size + size);
    }
    g->all[number].bytes = memory_copy(data + HEADER, size);
    if (!g->all[number].bytes)
        return E_OUTOFMEMORY;
    g->all[number].size = size;
    g->size += size;
    all->gathered += size;
    return ++g->have == g->pieces ? join_pieces(all, g, schemas) : S_OK;
}
