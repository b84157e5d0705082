/* SPDX-License-Identifier: MIT */
#include "engine/report/make/plain_number.h"

#include "engine/etw/event_values.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

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
