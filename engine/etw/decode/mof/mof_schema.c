/* SPDX-License-Identifier: MIT */
/* Converts a class to the schema of an event: the order of its properties, their types (from the MOF types and the
   Event Tracing MOF Qualifiers), and their maps. */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/mof_classes.h"

#include <stdlib.h>
#include <string.h>

/* A property and the class that declares it. */
struct placed {
    const struct mof_class *of;
    const struct mof_property *property;
    uint32_t id, order;
};

struct maker {
    const struct mof_classes *classes;
    bool kernel; /* the event comes from the kernel, so its char16 arrays are strings */
    struct placed *placed;
    size_t count, capacity;
    struct event_schema *schema;
    size_t map_capacity;
};

static HRESULT refuse(const struct placed *p, HRESULT hr, const char *text, const char *value)
{
    return error_set(hr, "%s(%u): class %s: %s: %s%s%.100s%s", p->of->source, (unsigned)p->property->line, p->of->name,
                     p->property->name, text, *value ? "'" : "", value, *value ? "'" : "");
}

/* ---- properties and their order ---- */

static HRESULT property_place(struct maker *m, const struct mof_class *of, const struct mof_property *property)
{
    const struct mof_qualifier *id = mof_qualifier_find(&property->qualifiers, "WmiDataId");
    struct placed p = {of, property, 0, (uint32_t)m->count};
    if (id) {
        const struct mof_value *v = &id->values[0];
        if (v->kind != MOF_INTEGER || v->negative || !v->number || v->number > UINT32_MAX)
            return refuse(&p, MOF_E_TYPE_MISMATCH, "WmiDataId must be a positive number, not ", v->text);
        p.id = (uint32_t)v->number;
    }
    for (size_t i = 0; i < m->count; i++)
        if (text_equal_nocase(m->placed[i].property->name, property->name)) {
            /* A derived class replaces the property of its base class. */
            p.order = m->placed[i].order;
            m->placed[i] = p;
            return S_OK;
        }
    if (!memory_grow((void **)&m->placed, &m->capacity, m->count + 1, sizeof *m->placed))
        return E_OUTOFMEMORY;
    m->placed[m->count++] = p;
    return S_OK;
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts the properties by WmiDataId. If some properties have a WmiDataId, properties without a WmiDataId are not data.
   If no property has a WmiDataId, the order of declaration is used. */
static HRESULT properties_order(struct maker *m)
{
    size_t without = 0;
    if (m->count)
        qsort(m->placed, m->count, sizeof *m->placed, compare_placed);
    while (without < m->count && !m->placed[without].id)
        without++;
    if (without && without < m->count) {
        memmove(m->placed, m->placed + without, (m->count - without) * sizeof *m->placed);
        m->count -= without;
    }
    for (size_t i = 1; i < m->count; i++)
        if (m->placed[i].id && m->placed[i].id == m->placed[i - 1].id)
            return refuse(&m->placed[i], MOF_E_DUPLICATE_PROPERTY, "it has the same WmiDataId as ",
                          m->placed[i - 1].property->name);
    return m->count <= MOF_PROPERTIES_MOST
               ? S_OK
               : refuse(&m->placed[0], MOF_E_OUT_OF_RANGE, "the class and its bases have too many properties", "");
}

static HRESULT properties_collect(struct maker *m, const struct mof_class *type_class)
{
    const struct mof_class *chain[MOF_BASES_MOST + 1];
    size_t depth = 0;
    HRESULT hr = S_OK;
    /* The event provider's class has Flags and Level, which are not data. */
    for (const struct mof_class *c = type_class; c && depth <= MOF_BASES_MOST; c = mof_classes_base(m->classes, c)) {
        if (c->superclass && text_equal_nocase(c->superclass, "EventTrace") && c != type_class)
            break;
        chain[depth++] = c;
    }
    while (SUCCEEDED(hr) && depth) {
        const struct mof_class *c = chain[--depth];
        for (size_t i = 0; SUCCEEDED(hr) && i < c->property_count; i++)
            hr = property_place(m, c, &c->properties[i]);
    }
    return SUCCEEDED(hr) ? properties_order(m) : hr;
}

/* ---- types ---- */

static bool is_one_of(const char *text, const char *name)
{
    return text && text_equal_nocase(text, name);
}

static bool is_number(enum mof_type type)
{
    return type <= MOF_TYPE_UINT64;
}

static bool is_byte(enum mof_type type)
{
    return type <= MOF_TYPE_UINT8;
}

static HRESULT string_type(const struct placed *p, bool wide, struct event_property *out)
{
    static const struct {
        const char *name;
        uint16_t wide, narrow;
    } ends[] = {{"NullTerminated", IN_TYPE_UNICODESTRING, IN_TYPE_ANSISTRING},
                {"Counted", IN_TYPE_COUNTEDSTRING, IN_TYPE_COUNTEDANSISTRING},
                {"ReverseCounted", IN_TYPE_REVERSEDCOUNTEDSTRING, IN_TYPE_REVERSEDCOUNTEDANSISTRING},
                {"NotCounted", IN_TYPE_NONNULLTERMINATEDSTRING, IN_TYPE_NONNULLTERMINATEDANSISTRING}};
    const char *end = mof_qualifier_text(&p->property->qualifiers, "StringTermination");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (text_equal_nocase(end ? end : "NullTerminated", ends[i].name)) {
            out->in_type = wide ? ends[i].wide : ends[i].narrow;
            return S_OK;
        }
    return refuse(p, MOF_E_ILLEGAL_CONSTANT_VALUE, "unknown StringTermination ", end);
}

/* Determines the type from the qualifier Extension, which names the type of an object or the meaning of a number or of
   bytes. *whole is true if an array of bytes is a single value. */
static HRESULT extension_type(const struct placed *p, const char *extension, struct event_property *out, bool *whole)
{
    static const struct {
        const char *name;
        uint16_t in, out, bytes; /* bytes: length, if the type does not imply it */
    } known[] = {
        {"Guid", IN_TYPE_GUID, 0, 0},
        {"Sid", IN_TYPE_WBEMSID, 0, 0},
        {"Port", IN_TYPE_UINT16, OUT_TYPE_PORT, 0},
        {"IPAddr", IN_TYPE_UINT32, OUT_TYPE_IPV4, 0},
        {"IPAddrV4", IN_TYPE_UINT32, OUT_TYPE_IPV4, 0},
        {"IPAddrV6", IN_TYPE_BINARY, OUT_TYPE_IPV6, 16},
        {"SizeT", IN_TYPE_SIZET, 0, 0},
        {"Pointer", IN_TYPE_POINTER, 0, 0},
        {"WmiTime", IN_TYPE_UINT64, OUT_TYPE_ETWTIME, 0},
        {"Variant", IN_TYPE_HEXDUMP, 0, 0},
    };
    *whole = is_byte(p->property->type);
    if (text_equal_nocase(extension, "NoPrint")) {
        out->out_type = OUT_TYPE_NOPRINT;
        *whole = false;
        return S_OK;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (text_equal_nocase(extension, known[i].name)) {
            out->in_type = known[i].in;
            out->out_type = known[i].out;
            out->length = known[i].bytes;
            out->flags |= known[i].bytes ? PROPERTY_FIXED_LENGTH : 0;
            return S_OK;
        }
    return refuse(p, MOF_E_ILLEGAL_CONSTANT_VALUE, "unknown Extension ", extension);
}

/* Determines the type of a property from its qualifier Format, if the property is not a string. "x" means hexadecimal,
   and "c" a character. With "s" or "w", an array of characters is a string. */
static HRESULT format_type(const struct placed *p, const char *format, struct event_property *out)
{
    enum mof_type type = p->property->type;
    bool text = is_one_of(format, "s") || is_one_of(format, "w");
    if (is_one_of(format, "x") && is_number(type))
        out->out_type = (uint16_t)(OUT_TYPE_HEXINT8 + type / 2);
    else if (is_one_of(format, "c") && is_byte(type))
        out->in_type = IN_TYPE_ANSICHAR;
    else if (text && p->property->array && is_byte(type))
        out->in_type = IN_TYPE_ANSISTRING;
    else if (text && p->property->array && type == MOF_TYPE_CHAR16)
        out->in_type = IN_TYPE_UNICODESTRING;
    else if (!text && !is_one_of(format, "c") && !is_one_of(format, "x") && !is_one_of(format, "d") &&
             !is_one_of(format, "u"))
        return refuse(p, MOF_E_ILLEGAL_CONSTANT_VALUE, "Format must be c, s, w or x, not ", format);
    return S_OK;
}

static HRESULT plain_type(const struct placed *p, struct event_property *out)
{
    enum mof_type type = p->property->type;
    if (is_number(type))
        out->in_type = (uint16_t)(IN_TYPE_INT8 + type);
    else if (type == MOF_TYPE_REAL32 || type == MOF_TYPE_REAL64)
        out->in_type = type == MOF_TYPE_REAL32 ? IN_TYPE_FLOAT : IN_TYPE_DOUBLE;
    else if (type == MOF_TYPE_BOOLEAN)
        out->in_type = IN_TYPE_BOOLEAN;
    else if (type == MOF_TYPE_CHAR16)
        out->in_type = IN_TYPE_UNICODECHAR;
    else if (type == MOF_TYPE_OBJECT)
        out->in_type = IN_TYPE_BINARY;
    else
        return refuse(p, MOF_E_TYPE_MISMATCH, "event data cannot have the type ",
                      p->property->type_name ? p->property->type_name : mof_type_name(type));
    return S_OK;
}

/* Determines the type of a property. *whole is true if an array of bytes is a single value of another type. */
static HRESULT value_type(const struct maker *m, const struct placed *p, struct event_property *out, bool *whole)
{
    const struct mof_qualifiers *q = &p->property->qualifiers;
    const char *format = mof_qualifier_text(q, "Format"), *extension = mof_qualifier_text(q, "Extension");
    HRESULT hr;
    *whole = false;
    if (m->kernel && p->property->type == MOF_TYPE_CHAR16 && !format)
        format = "s";
    if (p->property->type == MOF_TYPE_STRING)
        hr = string_type(p, is_one_of(format, "w"), out);
    else
        hr = plain_type(p, out);
    if (SUCCEEDED(hr) && p->property->type != MOF_TYPE_STRING && format)
        hr = format_type(p, format, out);
    if (SUCCEEDED(hr) && extension)
        hr = extension_type(p, extension, out, whole);
    if (SUCCEEDED(hr) && is_number(p->property->type) &&
        (mof_qualifier_is_set(q, "Pointer") || mof_qualifier_is_set(q, "PointerType"))) {
        out->in_type = IN_TYPE_POINTER;
        out->out_type = 0;
    }
    if (mof_qualifier_is_set(q, "XMLFragment"))
        out->flags |= PROPERTY_XML_FRAGMENT;
    return hr;
}

/* ---- arrays ---- */

static HRESULT array_size(const struct placed *p, uint32_t *size)
{
    const struct mof_qualifier *most = mof_qualifier_find(&p->property->qualifiers, "Max");
    *size = p->property->size;
    if (*size || !most)
        return S_OK;
    const struct mof_value *v = &most->values[0];
    if (v->kind != MOF_INTEGER || v->negative || !v->number || v->number > UINT16_MAX)
        return refuse(p, MOF_E_OUT_OF_RANGE, "Max must be 1 to 65535, not ", v->text);
    *size = (uint32_t)v->number;
    return S_OK;
}

/* Finds the property that contains the number of elements. */
static HRESULT size_property(const struct maker *m, const struct placed *p, const char *name, uint16_t *at)
{
    for (size_t i = 0; i < m->count && &m->placed[i] != p; i++)
        if (text_equal_nocase(m->placed[i].property->name, name)) {
            *at = (uint16_t)i;
            return S_OK;
        }
    return refuse(p, MOF_E_ILLEGAL_CONSTANT_VALUE, "WmiSizeIs must name an earlier property, not ", name);
}

/* Determines the type of an array. An array of characters is a string, and an array of an object's bytes is one value.
   Each other array is an array of elements. */
static HRESULT array_type(const struct maker *m, const struct placed *p, struct event_property *out)
{
    const char *size_is = mof_qualifier_text(&p->property->qualifiers, "WmiSizeIs");
    bool one = out->in_type == IN_TYPE_UNICODESTRING || out->in_type == IN_TYPE_ANSISTRING ||
               (out->in_type == IN_TYPE_BINARY && out->out_type != OUT_TYPE_IPV6);
    uint32_t size;
    uint16_t at = 0;
    /* An array of strings has elements; StringTermination determines where each string ends. */
    if (p->property->type == MOF_TYPE_STRING)
        one = false;
    HRESULT hr = array_size(p, &size);
    if (SUCCEEDED(hr) && size_is)
        hr = size_property(m, p, size_is, &at);
    if (FAILED(hr))
        return hr;
    if (size_is) {
        out->flags |= one ? PROPERTY_PARAM_LENGTH : PROPERTY_PARAM_COUNT;
        *(one ? &out->length : &out->count) = at;
    } else if (size) {
        out->flags |= one ? PROPERTY_FIXED_LENGTH : PROPERTY_FIXED_COUNT;
        *(one ? &out->length : &out->count) = (uint16_t)size;
    } else if (is_byte(p->property->type) && !one) {
        out->in_type = IN_TYPE_BINARY; /* the value extends to the end of the event */
    } else if (p->property->type == MOF_TYPE_CHAR16 || one) {
        out->in_type = out->in_type == IN_TYPE_BINARY       ? IN_TYPE_BINARY
                       : out->in_type == IN_TYPE_ANSISTRING ? IN_TYPE_NONNULLTERMINATEDANSISTRING
                                                            : IN_TYPE_NONNULLTERMINATEDSTRING;
    } else {
        return refuse(p, MOF_E_OUT_OF_RANGE, "the array has no size (use [n], Max or WmiSizeIs)", "");
    }
    return S_OK;
}

/* ---- maps ---- */

/* Returns the number that a value of a ValueMap or BitMap contains. */
static bool map_number(const struct mof_value *v, uint32_t *out)
{
    int64_t number;
    if (v->kind == MOF_INTEGER && v->number <= UINT32_MAX) {
        *out = v->negative ? 0 - (uint32_t)v->number : (uint32_t)v->number;
        return true;
    }
    if (v->kind != MOF_STRING || !text_to_i64(v->text, &number) || number < INT32_MIN || number > UINT32_MAX)
        return false;
    *out = (uint32_t)number;
    return true;
}

static HRESULT fill_entry(const struct placed *p, const struct mof_qualifier *numbers, size_t at,
                          struct event_map_entry *entry)
{
    bool text = p->property->type == MOF_TYPE_STRING;
    if (!numbers) {
        entry->value = (uint32_t)at;
        return S_OK;
    }
    /* If there is one text more than values, the last text applies to all other values, like an entry ".." in CIM's
       ValueMap. */
    const char *input = at < numbers->count ? numbers->values[at].text : "..";
    if (text || strcmp(input, "..") == 0) {
        entry->input = text_copy(input);
        return entry->input ? S_OK : E_OUTOFMEMORY;
    }
    if (map_number(&numbers->values[at], &entry->value)) {
        /* Truncate the value to the size in which events store it. */
        if (is_byte(p->property->type))
            entry->value &= UINT8_MAX;
        else if (p->property->type <= MOF_TYPE_UINT16)
            entry->value &= UINT16_MAX;
        return S_OK;
    }
    return refuse(p, MOF_E_TYPE_MISMATCH, "its map has a value that is not a 32-bit number: ", input);
}

static HRESULT fill_map(const struct maker *m, const struct placed *p, const struct mof_qualifier *texts,
                        const struct mof_qualifier *numbers, struct event_map *map)
{
    if (numbers && texts->count != numbers->count && texts->count != numbers->count + 1)
        return refuse(p, MOF_E_ILLEGAL_CONSTANT_VALUE, "expected one value for each string in ", numbers->name);
    map->name = text_format("%s.%s", p->of->name, p->property->name);
    map->entries = memory_zero(texts->count, sizeof *map->entries);
    if (!map->name || !map->entries)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < texts->count; i++) {
        const char *text = mof_classes_text(m->classes, p->of, p->property, texts->name, i);
        map->count++;
        map->entries[i].text = text_copy(text ? text : texts->values[i].text);
        hr = map->entries[i].text ? fill_entry(p, numbers, i, &map->entries[i]) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Adds a property's map. The texts in Values belong to the values in ValueMap, and those in BitValues to the bits in
   BitMap. Without such texts, the identifiers in DefineValues or DefineBitMap are used. */
static HRESULT add_map(struct maker *m, const struct placed *p, struct event_property *out)
{
    static const struct {
        const char *texts, *instead, *numbers;
        uint32_t flag;
    } forms[] = {{"Values", "DefineValues", "ValueMap", MAP_MOF_VALUES},
                 {"BitValues", "DefineBitMap", "BitMap", MAP_MOF_BITS}};
    const struct mof_qualifiers *q = &p->property->qualifiers;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct mof_qualifier *texts = mof_qualifier_find(q, forms[i].texts);
        const struct mof_qualifier *numbers = mof_qualifier_find(q, forms[i].numbers);
        texts = texts ? texts : mof_qualifier_find(q, forms[i].instead);
        if (!texts)
            continue;
        struct event_schema *s = m->schema;
        if (!memory_grow((void **)&s->maps, &m->map_capacity, s->map_count + 1, sizeof *s->maps))
            return E_OUTOFMEMORY;
        struct event_map *map = &s->maps[s->map_count++];
        bool masks = i == 0 && is_one_of(mof_qualifier_text(q, "ValueType"), "flag");
        *map = (struct event_map){.flag = (masks ? MAP_MOF_FLAG : forms[i].flag) | (numbers ? 0 : MAP_MOF_NO_MAP)};
        HRESULT hr = fill_map(m, p, texts, numbers, map);
        if (FAILED(hr))
            return hr;
        out->map = text_copy(map->name);
        return out->map ? S_OK : E_OUTOFMEMORY;
    }
    return S_OK;
}

/* ---- the schema ---- */

static HRESULT fill_property(struct maker *m, const struct placed *p, struct event_property *out)
{
    const struct mof_property *property = p->property;
    const char *size_is = mof_qualifier_text(&property->qualifiers, "WmiSizeIs");
    bool whole;
    uint32_t size;
    *out = (struct event_property){.count = 1, .name = text_copy(property->name)};
    if (!out->name)
        return E_OUTOFMEMORY;
    HRESULT hr = value_type(m, p, out, &whole);
    if (SUCCEEDED(hr) && whole && property->array) {
        hr = array_size(p, &size);
        if (SUCCEEDED(hr) && size && size != 16 && (out->in_type == IN_TYPE_GUID || out->out_type == OUT_TYPE_IPV6))
            hr = refuse(p, MOF_E_OUT_OF_RANGE, "an array of 16 bytes is expected for Extension ",
                        mof_qualifier_text(&property->qualifiers, "Extension"));
    } else if (SUCCEEDED(hr) && property->array) {
        hr = array_type(m, p, out);
    } else if (SUCCEEDED(hr) && size_is && out->in_type == IN_TYPE_BINARY && !out->length) {
        /* This property is an object without the qualifier Extension. The property that WmiSizeIs names contains the
           object's size in bytes. */
        out->flags |= PROPERTY_PARAM_LENGTH;
        hr = size_property(m, p, size_is, &out->length);
    }
    return SUCCEEDED(hr) ? add_map(m, p, out) : hr;
}

/* Returns the class's DisplayName. If the class has no DisplayName, returns the name of the class, without a suffix
   such as _V2 if the class has an EventVersion. */
static char *task_name(const struct maker *m, const struct mof_event_class *e)
{
    const char *display = mof_classes_text(m->classes, e->event_class, NULL, "DisplayName", 0);
    const char *name = e->event_class->name;
    size_t length = strlen(name), digits = 0;
    while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        digits++;
    bool suffix = e->versioned && digits && length > digits + 2 && (name[length - digits - 1] | 0x20) == 'v' &&
                  name[length - digits - 2] == '_';
    return display ? text_copy(display) : text_copy_n(name, suffix ? length - digits - 2 : length);
}

static HRESULT optional_text(const char *text, char **out)
{
    *out = text ? text_copy(text) : NULL;
    return text && !*out ? E_OUTOFMEMORY : S_OK;
}

static HRESULT fill_names(struct maker *m, const struct mof_event_class *e, size_t at)
{
    struct event_schema *s = m->schema;
    const struct mof_qualifier *types = mof_event_types(e), *name;
    s->source = SCHEMA_MOF;
    s->event = e->event;
    if (!text_to_guid(mof_qualifier_text(&e->provider_class->qualifiers, "Guid"), &s->provider))
        s->provider = e->event;
    s->descriptor.Version = (UCHAR)e->version;
    s->descriptor.Opcode = (UCHAR)types->values[at].number;
    s->provider_name = text_copy(e->provider_class->name);
    s->task_name = task_name(m, e);
    if (!s->provider_name || !s->task_name)
        return E_OUTOFMEMORY;
    name = mof_qualifier_find(&e->type_class->qualifiers, "EventTypeName");
    const char *opcode = mof_classes_text(m->classes, e->type_class, NULL, "EventTypeName", at);
    if (!opcode && name && at < name->count)
        opcode = name->values[at].text;
    HRESULT hr = optional_text(opcode, &s->opcode_name);
    if (SUCCEEDED(hr))
        hr = optional_text(mof_classes_text(m->classes, e->type_class, NULL, "EventName", 0), &s->event_name);
    return hr;
}

static HRESULT fill_schema(struct maker *m, const struct mof_event_class *e, size_t at)
{
    HRESULT hr = fill_names(m, e, at);
    if (SUCCEEDED(hr))
        hr = properties_collect(m, e->type_class);
    if (FAILED(hr))
        return hr;
    m->schema->properties = memory_zero(m->count ? m->count : 1, sizeof *m->schema->properties);
    if (!m->schema->properties)
        return E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < m->count; i++) {
        m->schema->property_count = m->schema->top_level = (uint16_t)(i + 1);
        hr = fill_property(m, &m->placed[i], &m->schema->properties[i]);
    }
    if (SUCCEEDED(hr)) {
        hr = event_schema_check(m->schema);
        if (FAILED(hr))
            hr = error_prefix(hr, "%s(%u): class %s", e->type_class->source, (unsigned)e->type_class->line,
                              e->type_class->name);
    }
    return hr;
}

HRESULT mof_event_schema(const struct mof_classes *c, const struct mof_event_class *e, size_t at,
                         struct event_schema **out)
{
    struct maker m = {.classes = c,
                      .kernel = text_equal_nocase(e->provider_class->name, "MSNT_SystemTrace"),
                      .schema = memory_zero(1, sizeof *m.schema)};
    HRESULT hr = m.schema ? fill_schema(&m, e, at) : E_OUTOFMEMORY;
    memory_free(m.placed);
    if (FAILED(hr)) {
        event_schema_free(m.schema);
        return hr;
    }
    *out = m.schema;
    return S_OK;
}
