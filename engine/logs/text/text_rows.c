/* SPDX-License-Identifier: MIT */
/* Reads a text file in blocks, decodes UTF-16, splits the text into lines, and splits the lines of logs into cells. */
#include "engine/logs/text_rows.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

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
            hr = error_set(E_OUTOFMEMORY, "cannot read '%s': out of memory for a buffer", path);
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

/* Moves the bytes in the buffer to its front, and makes room for `need` more decoded bytes. */
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

/* Decodes the UTF-16 in `raw`; an incomplete character at its end stays in `raw` for the next block. */
static void text_rows_decode(struct text_rows *rows, size_t size)
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
    HRESULT hr = make_room(rows, decoded ? 2 * BLOCK : BLOCK); /* 2 bytes become at most 3 in UTF-8 */
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
        text_rows_decode(rows, rows->raw_rest + got);
    else
        rows->end += got;
    return S_OK;
}

/* Returns how many bytes of the file the decoded text occupies. */
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
    text[row->length] = '\0'; /* for callers that read one character ahead */
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

/* ---- cells ---- */

enum { TAG_LENGTH = 13 };
static const char csv_tag[] = "(PDH-CSV 4.0)", tsv_tag[] = "(PDH-TSV 4.0)";
static const char separators[] = ",;\t|";

bool text_cell_next(const char **at, const char *end, char separator, struct text_cell *cell)
{
    const char *p = *at;
    if (!p)
        return false;
    *cell = (struct text_cell){.text = p, .closed = true};
    if (p < end && *p == '"') {
        cell->quoted = true;
        cell->closed = false;
        cell->text = ++p;
        while ((p = text_find(p, end, '"')) != NULL) {
            if (p + 1 == end || p[1] == separator) {
                cell->closed = true;
                break;
            }
            cell->doubled |= p[1] == '"';
            p += p[1] == '"' ? 2 : 1; /* a quote that is not doubled belongs to the text */
        }
        if (!cell->closed)
            p = end;
        cell->length = (size_t)(p - cell->text);
        p += cell->closed;
    } else {
        const char *found = text_find(p, end, separator);
        p = found ? found : end;
        cell->length = (size_t)(p - cell->text);
    }
    *at = p < end ? p + 1 : NULL;
    return true;
}

static bool is_separator(char c)
{
    return c && strchr(separators, c);
}

/* Returns the end of the first cell, whose content begins at `text`. Some systems omit the end of this cell and its
   closing quote. */
static const char *first_cell_end(const char *text, const char *end, bool quoted)
{
    for (const char *p = text + TAG_LENGTH; p < end; p++) {
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"') {
            p++; /* a doubled quote inside the zone's name */
            continue;
        }
        if (quoted && *p == '"' && (p + 1 == end || is_separator(p[1])))
            return p;
        if (is_separator(*p) && (!quoted || (end - p > 2 && p[1] == '"' && p[2] == '\\')))
            return p;
    }
    return end;
}

/* Reads " (name)(bias)". */
static void read_zone(const char *text, const char *end, struct text_header *out)
{
    const char *open = end;
    if (end - text < 2 || end[-1] != ')' || text[0] != ' ' || text[1] != '(')
        return;
    while (open > text && *open != '(')
        open--;
    const char *digit = open + 1;
    const bool negative = *digit == '-';
    int bias = 0;
    digit += negative;
    if (open - text < 3 || open[-1] != ')' || digit >= end - 1 || end - digit > 6)
        return;
    for (; digit < end - 1; digit++) {
        if (*digit < '0' || *digit > '9')
            return;
        bias = bias * 10 + (*digit - '0');
    }
    out->has_zone = true;
    out->zone = text + 2;
    out->zone_length = (size_t)(open - 1 - out->zone);
    out->bias_minutes = negative ? -bias : bias;
}

bool text_header_read(const char *row, size_t length, struct text_header *out)
{
    const char *end = row + length, *text = row;
    const bool quoted = length > 0 && *row == '"';
    text += quoted;
    *out = (struct text_header){0};
    if (end - text < TAG_LENGTH)
        return false;
    out->tabs = memcmp(text, tsv_tag, TAG_LENGTH) == 0;
    if (!out->tabs && memcmp(text, csv_tag, TAG_LENGTH) != 0)
        return false;
    const char *cell_end = first_cell_end(text, end, quoted);
    read_zone(text + TAG_LENGTH, cell_end, out);
    cell_end += quoted && cell_end < end && *cell_end == '"';
    out->separator = cell_end < end ? *cell_end : out->tabs ? '\t' : ',';
    out->names = cell_end < end ? cell_end + 1 : NULL;
    return true;
}

bool text_header_is_begun(const char *text, size_t length)
{
    if (length > 0 && *text == '"') {
        text++;
        length--;
    } else if (length == 0) {
        return false;
    }
    return length < TAG_LENGTH && (memcmp(text, csv_tag, length) == 0 || memcmp(text, tsv_tag, length) == 0);
}

/* Reads up to `most` digits at *at; -1: no digit. */
static int read_digits(const char **at, const char *end, int most)
{
    int value = 0, count = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && count < most; ++*at, count++)
        value = value * 10 + (**at - '0');
    return count > 0 ? value : -1;
}

static bool skip(const char **at, const char *end, char c)
{
    const bool there = *at < end && **at == c;
    *at += there;
    return there;
}

static void skip_blanks(const char **at, const char *end)
{
    while (skip(at, end, ' ')) {
    }
}

static bool read_date(const char **at, const char *end, enum text_time_order order, struct calendar_time *t)
{
    const char *begin = *at;
    const int a = read_digits(at, end, 4);
    const bool year_first = *at - begin > 2;
    const char separator = *at < end ? **at : '\0';
    if (a < 0 || (separator != '/' && separator != '.' && separator != '-'))
        return false;
    ++*at;
    const int b = read_digits(at, end, 2);
    if (b < 0 || !skip(at, end, separator))
        return false;
    begin = *at;
    int c = read_digits(at, end, 4);
    if (c >= 0 && *at - begin <= 2 && !year_first)
        c += c < 70 ? 2000 : 1900; /* a spreadsheet's two-digit year */
    const bool month_first = separator == '/' && order == TIME_MONTH_FIRST;
    t->year = year_first ? a : c;
    t->month = year_first ? b : month_first ? a : b;
    t->day = year_first ? c : month_first ? b : a;
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return c >= 0 && t->year >= 1601 && t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= days[t->month - 1];
}

/* Reads hh:mm[:ss[.fraction]] [AM|PM]. *ticks is the fraction of a second in units of 100 ns. */
static bool read_clock(const char **at, const char *end, struct calendar_time *t, int64_t *ticks)
{
    t->hour = read_digits(at, end, 2);
    if (t->hour < 0 || !skip(at, end, ':'))
        return false;
    t->minute = read_digits(at, end, 2);
    if (t->minute < 0)
        return false;
    if (skip(at, end, ':')) {
        t->second = read_digits(at, end, 2);
        if (t->second < 0)
            return false;
        if (skip(at, end, '.') || skip(at, end, ',')) {
            int64_t unit = 1000000;
            if (*at >= end || **at < '0' || **at > '9')
                return false;
            for (; *at < end && **at >= '0' && **at <= '9'; ++*at, unit /= 10)
                *ticks += (**at - '0') * unit;
        }
    }
    skip_blanks(at, end);
    if (end - *at == 2 && ((*at)[1] == 'M' || (*at)[1] == 'm') && **at && strchr("AaPp", **at)) {
        const bool afternoon = **at == 'P' || **at == 'p';
        if (t->hour < 1 || t->hour > 12)
            return false;
        t->hour = t->hour % 12 + (afternoon ? 12 : 0);
        *at += 2;
    }
    return t->hour < 24 && t->minute < 60 && t->second < 60;
}

bool text_time_read(const char *text, size_t length, enum text_time_order order, int64_t *local)
{
    const char *at = text, *end = text + length;
    struct calendar_time t = {0};
    int64_t ticks = 0;
    skip_blanks(&at, end);
    while (end > at && end[-1] == ' ')
        end--;
    if (!read_date(&at, end, order, &t))
        return false;
    if (at < end) {
        if (!skip(&at, end, 'T')) {
            if (!skip(&at, end, ' '))
                return false;
            skip_blanks(&at, end);
        }
        if (!read_clock(&at, end, &t, &ticks) || at != end)
            return false;
    }
    const int64_t whole = clock_from_calendar(&t);
    *local = whole + ticks;
    return clock_calendar(whole).day == t.day; /* false for 29 or 30 February if the year does not have that day */
}
