/* SPDX-License-Identifier: MIT */
/* Reads the templates of an instrumentation manifest: data, structs, UserData, and the names of types. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/xml_text.h"
#include "engine/etw/event_values.h"
#include "engine/etw/manifest_reader.h"
#include "engine/etw/provider_manifest.h"

#include <string.h>

#define MOST_PROPERTIES                                                                                                \
    1024 /* maximum number per template; a property takes at least a byte, and an event has at most 64 KB */
#define MOST_BYTES 65535 /* maximum size of an event's data */

struct template_reading {
    struct manifest_template *t;
    uint64_t least; /* minimum size of an event in bytes */
    /* Index of the first property that lengths and counts may refer to: 0, or the struct's first member. */
    size_t scope;
    size_t outer; /* number of top-level properties before the struct that is being read */
    bool in_struct;
    xmlNodePtr *elements; /* top-level elements; structs are read a second time for their members */
    size_t skipped;       /* number of top-level elements skipped because they follow binary data of unknown length */
};

static bool is_number(const struct event_property *p)
{
    return !(p->flags & (PROPERTY_STRUCT | PROPERTY_PARAM_COUNT | PROPERTY_FIXED_COUNT)) &&
           ((p->in_type >= IN_TYPE_INT8 && p->in_type <= IN_TYPE_UINT64) || p->in_type == IN_TYPE_HEXINT32 ||
            p->in_type == IN_TYPE_HEXINT64);
}

/* Finds the property to which a length or count refers. This property must precede the property that has the length or
   count, in the same struct or outside of the struct. */
static const struct event_property *find_before(const struct template_reading *k, const char *name, size_t *index)
{
    for (size_t i = k->t->property_count - 1; i > k->scope; i--) /* skip the last property, which has the reference */
        if (strcmp(k->t->properties[i - 1].name, name) == 0) {
            *index = i - 1;
            return &k->t->properties[*index];
        }
    for (size_t i = 0; k->in_struct && i < k->outer; i++)
        if (strcmp(k->t->properties[i].name, name) == 0) {
            *index = i;
            return &k->t->properties[i];
        }
    return NULL;
}

/* Reads a length or count. Returns S_FALSE if the attribute is missing. */
static HRESULT read_amount(struct manifest_reader *r, xmlNodePtr e, struct template_reading *k, const char *attribute,
                           uint32_t fixed, uint32_t named, uint16_t *to)
{
    struct event_property *p = &k->t->properties[k->t->property_count - 1];
    char *text;
    uint64_t number;
    size_t index;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    if (text_to_u64(text, &number)) {
        if (!number || number > UINT16_MAX)
            hr = manifest_wrong(e, attribute, text, "expected 1 to %u", UINT16_MAX);
        p->flags |= fixed;
        *to = (uint16_t)number;
    } else {
        const struct event_property *other = find_before(k, text, &index);
        if (!other)
            hr = manifest_wrong(e, attribute, text, "there is no earlier data element of that name");
        else if (!is_number(other))
            hr = manifest_wrong(e, attribute, text, "the data element of that name is not a single integer");
        else
            *to = (uint16_t)index;
        p->flags |= named;
    }
    memory_free(text);
    return hr;
}

static HRESULT read_types(struct manifest_reader *r, xmlNodePtr e, struct event_property *p,
                          const struct manifest_in_type **type)
{
    char *in, *out = NULL;
    bool of_windows;
    HRESULT hr = manifest_name(r, e, "inType", &in);
    *type = SUCCEEDED(hr) ? manifest_in_type(manifest_local_name(e, in, &of_windows)) : NULL;
    if (SUCCEEDED(hr) && !*type)
        hr = manifest_wrong(e, "inType", in, "unknown type");
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "outType", &out);
    if (SUCCEEDED(hr) && *type) {
        p->in_type = (*type)->number;
        p->out_type = (*type)->out;
        if (out && !manifest_out_type(manifest_local_name(e, out, &of_windows), &p->out_type))
            hr = manifest_wrong(e, "outType", out, "unknown type");
    }
    memory_free(in);
    memory_free(out);
    return hr;
}

static HRESULT read_map(struct manifest_reader *r, xmlNodePtr e, struct event_property *p)
{
    uint32_t place;
    HRESULT hr = manifest_text(r, e, "map", &p->map);
    if (FAILED(hr) || !p->map)
        return hr;
    bool of_windows,
        small = (p->in_type >= IN_TYPE_INT8 && p->in_type < IN_TYPE_UINT64 - 1) || p->in_type == IN_TYPE_HEXINT32;
    const char *name = name_index_find(&r->maps, p->map, &place) ? p->map : manifest_local_name(e, p->map, &of_windows);
    if (!name_index_find(&r->maps, name, &place))
        return manifest_wrong(e, "map", p->map, "no such map is declared");
    if (!small)
        return manifest_wrong(e, "map", p->map, "only integers of at most 32 bits can have a map");
    memmove(p->map, name, strlen(name) + 1);
    return S_OK;
}

/* Adds a property and reads its name. */
static HRESULT add_property(struct manifest_reader *r, xmlNodePtr e, struct template_reading *k)
{
    struct manifest_template *t = k->t;
    void *items = t->properties;
    if (t->property_count == MOST_PROPERTIES)
        return manifest_wrong(e, NULL, NULL, "more than %u data elements", MOST_PROPERTIES);
    bool room = memory_grow(&items, &t->capacity, t->property_count + 1u, sizeof *t->properties);
    t->properties = items;
    if (!room)
        return E_OUTOFMEMORY;
    struct event_property *p = &t->properties[t->property_count++];
    *p = (struct event_property){.count = 1};
    HRESULT hr = manifest_name(r, e, "name", &p->name);
    if (FAILED(hr)) /* remove the property again, because every property must have a name */
        t->property_count--;
    return hr;
}

static HRESULT read_data(struct manifest_reader *r, xmlNodePtr e, struct template_reading *k)
{
    const struct manifest_in_type *type;
    HRESULT hr = add_property(r, e, k);
    if (FAILED(hr))
        return hr;
    struct event_property *p = &k->t->properties[k->t->property_count - 1];
    hr = read_types(r, e, p, &type);
    if (SUCCEEDED(hr))
        hr = read_map(r, e, p);
    if (FAILED(hr))
        return hr;
    p->length = type->bytes;
    if (xmlHasProp(e, BAD_CAST "length") && p->in_type != IN_TYPE_UNICODESTRING && p->in_type != IN_TYPE_ANSISTRING &&
        p->in_type != IN_TYPE_BINARY)
        return manifest_wrong(e, "length", NULL, "only strings and win:Binary have a length, not win:%s", type->name);
    hr = read_amount(r, e, k, "length", PROPERTY_FIXED_LENGTH, PROPERTY_PARAM_LENGTH, &p->length);
    if (SUCCEEDED(hr))
        hr = read_amount(r, e, k, "count", PROPERTY_FIXED_COUNT, PROPERTY_PARAM_COUNT, &p->count);
    if (FAILED(hr))
        return hr;
    if (!(p->flags & (PROPERTY_PARAM_COUNT | PROPERTY_PARAM_LENGTH)))
        k->least += (uint64_t)p->count * p->length * (p->in_type == IN_TYPE_UNICODESTRING ? 2u : 1u);
    return k->least > MOST_BYTES ? manifest_wrong(e, "name", p->name, "the event would exceed %u bytes", MOST_BYTES)
                                 : S_OK;
}

static HRESULT read_struct(struct manifest_reader *r, xmlNodePtr e, struct template_reading *k)
{
    HRESULT hr = add_property(r, e, k);
    if (FAILED(hr))
        return hr;
    struct event_property *p = &k->t->properties[k->t->property_count - 1];
    p->flags = PROPERTY_STRUCT;
    return read_amount(r, e, k, "count", PROPERTY_FIXED_COUNT, PROPERTY_PARAM_COUNT, &p->count);
}

static HRESULT read_members(struct manifest_reader *r, size_t index, struct template_reading *k)
{
    const size_t first = k->t->property_count;
    HRESULT hr = S_OK;
    assert(k->elements); /* read_top has stored an element for each property */
    k->scope = first;
    k->outer = index;
    k->in_struct = true;
    for (xmlNodePtr n = k->elements[index]->children; SUCCEEDED(hr) && n; n = n->next)
        if (manifest_is(n, "data"))
            hr = read_data(r, n, k);
        else if (manifest_is(n, "struct"))
            hr = manifest_wrong(n, NULL, NULL, "structs cannot be nested");
        else
            hr = manifest_skip_element(r, n);
    if (SUCCEEDED(hr) && first == k->t->property_count)
        hr = manifest_wrong(k->elements[index], NULL, NULL, "it has no data elements");
    k->t->properties[index].first_member = (uint16_t)first;
    k->t->properties[index].members = (uint16_t)(k->t->property_count - first);
    return hr;
}

/* ---- UserData ---- */

static HRESULT check_inserts(xmlNodePtr e, const char *xml, unsigned properties)
{
    for (const char *at = xml; (at = strchr(at, '%')) != NULL; at++) {
        unsigned number = 0;
        for (size_t i = 1; i <= 5 && at[i] >= '0' && at[i] <= '9'; i++)
            number = 10 * number + (unsigned)(at[i] - '0');
        if (at[1] >= '0' && at[1] <= '9' && (!number || number > properties))
            return manifest_wrong(e, NULL, NULL, "%%%u is invalid: the template has %u data elements", number,
                                  properties);
    }
    return S_OK;
}

static HRESULT read_user_data(struct manifest_reader *r, xmlNodePtr e, struct manifest_template *t)
{
    if (t->user_data)
        return manifest_wrong(e, NULL, NULL, "the template already has this element");
    HRESULT hr = xml_element_inside(r->document, e, &t->user_data);
    if (FAILED(hr))
        return hr;
    char *text = t->user_data;
    size_t length = strlen(text), blanks = 0;
    while (length && xml_is_blank(text[length - 1]))
        text[--length] = 0;
    while (xml_is_blank(text[blanks]))
        blanks++;
    memmove(text, text + blanks, length - blanks + 1);
    if (!*text)
        return manifest_wrong(e, NULL, NULL, "the element is empty");
    return check_inserts(e, text, t->top_level);
}

/* ---- templates ---- */

/* Returns whether the property is binary data without a length. Such data extend to the end of the event. */
static bool is_endless(const struct event_property *p)
{
    return p->in_type == IN_TYPE_BINARY && p->out_type != OUT_TYPE_IPV6 &&
           !(p->flags & (PROPERTY_FIXED_LENGTH | PROPERTY_PARAM_LENGTH));
}

static HRESULT read_top(struct manifest_reader *r, xmlNodePtr e, struct template_reading *k)
{
    HRESULT hr = S_OK;
    size_t room = 0;
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next) {
        void *elements = k->elements;
        if (!manifest_is(n, "data") && !manifest_is(n, "struct")) {
            hr = manifest_is(n, "UserData") ? S_OK : manifest_skip_element(r, n);
            continue;
        }
        if (k->t->property_count != 0 && is_endless(&k->t->properties[k->t->property_count - 1])) {
            k->skipped++;
            continue;
        }
        bool grown = memory_grow(&elements, &room, k->t->property_count + 1u, sizeof(xmlNodePtr));
        k->elements = elements;
        if (!grown)
            return E_OUTOFMEMORY;
        k->elements[k->t->property_count] = n;
        hr = manifest_is(n, "data") ? read_data(r, n, k) : read_struct(r, n, k);
    }
    k->t->top_level = k->t->property_count;
    if (SUCCEEDED(hr) && k->skipped != 0)
        hr = manifest_warn_element(r, e,
                                   "a win:Binary without a length also contains the data of the elements after it");
    return hr;
}

/* Derives a template's GUID from its name, so that compiling a manifest twice gives the same bytes. */
static void name_guid(const struct provider_manifest *m, struct manifest_template *t)
{
    const char *name = t->name;
    t->guid = m->guid;
    for (uint32_t i = 0; name[i]; i++) {
        t->guid.Data1 = (t->guid.Data1 ^ (unsigned char)name[i]) * 0x01000193u;
        t->guid.Data4[i % 8] = (uint8_t)(t->guid.Data4[i % 8] * 31 + (unsigned char)name[i]);
    }
}

static HRESULT check_binary(xmlNodePtr e, const struct manifest_template *t)
{
    for (size_t i = t->top_level; i < t->property_count; i++)
        if (is_endless(&t->properties[i]))
            return manifest_wrong(e, "tid", t->name,
                                  "the data element '%s' is win:Binary in a struct and needs a length",
                                  t->properties[i].name);
    return S_OK;
}

static HRESULT read_template(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_template *t = manifest_add_template(r->p);
    struct template_reading k = {.t = t};
    (void)about;
    if (r->p->layout_count >= MANIFEST_NO_INDEX)
        return manifest_wrong(e, NULL, NULL, "more than %u templates", MANIFEST_NO_INDEX - 1);
    HRESULT hr = t ? manifest_name(r, e, "tid", &t->name) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_add_name(e, "tid", &r->layouts, t->name, r->p->layout_count - 1);
    if (SUCCEEDED(hr))
        hr = read_top(r, e, &k);
    if (SUCCEEDED(hr) && !t->property_count)
        hr = manifest_wrong(e, "tid", t->name, "it has no data elements");
    for (size_t i = 0; SUCCEEDED(hr) && i < t->top_level; i++)
        if (t->properties[i].flags & PROPERTY_STRUCT)
            hr = read_members(r, i, &k);
    if (SUCCEEDED(hr))
        hr = check_binary(e, t);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (manifest_is(n, "UserData"))
            hr = read_user_data(r, n, t);
    if (SUCCEEDED(hr))
        name_guid(r->p, t);
    memory_free(k.elements);
    return hr;
}

HRESULT manifest_read_templates(struct manifest_reader *r, xmlNodePtr templates)
{
    return manifest_children(r, templates, "template", read_template, NULL);
}

/* ---- names of types in manifests ---- */

#define IN_TYPE(called, type, shown, size) {called, type, shown, size},
#define OUT_TYPE(called, type)
static const struct manifest_in_type in_types[] = {
#include "engine/etw/decode/manifest/manifest_types.def"
};
#undef IN_TYPE
#undef OUT_TYPE
#define IN_TYPE(called, type, shown, size)
#define OUT_TYPE(called, type) {((type) <= 15 ? "xs:" called : "win:" called), type},
static const struct {
    const char *name;
    uint16_t number;
} out_types[] = {
#include "engine/etw/decode/manifest/manifest_types.def"
};

const struct manifest_in_type *manifest_in_type(const char *name)
{
    for (size_t i = 0; i < sizeof in_types / sizeof in_types[0]; i++)
        if (text_equal_nocase(in_types[i].name, name))
            return &in_types[i];
    return NULL;
}

const struct manifest_in_type *manifest_in_type_of(uint16_t number)
{
    for (size_t i = 0; i < sizeof in_types / sizeof in_types[0]; i++)
        if (in_types[i].number == number)
            return &in_types[i];
    return NULL;
}

bool manifest_out_type(const char *name, uint16_t *number)
{
    for (size_t i = 0; i < sizeof out_types / sizeof out_types[0]; i++)
        if (text_equal_nocase(strchr(out_types[i].name, ':') + 1, name)) {
            *number = out_types[i].number;
            return true;
        }
    return false;
}

const char *manifest_out_type_name(uint16_t number)
{
    for (size_t i = 0; i < sizeof out_types / sizeof out_types[0]; i++)
        if (out_types[i].number == number)
            return out_types[i].name;
    return NULL;
}
