/* SPDX-License-Identifier: MIT */
/* The grammar of rules as an XML Schema. Elements come in any order, as rules take them. */
#include "docs/generate/reference.h"
#include "engine/report/rules/rules_parts.h"

#include <string.h>

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

/* Elements in which a text is read. */
static bool holds_text(unsigned type)
{
    return type == RULES_Variable || type == RULES_String || type == RULES_Notify || type == RULES_Anything;
}

static void add_attributes(struct text_buffer *b, unsigned type)
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

/* Where anything may stand, an element that is named beside it would be two things at once to a reader of the schema.
 */
static bool takes_any(unsigned type)
{
    for (size_t i = 0; i < COUNT(withins); i++)
        if (withins[i].parent == type && !strcmp(withins[i].element, "*"))
            return true;
    return false;
}

static void add_elements(struct text_buffer *b, unsigned type)
{
    bool any = takes_any(type);
    if (any)
        text_buffer_add(b, "    <xs:sequence>\n      <xs:any minOccurs=\"0\" maxOccurs=\"unbounded\" "
                           "processContents=\"skip\"/>\n    </xs:sequence>\n");
    for (size_t i = 0; i < COUNT(withins) && !takes_any(type); i++) {
        if (withins[i].parent != type)
            continue;
        text_buffer_add(b, any ? "" : "    <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n");
        any = true;
        text_buffer_format(b, "      <xs:element name=\"%s\" type=\"%s\"%s", withins[i].element, withins[i].type,
                           *withins[i].doc ? ">\n" : "/>\n");
        add_annotation(b, 4, withins[i].doc);
        text_buffer_add(b, *withins[i].doc ? "      </xs:element>\n" : "");
    }
    text_buffer_add(b, any && !takes_any(type) ? "    </xs:choice>\n" : "");
}

static void add_pattern(struct text_buffer *b, const char *name, const char *base, const char *facet, const char *value)
{
    text_buffer_format(b,
                       "  <xs:simpleType name=\"%s\">\n    <xs:restriction base=\"%s\">\n"
                       "      <xs:%s value=\"%s\"/>\n    </xs:restriction>\n  </xs:simpleType>\n",
                       name, base, facet, value);
}

/* Words are read without case, which a schema says letter by letter. */
static void add_words(struct text_buffer *b, const char *sort)
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

void rules_schema_text(struct text_buffer *b)
{
    text_buffer_add(b,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by docs/generate from "
                    "engine/report/rules_grammar.def: change that, then build generate_reference. -->\n"
                    "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
                    "  <xs:annotation><xs:documentation>Rules that judge reports (MS-PLA 2.2.3.4).</xs:documentation>"
                    "</xs:annotation>\n  <xs:element name=\"Rules\" type=\"Rules\"/>\n");
    for (size_t i = 0; i < COUNT(sort_names); i++)
        switch ((enum rules_sort)i) {
        case RULES_VALUE_TEXT_ANY:
            add_pattern(b, sort_names[i], "xs:string", "minLength", "0");
            break;
        case RULES_VALUE_TEXT_SOME:
        case RULES_VALUE_XPATH:
            add_pattern(b, sort_names[i], "xs:string", "minLength", "1");
            break;
        case RULES_VALUE_NUMBER:
            add_pattern(b, sort_names[i], "xs:unsignedInt", "minInclusive", "0");
            break;
        case RULES_VALUE_BOOL:
            add_pattern(b, sort_names[i], "xs:token", "pattern", "[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]");
            break;
        case RULES_VALUE_NAME:
            add_pattern(b, sort_names[i], "xs:token", "pattern", "[\\p{L}\\p{N}_][\\p{L}\\p{N}_.\\-]*");
            break;
        case RULES_VALUE_CHOICE:
        case RULES_VALUE_COMPARISON:
        case RULES_VALUE_AXIS:
            add_words(b, sort_names[i]);
            break;
        }
    for (unsigned type = 0; type < COUNT(type_names); type++) {
        text_buffer_format(b, "  <xs:complexType name=\"%s\"%s>\n", type_names[type],
                           holds_text(type) ? " mixed=\"true\"" : "");
        add_elements(b, type);
        add_attributes(b, type);
        text_buffer_add(b, "  </xs:complexType>\n");
    }
    text_buffer_add(b, "</xs:schema>\n");
}
