/* SPDX-License-Identifier: MIT */
/* Writes a sample as a page in Prometheus' text format 0.0.4 or OpenMetrics 1.0, and determines which format a client
   prefers. */
#include "cli/serve/serve.h"
#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

const char page_type_text[] = "text/plain; version=0.0.4; charset=utf-8";
const char page_type_openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/* ---- the page ---- */

struct page_writer {
    struct text_buffer *b;
    struct metric_family family;
    size_t begun, headed; /* positions where the family begins, and where its heading ends */
    bool openmetrics;
};

/* Removes the heading of a family without values. */
static void page_end_family(struct page_writer *w)
{
    if (w->b->length == w->headed && !w->b->failed)
        w->b->length = w->begun;
}

static HRESULT page_take_family(void *user, const struct metric_family *f, size_t scope_length)
{
    struct page_writer *w = user;
    (void)scope_length;
    page_end_family(w);
    w->family = *f;
    w->begun = w->b->length;
    metric_add_family(w->b, f, w->openmetrics);
    w->headed = w->b->length;
    return w->b->failed ? E_OUTOFMEMORY : S_OK;
}

static void add_sample(struct page_writer *w, const struct metric_sample *s, const char *suffix,
                       const struct metric_scale *scale)
{
    struct text_buffer *b = w->b;
    const size_t begun = b->length;
    text_buffer_add(b, w->family.name);
    text_buffer_add(b, suffix);
    if (s->length > 0 || *s->fixed) {
        text_buffer_add_n(b, "{", 1);
        text_buffer_add_n(b, s->labels, s->length);
        text_buffer_add(b, s->length > 0 && *s->fixed ? "," : "");
        text_buffer_add(b, s->fixed);
        text_buffer_add_n(b, "} ", 2);
    } else {
        text_buffer_add_n(b, " ", 1);
    }
    if (!scale)
        metric_add_number(b, s->number);
    if (!scale || metric_add_value(b, scale, s->raw))
        text_buffer_add_n(b, "\n", 1);
    else if (!b->failed)
        b->length = begun;
}

static HRESULT page_take_sample(void *user, const struct metric_sample *s)
{
    struct page_writer *w = user;
    const struct metric_scale count = {METRIC_SECOND, 1, 1, 0, false};
    if (w->family.kind == METRIC_SUMMARY) {
        add_sample(w, s, "_sum", s->scale);
        add_sample(w, s, "_count", &count);
    } else {
        add_sample(w, s, "", s->scale);
    }
    return w->b->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT metric_page(struct metric_pages *p, bool openmetrics, const struct texts *collectors, struct text_buffer *out)
{
    int64_t utc;
    struct page_writer w = {.b = out, .openmetrics = openmetrics};
    const struct metric_sink sink = {page_take_family, page_take_sample, &w};
    lock_enter(&p->lock);
    *out = p->spare;
    p->spare = (struct text_buffer){0};
    lock_leave(&p->lock);
    out->length = 0;
    HRESULT hr = exporter_sample(p->exporter, collectors, &sink, &utc);
    if (FAILED(hr))
        return hr;
    page_end_family(&w);
    if (openmetrics)
        text_buffer_add(out, "# EOF\n");
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

void metric_page_give_back(struct metric_pages *p, struct text_buffer *page)
{
    lock_enter(&p->lock);
    if (!p->spare.text && !page->failed) {
        p->spare = *page;
        *page = (struct text_buffer){0};
    }
    lock_leave(&p->lock);
    text_buffer_free(page);
}

/* ---- negotiation ---- */

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
