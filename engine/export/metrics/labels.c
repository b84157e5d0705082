/* SPDX-License-Identifier: MIT */
/* For formats other than Prometheus': splits label strings in Prometheus' form, and converts values to numbers. */
#include "engine/export/metrics.h"
#include "engine/logs/number_text.h"

#include <stdlib.h>
#include <string.h>

bool metric_next_label(const char **at, const char *end, struct text_buffer *name, struct text_buffer *value)
{
    const char *p = *at;
    if (p < end && *p == ',')
        p++;
    const char *equals = p < end ? memchr(p, '=', (size_t)(end - p)) : NULL;
    if (!equals || end - equals < 3 || equals[1] != '"')
        return false;
    name->length = value->length = 0;
    text_buffer_add_n(name, p, (size_t)(equals - p));
    text_buffer_add(value, "");
    for (p = equals + 2; p < end && *p != '"'; p++) {
        const bool escaped = *p == '\\' && end - p > 1;
        p += escaped;
        text_buffer_add_n(value, escaped && *p == 'n' ? "\n" : p, 1);
    }
    if (p == end || name->failed || value->failed)
        return false;
    *at = p + 1;
    return true;
}

bool metric_value_of(const struct metric_sample *s, struct metric_number *out)
{
    struct text_buffer b = {0};
    *out = (struct metric_number){.real = s->number};
    if (!s->scale)
        return true;
    const bool has = metric_add_value(&b, s->scale, s->raw) && !b.failed;
    if (has) {
        const bool counts = s->scale->source <= METRIC_ELAPSED && s->scale->source != METRIC_QUOTIENT;
        out->is_integer =
            counts && s->scale->divisor == 1 && s->scale->offset == 0 && text_to_i64(b.text, &out->integer);
        out->real = out->is_integer ? (double)out->integer : strtod(b.text, NULL);
    }
    text_buffer_free(&b);
    return has;
}

void metric_add_real(struct text_buffer *b, double value)
{
    char text[NUMBER_TEXT_SIZE];
    text_buffer_add_n(b, text, number_text_shortest(value, 15, false, text));
}
