/* SPDX-License-Identifier: MIT */
/* Copies strings, and implements the growing buffer, owned lists, and escaping to one line. */
#include "engine/base/text.h"

#include "engine/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *text_copy(const char *text)
{
    return text_copy_n(text, text ? strlen(text) : 0);
}

void text_fit(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size);
    if (length == size)
        for (length--; length && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    memset(out, 0, size);
    memcpy(out, text, length);
}

char *text_copy_n(const char *text, size_t bytes)
{
    char *copy = bytes < SIZE_MAX ? memory_alloc(bytes + 1) : NULL;
    if (!copy)
        return NULL;
    if (bytes)
        memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return copy;
}

char *text_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : memory_alloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

char *text_buffer_reserve(struct text_buffer *b, size_t bytes)
{
    void *text = b->text;
    if (b->failed)
        return NULL;
    if (bytes >= SIZE_MAX - b->length || !memory_grow(&text, &b->capacity, b->length + bytes + 1, 1)) {
        b->failed = true;
        return NULL;
    }
    b->text = text;
    return b->text + b->length;
}

void text_buffer_add(struct text_buffer *b, const char *text)
{
    text_buffer_add_n(b, text, text ? strlen(text) : 0);
}

void text_buffer_add_n(struct text_buffer *b, const char *text, size_t bytes)
{
    /* Nearly always there is space for the text and a NUL. */
    const bool fits = !b->failed && bytes < b->capacity - b->length;
    if (!fits && !text_buffer_reserve(b, bytes))
        return;
    if (bytes)
        memcpy(b->text + b->length, text, bytes);
    b->length += bytes;
    b->text[b->length] = 0;
}

void text_buffer_format(struct text_buffer *b, const char *format, ...)
{
    va_list list;
    const size_t room = b->failed ? 0 : b->capacity - b->length; /* usually enough, so that vsnprintf is called once */
    va_start(list, format);
    int length = vsnprintf(room != 0 ? b->text + b->length : NULL, room, format, list);
    va_end(list);
    if (length >= 0 && (size_t)length < room) {
        b->length += (size_t)length;
        return;
    }
    if (room != 0)
        b->text[b->length] = 0;
    if (length < 0) {
        b->failed = true;
        return;
    }
    if (!text_buffer_reserve(b, (size_t)length))
        return;
    va_start(list, format);
    vsnprintf(b->text + b->length, (size_t)length + 1, format, list);
    va_end(list);
    b->length += (size_t)length;
}

char *text_buffer_take(struct text_buffer *b)
{
    char *text = NULL;
    if (text_buffer_reserve(b, 0)) {
        text = b->text;
        text[b->length] = 0;
        b->text = NULL;
    }
    text_buffer_free(b);
    return text;
}

void text_buffer_free(struct text_buffer *b)
{
    memory_free(b->text);
    *b = (struct text_buffer){0};
}

/* Whether the list is one block, in which the strings follow the items. Such a list is a copy and has no capacity. */
static bool in_one_block(const struct texts *t)
{
    return t->count && !t->capacity;
}

/* Copies each text into a separate block, so that the list can grow. */
static HRESULT texts_split_blocks(struct texts *t)
{
    struct texts separate = {0};
    for (size_t i = 0; i < t->count; i++) {
        HRESULT hr = texts_add(&separate, t->items[i]);
        if (FAILED(hr)) {
            texts_free(&separate);
            return hr;
        }
    }
    texts_free(t);
    *t = separate;
    return S_OK;
}

HRESULT texts_add_owned(struct texts *t, char *text)
{
    HRESULT hr = in_one_block(t) ? texts_split_blocks(t) : S_OK;
    void *items = t->items;
    if (FAILED(hr) || !memory_grow(&items, &t->capacity, t->count + 1, sizeof(char *))) {
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    t->items = items;
    t->items[t->count++] = text;
    return S_OK;
}

HRESULT texts_add(struct texts *t, const char *text)
{
    char *copy = text_copy(text);
    return copy ? texts_add_owned(t, copy) : E_OUTOFMEMORY;
}

/* Creates a list with space for `count` strings of `bytes` bytes in total; *at is the address of the first string. */
static HRESULT new_block(size_t count, size_t bytes, struct texts *out, char **at)
{
    *out = (struct texts){.count = count};
    *at = NULL;
    if (!count)
        return S_OK;
    out->items = memory_alloc(count * sizeof(char *) + bytes);
    if (!out->items)
        return E_OUTOFMEMORY;
    *at = (char *)(out->items + count);
    return S_OK;
}

HRESULT texts_copy(struct texts *to, const struct texts *from)
{
    struct texts copy;
    size_t bytes = 0;
    char *at;
    for (size_t i = 0; i < from->count; i++)
        bytes += strlen(from->items[i]) + 1;
    HRESULT hr = new_block(from->count, bytes, &copy, &at);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < from->count; i++) {
        bytes = strlen(from->items[i]) + 1;
        copy.items[i] = memcpy(at, from->items[i], bytes);
        at += bytes;
    }
    texts_free(to);
    *to = copy;
    return S_OK;
}

HRESULT texts_from_row(struct texts *to, const char *row, size_t bytes, size_t count)
{
    struct texts copy;
    char *at;
    HRESULT hr = new_block(count, bytes, &copy, &at);
    if (FAILED(hr))
        return hr;
    if (count)
        memcpy(at, row, bytes);
    for (size_t i = 0; i < count; i++) {
        copy.items[i] = at;
        at += strlen(at) + 1;
    }
    texts_free(to);
    *to = copy;
    return S_OK;
}

bool texts_equal(const struct texts *a, const struct texts *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = !strcmp(a->items[i], b->items[i]);
    return equal;
}

void texts_free(struct texts *t)
{
    for (size_t i = 0; i < t->count && !in_one_block(t); i++)
        memory_free(t->items[i]);
    memory_free(t->items);
    *t = (struct texts){0};
}

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
