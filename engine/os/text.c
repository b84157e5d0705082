/* SPDX-License-Identifier: MIT */
/* Copies of texts, the growing buffer, and owned lists. */
#include "engine/os/text.h"
#include "engine/os/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *text_copy(const char *text)
{
    return text_copy_n(text, text ? strlen(text) : 0);
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
    char *text;
    int length;

    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text = length < 0 ? NULL : memory_alloc((size_t)length + 1);
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
    if (!text_buffer_reserve(b, bytes))
        return;
    if (bytes)
        memcpy(b->text + b->length, text, bytes);
    b->length += bytes;
    b->text[b->length] = 0;
}

void text_buffer_format(struct text_buffer *b, const char *format, ...)
{
    va_list list;
    int length;

    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
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

HRESULT texts_give(struct texts *t, char *text)
{
    void *items = t->items;

    if (!memory_grow(&items, &t->capacity, t->count + 1, sizeof(char *))) {
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

    return copy ? texts_give(t, copy) : E_OUTOFMEMORY;
}

HRESULT texts_copy(struct texts *to, const struct texts *from)
{
    struct texts copy = {0};
    HRESULT hr = S_OK;

    if (from->count) {
        copy.items = memory_alloc(from->count * sizeof(char *));
        copy.capacity = copy.items ? from->count : 0;
        hr = copy.items ? S_OK : E_OUTOFMEMORY;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < from->count; i++)
        hr = texts_add(&copy, from->items[i]);
    if (FAILED(hr)) {
        texts_free(&copy);
        return hr;
    }
    texts_free(to);
    *to = copy;
    return S_OK;
}

void texts_free(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->items[i]);
    memory_free(t->items);
    *t = (struct texts){0};
}
