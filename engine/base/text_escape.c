/* SPDX-License-Identifier: MIT */
/* Texts on one line: controls and '%' as %XX. */
#include "engine/base/text.h"

void text_buffer_add_escaped(struct text_buffer *b, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == '%')
            text_buffer_format(b, "%%%02X", (unsigned)*c);
        else
            text_buffer_add_n(b, c, 1);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool text_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '%') {
            int high = hex_digit(from[1]), low = high >= 0 ? hex_digit(from[2]) : -1;
            if (low < 0 || !(high | low))
                return false;
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return true;
}
