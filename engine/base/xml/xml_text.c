/* SPDX-License-Identifier: MIT */
/* Writes XML: text, and elements with text. */
#include "engine/base/xml_text.h"

#include <string.h>

/* Skips quickly over characters that need no escape in an element or in an attribute. */
static const char *skip_plain(const char *text)
{
    static const bool special[256] = {
        [0] = true,   [1] = true,   [2] = true,   [3] = true,   [4] = true,    [5] = true,  [6] = true,  [7] = true,
        [8] = true,   [9] = true,   [10] = true,  [11] = true,  [12] = true,   [13] = true, [14] = true, [15] = true,
        [16] = true,  [17] = true,  [18] = true,  [19] = true,  [20] = true,   [21] = true, [22] = true, [23] = true,
        [24] = true,  [25] = true,  [26] = true,  [27] = true,  [28] = true,   [29] = true, [30] = true, [31] = true,
        ['&'] = true, ['<'] = true, ['>'] = true, ['"'] = true, [0xEF] = true,
    };
    while (!special[(unsigned char)*text])
        text++;
    return text;
}

/* Returns the length in bytes of the character at `c` if XML 1.0 does not allow it; 0 if it is allowed. */
static size_t xml_invalid_bytes(const char *c)
{
    unsigned char u = (unsigned char)*c;
    if (u < ' ')
        return u && !strchr("\t\n\r", u);
    return !strncmp(c, "\xEF\xBF\xBE", 3) || !strncmp(c, "\xEF\xBF\xBF", 3) ? 3 : 0; /* U+FFFE, U+FFFF */
}

bool xml_holds(const char *text)
{
    for (text = skip_plain(text); *text && !xml_invalid_bytes(text); text = skip_plain(text))
        text++;
    return !*text;
}

/* Characters that XML does not allow become U+FFFD (DECISIONS 3); validation reports them separately. */
void xml_add_escaped(struct text_buffer *b, const char *text, bool attribute)
{
    const char *plain = text;
    for (text = skip_plain(text); *text; text = skip_plain(text)) {
        size_t bad = xml_invalid_bytes(text);
        const char *escape = bad ? "\xEF\xBF\xBD" : xml_escape_of(*text, attribute);
        if (escape) {
            text_buffer_add_n(b, plain, (size_t)(text - plain));
            text_buffer_add(b, escape);
            plain = text + (bad ? bad : 1);
        }
        text += bad ? bad : 1;
    }
    text_buffer_add_n(b, plain, (size_t)(text - plain));
}

void xml_add_attribute(struct text_buffer *b, const char *name, const char *text)
{
    text_buffer_add_n(b, " ", 1);
    text_buffer_add(b, name);
    text_buffer_add_n(b, "=\"", 2);
    xml_add_escaped(b, text, true);
    text_buffer_add_n(b, "\"", 1);
}

static void add_tag(struct text_buffer *b, const char *begin, const char *element)
{
    size_t n = strlen(begin), length = strlen(element);
    char *at = text_buffer_reserve(b, n + length + 1);
    if (!at)
        return;
    memcpy(at, begin, n);
    memcpy(at + n, element, length);
    at[n + length] = '>';
    at[n + length + 1] = 0;
    b->length += n + length + 1;
}

void xml_start_element(struct text_buffer *b, const char *element)
{
    add_tag(b, "<", element);
}

void xml_end_element(struct text_buffer *b, const char *element)
{
    add_tag(b, "</", element);
}

void xml_end_or_empty(struct text_buffer *b, const char *element, size_t from)
{
    size_t length = b->length - from;
    if (b->failed || length != strlen(element) + 2) {
        xml_end_element(b, element);
        return;
    }
    b->length--;
    text_buffer_add_n(b, "/>", 2);
}

bool xml_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool xml_has_outer_blank(const char *text)
{
    return text[0] && (xml_is_blank(text[0]) || xml_is_blank(text[strlen(text) - 1]));
}

static char *add_bytes(char *at, const char *bytes, size_t size)
{
    return (char *)memcpy(at, bytes, size) + size;
}

/* A fast path: nearly every text needs neither escapes nor the attribute xml:space, and lists of counters contain
   thousands of texts. */
static bool add_plain_element(struct text_buffer *b, const char *element, const char *text)
{
    const size_t length = (size_t)(skip_plain(text) - text), name = strlen(element);
    const size_t size = length + 2 * name + sizeof "<></>" - 1;
    if (!length || text[length] || xml_is_blank(text[0]) || xml_is_blank(text[length - 1]))
        return false;
    char *at = text_buffer_reserve(b, size);
    if (!at)
        return true;
    *at++ = '<';
    at = add_bytes(at, element, name);
    *at++ = '>';
    at = add_bytes(at, text, length);
    at = add_bytes(at, "</", 2);
    at = add_bytes(at, element, name);
    memcpy(at, ">", 2); /* with its NUL */
    b->length += size;
    return true;
}

void xml_add_element(struct text_buffer *b, const char *element, const char *text)
{
    size_t from = b->length;
    if (add_plain_element(b, element, text))
        return;
    if (xml_has_outer_blank(text))
        text_buffer_format(b, "<%s" XML_KEEPS_BLANKS ">", element);
    else
        xml_start_element(b, element);
    xml_add_escaped(b, text, false);
    xml_end_or_empty(b, element, from);
}
