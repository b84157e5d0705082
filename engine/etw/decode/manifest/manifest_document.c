/* SPDX-License-Identifier: MIT */
/* Writes event providers as manifests, with the layouts of their events. Each event provider is first written alone,
   read back, and added to the document only if OpenPLA's reader accepts it. */
#include "engine/etw/decode/manifest/manifest_document.h"

#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"

#include <string.h>

void manifest_document_free(struct manifest_document *d)
{
    for (size_t i = 0; i < d->culture_count; i++) {
        memory_free(d->cultures[i].name);
        text_buffer_free(&d->cultures[i].strings);
    }
    memory_free(d->cultures);
    text_buffer_free(&d->providers);
    *d = (struct manifest_document){0};
}

/* Returns the document's string table for a language; NULL: out of memory. */
static struct manifest_culture *culture_of(struct manifest_document *d, const char *name)
{
    void *items = d->cultures;
    for (size_t i = 0; i < d->culture_count; i++)
        if (text_equal_nocase(d->cultures[i].name, name))
            return &d->cultures[i];
    const bool room = memory_grow(&items, &d->culture_capacity, d->culture_count + 1, sizeof *d->cultures);
    d->cultures = items;
    char *copy = room ? text_copy(name) : NULL;
    if (!copy)
        return NULL;
    d->cultures[d->culture_count] = (struct manifest_culture){.name = copy};
    return &d->cultures[d->culture_count++];
}

/* ---- messages ---- */

/* Strings without a language are written in this language, because readers try it last. */
#define NEUTRAL "en-US"

static HRESULT add_string(struct manifest_writing *w, const char *culture, const char *id, const char *text)
{
    struct manifest_culture *c = culture_of(w->d, culture);
    if (!c)
        return E_OUTOFMEMORY;
    if (manifest_write_is_full(&c->strings))
        return S_OK;
    text_buffer_add(&c->strings, "        <string");
    xml_add_attribute(&c->strings, "id", id);
    xml_add_attribute(&c->strings, "value", text);
    text_buffer_add(&c->strings, "/>\r\n");
    return c->strings.failed ? E_OUTOFMEMORY : S_OK;
}

bool manifest_write_is_full(const struct text_buffer *b)
{
    return b->length > MANIFEST_MOST_BYTES;
}

static bool is_described(const struct message_tables *messages, uint32_t id, const char *language, size_t but)
{
    for (size_t i = 0; i < messages->count; i++)
        if (i != but && text_equal_nocase(messages->items[i].name, language) &&
            message_language_find(&messages->items[i], id))
            return true;
    return false;
}

HRESULT manifest_write_message(struct manifest_writing *w, uint32_t id, const char *text, const char *kind,
                               size_t index)
{
    const struct message_tables *messages = &w->m->messages;
    char *name = text_format("P%zu.%s.%zu", w->number, kind, index);
    HRESULT hr = name ? S_OK : E_OUTOFMEMORY;
    size_t added = 0;
    for (size_t i = 0; SUCCEEDED(hr) && id != MESSAGE_NONE && i < messages->count; i++) {
        const struct message_language *l = &messages->items[i];
        const char *found = message_language_find(l, id);
        if (!found || (!*l->name && is_described(messages, id, NEUTRAL, i)))
            continue;
        hr = add_string(w, *l->name ? l->name : NEUTRAL, name, found);
        added++;
    }
    if (SUCCEEDED(hr) && !added && text) {
        hr = add_string(w, NEUTRAL, name, text);
        added++;
    }
    if (SUCCEEDED(hr) && added)
        text_buffer_format(&w->d->providers, " message=\"$(string.%s)\"", name);
    memory_free(name);
    return hr;
}

/* ---- documents ---- */

HRESULT manifest_document_text(const struct manifest_document *d, struct text_buffer *out)
{
    text_buffer_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n"
                         "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\" "
                         "xmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\" "
                         "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\r\n  <instrumentation>\r\n    <events>\r\n");
    text_buffer_add(out, d->providers.text ? d->providers.text : "");
    text_buffer_add(out, "    </events>\r\n  </instrumentation>\r\n");
    if (d->culture_count)
        text_buffer_add(out, "  <localization>\r\n");
    for (size_t i = 0; i < d->culture_count; i++) {
        text_buffer_add(out, "    <resources");
        xml_add_attribute(out, "culture", d->cultures[i].name);
        text_buffer_add(out, ">\r\n      <stringTable>\r\n");
        text_buffer_add_n(out, d->cultures[i].strings.text, d->cultures[i].strings.length);
        text_buffer_add(out, "      </stringTable>\r\n    </resources>\r\n");
    }
    if (d->culture_count)
        text_buffer_add(out, "  </localization>\r\n");
    text_buffer_add(out, "</instrumentationManifest>\r\n");
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT skipped(HRESULT remarked)
{
    return SUCCEEDED(remarked) ? S_FALSE : remarked;
}

/* Reads the new manifest with OpenPLA's reader. A manifest that this reader rejects is not useful to other programs
   either, so the event provider is skipped. */
static HRESULT read_back(struct manifest_writing *w)
{
    struct provider_manifests list;
    struct text_buffer text = {0};
    HRESULT hr = manifest_document_text(w->d, &text);
    if (SUCCEEDED(hr)) {
        hr = manifest_xml_read(text.text, text.length, NULL, &list);
        if (SUCCEEDED(hr))
            provider_manifests_free(&list);
    }
    text_buffer_free(&text);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    const struct error_kept why = error_keep(hr);
    return skipped(
        manifest_write_warning(w, "skipped: no valid manifest can be created from its events: %.600s", why.text));
}

static HRESULT document_append(struct manifest_document *to, const struct manifest_document *from)
{
    for (size_t i = 0; i < from->culture_count; i++) {
        struct manifest_culture *c = culture_of(to, from->cultures[i].name);
        if (!c)
            return E_OUTOFMEMORY;
        text_buffer_add_n(&c->strings, from->cultures[i].strings.text, from->cultures[i].strings.length);
        if (c->strings.failed)
            return E_OUTOFMEMORY;
    }
    text_buffer_add_n(&to->providers, from->providers.text, from->providers.length);
    to->provider_count++;
    return to->providers.failed ? E_OUTOFMEMORY : S_OK;
}

/* Returns whether the comparisons end within a few seconds. The number of comparisons is quadratic: names are compared
   with each other, fields with events, and maps with properties. */
static bool is_compared_soon(const struct provider_manifest *m, uint64_t fields)
{
    const uint64_t keywords = 64 * ((uint64_t)m->fields[MANIFEST_KEYWORDS].count + 64); /* comparisons per event */
    uint64_t properties = 0;
    for (size_t i = 0; i < m->layout_count; i++)
        properties += m->layouts[i].property_count;
    return fields * fields + m->event_count * (fields + keywords) + properties * m->map_count <= MANIFEST_MOST_COMPARED;
}

static size_t size_of(const struct manifest_document *d)
{
    enum { AROUND_ALL = 512, AROUND_STRINGS = 128 };
    size_t size = AROUND_ALL + d->providers.length;
    for (size_t i = 0; i < d->culture_count; i++)
        size += AROUND_STRINGS + strlen(d->cultures[i].name) + d->cultures[i].strings.length;
    return size;
}

static HRESULT write_alone(struct manifest_writing *w)
{
    size_t fields = 0;
    for (size_t kind = 0; kind < MANIFEST_KINDS; kind++)
        fields += w->m->fields[kind].count;
    if (!is_compared_soon(w->m, fields))
        return skipped(manifest_write_warning(w,
                                              "skipped: too large: %zu fields and %zu events would take too "
                                              "long to compare",
                                              fields, w->m->event_count));
    const HRESULT hr = manifest_write_provider(w);
    return SUCCEEDED(hr) ? read_back(w) : hr;
}

HRESULT manifest_document_add(struct manifest_document *d, const struct provider_manifest *m, const bool *wanted,
                              struct texts *warnings)
{
    struct manifest_document one = {0};
    struct manifest_writing w = {
        .m = m, .wanted = wanted, .warnings = warnings, .d = &one, .number = d->provider_count + 1};
    HRESULT hr = write_alone(&w);
    if (hr == S_OK &&
        (d->provider_count == MANIFEST_MOST_PROVIDERS || size_of(d) + size_of(&one) > MANIFEST_MOST_BYTES))
        hr = skipped(manifest_write_warning(&w, "skipped: a manifest has at most %u providers and %u bytes",
                                            MANIFEST_MOST_PROVIDERS, MANIFEST_MOST_BYTES));
    if (hr == S_OK)
        hr = document_append(d, &one);
    manifest_document_free(&one);
    return hr;
}

/* ---- maps, templates and filters of an event provider ---- */

/* ---- maps ---- */

static HRESULT write_entry(struct manifest_writing *w, const struct manifest_map *map, size_t index, size_t number)
{
    const struct manifest_map_entry *entry = &map->entries[index];
    struct text_buffer *b = &w->d->providers;
    if (map->bits && entry->value & (entry->value - 1))
        return manifest_write_warning(
            w, "map '%.200s': skipped the value 0x%X, which has several bits: a manifest allows only one bit per value",
            map->name, (unsigned)entry->value);
    char *value = text_format(map->bits ? "0x%X" : "%u", (unsigned)entry->value);
    char *shown = text_format("%u", (unsigned)entry->value); /* the number, shown for an entry without text */
    HRESULT hr = value && shown ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        text_buffer_format(b, "            <map value=\"%s\"", value);
        if (entry->symbol)
            xml_add_attribute(b, "symbol", entry->symbol);
        hr = manifest_write_message(w, entry->message, shown, "map", number);
        text_buffer_add(b, "/>\r\n");
    }
    memory_free(value);
    memory_free(shown);
    return hr;
}

HRESULT manifest_write_maps(struct manifest_writing *w)
{
    struct text_buffer *b = &w->d->providers;
    HRESULT hr = S_OK;
    size_t number = 0, count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->map_count; i++) {
        const struct manifest_map *map = &w->m->maps[i];
        char *name = w->maps[i] ? manifest_plain_name(map->name) : NULL;
        const char *element = map->bits ? "bitMap" : "valueMap";
        if (w->maps[i] && !name)
            return E_OUTOFMEMORY;
        if (w->maps[i]) {
            text_buffer_add(b, count++ == 0 ? "        <maps>\r\n" : "");
            text_buffer_format(b, "          <%s", element);
            xml_add_attribute(b, "name", name);
            if (map->symbol)
                xml_add_attribute(b, "symbol", map->symbol);
            text_buffer_add(b, ">\r\n");
        }
        for (size_t k = 0; SUCCEEDED(hr) && w->maps[i] && k < map->count; k++)
            hr = write_entry(w, map, k, number++);
        if (w->maps[i])
            text_buffer_format(b, "          </%s>\r\n", element);
        memory_free(name);
    }
    text_buffer_add(b, count ? "        </maps>\r\n" : "");
    return hr;
}

/* ---- templates ---- */

char *manifest_layout_name(const struct provider_manifest *m, size_t index)
{
    return m->layouts[index].name ? text_copy(m->layouts[index].name) : text_format("Template_%zu", index);
}

/* Adds a property's name. Properties from a resource can be unnamed; they get a generated name. */
static void add_name(struct text_buffer *b, const char *attribute, const struct manifest_template *t, size_t index)
{
    if (t->properties[index].name && *t->properties[index].name)
        xml_add_attribute(b, attribute, t->properties[index].name);
    else
        text_buffer_format(b, " %s=\"Data_%zu\"", attribute, index);
}

static void add_count(struct text_buffer *b, const struct manifest_template *t, const struct event_property *p)
{
    if (p->flags & PROPERTY_PARAM_COUNT)
        add_name(b, "count", t, p->count);
    else if (p->flags & PROPERTY_FIXED_COUNT || p->count > 1)
        text_buffer_format(b, " count=\"%u\"", p->count);
}

static bool has_length(const struct event_property *p)
{
    return p->in_type == IN_TYPE_UNICODESTRING || p->in_type == IN_TYPE_ANSISTRING || p->in_type == IN_TYPE_BINARY;
}

static HRESULT write_data(struct manifest_writing *w, const struct manifest_template *t, size_t index,
                          const char *indent)
{
    const struct event_property *p = &t->properties[index];
    const struct manifest_in_type *type = manifest_in_type_of(p->in_type);
    const char *out = manifest_out_type_name(p->out_type);
    struct text_buffer *b = &w->d->providers;
    text_buffer_format(b, "%s<data", indent);
    add_name(b, "name", t, index);
    if (type)
        text_buffer_format(b, " inType=\"win:%s\"", type->name);
    else /* manifests have no name for this type: read_back rejects the manifest and reports the type's number */
        text_buffer_format(b, " inType=\"win:%u\"", p->in_type);
    if (out && !(type && type->out == p->out_type))
        text_buffer_format(b, " outType=\"%s\"", out);
    if (p->map) {
        char *map = manifest_plain_name(p->map);
        if (!map)
            return E_OUTOFMEMORY;
        xml_add_attribute(b, "map", map);
        memory_free(map);
    }
    if (p->flags & PROPERTY_PARAM_LENGTH)
        add_name(b, "length", t, p->length);
    else if (has_length(p) && p->length)
        text_buffer_format(b, " length=\"%u\"", p->length);
    add_count(b, t, p);
    text_buffer_add(b, "/>\r\n");
    return S_OK;
}

static HRESULT write_struct(struct manifest_writing *w, const struct manifest_template *t, size_t index)
{
    const struct event_property *p = &t->properties[index];
    struct text_buffer *b = &w->d->providers;
    HRESULT hr = S_OK;
    text_buffer_add(b, "            <struct");
    add_name(b, "name", t, index);
    add_count(b, t, p);
    text_buffer_add(b, ">\r\n");
    for (size_t i = p->first_member; SUCCEEDED(hr) && i < (size_t)p->first_member + p->members; i++)
        hr = write_data(w, t, i, "              ");
    text_buffer_add(b, "            </struct>\r\n");
    return hr;
}

static HRESULT write_template(struct manifest_writing *w, size_t index)
{
    const struct manifest_template *t = &w->m->layouts[index];
    struct text_buffer *b = &w->d->providers;
    char *name = manifest_layout_name(w->m, index);
    HRESULT hr = name ? S_OK : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    text_buffer_add(b, "          <template");
    xml_add_attribute(b, "tid", name);
    text_buffer_add(b, ">\r\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < t->top_level && !manifest_write_is_full(b); i++)
        hr = t->properties[i].flags & PROPERTY_STRUCT ? write_struct(w, t, i) : write_data(w, t, i, "            ");
    if (t->user_data) {
        text_buffer_add(b, "            <UserData>");
        text_buffer_add(b, t->user_data);
        text_buffer_add(b, "</UserData>\r\n");
    }
    text_buffer_add(b, "          </template>\r\n");
    memory_free(name);
    return hr;
}

HRESULT manifest_write_templates(struct manifest_writing *w)
{
    struct text_buffer *b = &w->d->providers;
    HRESULT hr = S_OK;
    size_t count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->layout_count; i++) {
        if (!w->layouts[i])
            continue;
        text_buffer_add(b, count++ == 0 ? "        <templates>\r\n" : "");
        hr = write_template(w, i);
    }
    text_buffer_add(b, count ? "        </templates>\r\n" : "");
    return hr;
}

/* ---- filters ---- */

HRESULT manifest_write_filters(struct manifest_writing *w)
{
    struct text_buffer *b = &w->d->providers;
    HRESULT hr = S_OK;
    text_buffer_add(b, w->m->filter_count ? "        <filters>\r\n" : "");
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->filter_count; i++) {
        const struct manifest_filter *f = &w->m->filters[i];
        char *layout =
            f->layout < w->m->layout_count && w->layouts[f->layout] ? manifest_layout_name(w->m, f->layout) : NULL;
        text_buffer_add(b, "          <filter");
        xml_add_attribute(b, "name", f->name ? f->name : "Filter");
        text_buffer_format(b, " value=\"%u\" version=\"%u\"", f->value, f->version);
        if (layout)
            xml_add_attribute(b, "tid", layout);
        if (f->symbol)
            xml_add_attribute(b, "symbol", f->symbol);
        hr = manifest_write_message(w, f->message, NULL, "filter", i);
        text_buffer_add(b, "/>\r\n");
        memory_free(layout);
    }
    text_buffer_add(b, w->m->filter_count ? "        </filters>\r\n" : "");
    return hr;
}
