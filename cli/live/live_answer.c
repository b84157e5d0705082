/* SPDX-License-Identifier: MIT */
/* Answers the requests of the browser view: sends the parts of the page, and the counters and samples as JSON. */
#include "cli/live/live_http.h"
#include "cli/output.h"
#include "engine/base/json_text.h"
#include "engine/base/memory.h"

#include <math.h>
#include <string.h>

enum { MOST_VALUES = 60000 }; /* maximum values per response; the browser requests the rest */

const char live_answer_headers[] = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                                   "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                                   "frame-ancestors 'none'\r\n"
                                   "Cross-Origin-Resource-Policy: same-origin\r\n"
                                   "Referrer-Policy: no-referrer\r\n";

static const int64_t unix_epoch = INT64_C(116444736000000000); /* FILETIME of the Unix epoch */

/* Writes {"begun":1,"interval":1000,"counters":[{"path":"","name":"","unit":"B","factor":1,"rate":true}]}. */
static void add_counters(const struct live_history *h, struct text_buffer *b)
{
    static const char *const units[] = {"", "B", "%", "s"};
    text_buffer_format(b, "{\"begun\":%llu,\"interval\":%llu,\"counters\":[", (unsigned long long)h->begun,
                       (unsigned long long)h->interval_ms);
    for (size_t i = 0; i < h->count; i++) {
        const struct live_counter *c = &h->counters[i];
        text_buffer_add(b, i > 0 ? ",{\"path\":" : "{\"path\":");
        json_add_text(b, c->path);
        text_buffer_add(b, ",\"name\":");
        json_add_text(b, c->label);
        text_buffer_format(b, ",\"unit\":\"%s\",\"factor\":%.17g,\"rate\":%s}", units[c->unit.kind], c->unit.factor,
                           c->unit.rate ? "true" : "false");
    }
    text_buffer_add(b, "]}");
}

/* Writes {"next":7,"more":false,"samples":[[ms since 1970, value, null ...]]}. `next` is the next sample to request. */
static void add_samples(const struct live_history *h, uint64_t since, struct text_buffer *b)
{
    const uint64_t first = live_history_first(h);
    const uint64_t most = MOST_VALUES / (h->count + 1) + 1;
    uint64_t at = since > h->taken ? h->taken : since < first ? first : since;
    const uint64_t end = h->taken - at > most ? at + most : h->taken;
    text_buffer_format(b, "{\"next\":%llu,\"more\":%s,\"samples\":[", (unsigned long long)end,
                       end < h->taken ? "true" : "false");
    for (const char *comma = ""; at < end; at++, comma = ",") {
        text_buffer_format(b, "%s[%lld", comma, (long long)((live_history_time(h, at) - unix_epoch) / 10000));
        for (size_t i = 0; i < h->count; i++) {
            const float value = live_history_value(h, at, i);
            if (isfinite(value))
                text_buffer_format(b, ",%.7g", (double)value);
            else
                text_buffer_add(b, ",null");
        }
        text_buffer_add(b, "]");
    }
    text_buffer_add(b, "]}");
}

unsigned live_request_read(const struct http_request *request, struct live_request *out)
{
    static const struct {
        const char *path;
        enum live_resource resource;
    } resources[] = {
        {"/", LIVE_PAGE},
        {"/live.js", LIVE_SCRIPT},
        {"/live.css", LIVE_STYLE},
        {"/dygraph.js", LIVE_LIBRARY},
        {"/counters", LIVE_COUNTERS},
    };
    struct http_span digits = request->query, name;
    char number[24];
    *out = (struct live_request){.resource = LIVE_PAGE};
    for (size_t i = 0; i < sizeof resources / sizeof *resources && request->query.size == 0; i++)
        if (http_span_is(request->path, resources[i].path)) {
            out->resource = resources[i].resource;
            return 200;
        }
    if (!http_span_is(request->path, "/samples") || !http_span_split(&digits, '=', &name) ||
        !http_span_is(name, "since"))
        return 404;
    out->resource = LIVE_SAMPLES;
    return http_span_is_digits(digits) && http_span_fits(digits, number, sizeof number) &&
                   text_to_u64(number, &out->since)
               ? 200
               : 400;
}

static unsigned answer_json(struct live_history *h, const struct live_request *request, struct http_body *out)
{
    struct text_buffer b = {0};
    lock_enter(&h->lock);
    if (request->resource == LIVE_COUNTERS)
        add_counters(h, &b);
    else
        add_samples(h, request->since, &b);
    lock_leave(&h->lock);
    out->type = "application/json";
    out->bytes = out->owned = text_buffer_take(&b);
    out->size = out->owned ? strlen(out->owned) : 0;
    return out->owned ? 200 : 500;
}

unsigned live_answer(void *user, const struct http_request *request, struct http_body *out)
{
    static const struct {
        const char *type, *text;
    } parts[] = {
        [LIVE_PAGE] = {"text/html; charset=utf-8", live_page_html},
        [LIVE_SCRIPT] = {"text/javascript; charset=utf-8", live_page_js},
        [LIVE_STYLE] = {"text/css; charset=utf-8", live_page_css},
        [LIVE_LIBRARY] = {"text/javascript; charset=utf-8", live_library_js},
    };
    struct live_request live;
    const unsigned status = live_request_read(request, &live);
    if (status != 200)
        return status;
    if (live.resource >= LIVE_COUNTERS)
        return answer_json(user, &live, out);
    out->type = parts[live.resource].type;
    out->bytes = parts[live.resource].text;
    out->size = strlen(out->bytes);
    return 200;
}
