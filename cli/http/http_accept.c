/* SPDX-License-Identifier: MIT */
/* Content negotiation: parses the lists in Accept and Accept-Encoding. */
#include "cli/http/http.h"

bool http_parameter_is(struct http_span parameter, const char *name, struct http_span *value)
{
    struct http_span key;
    if (!http_span_split(&parameter, '=', &key) || !http_span_equals(http_span_trim(key), name))
        return false;
    parameter = http_span_trim(parameter);
    if (parameter.size >= 2 && parameter.at[0] == '"' && parameter.at[parameter.size - 1] == '"')
        parameter = (struct http_span){parameter.at + 1, parameter.size - 2};
    *value = parameter;
    return true;
}

unsigned http_quality(struct http_span s)
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

struct http_span http_list_next(struct http_span *list, char end)
{
    struct http_span part;
    if (!http_span_split(list, end, &part)) {
        part = *list;
        *list = (struct http_span){list->at + list->size, 0};
    }
    return http_span_trim(part);
}

bool http_accepts_gzip(struct http_span encodings)
{
    unsigned gzip = 0, any = 0, plain = 0;
    bool named = false;
    while (encodings.size > 0) {
        struct http_span item = http_list_next(&encodings, ','), value;
        const struct http_span coding = http_list_next(&item, ';');
        unsigned quality = 1000;
        while (item.size > 0)
            if (http_parameter_is(http_list_next(&item, ';'), "q", &value))
                quality = http_quality(value);
        if (http_span_equals(coding, "gzip") || http_span_equals(coding, "x-gzip")) {
            gzip = quality > gzip ? quality : gzip;
            named = true;
        } else if (http_span_equals(coding, "identity")) {
            plain = quality;
        } else if (http_span_equals(coding, "*")) {
            any = quality;
        }
    }
    gzip = named ? gzip : any;
    return gzip > 0 && gzip >= plain;
}
