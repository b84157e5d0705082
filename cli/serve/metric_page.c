/* SPDX-License-Identifier: MIT */
/* Which of Prometheus' text format 0.0.4 and OpenMetrics 1.0 a client wants. */
#include "cli/serve/serve.h"

const char page_type_text[] = "text/plain; version=0.0.4; charset=utf-8";
const char page_type_openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

bool page_wants_openmetrics(struct http_span accept)
{
    unsigned openmetrics = 0, text = 0, any = 0;
    bool named_text = false;
    while (accept.size > 0) {
        struct http_span range = http_list_next(&accept, ','), value;
        const struct http_span type = http_list_next(&range, ';');
        unsigned quality = 1000;
        bool known = true;
        while (range.size > 0) {
            const struct http_span parameter = http_list_next(&range, ';');
            if (http_parameter_is(parameter, "q", &value))
                quality = http_quality(value);
            else if (http_parameter_is(parameter, "version", &value))
                known = http_span_equals(value, "1.0.0") || http_span_equals(type, "text/plain");
        }
        if (http_span_equals(type, "application/openmetrics-text") && known) {
            openmetrics = quality > openmetrics ? quality : openmetrics;
        } else if (http_span_equals(type, "text/plain")) {
            text = quality > text ? quality : text;
            named_text = true;
        } else if (http_span_equals(type, "*/*") || http_span_equals(type, "text/*")) {
            any = quality > any ? quality : any;
        }
    }
    return openmetrics > 0 && openmetrics >= (named_text ? text : any);
}
