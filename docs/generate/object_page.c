/* SPDX-License-Identifier: MIT */
/* Writes the page of one interface: its properties, its methods and its reserved opnums. The checks of properties are
   code, so the page finds the rejected values by setting candidates. */
#include "docs/generate/reference.h"
#include "engine/base/memory.h"

#include <string.h>

static void refusals_free(struct refusals *r)
{
    for (size_t i = 0; i < r->count; i++)
        memory_free(r->items[i].text);
    memset(r, 0, sizeof *r);
}

/* Adds the result unless it exists already. Success adds nothing. */
static HRESULT refusals_add(struct refusals *r, HRESULT hr)
{
    if (SUCCEEDED(hr))
        return S_OK;
    if (hr == E_OUTOFMEMORY)
        return hr;
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].hr == hr)
            return S_OK;
    if (r->count == sizeof r->items / sizeof r->items[0])
        return error_set(E_UNEXPECTED, "a property refuses in more ways than the reference has room for");
    /* The XML library's messages depend on its version. */
    const char *text = hr == OPENPLA_E_MALFORMED_XML ? error_standard_text(hr) : error_text(hr);
    r->items[r->count].text = text_copy(text);
    r->items[r->count].hr = hr;
    return r->items[r->count++].text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT probe(struct object *o, const struct property *p, const struct value *v, struct refusals *r)
{
    return refusals_add(r, object_put(o, p, v));
}

/* A number that the row does not accept: the values just outside a range. */
static HRESULT probe_numbers(struct object *o, const struct property *p, struct refusals *r)
{
    struct value v = {.kind = p->kind};
    int64_t lowest = p->kind == PROPERTY_I32 ? INT32_MIN : 0,
            highest = p->kind == PROPERTY_I32 ? INT32_MAX : UINT32_MAX;
    HRESULT hr = S_OK;
    if (p->kind == PROPERTY_ENUM) {
        while (enumeration_has(p->enumeration, v.u32))
            v.u32++;
        return probe(o, p, &v, r);
    }
    if (p->min > lowest) {
        v.u32 = (uint32_t)(p->min - 1); /* the same bits as i32 */
        hr = probe(o, p, &v, r);
    }
    if (SUCCEEDED(hr) && p->max < highest) {
        v.u32 = (uint32_t)(p->max + 1);
        hr = probe(o, p, &v, r);
    }
    return hr;
}

static HRESULT probe_texts(struct object *o, const struct property *p, struct refusals *r)
{
    static const char *const texts[] = {"a:b", "<", "\x01", "taken", ""};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof texts / sizeof texts[0]; i++) {
        struct value v = {.kind = PROPERTY_TEXT, .text = text_copy(texts[i])};
        hr = v.text ? probe(o, p, &v, r) : E_OUTOFMEMORY;
        value_free(&v);
    }
    return hr;
}

static HRESULT probe_list(struct object *o, const struct property *p, const char *first, const char *second,
                          struct refusals *r)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    HRESULT hr = texts_add(&v.texts, first);
    if (SUCCEEDED(hr) && second)
        hr = texts_add(&v.texts, second);
    if (SUCCEEDED(hr))
        hr = probe(o, p, &v, r);
    value_free(&v);
    return hr;
}

static HRESULT probe_lists(struct object *o, const struct property *p, struct refusals *r)
{
    HRESULT hr = probe_list(o, p, "a;b", NULL, r);
    if (SUCCEEDED(hr))
        hr = probe_list(o, p, "", NULL, r);
    return SUCCEEDED(hr) ? probe_list(o, p, "a", "A", r) : hr;
}

/* A day before the dates of the rows above it; then an invalid date. */
static HRESULT probe_dates(struct object *o, const struct property *p, struct refusals *r)
{
    const double day = 45000;
    struct value v = {.kind = PROPERTY_DATE, .variant = {.type = VARIANT_DATE, .real = day}};
    HRESULT hr = S_OK;
    for (const struct property *above = o->class->properties; SUCCEEDED(hr) && above < p; above++)
        if (above->kind == PROPERTY_DATE)
            hr = object_put(o, above, &v);
    if (FAILED(hr))
        return hr;
    v.kind = p->kind;
    v.variant.real = day - 1;
    hr = probe(o, p, &v, r);
    v.variant = (struct variant){.type = VARIANT_BOOL_};
    return SUCCEEDED(hr) ? probe(o, p, &v, r) : hr;
}

static HRESULT probe_bytes(struct object *o, const struct property *p, struct refusals *r)
{
    struct value v = {.kind = PROPERTY_BYTES, .bytes = {.count = (size_t)p->max + 1}};
    v.bytes.items = memory_zero(v.bytes.count, 1);
    HRESULT hr = v.bytes.items ? probe(o, p, &v, r) : E_OUTOFMEMORY;
    value_free(&v);
    return hr;
}

static HRESULT probe_kind(struct object *o, const struct property *p, struct refusals *r)
{
    switch (p->kind) {
    case PROPERTY_I32:
    case PROPERTY_U32:
    case PROPERTY_ENUM:
        return probe_numbers(o, p, r);
    case PROPERTY_TEXT:
        return probe_texts(o, p, r);
    case PROPERTY_TEXTS:
        return probe_lists(o, p, r);
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return probe_dates(o, p, r);
    case PROPERTY_BYTES:
        return probe_bytes(o, p, r);
    default:
        return S_OK;
    }
}

static HRESULT refusals_find(const struct class *class, const struct property *p, struct refusals *out)
{
    struct specimen s;
    memset(out, 0, sizeof *out);
    HRESULT hr = specimen_create(class, &s);
    if (FAILED(hr))
        return hr;
    hr = probe_kind(s.object, p, out);
    error_clear();
    specimen_release(&s);
    if (FAILED(hr))
        refusals_free(out);
    return hr;
}

/* ---- one property ---- */

static const char *enumerator_name(const struct enumeration *e, uint32_t value)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].value == value)
            return e->items[i].name;
    return NULL;
}

static void add_default(struct text_buffer *b, const struct property *p)
{
    switch (p->kind) {
    case PROPERTY_BOOL:
        text_buffer_add(b, p->number ? "True" : "False");
        break;
    case PROPERTY_I32:
    case PROPERTY_U32:
    case PROPERTY_U64:
        text_buffer_format(b, "%lld", (long long)p->number);
        break;
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS: {
        const char *name = enumerator_name(p->enumeration, (uint32_t)p->number);
        if (name)
            text_buffer_format(b, "`%s` (%lld)", name, (long long)p->number);
        else
            text_buffer_format(b, "%lld", (long long)p->number);
        break;
    }
    case PROPERTY_GUID:
        text_buffer_add(b, "all zero");
        break;
    default:
        if (p->text && p->text[0])
            text_buffer_format(b, "`%s`", p->text);
        else
            text_buffer_add(b, "empty");
        break;
    }
}

/* The permitted values; nothing if the type defines them. */
static void add_values(struct text_buffer *b, const struct property *p)
{
    switch (p->kind) {
    case PROPERTY_I32:
    case PROPERTY_U32:
        text_buffer_format(b, "- Values: %lld to %lld\n", (long long)p->min, (long long)p->max);
        break;
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        text_buffer_format(b, "- Values: %s of [%s](enumerations.md#",
                           p->kind == PROPERTY_ENUM ? "one" : "the sum of any", p->enumeration->name);
        add_anchor(b, p->enumeration->name);
        text_buffer_add(b, p->kind == PROPERTY_ENUM ? "): " : ") (other bits are ignored): ");
        for (size_t i = 0; i < p->enumeration->count; i++)
            text_buffer_format(b, "%s`%s` %s%X", i ? ", " : "", p->enumeration->items[i].name,
                               p->enumeration->items[i].value > 9 ? "0x" : "",
                               (unsigned)p->enumeration->items[i].value);
        text_buffer_add(b, "\n");
        break;
    case PROPERTY_BYTES:
        text_buffer_format(b, "- Values: at most %lld bytes\n", (long long)p->max);
        break;
    case PROPERTY_DATE:
        text_buffer_add(b, "- Values: a date (the time of day is ignored), or Empty\n");
        break;
    case PROPERTY_TIME:
        text_buffer_add(b, "- Values: a date (the day is ignored), or Empty\n");
        break;
    case PROPERTY_VARIANT:
        text_buffer_add(b, "- Values: a number, a Boolean, a string, a date, an error or Empty\n");
        break;
    case PROPERTY_TEXT:
        if (p->lenient)
            text_buffer_add(b, "- Values: any string; a lone surrogate becomes U+FFFD\n");
        break;
    default:
        break;
    }
}

static void add_item_elements(struct text_buffer *b, const struct object *o, const struct property *p)
{
    const struct class *const *c = object_child(o, p)->class->item_classes;
    text_buffer_add(b, "an element for each item: ");
    for (size_t i = 0; c[i]; i++)
        text_buffer_format(b, "%s`<%s>`", i ? ", " : "", c[i]->name);
}

static void add_xml(struct text_buffer *b, const struct object *o, const struct property *p)
{
    text_buffer_add(b, "- XML: ");
    switch (p->xml_use) {
    case XML_HIDDEN:
        text_buffer_add(b, "not included");
        break;
    case XML_SHOWN:
        text_buffer_format(b, "`<%s>`, written; %s", p->xml,
                           p->read ? "when it is read, only information that no other element contains is used"
                                   : "ignored when it is read");
        break;
    case XML_STORED:
        text_buffer_format(b, "`<%s>`%s", p->xml, p->kind == PROPERTY_TEXTS ? ", once for each item" : "");
        break;
    case XML_ITEMS:
        add_item_elements(b, o, p);
        break;
    case XML_INSIDE:
        text_buffer_format(b, "`<%s>`, which contains the elements of the value", p->xml);
        break;
    case XML_WHOLE:
        text_buffer_format(b, "the value itself is the element `<%s>`", p->xml);
        break;
    }
    if (p->alias)
        text_buffer_format(b, "; also read as `<%s>`", p->alias);
    text_buffer_add(b, "\n");
}

static HRESULT add_refusals(const struct sources *s, const struct class *class, const struct property *p,
                            struct text_buffer *b)
{
    struct refusals refused;
    HRESULT hr = refusals_find(class, p, &refused);
    for (size_t i = 0; SUCCEEDED(hr) && i < refused.count; i++) {
        const char *name = code_name(&s->codes, refused.items[i].hr);
        if (!name)
            hr = error_set(E_UNEXPECTED, "%s: wintypes.h has no name for 0x%08X", p->name,
                           (unsigned)refused.items[i].hr);
        else
            text_buffer_format(b, "- Rejected with [`%s`](errors.md), for example: `%s`\n", name,
                               refused.items[i].text);
    }
    if (SUCCEEDED(hr))
        refusals_free(&refused);
    return hr;
}

/* "opnum 38 (MS-PLA 3.2.4.6.7)" of each member that the property has. */
static void add_opnums(struct text_buffer *b, const struct idl_interface *i, const char *name)
{
    const struct idl_member *get = idl_member(i, name, IDL_GET), *put = idl_member(i, name, IDL_PUT);
    if (get)
        text_buffer_format(b, "- Get: opnum %u, MS-PLA 3.2.4.%u.%u\n", get->opnum, i->section, get->section);
    if (put)
        text_buffer_format(b, "- Put: opnum %u, MS-PLA 3.2.4.%u.%u\n", put->opnum, i->section, put->section);
}

/* The type as the IDL has it, linked where it is an object's. */
static HRESULT add_type(struct text_buffer *b, const struct idl_member *get)
{
    char *type = idl_value_type(get);
    if (!type)
        return E_OUTOFMEMORY;
    char *name = text_copy_n(type, strcspn(type, " *"));
    if (name && interface_class(name))
        text_buffer_format(b, "[`%s`](%s.md)", type, name);
    else
        text_buffer_format(b, "`%s`", type);
    memory_free(type);
    memory_free(name);
    return name ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_row(const struct sources *s, const struct idl_interface *i, const struct object *o,
                       const struct property *p, struct text_buffer *b)
{
    const struct idl_member *get = idl_member(i, p->name, IDL_GET);
    HRESULT hr = S_OK;
    text_buffer_format(b, "### %s\n\n", p->name);
    add_escaped(b, p->doc);
    text_buffer_add(b, "\n\n");
    if (get) {
        text_buffer_add(b, "- Type: ");
        hr = add_type(b, get);
        text_buffer_add(b, idl_member(i, p->name, IDL_PUT) ? ", read and write" : ", read only");
        if (p->access == ACCESS_RW) {
            text_buffer_add(b, "; default: ");
            add_default(b, p);
        }
        text_buffer_add(b, "\n");
    } else {
        text_buffer_add(b, "- Not a member of the interface: only in the XML\n");
    }
    add_values(b, p);
    add_xml(b, o, p);
    if (SUCCEEDED(hr) && p->access == ACCESS_RW)
        hr = add_refusals(s, o->class, p, b);
    add_opnums(b, i, p->name);
    text_buffer_add(b, "\n");
    return hr;
}

/* ---- members without a row ---- */

static void add_signature(struct text_buffer *b, const struct idl_member *m)
{
    const char *at = m->parameters, *macro;
    text_buffer_format(b, "- `%s(", m->name);
    while ((macro = strstr(at, "OPENPLA_"))) {
        text_buffer_add_n(b, at, (size_t)(macro - at));
        at = macro + strlen("OPENPLA_");
    }
    text_buffer_format(b, "%s)`\n", at);
}

static void add_member(struct text_buffer *b, const struct idl_interface *i, const struct idl_member *m)
{
    text_buffer_format(b, "### %s\n\n", m->name);
    add_escaped(b, m->help);
    text_buffer_add(b, ".\n\n");
    add_signature(b, m);
    if (m->call == IDL_METHOD)
        text_buffer_format(b, "- Opnum %u, MS-PLA 3.2.4.%u.%u\n", m->opnum, i->section, m->section);
    else
        add_opnums(b, i, m->name);
    text_buffer_add(b, "\n");
}

/* ---- the page ---- */

static void add_head(struct text_buffer *b, const struct idl_interface *i, const struct class *class)
{
    bool shared = strcmp(class->name, i->name + 1) != 0;
    text_buffer_format(b, "<!-- %s -->\n# %s\n\n", REFERENCE_ORIGIN, i->name);
    add_escaped(b, i->help);
    text_buffer_format(b, ".\n\n- Identifier: `{%s}`\n", i->id);
    if (strcmp(i->base, "IDispatch") != 0)
        text_buffer_format(b, "- Inherits all of [`%s`](%s.md)\n", i->base, i->base);
    else
        text_buffer_add(b, "- Inherits from `IDispatch`\n");
    text_buffer_format(b, "- %u members, opnums %u to %u\n", (unsigned)i->count, i->members[0].opnum,
                       i->members[i->count - 1].opnum);
    if (class == &value_map_class)
        text_buffer_add(b, "- XML element: the element of the property that contains the map\n");
    else if (class->property_count && !shared)
        text_buffer_format(b, "- XML element: `<%s>`\n", class->name);
    text_buffer_format(b, "- MS-PLA 3.2.4.%u\n\n", i->section);
}

static HRESULT add_rows(const struct sources *s, const struct idl_interface *i, const struct class *class,
                        struct text_buffer *b)
{
    struct specimen specimen;
    HRESULT hr = specimen_create(class, &specimen);
    bool any = false;
    if (FAILED(hr))
        return hr;
    for (size_t k = 0; SUCCEEDED(hr) && k < class->property_count; k++) {
        const struct property *p = &class->properties[k];
        /* A row that is neither a member nor in the XML is internal to the engine. */
        if (!interface_owns_row(i, p) || (p->access == ACCESS_NONE && p->xml_use == XML_HIDDEN))
            continue;
        if (!any)
            text_buffer_add(b, "## The properties\n\n");
        any = true;
        hr = add_row(s, i, specimen.object, p, b);
    }
    specimen_release(&specimen);
    return hr;
}

/* Properties implemented by functions first, a get with its put; then methods. */
static void add_members(const struct idl_interface *i, struct text_buffer *b)
{
    static const struct {
        enum member_mark mark;
        const char *heading;
    } parts[] = {{MARK_CODE, "## The properties without a stored value\n\n"}, {MARK_METHOD, "## The methods\n\n"}};
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        bool any = false;
        for (size_t k = 0; k < i->count; k++) {
            const struct idl_member *m = &i->members[k];
            /* A row of the XML only is described above, a put with its get. */
            if (member_mark(i, m) != parts[part].mark || m->call == IDL_PUT || interface_row(i, m->name))
                continue;
            if (!any)
                text_buffer_add(b, parts[part].heading);
            any = true;
            add_member(b, i, m);
        }
    }
}

static void add_reserved(const struct idl_interface *i, struct text_buffer *b)
{
    bool any = false;
    for (size_t k = 0; k < i->count; k++) {
        if (!i->members[k].reserved)
            continue;
        text_buffer_format(
            b,
            any ? ", %u"
                : "## The reserved opnums\n"
                  "\n"
                  "These opnums are not used on the wire. They preserve the opnums of the other members.\n"
                  "\n"
                  "Reserved: %u",
            i->members[k].opnum);
        any = true;
    }
    if (any)
        text_buffer_add(b, ".\n");
}

HRESULT object_page(const struct sources *s, const struct idl_interface *i, struct text_buffer *b)
{
    const struct class *class = interface_class(i->name);
    add_head(b, i, class);
    HRESULT hr = add_rows(s, i, class, b);
    if (FAILED(hr))
        return hr;
    add_members(i, b);
    add_reserved(i, b);
    /* One line end at the end. */
    while (!b->failed && b->length > 1 && b->text[b->length - 1] == '\n' && b->text[b->length - 2] == '\n')
        b->text[--b->length] = 0;
    return S_OK;
}
