/* SPDX-License-Identifier: MIT */
/* JSON strings. */
#include "engine/base/json_text.h"

#include <stdio.h>

size_t json_plain_length(const char *text)
{
    size_t n = 0;
    while ((unsigned char)text[n] >= ' ' && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

size_t json_put_escape(char out[JSON_ESCAPE_MOST], char c)
{
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = c;
        return 2;
    }
    return (size_t)snprintf(out, JSON_ESCAPE_MOST, "\\u%04x", (unsigned)(unsigned char)c);
}

void json_add_text(struct text_buffer *b, const char *text)
{
    char escape[JSON_ESCAPE_MOST];
    text_buffer_add_n(b, "\"", 1);
    for (;;) {
        const size_t plain = json_plain_length(text);
        text_buffer_add_n(b, text, plain);
        text += plain;
        if (!*text)
            break;
        text_buffer_add_n(b, escape, json_put_escape(escape, *text++));
    }
    text_buffer_add_n(b, "\"", 1);
}
