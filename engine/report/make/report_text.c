/* SPDX-License-Identifier: MIT */
/* The notation of report documents: times, numbers, tags and severities. */
#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/etw/event_values.h"
#include "engine/report/make/report_document.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

void report_add_time(struct text_buffer *b, int64_t utc, int bias_minutes)
{
    const struct calendar_time t = clock_calendar(utc - bias_minutes * INT64_C(600000000));
    const int east = -bias_minutes, minutes = east < 0 ? -east : east;
    text_buffer_format(b, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", t.year, t.month, t.day, t.hour, t.minute, t.second,
                       t.millisecond);
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
    char digits[40];
    const size_t from = out->length;
    int count = 0, before = 0; /* digits of the mantissa, and those before its point */
    if (!isfinite(value))
        return;
    add_real(out, value == 0 ? 0 : value, false);
    const char *mantissa = out->failed ? "" : out->text + from, *e = strchr(mantissa, 'e');
    if (!e)
        return;
    const bool negative = *mantissa == '-';
    for (const char *at = mantissa + negative; at < e; at++)
        if (*at == '.')
            before = count;
        else
            digits[count++] = *at;
    before = (before ? before : count) + atoi(e + 1);
    out->length = from;
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
