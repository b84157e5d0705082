/* SPDX-License-Identifier: MIT */
/* Writes one line for each value. As in telegraf, the value of a counter is the one that PDH computes from two samples,
   so a rate has no value in the first sample. A metric that is not a counter becomes a measurement with the field
   "value". */
#include "engine/export/formats/influx.h"

#include "engine/base/memory.h"
#include "engine/logs/line_protocol.h"

#include <math.h>
#include <string.h>

enum {
    LARGE_REQUEST = 512 << 10, /* bytes; a request is passed on when it has reached this size */
    MOST_LINES = 5000,         /* InfluxDB's recommendation */
};

struct influx {
    influx_give *give;
    void *user;
    const int64_t *utc;
    struct text_buffer b;
    uint32_t lines;
    int64_t first;
    struct metric_family family;
    struct text_buffer name, value, instance, tags;
};

static HRESULT influx_take_family(void *user, const struct metric_family *f, size_t scope_length)
{
    struct influx *x = user;
    (void)scope_length;
    x->family = *f;
    return S_OK;
}

/* Separates the instance's name from the labels that become tags. */
static bool take_labels(struct influx *x, const struct metric_sample *s)
{
    const char *at = s->labels, *end = at + s->length;
    x->instance.length = x->tags.length = 0;
    text_buffer_add(&x->instance, "");
    text_buffer_add(&x->tags, "");
    while (metric_next_label(&at, end, &x->name, &x->value))
        if (strcmp(x->name.text, "name") == 0)
            text_buffer_add(&x->instance, x->value.text);
        else if (strcmp(x->name.text, "computer") != 0 || !s->counter) /* a counter's computer becomes the tag `host` */
            line_add_tag(&x->tags, x->name.text, x->value.text);
    return !x->name.failed && !x->value.failed && !x->instance.failed && !x->tags.failed;
}

static HRESULT influx_give_lines(struct influx *x)
{
    HRESULT hr = x->b.failed ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && x->lines > 0)
        hr = x->give(x->user, x->b.text, x->b.length, x->lines, x->first);
    x->b.length = 0;
    x->lines = 0;
    return hr;
}

static HRESULT influx_take_sample(void *user, const struct metric_sample *s)
{
    struct influx *x = user;
    struct metric_number number = {0};
    if (s->counter ? !s->has_value : !metric_value_of(s, &number))
        return S_OK;
    const double value = s->counter ? s->value : number.real;
    if (!isfinite(value))
        return S_OK;
    if (!take_labels(x, s))
        return E_OUTOFMEMORY;
    if (s->counter) {
        line_add_series(&x->b, s->counter, x->instance.text);
        text_buffer_add(&x->b, x->tags.text);
        text_buffer_add(&x->b, " ");
        line_add_field(&x->b, s->counter);
    } else {
        text_buffer_add(&x->b, x->family.name);
        text_buffer_add(&x->b, x->tags.text);
        text_buffer_add(&x->b, " value");
    }
    text_buffer_add(&x->b, "=");
    metric_add_real(&x->b, value);
    text_buffer_add(&x->b, " ");
    line_add_time(&x->b, *x->utc, LINE_NANOSECONDS);
    text_buffer_add(&x->b, "\n");
    x->first = x->lines == 0 || *x->utc < x->first ? *x->utc : x->first;
    x->lines++;
    if (x->lines >= MOST_LINES || x->b.length >= LARGE_REQUEST)
        return influx_give_lines(x);
    return x->b.failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT influx_open(influx_give *give, void *user, struct influx **out)
{
    struct influx *x = memory_zero(1, sizeof *x);
    *out = x;
    if (!x)
        return E_OUTOFMEMORY;
    x->give = give;
    x->user = user;
    return S_OK;
}

struct metric_sink influx_begin(struct influx *x, const int64_t *utc)
{
    x->utc = utc;
    return (struct metric_sink){influx_take_family, influx_take_sample, x};
}

HRESULT influx_end(struct influx *x, bool flush)
{
    return flush ? influx_give_lines(x) : x->b.failed ? E_OUTOFMEMORY : S_OK;
}

void influx_close(struct influx *x)
{
    if (!x)
        return;
    text_buffer_free(&x->b);
    text_buffer_free(&x->name);
    text_buffer_free(&x->value);
    text_buffer_free(&x->instance);
    text_buffer_free(&x->tags);
    memory_free(x);
}
