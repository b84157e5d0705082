/* SPDX-License-Identifier: MIT */
/* Maps, templates and filters of a provider. */
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/etw/decode/manifest/manifest_write.h"
#include "engine/etw/manifest_types.h"

#include <string.h>

/* ---- maps ---- */

static HRESULT write_entry(struct manifest_writing *w, const struct manifest_map *map, size_t index, size_t number)
{
    const struct manifest_map_entry *entry = &map->entries[index];
    struct text_buffer *b = &w->d->providers;
    if (map->bits && entry->value & (entry->value - 1))
        return manifest_write_remark(w, "map %.200s: 0x%X is left out, as a manifest has single bits there alone",
                                     map->name, (unsigned)entry->value);
    char *value = text_format(map->bits ? "0x%X" : "%u", (unsigned)entry->value);
    char *shown = text_format("%u", (unsigned)entry->value); /* of an entry without a text */
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

/* Of a resource a property may have none. */
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
    return p->in_type == IN_UNICODE || p->in_type == IN_ANSI || p->in_type == IN_BINARY;
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
    else /* the reader names it */
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
