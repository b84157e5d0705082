/* SPDX-License-Identifier: MIT */
#include "engine/etw/dump_text.h"

#include "engine/base/clock.h"
#include "engine/etw/value_forms.h"

#include <string.h>

#define TICKS_PER_SECOND INT64_C(10000000)

static void keep_second(struct dump_clock *clock, int64_t second)
{
    const struct calendar_time t = clock_calendar(second * TICKS_PER_SECOND);
    clock->length = (size_t)(put_date_time(clock->text, &t) - clock->text);
    clock->second = second;
}

void dump_time(struct text_buffer *b, struct dump_clock *clock, int64_t filetime)
{
    char fraction[7];
    const int64_t time = filetime < 0 ? 0 : filetime; /* a damaged stamp is before all times */
    const int64_t second = time / TICKS_PER_SECOND;
    if (clock->length == 0 || clock->second != second)
        keep_second(clock, second);
    text_buffer_add_n(b, clock->text, clock->length);
    (void)text_put_digits(fraction, (uint64_t)(time % TICKS_PER_SECOND), sizeof fraction);
    text_buffer_add_n(b, fraction, sizeof fraction);
}

void dump_quoted(struct text_buffer *b, const char *text, size_t size)
{
    text_buffer_add_n(b, "\"", 1);
    for (size_t at = 0; at < size;) {
        size_t plain = at;
        while (plain < size && (unsigned char)text[plain] >= ' ' && text[plain] != '"')
            plain++;
        text_buffer_add_n(b, text + at, plain - at);
        if (plain < size)
            text_buffer_add(b, text[plain] == '"' ? "\"\"" : " ");
        at = plain + 1;
    }
    text_buffer_add_n(b, "\"", 1);
}
