/* SPDX-License-Identifier: MIT */
/* Which of Prometheus' text format 0.0.4 and OpenMetrics 1.0 a client wants. */
#include "cli/serve/serve.h"

#include <string.h>

const char page_type_text[] = "text/plain; version=0.0.4; charset=utf-8";
const char page_type_openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

static bool span_equals(struct http_span s, const char *text)
{
    char copy[64];
    return http_span_fits(s, copy, sizeof copy) && text_equal_nocase(copy, text);
}

/* The value of a parameter "name=value", in quotes or not. */
static bool parameter_is(struct http_span parameter, const char *name, struct http_span *value)
{
    struct http_span key;
    if (!http_span_split(&parameter, '=', &key) || !span_equals(http_span_trim(key), name))
        return false;
    parameter = http_span_trim(parameter);
    if (parameter.size >= 2 && parameter.at[0] == '"' && parameter.at[parameter.size - 1] == '"')
        parameter = (struct http_span){parameter.at + 1, parameter.size - 2};
    *value = parameter;
    return true;
}

/* RFC 9110: 0 to 1 with at most three digits, in thousandths; what is not one counts as 0. */
static unsigned quality_read(struct http_span s)
{
    unsigned value = 0, place = 1000;
    for (size_t i = 0; i < s.size; i++) {
        if (i == 1 && s.at[i] == '.')
            continue;
        if (i > 4 || s.at[i] < '0' || s.at[i] > '9')
            return 0;
        value += (unsigned)(s.at[i] - '0') * place;
        place /= 10;
    }
    return value > 1000 ? 0 : value;
}

static struct http_span next_part(struct http_span *from, char end)
{
    struct http_span part;
    if (!http_span_split(from, end, &part)) {
        part = *from;
        *from = (struct http_span){from->at + from->size, 0};
    }
    return http_span_trim(part);
}

bool page_wants_openmetrics(struct http_span accept)
{
    unsigned openmetrics = 0, text = 0, any = 0;
    bool named_text = false;
    while (accept.size > 0) {
        struct http_span range = next_part(&accept, ','), value;
        const struct http_span type = next_part(&range, ';');
        unsigned quality = 1000;
        bool known = true;
        while (range.size > 0) {
            const struct http_span parameter = next_part(&range, ';');
            if (parameter_is(parameter, "q", &value))
                quality = quality_read(value);
            else if (parameter_is(parameter, "version", &value))
                known = span_equals(value, "1.0.0") || span_equals(type, "text/plain");
        }
        if (span_equals(type, "application/openmetrics-text") && known) {
            openmetrics = quality > openmetrics ? quality : openmetrics;
        } else if (span_equals(type, "text/plain")) {
            text = quality > text ? quality : text;
            named_text = true;
        } else if (span_equals(type, "*/*") || span_equals(type, "text/*")) {
            any = quality > any ? quality : any;
        }
    }
    return openmetrics > 0 && openmetrics >= (named_text ? text : any);
}
