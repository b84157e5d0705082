/* SPDX-License-Identifier: MIT */
/* The bodies of answers: the page's parts, the counters and samples as JSON. */
#include "cli/live/live_http.h"
#include "cli/output.h"
#include "engine/base/memory.h"

#include <math.h>
#include <string.h>

enum { MOST_VALUES = 60000 }; /* in one answer; the browser asks for the rest */

static const int64_t unix_epoch = INT64_C(116444736000000000); /* as FILETIME */

/* {"begun":1,"interval":1000,"counters":[{"path":"","name":"","unit":"B","factor":1,"rate":true}]} */
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

/* {"next":7,"more":false,"samples":[[time in ms of 1970, value, null ...]]}: `next` is the sample to ask for. */
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

static HRESULT body_make_json(struct live_history *h, const struct live_request *request, struct live_body *out)
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
    return out->owned ? S_OK : E_OUTOFMEMORY;
}

HRESULT live_body_make(struct live_history *h, const struct live_request *request, struct live_body *out)
{
    static const struct {
        const char *type, *text;
    } parts[] = {
        [LIVE_PAGE] = {"text/html; charset=utf-8", live_page_html},
        [LIVE_SCRIPT] = {"text/javascript; charset=utf-8", live_page_js},
        [LIVE_STYLE] = {"text/css; charset=utf-8", live_page_css},
        [LIVE_LIBRARY] = {"text/javascript; charset=utf-8", live_library_js},
    };
    memset(out, 0, sizeof *out);
    if (request->resource >= LIVE_COUNTERS)
        return body_make_json(h, request, out);
    out->type = parts[request->resource].type;
    out->bytes = parts[request->resource].text;
    out->size = strlen(out->bytes);
    return S_OK;
}

void live_body_free(struct live_body *b)
{
    memory_free(b->owned);
}
