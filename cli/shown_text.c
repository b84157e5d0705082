/* SPDX-License-Identifier: MIT */
/* Writes controls out. */
#include "cli/shown_text.h"

#include "engine/base/text_unicode.h"

#include <stdio.h>
#include <string.h>

/* C0, DEL, C1, and the marks that turn or embed directions. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

void add_shown(struct text_buffer *b, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *const end = at + strlen(text), *plain = at;
    while (at < end) {
        const unsigned char *const begin = at;
        const uint32_t c = unicode_next(&at, end, NULL);
        if (!is_hidden(c))
            continue;
        text_buffer_add_n(b, (const char *)plain, (size_t)(begin - plain));
        plain = at;
        if (c == '\n' || c == '\r' || c == '\t')
            text_buffer_add(b, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else
            text_buffer_format(b, "\\u%04x", (unsigned)c);
    }
    text_buffer_add_n(b, (const char *)plain, (size_t)(end - plain));
}

size_t shown_width(const char *shown)
{
    size_t width = 0;
    for (; *shown; shown++)
        width += ((unsigned char)*shown & 0xC0) != 0x80;
    return width;
}

int shown_room(const char *shown, size_t width)
{
    const size_t own = shown_width(shown);
    return own < width ? (int)(width - own) : 0;
}

void print_shown(const char *text)
{
    struct text_buffer b = {0};
    add_shown(&b, text);
    fputs(b.text && !b.failed ? b.text : "", stdout);
    text_buffer_free(&b);
}
