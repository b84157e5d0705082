/* SPDX-License-Identifier: MIT */
/* Generates the XML Schema of a set. The elements may be in any order, and each accepts the values that the reader
   accepts. */
#include "cli/schemas/schemas.h"

#include <inttypes.h>
#include <string.h>

/* ---- specimens ---- */

/* Creates a set with a collector named "taken", and adds the sample object. */
static HRESULT put_into_set(struct specimen *s)
{
    struct object *other = NULL;
    HRESULT hr = set_create(&s->set);
    if (FAILED(hr))
        return hr;
    struct object *collectors = ((struct data_collector_set *)s->set)->DataCollectors;
    hr = object_create(s->object->class, NULL, &other);
    if (SUCCEEDED(hr))
        hr = object_put_text(other, class_property(other->class, "Name"), "taken");
    if (SUCCEEDED(hr))
        hr = collection_add(collectors, other);
    if (SUCCEEDED(hr))
        hr = collection_add(collectors, s->object);
    object_release(other);
    return hr;
}

HRESULT specimen_create(const struct class *class, struct specimen *out)
{
    memset(out, 0, sizeof *out);
    HRESULT hr = object_create(class, NULL, &out->object);
    if (SUCCEEDED(hr) && collection_takes(&data_collector_collection_class, class))
        hr = put_into_set(out);
    if (FAILED(hr))
        specimen_release(out);
    return hr;
}

void specimen_release(struct specimen *s)
{
    object_release(s->object);
    object_release(s->set);
    memset(s, 0, sizeof *s);
}

/* ---- types ---- */

#define MAX_TYPES 32 /* more than the number of classes that a set can contain */

/* The complex types to write, in the order in which they were found. */
struct schema {
    struct text_buffer *b;
    const struct class *types[MAX_TYPES];
    size_t count;
};

static void want_type(struct schema *s, const struct class *class)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->types[i] == class)
            return;
    if (s->count < MAX_TYPES)
        s->types[s->count++] = class;
}

static void line(const struct schema *s, int depth, const char *text)
{
    text_buffer_format(s->b, "%*s%s\n", 2 * depth, "", text);
}

/* ---- numbers ---- */

/* Adds a pattern for a hexadecimal digit from 0 to `most`, in either case. */
static void add_digits_to(struct text_buffer *b, unsigned most)
{
    if (most < 10)
        text_buffer_format(b, "[0-%u]", most);
    else
        text_buffer_format(b, "[0-9A-%ca-%c]", (int)('A' + most - 10), (int)('a' + most - 10));
}

static void add_digit(struct text_buffer *b, unsigned digit)
{
    if (digit < 10)
        text_buffer_format(b, "%u", digit);
    else
        text_buffer_format(b, "[%c%c]", (int)('A' + digit - 10), (int)('a' + digit - 10));
}

static unsigned digit_at(uint64_t n, unsigned place)
{
    return (unsigned)(n >> 4 * place) & 0xF;
}

static unsigned digit_count(uint64_t n)
{
    unsigned count = 1;
    while (count < 16 && n >> 4 * count)
        count++;
    return count;
}

static void add_hex_number(struct text_buffer *b, uint64_t n)
{
    for (unsigned place = digit_count(n); place-- > 0;)
        add_digit(b, digit_at(n, place));
}

/* Adds a pattern for `least` to `most` digits. The digits are written out, because libxml2 2.9 cannot process counts
   such as {1,7} next to alternatives with a common prefix. */
static void add_any_digits(struct text_buffer *b, unsigned least, unsigned most)
{
    for (unsigned i = 0; i < most; i++)
        text_buffer_add(b, i < least ? "[0-9A-Fa-f]" : "[0-9A-Fa-f]?");
}

/* Adds a pattern for all numbers up to `most`. The alternatives are: numbers with fewer digits than `most`; for each
   digit of `most`, the same digits before it and a smaller digit in its place; `most` itself. */
static void add_hex_up_to(struct text_buffer *b, uint64_t most)
{
    unsigned count = digit_count(most);
    if (most >> 4 * (count - 1) == 0xF && (most & (most + 1)) == 0) { /* all digits are F */
        add_any_digits(b, 1, count);
        return;
    }
    if (count > 1) {
        add_any_digits(b, 1, count - 1);
        text_buffer_add(b, "|");
    }
    for (unsigned place = count; place-- > 0;) {
        if (!digit_at(most, place))
            continue;
        for (unsigned before = count - 1; before > place; before--)
            add_digit(b, digit_at(most, before));
        add_digits_to(b, digit_at(most, place) - 1);
        add_any_digits(b, place, place);
        text_buffer_add(b, "|");
    }
    add_hex_number(b, most);
}

/* Adds a type for decimal numbers from min to max (flags may also be negative), for hexadecimal numbers, and for the
   empty string, which means the default. */
static void add_number_type(const struct schema *s, int depth, int64_t min, uint64_t max, bool bits)
{
    line(s, depth, "<xs:simpleType><xs:union>");
    line(s, depth + 1,
         "<xs:simpleType><xs:restriction base=\"xs:token\"><xs:length value=\"0\"/></xs:restriction>"
         "</xs:simpleType>");
    text_buffer_format(s->b,
                       "%*s<xs:simpleType><xs:restriction base=\"xs:integer\"><xs:minInclusive value=\"%" PRId64 "\"/>"
                       "<xs:maxInclusive value=\"%" PRIu64 "\"/></xs:restriction></xs:simpleType>\n",
                       2 * depth + 2, "", min, max);
    if (bits)
        text_buffer_format(s->b,
                           "%*s<xs:simpleType><xs:restriction base=\"xs:integer\"><xs:minInclusive value=\"%" PRId32
                           "\"/><xs:maxInclusive value=\"-1\"/></xs:restriction></xs:simpleType>\n",
                           2 * depth + 2, "", INT32_MIN);
    line(s, depth + 1, "<xs:simpleType><xs:restriction>");
    text_buffer_format(s->b, "%*s<xs:simpleType><xs:restriction base=\"xs:token\"><xs:pattern value=\"\\+?0[xX]0*(",
                       2 * depth + 4, "");
    add_hex_up_to(s->b, max);
    text_buffer_add(s->b, ")\"/></xs:restriction></xs:simpleType>\n");
    if (min > 0) /* this second pattern must also match: it requires a digit other than 0 */
        line(s, depth + 2, "<xs:pattern value=\".*[xX].*[1-9A-Fa-f].*\"/>");
    line(s, depth + 1, "</xs:restriction></xs:simpleType>");
    line(s, depth, "</xs:union></xs:simpleType>");
}

static void add_enumeration_type(const struct schema *s, const struct enumeration *e)
{
    text_buffer_format(s->b, "  <xs:simpleType name=\"%s\">\n    <xs:annotation><xs:documentation>", e->name);
    for (size_t i = 0; i < e->count; i++)
        text_buffer_format(s->b, "%s%u %s", i ? ", " : "", (unsigned)e->items[i].value, e->items[i].name);
    text_buffer_add(s->b, "</xs:documentation></xs:annotation>\n    <xs:restriction base=\"xs:token\">\n"
                          "      <xs:pattern value=\"(\\+?0*(");
    for (size_t i = 0; i < e->count; i++)
        text_buffer_format(s->b, "%s%u", i ? "|" : "", (unsigned)e->items[i].value);
    text_buffer_add(s->b, ")|\\+?0[xX]0*(");
    for (size_t i = 0; i < e->count; i++) {
        text_buffer_add(s->b, i ? "|" : "");
        add_hex_number(s->b, e->items[i].value);
    }
    text_buffer_add(s->b, "))?\"/>\n    </xs:restriction>\n  </xs:simpleType>\n");
}

/* ---- rows ---- */

/* Returns the named type for a kind; NULL if the type is specific to the row. */
static const char *type_name(const struct property *p)
{
    switch (p->kind) {
    case PROPERTY_BOOL:
        return "Boolean";
    case PROPERTY_U32:
        return p->bits ? "Bits" : p->min == 0 && p->max == UINT32_MAX ? "Number" : NULL;
    case PROPERTY_FLAGS:
        return "Bits"; /* unknown bits are ignored */
    case PROPERTY_ENUM:
        return p->enumeration->name;
    case PROPERTY_GUID:
        return "Guid";
    case PROPERTY_DATE:
        return "Date";
    case PROPERTY_TIME:
        return "Time";
    case PROPERTY_TEXT:
        return p->xml_use == XML_INSIDE ? "OneElement" : p->xml_use == XML_WHOLE ? "AnyContent" : "Text";
    case PROPERTY_TEXTS:
    case PROPERTY_VARIANT:
        return "Text";
    default:
        return NULL;
    }
}

static void add_own_type(struct schema *s, const struct property *p)
{
    if (p->kind == PROPERTY_BYTES)
        text_buffer_format(s->b,
                           "        <xs:simpleType><xs:restriction base=\"xs:token\"><xs:maxLength value=\"%" PRId64
                           "\"/><xs:pattern value=\"([0-9A-Fa-f][0-9A-Fa-f])*\"/></xs:restriction></xs:simpleType>\n",
                           2 * p->max);
    else
        add_number_type(s, 4, p->kind == PROPERTY_U64 ? 0 : p->min,
                        p->kind == PROPERTY_U64 ? UINT64_MAX : (uint64_t)p->max, false);
}

static void add_element(struct schema *s, const struct object *o, const struct property *p, const char *element)
{
    const char *type = type_name(p);
    if (p->kind == PROPERTY_OBJECT) {
        const struct class *child = object_child(o, p)->class;
        want_type(s, child);
        type = child->name;
    }
    text_buffer_format(s->b, "      <xs:element name=\"%s\"", element);
    if (type)
        text_buffer_format(s->b, " type=\"%s\"", type);
    text_buffer_add(s->b, ">\n        <xs:annotation><xs:documentation>");
    add_escaped(s->b, p->doc);
    text_buffer_add(s->b, "</xs:documentation></xs:annotation>\n");
    if (!type)
        add_own_type(s, p);
    text_buffer_add(s->b, "      </xs:element>\n");
}

static void add_items(struct schema *s, const struct class *collection)
{
    for (const struct class *const *c = collection->item_classes; c && *c; c++) {
        text_buffer_format(s->b, "      <xs:element name=\"%s\" type=\"%s\"/>\n", (*c)->name, (*c)->name);
        want_type(s, *c);
    }
}

static bool has_element(const struct class *class, const char *element)
{
    for (size_t i = 0; i < class->property_count; i++) {
        const struct property *p = &class->properties[i];
        if (p->xml && (!strcmp(p->xml, element) || (p->alias && !strcmp(p->alias, element))))
            return true;
    }
    return false;
}

static HRESULT add_class(struct schema *s, const struct class *class)
{
    struct specimen specimen;
    HRESULT hr = specimen_create(class, &specimen);
    if (FAILED(hr))
        return hr;
    text_buffer_format(
        s->b, "  <xs:complexType name=\"%s\">\n    <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n", class->name);
    for (size_t i = 0; i < class->property_count; i++) {
        const struct property *p = &class->properties[i];
        if (p->xml_use == XML_ITEMS) {
            add_items(s, object_child(specimen.object, p)->class);
            continue;
        }
        if (p->xml_use == XML_HIDDEN)
            continue;
        add_element(s, specimen.object, p, p->xml);
        if (p->alias)
            add_element(s, specimen.object, p, p->alias);
    }
    if (class->items)
        add_items(s, class);
    if (class == &data_collector_set_class)
        line(s, 3, "<xs:element name=\"Value\" type=\"UserValue\"/>");
    for (const char *const *e = xml_ignored_elements; *e; e++)
        if (!has_element(class, *e))
            text_buffer_format(s->b, "      <xs:element name=\"%s\" type=\"AnyContent\"/>\n", *e);
    line(s, 2, "</xs:choice>");
    line(s, 1, "</xs:complexType>");
    specimen_release(&specimen);
    return S_OK;
}

/* ---- the schema ---- */

#define XML_SPACE_ATTRIBUTE                                                                                            \
    "<xs:anyAttribute namespace=\"http://www.w3.org/XML/1998/namespace\" processContents=\"skip\"/>"

static void add_common_types(const struct schema *s)
{
    text_buffer_add(
        s->b, "  <xs:simpleType name=\"Boolean\">\n"
              "    <xs:annotation><xs:documentation>0 is false, any other number true; -1 is written</xs:documentation>"
              "</xs:annotation>\n"
              "    <xs:restriction base=\"xs:token\">\n"
              "      <xs:pattern value=\"([+\\-]?[0-9]+|[+\\-]?0[xX][0-9A-Fa-f]+|[Tt][Rr][Uu][Ee]|"
              "[Ff][Aa][Ll][Ss][Ee])?\"/>\n"
              "    </xs:restriction>\n  </xs:simpleType>\n"
              "  <xs:simpleType name=\"Guid\">\n    <xs:restriction base=\"xs:token\">\n"
              "      <xs:pattern value=\"(\\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\\}|"
              "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?\"/>\n"
              "    </xs:restriction>\n  </xs:simpleType>\n"
              "  <xs:simpleType name=\"Date\">\n    <xs:annotation><xs:documentation>month/day/year, as written, or "
              "year-month-day</xs:documentation></xs:annotation>\n    <xs:restriction base=\"xs:token\">\n"
              "      <xs:pattern value=\"([0-9][0-9]?/[0-9][0-9]?/[0-9]{4}|[0-9]{4}/[0-9][0-9]?/[0-9][0-9]?|"
              "[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?([T ][0-9][0-9]?:[0-9][0-9]?"
              "(:[0-9][0-9]?(\\.[0-9]*)?)?(Z|[+\\-][0-9][0-9]?:[0-9][0-9]?)?)?)?\"/>\n"
              "    </xs:restriction>\n  </xs:simpleType>\n"
              "  <xs:simpleType name=\"Time\">\n    <xs:restriction base=\"xs:token\">\n"
              "      <xs:pattern value=\"([0-9][0-9]?:[0-9][0-9]?(:[0-9][0-9]?)?( *[AaPp][Mm])?)?\"/>\n"
              "    </xs:restriction>\n  </xs:simpleType>\n"
              "  <xs:simpleType name=\"Number\">\n    <xs:annotation><xs:documentation>Up to 32 bits, decimal or "
              "hexadecimal</xs:documentation></xs:annotation>\n    <xs:restriction>\n");
    add_number_type(s, 3, 0, UINT32_MAX, false);
    text_buffer_add(
        s->b,
        "    </xs:restriction>\n  </xs:simpleType>\n"
        "  <xs:simpleType name=\"Bits\">\n    <xs:annotation><xs:documentation>32 bits, decimal (also as a negative "
        "number) or hexadecimal</xs:documentation></xs:annotation>\n    <xs:restriction>\n");
    add_number_type(s, 3, 0, UINT32_MAX, true);
    text_buffer_add(
        s->b,
        "    </xs:restriction>\n  </xs:simpleType>\n"
        "  <xs:complexType name=\"Text\">\n    <xs:annotation><xs:documentation>Surrounding whitespace counts only "
        "with "
        "xml:space=\"preserve\"</xs:documentation></xs:annotation>\n"
        "    <xs:simpleContent><xs:extension base=\"xs:string\">" XML_SPACE_ATTRIBUTE
        "</xs:extension></xs:simpleContent>\n"
        "  </xs:complexType>\n"
        "  <xs:complexType name=\"AnyContent\" mixed=\"true\">\n"
        "    <xs:sequence><xs:any minOccurs=\"0\" maxOccurs=\"unbounded\" processContents=\"skip\"/></xs:sequence>"
        "\n    <xs:anyAttribute processContents=\"skip\"/>\n  </xs:complexType>\n"
        "  <xs:complexType name=\"OneElement\">\n"
        "    <xs:sequence><xs:any minOccurs=\"0\" processContents=\"skip\"/></xs:sequence>\n  </xs:complexType>\n"
        "  <xs:complexType name=\"UserValue\" mixed=\"true\">\n    <xs:annotation><xs:documentation>What SetValue "
        "keeps; a document holds XML</xs:documentation></xs:annotation>\n"
        "    <xs:sequence><xs:any minOccurs=\"0\" maxOccurs=\"unbounded\" processContents=\"skip\"/></xs:sequence>"
        "\n    <xs:attribute name=\"name\" use=\"required\">\n"
        "      <xs:simpleType><xs:restriction base=\"xs:string\"><xs:minLength value=\"1\"/></xs:restriction>"
        "</xs:simpleType>\n    </xs:attribute>\n"
        "    <xs:attribute name=\"type\" type=\"xs:string\"/>" XML_SPACE_ATTRIBUTE "\n  </xs:complexType>\n");
}

/* Adds each enumeration that rows of the selected classes use. */
static void add_enumerations(const struct schema *s)
{
    static const struct enumeration *const all[] = {
#define ENUMERATION(Name, ...) &enumeration_##Name,
#include "engine/pla/enumerations.def"
#undef ENUMERATION
    };
    for (size_t e = 0; e < sizeof all / sizeof all[0]; e++) {
        bool used = false;
        for (size_t i = 0; i < s->count; i++)
            for (size_t k = 0; k < s->types[i]->property_count; k++) {
                const struct property *p = &s->types[i]->properties[k];
                used |= p->kind == PROPERTY_ENUM && p->enumeration == all[e] && p->xml_use != XML_HIDDEN;
            }
        if (used)
            add_enumeration_type(s, all[e]);
    }
}

HRESULT set_schema_text(struct text_buffer *b)
{
    struct schema s = {.b = b};
    HRESULT hr = S_OK;
    text_buffer_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by OpenPLA: openpla schema set -->\n"
                       "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
                       "  <xs:annotation><xs:documentation>The XML of a data collector set, and of a data collector "
                       "alone.</xs:documentation></xs:annotation>\n");
    want_type(&s, &data_collector_set_class);
    for (const struct class *const *c = data_collector_collection_class.item_classes; *c; c++)
        want_type(&s, *c);
    for (size_t i = 0; i < s.count; i++)
        text_buffer_format(b, "  <xs:element name=\"%s\" type=\"%s\"/>\n", s.types[i]->name, s.types[i]->name);
    for (size_t i = 0; SUCCEEDED(hr) && i < s.count; i++) /* more classes may be added during the loop */
        hr = add_class(&s, s.types[i]);
    add_enumerations(&s);
    add_common_types(&s);
    line(&s, 0, "</xs:schema>");
    return hr;
}
