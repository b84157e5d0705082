/* SPDX-License-Identifier: MIT */
/* XML as it is written: texts, and elements with a text. */
#ifndef OPENPLA_XML_TEXT_H
#define OPENPLA_XML_TEXT_H

#include "engine/base/text.h"

/* What stands for the character; NULL: itself. */
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
/* Whether XML 1.0 has all characters of the text: no controls but tab and line ends, not U+FFFE and U+FFFF. */
bool xml_holds(const char *text);
/* What XML cannot hold becomes U+FFFD (DECISIONS 3). */
void xml_add_escaped(struct text_buffer *b, const char *text, bool attribute);
/* A blank, name="text". */
void xml_add_attribute(struct text_buffer *b, const char *name, const char *text);
void xml_start_element(struct text_buffer *b, const char *element);
void xml_end_element(struct text_buffer *b, const char *element);
/* Ends an element whose start begins at `from` in the buffer: <X/> when nothing is in it. */
void xml_end_or_empty(struct text_buffer *b, const char *element, size_t from);
bool xml_is_blank(char c);
/* Who reads a text takes the blanks around it away, unless the element keeps them (XML 1.0, 2.10). */
bool xml_has_outer_blank(const char *text);
#define XML_KEEPS_BLANKS " xml:space=\"preserve\""
/* An element with that text, with an attribute that asks readers to keep its outer blanks. */
void xml_add_element(struct text_buffer *b, const char *element, const char *text);

#endif
