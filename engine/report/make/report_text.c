/* SPDX-License-Identifier: MIT */
/* Reads and writes times, numbers, tags and severities in the notation of report documents. */
#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/logs/number_text.h"
#include "engine/report/make/report_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

void report_add_time(struct text_buffer *b, int64_t utc, int bias_minutes)
{
    const struct calendar_time t = clock_calendar(utc - bias_minutes * INT64_C(600000000));
    const int east = -bias_minutes, minutes = east < 0 ? -east : east;
    const struct {
        unsigned value, digits;
        char before;
    } parts[] = {{t.month, 2, '-'},  {t.day, 2, '-'},    {t.hour, 2, 'T'},
                 {t.minute, 2, ':'}, {t.second, 2, ':'}, {t.millisecond, 3, '.'}};
    char text[40], *at = text_put_digits(text, t.year, t.year > 9999 ? 5 : 4);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *at++ = parts[i].before;
        at = text_put_digits(at, parts[i].value, parts[i].digits);
    }
    text_buffer_add_n(b, text, (size_t)(at - text)); /* printf is too slow, because a report has two times per slice */
    if (east)
        text_buffer_format(b, "%c%02d:%02d", east < 0 ? '-' : '+', minutes / 60, minutes % 60);
    else
        text_buffer_add(b, "Z");
}

static void add_zeros(struct text_buffer *out, int count)
{
    for (; count > 0; count--)
        text_buffer_add_n(out, "0", 1);
}

void plain_number_add(struct text_buffer *out, double value)
{
    enum { LEAST_DIGITS = 15 };
    char digits[NUMBER_TEXT_SIZE], mantissa[NUMBER_TEXT_SIZE];
    int count = 0, before = 0; /* `count`: number of digits of the mantissa; `before`: number of these digits before
                                  the point */
    if (!isfinite(value))
        return;
    const size_t length = number_text_shortest(value == 0 ? 0 : value, LEAST_DIGITS, false, mantissa);
    const char *e = memchr(mantissa, 'e', length);
    if (!e) {
        text_buffer_add_n(out, mantissa, length);
        return;
    }
    const bool negative = *mantissa == '-';
    for (const char *at = mantissa + negative; at < e; at++)
        if (*at == '.')
            before = count;
        else
            digits[count++] = *at;
    before = (before ? before : count) + atoi(e + 1);
    text_buffer_add(out, negative ? "-" : "");
    if (before <= 0) {
        text_buffer_add(out, "0.");
        add_zeros(out, -before);
        text_buffer_add_n(out, digits, (size_t)count);
        return;
    }
    text_buffer_add_n(out, digits, (size_t)(count < before ? count : before));
    add_zeros(out, before - count);
    if (count > before) {
        text_buffer_add_n(out, ".", 1);
        text_buffer_add_n(out, digits + before, (size_t)(count - before));
    }
}

const char *report_tags_next(const char **rest, size_t *length)
{
    const char *at = *rest;
    while (at && *at == '\n')
        at++;
    if (!at || !*at)
        return NULL;
    *length = strcspn(at, "\n");
    *rest = at + *length;
    return at;
}

bool report_tags_have(const char *tags, const char *tag)
{
    const size_t wanted = strlen(tag);
    size_t length;
    for (const char *one = report_tags_next(&tags, &length); one; one = report_tags_next(&tags, &length))
        if (length == wanted && !memcmp(one, tag, length))
            return true;
    return false;
}

enum report_severity report_severity_of(const char *img)
{
    static const struct {
        const char *word;
        enum report_severity severity;
    } words[] = {
        {"red", REPORT_ERROR},
        {"error", REPORT_ERROR},
        {"critical", REPORT_ERROR},
        {"1", REPORT_ERROR},
        {"2", REPORT_ERROR},
        {"yellow", REPORT_WARNING},
        {"warning", REPORT_WARNING},
        {"3", REPORT_WARNING},
        {"green", REPORT_GOOD},
        {"ok", REPORT_GOOD},
        {"information", REPORT_INFORMATION},
        {"info", REPORT_INFORMATION},
        {"4", REPORT_INFORMATION},
    };
    for (size_t i = 0; img && i < sizeof words / sizeof *words; i++)
        if (text_equal_nocase(img, words[i].word))
            return words[i].severity;
    return REPORT_OTHER;
}
