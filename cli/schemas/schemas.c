/* SPDX-License-Identifier: MIT */
/* The list of XML Schemas, and functions that their generators share. */
#include "cli/schemas/schemas.h"

#include <string.h>

const struct xml_schema xml_schemas[] = {
    {"set", "a data collector set, or a single data collector", set_schema_text},
    {"report", "a configuration document, or a report", report_schema_text},
    {"report-schema", "the schema from which a report is created", report_grammar_text},
    {"rules", "rules that check reports", rules_schema_text},
};
const size_t xml_schemas_count = sizeof xml_schemas / sizeof *xml_schemas;

const struct xml_schema *xml_schema_find(const char *name)
{
    size_t length = strlen(name);
    if (text_matches("*.xsd", name))
        length -= sizeof ".xsd" - 1;
    for (size_t i = 0; i < xml_schemas_count; i++)
        if (strlen(xml_schemas[i].name) == length && strncmp(xml_schemas[i].name, name, length) == 0)
            return &xml_schemas[i];
    return NULL;
}

void add_escaped(struct text_buffer *b, const char *text)
{
    for (; *text; text++)
        if (*text == '&')
            text_buffer_add(b, "&amp;");
        else if (*text == '<')
            text_buffer_add(b, "&lt;");
        else if (*text == '>')
            text_buffer_add(b, "&gt;");
        else
            text_buffer_add_n(b, text, 1);
}
