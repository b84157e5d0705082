/* SPDX-License-Identifier: MIT */
/* Reads a text file in blocks, decodes UTF-16 and cuts it into lines. */
#include "engine/logs/text_rows.h"

#include "engine/base/memory.h"
#include "engine/base/text_find.h"
#include "engine/base/text_unicode.h"

#include <string.h>

enum { BLOCK = 0x20000, LONGEST_ROW = 0x10000000 };

size_t text_encoding_of(const uint8_t *head, size_t size, enum text_encoding *encoding)
{
    *encoding = ENCODING_BYTES;
    if (size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) {
        *encoding = ENCODING_UTF8;
        return 3;
    }
    if (size >= 2 && memcmp(head, "\xFF\xFE", 2) == 0) {
        *encoding = ENCODING_UTF16_LE;
        return 2;
    }
    if (size >= 2 && memcmp(head, "\xFE\xFF", 2) == 0) {
        *encoding = ENCODING_UTF16_BE;
        return 2;
    }
    return 0;
}

static bool is_utf16(const struct text_rows *rows)
{
    return rows->encoding == ENCODING_UTF16_LE || rows->encoding == ENCODING_UTF16_BE;
}

HRESULT text_rows_open(const char *path, struct text_rows *rows)
{
    uint8_t head[3];
    size_t got = 0;
    *rows = (struct text_rows){0};
    HRESULT hr = file_open(path, FILE_READ, &rows->file);
    if (SUCCEEDED(hr))
        hr = file_size(rows->file, &rows->size);
    if (SUCCEEDED(hr))
        hr = file_read_at(rows->file, 0, head, sizeof head, &got);
    if (SUCCEEDED(hr)) {
        const size_t mark = text_encoding_of(head, got, &rows->encoding);
        text_rows_rewind(rows, mark, 1);
        rows->raw = is_utf16(rows) ? memory_alloc(BLOCK) : NULL;
        if (is_utf16(rows) && !rows->raw)
            hr = error_set(E_OUTOFMEMORY, "%s: out of memory for a buffer to read", path);
    }
    if (FAILED(hr))
        text_rows_close(rows);
    return hr;
}

void text_rows_close(struct text_rows *rows)
{
    file_close(rows->file);
    memory_free(rows->buffer);
    memory_free(rows->raw);
    *rows = (struct text_rows){0};
}

void text_rows_rewind(struct text_rows *rows, uint64_t offset, uint64_t number)
{
    rows->read = rows->offset = offset;
    rows->number = number;
    rows->begin = rows->end = rows->searched = rows->raw_rest = 0;
    rows->ended = false;
}

/* Room for `need` decoded bytes behind the ones that are there, which move to the front. */
static HRESULT make_room(struct text_rows *rows, size_t need)
{
    if (rows->begin > 0 && rows->buffer) {
        memmove(rows->buffer, rows->buffer + rows->begin, rows->end - rows->begin);
        rows->searched -= rows->begin;
        rows->end -= rows->begin;
        rows->begin = 0;
    }
    if (rows->end + need > LONGEST_ROW) {
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "line %llu at byte %llu is longer than %d MB",
                         (unsigned long long)rows->number, (unsigned long long)rows->offset, LONGEST_ROW >> 20);
    }
    void *buffer = rows->buffer;
    if (!memory_grow(&buffer, &rows->capacity, rows->end + need + 1, 1))
        return error_set(E_OUTOFMEMORY, "out of memory for a line of %zu bytes", rows->end + need);
    rows->buffer = buffer;
    return S_OK;
}

static uint32_t utf16_unit(const struct text_rows *rows, const uint8_t *at)
{
    return rows->encoding == ENCODING_UTF16_LE ? at[0] | (uint32_t)at[1] << 8 : at[1] | (uint32_t)at[0] << 8;
}

/* Decodes what is in `raw`; half a character at its end waits for the next block. */
static void decode(struct text_rows *rows, size_t size)
{
    size_t at = 0;
    while (size - at >= 2) {
        uint32_t c = utf16_unit(rows, rows->raw + at);
        size_t used = 2;
        if (c >= 0xD800 && c < 0xDC00) {
            if (size - at < 4 && !rows->ended)
                break;
            const uint32_t low = size - at >= 4 ? utf16_unit(rows, rows->raw + at + 2) : 0;
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                used = 4;
            }
        }
        if (c >= 0xD800 && c < 0xE000)
            c = UNICODE_REPLACEMENT;
        rows->end += unicode_put(c, rows->buffer + rows->end);
        at += used;
    }
    rows->raw_rest = size - at;
    memmove(rows->raw, rows->raw + at, rows->raw_rest);
}

static HRESULT read_block(struct text_rows *rows)
{
    const bool decoded = is_utf16(rows);
    size_t got = 0;
    HRESULT hr = make_room(rows, decoded ? 2 * BLOCK : BLOCK); /* a unit of 2 bytes makes 3 at most */
    if (FAILED(hr))
        return hr;
    char *to = decoded ? (char *)rows->raw + rows->raw_rest : rows->buffer + rows->end;
    const size_t want = decoded ? BLOCK - rows->raw_rest : BLOCK;
    hr = file_read_at(rows->file, rows->read, to, want, &got);
    if (FAILED(hr))
        return hr;
    rows->read += got;
    rows->ended = got < want;
    if (decoded)
        decode(rows, rows->raw_rest + got);
    else
        rows->end += got;
    return S_OK;
}

/* Bytes that decoded text takes in the file. */
static uint64_t stored_size(const struct text_rows *rows, const char *text, size_t length)
{
    if (!is_utf16(rows))
        return length;
    uint64_t units = 0;
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    while (at < end)
        units += unicode_next(&at, end, NULL) >= 0x10000 ? 2 : 1;
    return 2 * units;
}

static void give_row(struct text_rows *rows, size_t length, bool whole, struct text_row *row)
{
    char *text = rows->buffer + rows->begin;
    const size_t all = length + whole;
    *row = (struct text_row){
        .text = text, .length = length, .whole = whole, .offset = rows->offset, .number = rows->number};
    rows->offset += stored_size(rows, text, all);
    rows->number++;
    rows->begin += all;
    rows->searched = rows->begin;
    row->end = rows->offset;
    if (row->length > 0 && text[row->length - 1] == '\r')
        row->length--;
    text[row->length] = '\0'; /* for those who look one character ahead */
}

HRESULT text_rows_next(struct text_rows *rows, struct text_row *row)
{
    for (;;) {
        const char *newline =
            rows->buffer ? text_find(rows->buffer + rows->searched, rows->buffer + rows->end, '\n') : NULL;
        if (newline) {
            give_row(rows, (size_t)(newline - (rows->buffer + rows->begin)), true, row);
            return S_OK;
        }
        rows->searched = rows->end;
        if (rows->ended) {
            if (!rows->buffer || rows->end == rows->begin)
                return S_FALSE;
            give_row(rows, rows->end - rows->begin, false, row);
            return S_OK;
        }
        HRESULT hr = read_block(rows);
        if (FAILED(hr))
            return hr;
    }
}

HRESULT text_rows_part(struct text_rows *rows, const char **text, size_t *size)
{
    rows->begin = rows->searched = rows->end;
    while (!rows->ended && rows->begin == rows->end) {
        HRESULT hr = read_block(rows);
        if (FAILED(hr))
            return hr;
    }
    if (rows->begin == rows->end)
        return S_FALSE;
    *text = rows->buffer + rows->begin;
    *size = rows->end - rows->begin;
    return S_OK;
}
