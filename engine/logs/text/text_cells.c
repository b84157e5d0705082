/* SPDX-License-Identifier: MIT */
/* Takes the cells of text logs apart. */
#include "engine/logs/text_cells.h"

#include "engine/base/clock.h"
#include "engine/base/text_find.h"

#include <string.h>

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
            p += p[1] == '"' ? 2 : 1; /* a quote that nobody doubled belongs to the text */
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

/* Where the first cell, of which `text` is the inside, ends. Some systems leave it unfinished, without its quote. */
static const char *first_cell_end(const char *text, const char *end, bool quoted)
{
    for (const char *p = text + TAG_LENGTH; p < end; p++) {
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"') {
            p++; /* one quote of the zone's name */
            continue;
        }
        if (quoted && *p == '"' && (p + 1 == end || is_separator(p[1])))
            return p;
        if (is_separator(*p) && (!quoted || (end - p > 2 && p[1] == '"' && p[2] == '\\')))
            return p;
    }
    return end;
}

/* " (name)(bias)" */
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

/* Digits at *at, at most `most`; -1 when there are none. */
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
        c += c < 70 ? 2000 : 1900; /* a spreadsheet's short year */
    const bool month_first = separator == '/' && order == TIME_MONTH_FIRST;
    t->year = year_first ? a : c;
    t->month = year_first ? b : month_first ? a : b;
    t->day = year_first ? c : month_first ? b : a;
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return c >= 0 && t->year >= 1601 && t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= days[t->month - 1];
}

/* hh:mm[:ss[.fraction]] [AM|PM]; *ticks: what is below a second, in 100 ns. */
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
    return clock_calendar(whole).day == t.day; /* not so for February's days that the year does not have */
}
