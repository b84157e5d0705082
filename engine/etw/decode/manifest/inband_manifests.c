/* SPDX-License-Identifier: MIT */
/* Pieces of manifests: {u8 format 1, u8 major, u8 minor, u8 0x5B, u16 pieces, u16 number}, then UTF-8. Nothing in them
   is trusted: anybody may write events. */
#include "engine/etw/decode/manifest/inband_manifests.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/etw/manifest_origins.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define MANIFEST_EVENT 0xFFFE
#define HEADER         8
#define FORMAT         1
#define MAGIC          0x5B
#define MOST_PIECES    16384u
#define MOST_GATHERED  (32u << 20) /* bytes of pieces of all manifests that are not whole yet */
#define MOST_PROVIDERS 1024u

struct gathering {
    GUID guid;
    uint16_t pieces, have;
    struct piece {
        uint8_t *bytes; /* NULL: it has not come */
        size_t size;
    } * all;
    size_t size;
    bool known;   /* a whole one came: its text's hash, and its origin in the schemas */
    bool refused; /* it cannot be used */
    uint64_t hash, origin;
};
struct inband_manifests {
    struct gathering *items;
    size_t count, capacity;
    size_t gathered; /* bytes */
    char *languages; /* NULL: the host's */
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

static HRESULT useless(const char *why, unsigned long long value)
{
    error_set(S_FALSE, "a manifest in the trace: %s (%llu)", why, value);
    return S_FALSE;
}

/* NULL with *hr: why not. */
static struct gathering *gathering_of(struct inband_manifests *all, const GUID *guid, HRESULT *hr)
{
    void *items = all->items;
    for (size_t i = 0; i < all->count; i++)
        if (guid_equal(&all->items[i].guid, guid))
            return &all->items[i];
    *hr = all->count < MOST_PROVIDERS ? S_OK : useless("there are more providers", MOST_PROVIDERS);
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

/* ---- a manifest that is refused ---- */

/* The reason that events of its provider stay undecoded. */
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

/* S_FALSE: it cannot be used; the error text has the reason. */
static HRESULT read_manifest(const char *xml, size_t size, const GUID *provider, struct provider_manifests *list)
{
    HRESULT hr = manifest_xml_read(xml, size, NULL, list);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        if (hr == E_OUTOFMEMORY)
            return hr;
        error_set(S_FALSE, "a manifest in the trace: %.900s", why.text);
        return S_FALSE;
    }
    if (list->count == 1 && guid_equal(&list->items[0]->guid, provider))
        return S_OK;
    hr = useless("it is not of the provider that wrote it", list->count);
    provider_manifests_free(list);
    return hr;
}

/* S_FALSE: the manifest cannot be used. That is reported once, and is the reason of each event of the provider. */
static HRESULT join(struct inband_manifests *all, struct gathering *g, const char *xml, size_t size,
                    struct event_schemas *schemas)
{
    struct provider_manifests list;
    struct schema_origin origin;
    const uint64_t hash = hash_bytes(HASH_START, xml, size);
    if (g->known && g->hash == hash)
        return S_OK; /* each session that enables it gets one */
    const HRESULT read = read_manifest(xml, size, &g->guid, &list);
    const struct error_kept why = error_keep(read);
    if (FAILED(read))
        return read;
    if (read != S_OK && g->known && !g->refused) /* the last good manifest keeps decoding */
        return error_restore(&why);
    HRESULT hr =
        read == S_OK ? manifests_origin(&list, all->languages, &origin) : refusal_origin(&g->guid, why.text, &origin);
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
    HRESULT hr = whole.failed ? E_OUTOFMEMORY : join(all, g, whole.text, whole.length, schemas);
    text_buffer_free(&whole);
    drop_pieces(all, g);
    return hr;
}

HRESULT inband_manifests_take(struct inband_manifests *all, const EVENT_RECORD *event, struct event_schemas *schemas)
{
    const uint8_t *data = event->UserData;
    HRESULT hr = S_OK;
    if (!inband_manifest_event(event))
        return useless("it is no piece of one", event->UserDataLength);
    const uint16_t pieces = get_u16(data + 4), number = get_u16(data + 6);
    const size_t size = event->UserDataLength - HEADER;
    if (!pieces || number >= pieces || pieces > MOST_PIECES)
        return useless("a piece has a number that cannot be", number);
    struct gathering *g = gathering_of(all, &event->EventHeader.ProviderId, &hr);
    if (!g)
        return hr;
    if (g->pieces != pieces || (number == 0 && g->all && g->all[0].bytes)) /* it begins anew */
        drop_pieces(all, g);
    if (!g->all) {
        g->all = memory_zero(pieces, sizeof *g->all);
        if (!g->all)
            return E_OUTOFMEMORY;
        g->pieces = pieces;
    }
    if (g->all[number].bytes)
        return S_OK; /* again */
    if (g->size + size > MANIFEST_MOST_BYTES || all->gathered + size > MOST_GATHERED) {
        drop_pieces(all, g);
        return useless("its pieces have too many bytes", g->size + size);
    }
    g->all[number].bytes = memory_copy(data + HEADER, size);
    if (!g->all[number].bytes)
        return E_OUTOFMEMORY;
    g->all[number].size = size;
    g->size += size;
    all->gathered += size;
    return ++g->have == g->pieces ? join_pieces(all, g, schemas) : S_OK;
}
