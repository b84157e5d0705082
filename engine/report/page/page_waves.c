/* SPDX-License-Identifier: MIT */
/* Writes the series of a report as JSON within an element. */
#include "engine/report/page/page_waves.h"

#include "engine/base/memory.h"
#include "engine/report/page_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a JSON string, also escaped for XML. Names are not trusted. */
static void add_string(struct text_buffer *out, const char *text)
{
    struct text_buffer json = {0};
    size_t length = strlen(text);
    if (length > PAGE_LONGEST_NAME)
        for (length = PAGE_LONGEST_NAME; length && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            text_buffer_add_n(&json, "\\", 1);
        text_buffer_add_n(&json, (unsigned char)text[i] < ' ' ? " " : &text[i], 1);
    }
    text_buffer_add_n(out, "\"", 1);
    if (json.text)
        page_text(out, json.text, json.length, false);
    text_buffer_add_n(out, "\"", 1);
    out->failed |= json.failed;
    text_buffer_free(&json);
}

static void add_named(struct text_buffer *out, const char *name, const char *text)
{
    text_buffer_format(out, "\"%s\":", name);
    add_string(out, text);
    text_buffer_add(out, ",");
}

/* Adds a number with a decimal point, regardless of the locale. */
static void add_number(struct text_buffer *out, double value, const char *end)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    for (char *p = text; *p; p++)
        *p = *p == ',' ? '.' : *p;
    text_buffer_add(out, text);
    text_buffer_add(out, end);
}

static void add_points(struct text_buffer *out, const struct chart_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct chart_value *v = &values[i];
        text_buffer_add(out, i ? " " : "");
        if (v->least > v->greatest) {
            text_buffer_add(out, "-");
            continue;
        }
        if (v->least < v->greatest) {
            add_number(out, (double)v->least, ":");
            add_number(out, (double)v->mean, ":");
        }
        add_number(out, (double)v->greatest, "");
    }
}

/* Sets *known to true if an earlier chart without "watch" contains the series. If this chart has no "watch", remembers
   the series. */
static HRESULT is_known(struct page_waves *w, const char *object, const char *name, bool watched, bool *known)
{
    char *key = text_format("%s\n%s", object, name);
    HRESULT hr = key ? S_OK : E_OUTOFMEMORY;
    *known = false;
    for (size_t i = 0; i < w->charted.count && key && !*known; i++)
        *known = !strcmp(w->charted.items[i], key);
    if (!*known && !watched && key)
        hr = texts_add(&w->charted, key);
    memory_free(key);
    return hr;
}

HRESULT page_waves_series(struct page_waves *w, const struct chart_layout *chart, const char *object,
                          const struct chart_source *series, bool watched)
{
    static const char *const kinds[] = {"", "B", "%", "s"};
    bool known = false;
    if (!w->most)
        return S_OK;
    w->values = w->values ? w->values : memory_alloc(CHART_MOST_POINTS * sizeof *w->values);
    HRESULT hr = w->values ? is_known(w, object, series->name, watched, &known) : E_OUTOFMEMORY;
    if (FAILED(hr) || known)
        return hr;
    const size_t before = w->waves.length;
    const size_t count = chart_values_read(series->points, w->values);
    const double duration = strtod(chart->duration, NULL);
    const double shared = count && duration > 0 && duration < 1e9 ? duration / (double)count : 1;
    const struct page_unit unit = page_unit_of(series->name);
    text_buffer_add(&w->waves, before ? ",{" : "{");
    add_named(&w->waves, "o", object);
    add_named(&w->waves, "n", series->name);
    add_named(&w->waves, "s", chart->start);
    if (unit.kind != PAGE_UNIT_NONE)
        add_named(&w->waves, "u", kinds[unit.kind]);
    text_buffer_add(&w->waves, unit.rate ? "\"r\":1,\"k\":" : "\"k\":");
    add_number(&w->waves, unit.factor, ",\"f\":");
    text_buffer_format(&w->waves, "%.3f,\"t\":%.3f,\"p\":\"", series->has_place ? series->first : shared / 2,
                       series->has_place ? series->step : shared);
    add_points(&w->waves, w->values, count);
    text_buffer_add(&w->waves, "\"}");
    if (w->waves.length > w->most && w->waves.text) {
        w->waves.length = before;
        w->waves.text[before] = 0;
        w->omitted++;
    }
    return w->waves.failed ? E_OUTOFMEMORY : S_OK;
}

static void add_warned(struct text_buffer *out, const struct page_findings *f, size_t chart, size_t warning)
{
    const char *comma = "";
    for (size_t i = 0; i < f->row_count; i++) {
        const struct found_row *row = &f->rows[i];
        bool warned = false;
        for (size_t k = 0; k < row->worst_count; k++)
            warned |= row->worst[k]->number == warning;
        if (!warned || !text_equal_nocase(row->source, f->charts[chart].source))
            continue;
        text_buffer_add(out, comma);
        add_string(out, row->series);
        comma = ",";
    }
}

void page_waves_chart(struct page_waves *w, unsigned id, const char *object, const struct chart_layout *chart,
                      const struct page_findings *findings, size_t at)
{
    struct text_buffer *b = &w->charts;
    if (!w->most)
        return;
    text_buffer_format(b, "%s{\"id\":\"c%u\",", b->length ? "," : "", id);
    add_named(b, "o", object);
    text_buffer_add(b, "\"n\":[");
    for (size_t i = 0; i < chart->count; i++) {
        text_buffer_add(b, i ? "," : "");
        add_string(b, chart->lines[i].name);
    }
    text_buffer_add(b, "],\"l\":[");
    const char *comma = "";
    for (size_t i = 0; i < chart->limit_count; i++) {
        const struct chart_limit *l = &chart->limits[i];
        if (!l->has_value)
            continue;
        text_buffer_format(b, "%s{\"n\":%zu,\"v\":", comma, l->warning);
        add_number(b, l->value, ",\"s\":[");
        if (l->warning)
            add_warned(b, findings, at, l->warning);
        text_buffer_add(b, "]}");
        comma = ",";
    }
    text_buffer_add(b, "]}");
}

void page_waves_add(struct text_buffer *out, const struct page_waves *w)
{
    if (!w->most || !w->waves.length)
        return;
    text_buffer_add(out, "<Waves>{\"waves\":[");
    text_buffer_add(out, w->waves.text);
    text_buffer_add(out, "],\"charts\":[");
    text_buffer_add(out, w->charts.text ? w->charts.text : "");
    text_buffer_format(out, "],\"omitted\":%zu}</Waves>\n", w->omitted);
    out->failed |= w->waves.failed || w->charts.failed;
}

void page_waves_free(struct page_waves *w)
{
    text_buffer_free(&w->waves);
    text_buffer_free(&w->charts);
    texts_free(&w->charted);
    memory_free(w->values);
    memset(w, 0, sizeof *w);
}
