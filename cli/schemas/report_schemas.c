/* SPDX-License-Identifier: MIT */
/* Generates three XML Schemas: one for report documents, which configuration collectors also write; one for report
   schemas; and one for rules. */
#include "cli/schemas/schemas.h"
#include "engine/report/grammar.h"
#include "engine/report/report_reader.h"
#include "engine/report/report_schema.h"

#include <string.h>

static void add_annotation(struct text_buffer *b, int depth, const char *doc)
{
    if (!*doc)
        return;
    text_buffer_format(b, "%*s<xs:annotation><xs:documentation>", 2 * depth, "");
    add_escaped(b, doc);
    text_buffer_add(b, "</xs:documentation></xs:annotation>\n");
}

/* Ends an element or attribute. `doc` is its documentation, or "". */
static void end_element(struct text_buffer *b, int depth, const char *element, const char *doc)
{
    if (!*doc) {
        text_buffer_add(b, "/>\n");
        return;
    }
    text_buffer_add(b, ">\n");
    add_annotation(b, depth + 1, doc);
    text_buffer_format(b, "%*s</xs:%s>\n", 2 * depth, "", element);
}

static void add_children(struct text_buffer *b, enum form_type type)
{
    bool any = false;
    for (size_t i = 0; i < form_child_count; i++) {
        const struct form_child *c = &form_children[i];
        if (c->parent != type)
            continue;
        if (!any)
            text_buffer_add(b, "    <xs:sequence>\n");
        any = true;
        text_buffer_format(b, "      <xs:element name=\"%s\" type=\"%s\" minOccurs=\"0\"%s", c->element,
                           form_types[c->type].name, c->any_number ? " maxOccurs=\"unbounded\"" : "");
        end_element(b, 3, "element", c->doc);
    }
    if (any)
        text_buffer_add(b, "    </xs:sequence>\n");
}

static void add_attributes(struct text_buffer *b, enum form_type type, int depth)
{
    for (size_t i = 0; i < form_attribute_count; i++) {
        const struct form_attribute *a = &form_attributes[i];
        if (a->of != type)
            continue;
        text_buffer_format(b, "%*s<xs:attribute name=\"%s\" type=\"%s\"%s", 2 * depth, "", a->name, a->schema_type,
                           a->required ? " use=\"required\"" : "");
        end_element(b, depth, "attribute", a->doc);
    }
}

static void add_type(struct text_buffer *b, enum form_type type)
{
    text_buffer_format(b, "  <xs:complexType name=\"%s\">\n", form_types[type].name);
    add_annotation(b, 2, form_types[type].doc);
    if (form_types[type].holds_text) {
        text_buffer_add(b, "    <xs:simpleContent>\n      <xs:extension base=\"xs:string\">\n");
        add_attributes(b, type, 4);
        text_buffer_add(b, "      </xs:extension>\n    </xs:simpleContent>\n");
    } else {
        add_children(b, type);
        add_attributes(b, type, 2);
    }
    text_buffer_add(b, "  </xs:complexType>\n");
}

HRESULT report_schema_text(struct text_buffer *b)
{
    text_buffer_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by OpenPLA: openpla schema report -->\n"
                       "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
                       "  <xs:annotation><xs:documentation>What a configuration collector writes, and a "
                       "report.</xs:documentation></xs:annotation>\n"
                       "  <xs:element name=\"Report\" type=\"Report\"/>\n"
                       "  <xs:simpleType name=\"Flag\">\n    <xs:restriction base=\"xs:token\">\n"
                       "      <xs:pattern value=\"[01]\"/>\n    </xs:restriction>\n  </xs:simpleType>\n");
    for (int type = 0; type < FORM_TYPE_COUNT; type++)
        add_type(b, (enum form_type)type);
    text_buffer_add(b, "</xs:schema>\n");
    return S_OK;
}

/* ---- the grammar of report schemas ---- */

#define GUID_PATTERN "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
#define MASK_HALF    "[^#0,.;]*[#,]*[0,]*(\\.0*#*)?[^#0,.;]*"

/* Returns true if the element has columns, whose names must be unique in a table. */
static bool grammar_has_columns(enum schema_type type)
{
    return schema_find_within(type, "Column") != NULL;
}

static void grammar_add_child(struct text_buffer *b, const struct xml_within *row)
{
    text_buffer_format(b, "      <xs:element name=\"%s\" type=\"r:%s\"", row->element, schema_types[row->type].name);
    if (row->least != 1)
        text_buffer_format(b, " minOccurs=\"%u\"", row->least);
    if (row->most == 0)
        text_buffer_add(b, " maxOccurs=\"unbounded\"");
    else if (row->most != 1)
        text_buffer_format(b, " maxOccurs=\"%u\"", row->most);
    if (!*row->doc && !grammar_has_columns(row->type)) {
        text_buffer_add(b, "/>\n");
        return;
    }
    text_buffer_add(b, ">\n");
    add_annotation(b, 4, row->doc);
    if (grammar_has_columns(row->type))
        text_buffer_format(b,
                           "        <xs:unique name=\"%sColumns\"><xs:selector xpath=\"r:Column\"/>"
                           "<xs:field xpath=\"@name\"/></xs:unique>\n",
                           row->element);
    text_buffer_add(b, "      </xs:element>\n");
}

/* Adds the children of an element. If any child has a minimum or maximum number, the children must be in the order of
   the rows. Otherwise the children may be in any order, and each may occur any number of times. */
static void grammar_add_children(struct text_buffer *b, enum schema_type type)
{
    bool any = false, ordered = false;
    for (size_t i = 0; i < schema_within_count; i++)
        if (schema_withins[i].parent == type) {
            any = true;
            ordered |= schema_withins[i].least || schema_withins[i].most;
        }
    if (!any)
        return;
    text_buffer_add(b, ordered ? "    <xs:sequence>\n" : "    <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n");
    for (size_t i = 0; i < schema_within_count; i++) {
        struct xml_within row = schema_withins[i];
        if (row.parent != type)
            continue;
        if (!ordered)
            row.least = row.most = 1;
        grammar_add_child(b, &row);
    }
    text_buffer_add(b, ordered ? "    </xs:sequence>\n" : "    </xs:choice>\n");
}

static void grammar_add_values(struct text_buffer *b, enum schema_type type, int depth)
{
    for (size_t i = 0; i < schema_value_count; i++) {
        const struct xml_value *v = &schema_values[i];
        if (v->of != type)
            continue;
        const char *sort = schema_sort_names[v->sort];
        text_buffer_format(b, "%*s<xs:attribute name=\"%s\" type=\"%s%s\"%s", 2 * depth, "", v->name,
                           strncmp(sort, "xs:", 3) == 0 ? "" : "r:", sort,
                           v->use == XML_OPTIONAL ? "" : " use=\"required\"");
        text_buffer_add(b, *v->doc ? ">\n" : "/>\n");
        if (*v->doc) {
            add_annotation(b, depth + 1, v->doc);
            text_buffer_format(b, "%*s</xs:attribute>\n", 2 * depth, "");
        }
    }
    text_buffer_format(b,
                       "%*s<xs:anyAttribute namespace=\"http://www.w3.org/XML/1998/namespace\" "
                       "processContents=\"skip\"/>\n",
                       2 * depth, "");
}

static void grammar_add_type(struct text_buffer *b, enum schema_type type)
{
    text_buffer_format(b, "  <xs:complexType name=\"%s\">\n", schema_types[type].name);
    add_annotation(b, 2, schema_types[type].doc);
    if (schema_types[type].holds_text) {
        text_buffer_add(b, "    <xs:simpleContent>\n      <xs:extension base=\"xs:string\">\n");
        grammar_add_values(b, type, 4);
        text_buffer_add(b, "      </xs:extension>\n    </xs:simpleContent>\n");
    } else {
        grammar_add_children(b, type);
        grammar_add_values(b, type, 2);
    }
    text_buffer_add(b, "  </xs:complexType>\n");
}

static void grammar_begin_simple(struct text_buffer *b, const char *name, const char *base)
{
    text_buffer_format(b, "  <xs:simpleType name=\"%s\">\n    <xs:restriction base=\"%s\">\n", name, base);
}

static void grammar_end_simple(struct text_buffer *b)
{
    text_buffer_add(b, "    </xs:restriction>\n  </xs:simpleType>\n");
}

static void grammar_add_pattern(struct text_buffer *b, const char *name, const char *pattern)
{
    grammar_begin_simple(b, name, "xs:token");
    text_buffer_format(b, "      <xs:pattern value=\"%s\"/>\n", pattern);
    grammar_end_simple(b);
}

/* Writes the words of each type as an enumeration. This function also writes the type whose values are lists of counter
   columns. */
static void grammar_add_words(struct text_buffer *b)
{
    for (size_t sort = 0; sort < SCHEMA_SORT_COUNT; sort++) {
        bool any = false;
        for (size_t i = 0; i < schema_word_count; i++) {
            if (schema_words[i].sort != sort)
                continue;
            if (!any)
                grammar_begin_simple(b, schema_sort_names[sort], "xs:token");
            any = true;
            text_buffer_format(b, "      <xs:enumeration value=\"%s\"/>\n", schema_words[i].text);
        }
        if (any)
            grammar_end_simple(b);
    }
    text_buffer_format(b, "  <xs:simpleType name=\"%s\">\n    <xs:list itemType=\"r:%s\"/>\n  </xs:simpleType>\n",
                       schema_sort_names[VALUE_COUNTER_COLUMNS], schema_sort_names[VALUE_COUNTER_COLUMN]);
}

HRESULT report_grammar_text(struct text_buffer *b)
{
    text_buffer_add(
        b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by OpenPLA: openpla schema report-schema -->\n"
           "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:r=\"" REPORT_SCHEMA_NAMESPACE
           "\"\n  targetNamespace=\"" REPORT_SCHEMA_NAMESPACE "\" elementFormDefault=\"qualified\">\n"
           "  <xs:annotation><xs:documentation>What reports are made by (MS-PLA 2.2.3.3). "
           "openpla also reads it without a namespace.</xs:documentation></xs:annotation>\n"
           "  <xs:element name=\"Report\" type=\"r:Report\"/>\n");
    grammar_begin_simple(b, schema_sort_names[VALUE_TEXT_SOME], "xs:string");
    text_buffer_add(b, "      <xs:pattern value=\"(.|\\s)*\\S(.|\\s)*\"/>\n");
    grammar_end_simple(b);
    grammar_begin_simple(b, schema_sort_names[VALUE_COUNT], "xs:unsignedInt");
    text_buffer_add(b, "      <xs:minInclusive value=\"1\"/>\n");
    grammar_end_simple(b);
    grammar_begin_simple(b, schema_sort_names[VALUE_LEVEL], "xs:unsignedByte");
    text_buffer_format(b, "      <xs:minInclusive value=\"1\"/>\n      <xs:maxInclusive value=\"%d\"/>\n",
                       SCHEMA_HIGHEST_LEVEL);
    grammar_end_simple(b);
    grammar_add_pattern(b, schema_sort_names[VALUE_GUIDS], "\\{" GUID_PATTERN "\\}|" GUID_PATTERN);
    grammar_add_pattern(b, schema_sort_names[VALUE_EVENT_ID], "[0-9]{1,5}|\\*");
    /* Two patterns must match: the first one checks the form, and the second one requires at least one digit. */
    text_buffer_format(b,
                       "  <xs:simpleType name=\"%s\">\n    <xs:restriction>\n      <xs:simpleType>"
                       "<xs:restriction base=\"xs:string\"><xs:pattern value=\"" MASK_HALF "(;" MASK_HALF
                       ")?\"/></xs:restriction></xs:simpleType>\n      <xs:pattern value=\".*[#0].*\"/>\n"
                       "    </xs:restriction>\n  </xs:simpleType>\n",
                       schema_sort_names[VALUE_MASK]);
    grammar_add_words(b);
    for (int type = 0; type < SCHEMA_TYPE_COUNT; type++)
        grammar_add_type(b, (enum schema_type)type);
    text_buffer_add(b, "</xs:schema>\n");
    return S_OK;
}

/* ---- the grammar of rules: elements may be in any order, as the reader of rules accepts them ---- */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    unsigned parent;
    const char *element, *type, *doc;
} withins[] = {
#define WITHIN(Type, element, child, least, most, doc) {RULES_##Type, #element, #child, doc},
#include "engine/report/rules_grammar.def"
};
static const struct {
    unsigned of;
    const char *name;
    const char *sort;
    enum xml_use use;
    const char *doc;
} values[] = {
#define VALUE(Type, attribute, check, use, doc) {RULES_##Type, #attribute, #check, XML_##use, doc},
#include "engine/report/rules_grammar.def"
};
static const char *const type_names[] = {
#define ELEMENT(Type) #Type,
#include "engine/report/rules_grammar.def"
};
static const char *const sort_names[] = {
#define SORT(check) #check,
#include "engine/report/rules_grammar.def"
};
static const struct {
    const char *sort, *text;
} words[] = {
#define WORD(check, text) {#check, text},
#include "engine/report/rules_grammar.def"
};

/* Returns true for elements that contain text. */
static bool rules_holds_text(unsigned type)
{
    return type == RULES_Variable || type == RULES_String || type == RULES_Notify || type == RULES_Anything;
}

static void rules_add_attributes(struct text_buffer *b, unsigned type)
{
    for (size_t i = 0; i < COUNT(values); i++) {
        if (values[i].of != type)
            continue;
        text_buffer_format(b, "    <xs:attribute name=\"%s\" type=\"%s\"%s", values[i].name, values[i].sort,
                           values[i].use == XML_REQUIRED ? " use=\"required\"" : "");
        text_buffer_add(b, *values[i].doc ? ">\n" : "/>\n");
        add_annotation(b, 3, values[i].doc);
        text_buffer_add(b, *values[i].doc ? "    </xs:attribute>\n" : "");
    }
    text_buffer_format(b, "    <xs:anyAttribute namespace=\"%s\" processContents=\"skip\"/>\n",
                       type == RULES_Anything ? "##any" : "http://www.w3.org/XML/1998/namespace");
}

/* Returns true if the element may contain any element. For such an element, the schema must not also name single child
   elements, because that would be ambiguous. */
static bool rules_takes_any(unsigned type)
{
    for (size_t i = 0; i < COUNT(withins); i++)
        if (withins[i].parent == type && !strcmp(withins[i].element, "*"))
            return true;
    return false;
}

static void rules_add_elements(struct text_buffer *b, unsigned type)
{
    bool any = rules_takes_any(type);
    if (any)
        text_buffer_add(b, "    <xs:sequence>\n      <xs:any minOccurs=\"0\" maxOccurs=\"unbounded\" "
                           "processContents=\"skip\"/>\n    </xs:sequence>\n");
    for (size_t i = 0; i < COUNT(withins) && !rules_takes_any(type); i++) {
        if (withins[i].parent != type)
            continue;
        text_buffer_add(b, any ? "" : "    <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n");
        any = true;
        text_buffer_format(b, "      <xs:element name=\"%s\" type=\"%s\"%s", withins[i].element, withins[i].type,
                           *withins[i].doc ? ">\n" : "/>\n");
        add_annotation(b, 4, withins[i].doc);
        text_buffer_add(b, *withins[i].doc ? "      </xs:element>\n" : "");
    }
    text_buffer_add(b, any && !rules_takes_any(type) ? "    </xs:choice>\n" : "");
}

static void rules_add_pattern(struct text_buffer *b, const char *name, const char *base, const char *facet,
                              const char *value)
{
    text_buffer_format(b,
                       "  <xs:simpleType name=\"%s\">\n    <xs:restriction base=\"%s\">\n"
                       "      <xs:%s value=\"%s\"/>\n    </xs:restriction>\n  </xs:simpleType>\n",
                       name, base, facet, value);
}

/* Writes words that are case-insensitive, which a schema can express only letter by letter. */
static void rules_add_words(struct text_buffer *b, const char *sort)
{
    text_buffer_format(b, "  <xs:simpleType name=\"%s\">\n    <xs:restriction base=\"xs:token\">\n", sort);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i].sort, sort) != 0)
            continue;
        text_buffer_add(b, "      <xs:pattern value=\"");
        for (const char *c = words[i].text; *c; c++)
            if (*c >= 'a' && *c <= 'z')
                text_buffer_format(b, "[%c%c]", *c - 'a' + 'A', *c);
            else
                text_buffer_format(b, "\\%c", *c);
        text_buffer_add(b, "\"/>\n");
    }
    text_buffer_add(b, "    </xs:restriction>\n  </xs:simpleType>\n");
}

HRESULT rules_schema_text(struct text_buffer *b)
{
    text_buffer_add(b,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by OpenPLA: openpla schema rules -->\n"
                    "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
                    "  <xs:annotation><xs:documentation>Rules that check reports (MS-PLA 2.2.3.4).</xs:documentation>"
                    "</xs:annotation>\n  <xs:element name=\"Rules\" type=\"Rules\"/>\n");
    for (size_t i = 0; i < COUNT(sort_names); i++)
        switch ((enum rules_sort)i) {
        case RULES_VALUE_TEXT_ANY:
            rules_add_pattern(b, sort_names[i], "xs:string", "minLength", "0");
            break;
        case RULES_VALUE_TEXT_SOME:
        case RULES_VALUE_XPATH:
            rules_add_pattern(b, sort_names[i], "xs:string", "minLength", "1");
            break;
        case RULES_VALUE_NUMBER:
            rules_add_pattern(b, sort_names[i], "xs:unsignedInt", "minInclusive", "0");
            break;
        case RULES_VALUE_BOOL:
            rules_add_pattern(b, sort_names[i], "xs:token", "pattern", "[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]");
            break;
        case RULES_VALUE_NAME:
            rules_add_pattern(b, sort_names[i], "xs:token", "pattern", "[\\p{L}\\p{N}_][\\p{L}\\p{N}_.\\-]*");
            break;
        case RULES_VALUE_REAL:
            rules_add_pattern(b, sort_names[i], "xs:token", "pattern", "[+\\-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)");
            break;
        case RULES_VALUE_COUNTER:
            rules_add_pattern(b, sort_names[i], "xs:string", "pattern", "\\\\[^\\\\]+\\\\[\\s\\S]+");
            break;
        case RULES_VALUE_CHOICE:
        case RULES_VALUE_COMPARISON:
        case RULES_VALUE_AXIS:
        case RULES_VALUE_MEASURE:
        case RULES_VALUE_SCALE:
        case RULES_VALUE_SEVERITY:
            rules_add_words(b, sort_names[i]);
            break;
        }
    for (unsigned type = 0; type < COUNT(type_names); type++) {
        text_buffer_format(b, "  <xs:complexType name=\"%s\"%s>\n", type_names[type],
                           rules_holds_text(type) ? " mixed=\"true\"" : "");
        rules_add_elements(b, type);
        rules_add_attributes(b, type);
        text_buffer_add(b, "  </xs:complexType>\n");
    }
    text_buffer_add(b, "</xs:schema>\n");
    return S_OK;
}
