/* SPDX-License-Identifier: MIT */
/* Writes XML: text, and elements with text. */
#ifndef OPENPLA_XML_TEXT_H
#define OPENPLA_XML_TEXT_H

#include "engine/base/text.h"

/* Returns the character's escape; NULL: it needs none. */
static inline const char *xml_escape_of(char c, bool attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;";
    case '"':
        return "&quot;";
    case '\t':
        return attribute ? "&#9;" : NULL;
    case '\n':
        return attribute ? "&#10;" : NULL;
    default:
        return NULL;
    }
}
/* Whether XML 1.0 allows all characters of the text: no controls except tab and line ends, no U+FFFE and no U+FFFF. */
bool xml_holds(const char *text);
/* Appends the text with escapes. Characters that XML does not allow become U+FFFD (DECISIONS 3). */
void xml_add_escaped(struct text_buffer *b, const char *text, bool attribute);
/* Appends a space and name="text". */
void xml_add_attribute(struct text_buffer *b, const char *name, const char *text);
void xml_start_element(struct text_buffer *b, const char *element);
void xml_end_element(struct text_buffer *b, const char *element);
/* Ends an element whose start tag begins at `from` in the buffer. An empty element becomes <X/>. */
void xml_end_or_empty(struct text_buffer *b, const char *element, size_t from);
bool xml_is_blank(char c);
/* Whether the text has leading or trailing whitespace. Readers remove such whitespace unless the element preserves
   whitespace (XML 1.0, 2.10). */
bool xml_has_outer_blank(const char *text);
#define XML_KEEPS_BLANKS " xml:space=\"preserve\""
/* Appends an element with that text. If the text has leading or trailing whitespace, an attribute asks readers to keep
   this whitespace. */
void xml_add_element(struct text_buffer *b, const char *element, const char *text);

#endif
