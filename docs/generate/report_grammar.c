/* SPDX-License-Identifier: MIT */
/* The grammar of report schemas as an XML Schema. */
#include "docs/generate/reference.h"
#include "engine/report/make/schema_reading.h"
#include "engine/report/report_schema.h"

#include <string.h>

#define GUID_PATTERN "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
#define MASK_HALF    "[^#0,.;]*[#,]*[0,]*(\\.0*#*)?[^#0,.;]*"

/* Names of columns are used once in a table. */
static bool has_columns(enum schema_type type)
{
    return schema_find_within(type, "Column") != NULL;
}

static void add_child(struct text_buffer *b, const struct xml_within *row)
{
    text_buffer_format(b, "      <xs:element name=\"%s\" type=\"r:%s\"", row->element, schema_types[row->type].name);
    if (row->least != 1)
        text_buffer_format(b, " minOccurs=\"%u\"", row->least);
    if (row->most == 0)
        text_buffer_add(b, " maxOccurs=\"unbounded\"");
    else if (row->most != 1)
        text_buffer_format(b, " maxOccurs=\"%u\"", row->most);
    if (!*row->doc && !has_columns(row->type)) {
        text_buffer_add(b, "/>\n");
        return;
    }
    text_buffer_add(b, ">\n");
    add_annotation(b, 4, row->doc);
    if (has_columns(row->type))
        text_buffer_format(b,
                           "        <xs:unique name=\"%sColumns\"><xs:selector xpath=\"r:Column\"/>"
                           "<xs:field xpath=\"@name\"/></xs:unique>\n",
                           row->element);
    text_buffer_add(b, "      </xs:element>\n");
}

/* Elements of which any number may stand there come in any order, others in that of the rows. */
static void add_children(struct text_buffer *b, enum schema_type type)
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
        add_child(b, &row);
    }
    text_buffer_add(b, ordered ? "    </xs:sequence>\n" : "    </xs:choice>\n");
}

static void add_values(struct text_buffer *b, enum schema_type type, int depth)
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

static void add_type(struct text_buffer *b, enum schema_type type)
{
    text_buffer_format(b, "  <xs:complexType name=\"%s\">\n", schema_types[type].name);
    add_annotation(b, 2, schema_types[type].doc);
    if (schema_types[type].holds_text) {
        text_buffer_add(b, "    <xs:simpleContent>\n      <xs:extension base=\"xs:string\">\n");
        add_values(b, type, 4);
        text_buffer_add(b, "      </xs:extension>\n    </xs:simpleContent>\n");
    } else {
        add_children(b, type);
        add_values(b, type, 2);
    }
    text_buffer_add(b, "  </xs:complexType>\n");
}

static void begin_simple(struct text_buffer *b, const char *name, const char *base)
{
    text_buffer_format(b, "  <xs:simpleType name=\"%s\">\n    <xs:restriction base=\"%s\">\n", name, base);
}

static void end_simple(struct text_buffer *b)
{
    text_buffer_add(b, "    </xs:restriction>\n  </xs:simpleType>\n");
}

static void add_pattern(struct text_buffer *b, const char *name, const char *pattern)
{
    begin_simple(b, name, "xs:token");
    text_buffer_format(b, "      <xs:pattern value=\"%s\"/>\n", pattern);
    end_simple(b);
}

/* The words of a sort, as alternatives of an enumeration; the list of several is ours. */
static void add_words(struct text_buffer *b)
{
    for (size_t sort = 0; sort < SCHEMA_SORT_COUNT; sort++) {
        bool any = false;
        for (size_t i = 0; i < schema_word_count; i++) {
            if (schema_words[i].sort != sort)
                continue;
            if (!any)
                begin_simple(b, schema_sort_names[sort], "xs:token");
            any = true;
            text_buffer_format(b, "      <xs:enumeration value=\"%s\"/>\n", schema_words[i].text);
        }
        if (any)
            end_simple(b);
    }
    text_buffer_format(b, "  <xs:simpleType name=\"%s\">\n    <xs:list itemType=\"r:%s\"/>\n  </xs:simpleType>\n",
                       schema_sort_names[VALUE_COUNTER_COLUMNS], schema_sort_names[VALUE_COUNTER_COLUMN]);
}

void report_grammar_text(struct text_buffer *b)
{
    text_buffer_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by docs/generate from "
                       "engine/report/make/schema_grammar.def: change that, then build generate_reference. -->\n"
                       "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:r=\"" REPORT_SCHEMA_NAMESPACE
                       "\"\n  targetNamespace=\"" REPORT_SCHEMA_NAMESPACE "\" elementFormDefault=\"qualified\">\n"
                       "  <xs:annotation><xs:documentation>What reports are made by (MS-PLA 2.2.3.3). "
                       "openpla also reads it without a namespace.</xs:documentation></xs:annotation>\n"
                       "  <xs:element name=\"Report\" type=\"r:Report\"/>\n");
    begin_simple(b, schema_sort_names[VALUE_TEXT_SOME], "xs:string");
    text_buffer_add(b, "      <xs:pattern value=\"(.|\\s)*\\S(.|\\s)*\"/>\n");
    end_simple(b);
    begin_simple(b, schema_sort_names[VALUE_COUNT], "xs:unsignedInt");
    text_buffer_add(b, "      <xs:minInclusive value=\"1\"/>\n");
    end_simple(b);
    begin_simple(b, schema_sort_names[VALUE_LEVEL], "xs:unsignedByte");
    text_buffer_format(b, "      <xs:minInclusive value=\"1\"/>\n      <xs:maxInclusive value=\"%d\"/>\n",
                       SCHEMA_HIGHEST_LEVEL);
    end_simple(b);
    add_pattern(b, schema_sort_names[VALUE_GUIDS], "\\{" GUID_PATTERN "\\}|" GUID_PATTERN);
    add_pattern(b, schema_sort_names[VALUE_EVENT_ID], "[0-9]{1,5}|\\*");
    /* Both hold: the form, and that there is a digit. */
    text_buffer_format(b,
                       "  <xs:simpleType name=\"%s\">\n    <xs:restriction>\n      <xs:simpleType>"
                       "<xs:restriction base=\"xs:string\"><xs:pattern value=\"" MASK_HALF "(;" MASK_HALF
                       ")?\"/></xs:restriction></xs:simpleType>\n      <xs:pattern value=\".*[#0].*\"/>\n"
                       "    </xs:restriction>\n  </xs:simpleType>\n",
                       schema_sort_names[VALUE_MASK]);
    add_words(b);
    for (int type = 0; type < SCHEMA_TYPE_COUNT; type++)
        add_type(b, (enum schema_type)type);
    text_buffer_add(b, "</xs:schema>\n");
}
