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

/* Returns true if one of the eight bytes has a meaning in JSON: a control character, '"' or '\\'. */
static bool has_special(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), quotes = eight ^ ones * '"', slashes = eight ^ ones * '\\';
    return (((eight - ones * ' ') & ~eight) | ((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes)) & ones << 7;
}

/* Writes the text without quotes. */
static char *put_content(char *at, const char *text, size_t size)
{
    const char *const end = text + size;
    for (;;) {
        for (uint64_t eight; end - text >= (ptrdiff_t)sizeof eight; text += sizeof eight, at += sizeof eight) {
            memcpy(&eight, text, sizeof eight);
            if (has_special(eight))
                break;
            memcpy(at, &eight, sizeof eight);
        }
        while (text < end && (unsigned char)*text >= ' ' && *text != '"' && *text != '\\')
            *at++ = *text++;
        if (text == end)
            return at;
        at += json_put_escape(at, *text++);
    }
}

char *json_put_text(char *at, const char *text, size_t size)
{
    *at++ = '"';
    at = put_content(at, text, size);
    *at++ = '"';
    return at;
}

/* Returns the maximum number of bytes that the text without quotes has in JSON. Texts without special characters are
   common; their length does not change. */
static size_t content_most(const char *text, size_t size)
{
    size_t plain = 0;
    for (uint64_t eight; size - plain >= sizeof eight; plain += sizeof eight) {
        memcpy(&eight, text + plain, sizeof eight);
        if (has_special(eight))
            break;
    }
    while (plain < size && (unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
        plain++;
    return plain + JSON_ESCAPE_MOST * (size - plain);
}

void json_add_content(struct text_buffer *b, const char *text)
{
    const size_t size = strlen(text), most = size <= SIZE_MAX / JSON_ESCAPE_MOST ? content_most(text, size) : SIZE_MAX;
    if (most == size) {
        text_buffer_add_n(b, text, size);
        return;
    }
    char *at = text_buffer_reserve(b, most);
    if (!at)
        return;
    at = put_content(at, text, size);
    *at = 0;
    b->length = (size_t)(at - b->text);
}

void json_add_text(struct text_buffer *b, const char *text)
{
    text_buffer_add_n(b, "\"", 1);
    json_add_content(b, text);
    text_buffer_add_n(b, "\"", 1);
}
