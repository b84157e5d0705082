/* SPDX-License-Identifier: MIT */
/* The form of report documents, which configuration collectors write too, as an XML Schema. */
#include "docs/generate/reference.h"
#include "engine/report/report_reader.h"

void add_annotation(struct text_buffer *b, int depth, const char *doc)
{
    if (!*doc)
        return;
    text_buffer_format(b, "%*s<xs:annotation><xs:documentation>", 2 * depth, "");
    add_escaped(b, doc);
    text_buffer_add(b, "</xs:documentation></xs:annotation>\n");
}

/* An element or attribute with a doc of its own, or none. */
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

void report_schema_text(struct text_buffer *b)
{
    text_buffer_add(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by docs/generate from "
                       "engine/report/make/report_form.def: change that, then build generate_reference. -->\n"
                       "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
                       "  <xs:annotation><xs:documentation>What a configuration collector writes, and a "
                       "report.</xs:documentation></xs:annotation>\n"
                       "  <xs:element name=\"Report\" type=\"Report\"/>\n"
                       "  <xs:simpleType name=\"Flag\">\n    <xs:restriction base=\"xs:token\">\n"
                       "      <xs:pattern value=\"[01]\"/>\n    </xs:restriction>\n  </xs:simpleType>\n");
    for (int type = 0; type < FORM_TYPE_COUNT; type++)
        add_type(b, (enum form_type)type);
    text_buffer_add(b, "</xs:schema>\n");
}
