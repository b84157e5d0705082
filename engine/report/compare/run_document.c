/* SPDX-License-Identifier: MIT */
/* Writes a comparison as a report. The report has warnings about worse counters, a table, charts that show both runs,
   and the counters that only one run has. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/page.h"
#include "engine/report/page_unit.h"
#include "engine/report/run_compare.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

enum { MOST_CHARTS = 10, MOST_WARNED = 200, MOST_ROWS = 2000, SHOWN_ROWS = 50 };
#define SOURCE "changes" /* source of the table and the charts, by which the page connects them */

/* Returns a title such as "Processor: % Processor Time, _Total". */
static char *title_of(const struct run_change *x)
{
    return *x->instance ? text_format("%s: %s, %s", x->object, x->counter, x->instance)
                        : text_format("%s: %s", x->object, x->counter);
}

static bool is_worse(const struct run_change *x)
{
    return x->verdict >= RUN_WORSE;
}

static void add_value(struct text_buffer *out, const struct run_change *x, double value)
{
    const struct page_unit unit = page_unit_of(x->counter);
    const struct page_scale scale = page_unit_scale(&unit, value);
    page_scale_add(out, &scale, value, 4);
}

/* Returns both values with an arrow (U+2192) between them: 1.3 ms -> 4 ms. */
static char *both_text(const struct run_change *x, double of_a, double of_b)
{
    struct text_buffer b = {0};
    add_value(&b, x, of_a);
    text_buffer_add(&b, " \xE2\x86\x92 ");
    add_value(&b, x, of_b);
    return text_buffer_take(&b);
}

static char *change_text(const struct run_change *x)
{
    return isfinite(x->percent) ? text_format(fabs(x->percent) < 1000 ? "%+.3g %%" : "%+.0f %%", x->percent)
                                : text_copy("new");
}

/* ---- warnings ---- */

static void write_warning(struct report_document *d, const struct run_change *x, size_t number)
{
    struct text_buffer details = {0}, limit = {0};
    char *title = title_of(x), *link = text_format("c%zu", number), *change = change_text(x);
    char *symptom = title && change ? text_format("%s is %s: %s", title, run_verdict_name(x->verdict), change) : NULL;
    text_buffer_add(&details, "Mean ");
    add_value(&details, x, x->figures[1].mean);
    text_buffer_add(&details, ", was ");
    add_value(&details, x, x->figures[0].mean);
    text_buffer_add(&details, "; 95th percentile ");
    add_value(&details, x, x->figures[1].p95);
    text_buffer_add(&details, ", was ");
    add_value(&details, x, x->figures[0].p95);
    text_buffer_add(&details, "; maximum ");
    add_value(&details, x, x->figures[1].greatest);
    text_buffer_add(&details, ", was ");
    add_value(&details, x, x->figures[0].greatest);
    text_buffer_format(&details, ". Effect %.2f of at most 1.", fabs(x->effect));
    if (report_row_begin(d)) {
        const char *const attributes[] = {"img", x->verdict == RUN_MUCH_WORSE ? "Red" : "warning", "link", link, NULL};
        report_cell_with(d, symptom, attributes);
        report_cell(d, details.text);
        report_row_end(d);
    }
    text_buffer_free(&details);
    text_buffer_free(&limit);
    memory_free(title);
    memory_free(link);
    memory_free(change);
    memory_free(symptom);
}

static void write_warnings(const struct run_comparison *c, struct report_document *d)
{
    static const struct report_column_head columns[] = {{.name = "symptom", .left = true},
                                                        {.name = "details", .left = true}};
    const bool some = c->verdicts[RUN_WORSE] + c->verdicts[RUN_MUCH_WORSE] > 0;
    report_section_begin(d, "advice", "0", NULL);
    report_table_begin(d, &(struct report_table_head){.name = "warning",
                                                      .note = some ? NULL : "Nothing is worse in B than in A.",
                                                      .columns = columns,
                                                      .column_count = some ? 2 : 0});
    for (size_t i = 0; i < c->count && i < MOST_WARNED && is_worse(&c->changes[i]); i++)
        write_warning(d, &c->changes[i], i + 1);
    report_table_end(d, NULL);
    report_section_end(d);
}

/* ---- the table ---- */

static void write_row(struct report_document *d, const struct run_change *x, size_t number)
{
    static const char *const colours[] = {NULL, NULL, "Green", NULL, "warning", "Red"};
    const struct run_figures *f = x->figures;
    char *title = title_of(x), *link = text_format("c%zu", number), *change = change_text(x);
    char *values[3] = {both_text(x, f[0].mean, f[1].mean), both_text(x, f[0].p95, f[1].p95),
                       both_text(x, f[0].greatest, f[1].greatest)};
    char *verdict = *x->why ? text_format("undecided: %s", x->why) : text_copy(run_verdict_name(x->verdict));
    if (report_row_begin(d)) {
        const char *const tag[] = {"tag", link, NULL}, *const colour[] = {"img", colours[x->verdict], NULL};
        if (is_worse(x) && number <= MOST_WARNED)
            report_cell_with(d, title, tag);
        else
            report_cell(d, title);
        for (size_t i = 0; i < 3; i++)
            report_cell(d, values[i]);
        report_cell(d, change);
        report_cell_number(d, round(x->effect * 100) / 100);
        if (colour[1])
            report_cell_with(d, verdict, colour);
        else
            report_cell(d, verdict);
        report_row_end(d);
    }
    for (size_t i = 0; i < 3; i++)
        memory_free(values[i]);
    memory_free(title);
    memory_free(link);
    memory_free(change);
    memory_free(verdict);
}

static void write_table(const struct run_comparison *c, struct report_document *d)
{
    static const struct report_column_head columns[] = {
        {.name = "counter", .left = true},
        {.name = "mean"},
        {.name = "p95"},
        {.name = "max"},
        {.name = "change"},
        {.name = "effect", .note = "effectNote"},
        {.name = "verdict", .left = true},
    };
    report_table_begin(d, &(struct report_table_head){.name = "changes",
                                                      .source = SOURCE,
                                                      .threshold = SHOWN_ROWS,
                                                      .most_rows = MOST_ROWS,
                                                      .columns = columns,
                                                      .column_count = sizeof columns / sizeof *columns});
    for (size_t i = 0; i < c->count; i++)
        write_row(d, &c->changes[i], i + 1);
    report_table_end(d, NULL);
}

static void write_only(const struct texts *paths, const char *name, struct report_document *d)
{
    static const struct report_column_head column = {.name = "path", .left = true};
    if (!paths->count)
        return;
    report_table_begin(
        d, &(struct report_table_head){
               .name = name, .threshold = 10, .most_rows = MOST_ROWS, .columns = &column, .column_count = 1});
    for (size_t i = 0; i < paths->count; i++)
        if (report_row_begin(d)) {
            report_cell(d, paths->items[i]);
            report_row_end(d);
        }
    report_table_end(d, NULL);
}

/* ---- charts ---- */

/* Writes the values in the compared time, in seconds from its start. */
static HRESULT write_series(struct report_document *d, const struct run_side *side, const struct run_series *s,
                            const char *title, char letter)
{
    struct text_buffer points = {0};
    double first = 0;
    bool some = false;
    char *name = text_format("%s (%c)", title, letter);
    for (size_t i = 0; i < s->count; i++) {
        const double at = s->begin + s->step * (double)i;
        const struct chart_value *v = &s->values[i];
        if (at < side->from || at > side->to)
            continue;
        first = some ? first : at - side->from;
        text_buffer_add(&points, some ? " " : "");
        some = true;
        if (v->least > v->greatest)
            text_buffer_add(&points, "-");
        else if (v->least < v->greatest)
            text_buffer_format(&points, "%.7g:%.7g:%.7g", (double)v->least, (double)v->mean, (double)v->greatest);
        else
            text_buffer_format(&points, "%.7g", (double)v->mean);
    }
    const HRESULT hr = name && !points.failed ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && some)
        report_chart_series(d, name, first, s->step, points.text);
    text_buffer_free(&points);
    memory_free(name);
    return hr;
}

static HRESULT write_charts(const struct run_comparison *c, bool by_clock, struct report_document *d)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < c->count && i < MOST_CHARTS && SUCCEEDED(hr); i++) {
        const struct run_change *x = &c->changes[i];
        char *title = title_of(x);
        if (!title)
            return E_OUTOFMEMORY;
        report_chart_begin(d, &(struct report_chart_head){.name = title,
                                                          .source = SOURCE,
                                                          .elapsed = !by_clock,
                                                          .first = (int64_t)(c->sides[0].from * 1e7),
                                                          .last = (int64_t)((c->sides[0].from + c->span) * 1e7)});
        for (size_t k = 0; k < 2 && SUCCEEDED(hr); k++)
            hr = write_series(d, &c->sides[k], &c->sides[k].series[x->series[k]], title, (char)('A' + k));
        report_chart_end(d);
        memory_free(title);
    }
    return hr;
}

/* ---- the document ---- */

static void write_strings(struct report_document *d)
{
    static const char *const strings[][2] = {
        {"compare", "Comparison of two runs"},
        {"comparison", "Counters"},
        {"changes", "Counters of both runs"},
        {"onlyA", "Only in A"},
        {"onlyB", "Only in B"},
        {"counter", "Counter"},
        {"mean", "Mean, A \xE2\x86\x92 B"},
        {"p95", "95th percentile"},
        {"max", "Maximum"},
        {"change", "Change"},
        {"effect", "Effect"},
        {"effectNote", "-1: all values of A are greater; 1: all values of B are greater"},
        {"verdict", "Verdict"},
        {"path", "Counter"},
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        report_string(d, strings[i][0], strings[i][1]);
}

static void write_facts(const struct run_comparison *c, const char *const names[2], bool by_clock,
                        struct report_document *d)
{
    for (size_t i = 0; i < 2; i++) {
        const struct run_side *s = &c->sides[i];
        char *text = text_format("%s%s%s%s%s", names[i], s->start ? ", from " : "", s->start ? s->start : "",
                                 s->samples ? ", samples: " : "", s->samples ? s->samples : "");
        report_fact(d, i ? "B" : "A", text, NULL);
        memory_free(text);
        if (s->names)
            report_fact(d, i ? "Names in B" : "Names in A", s->names, NULL);
    }
    char *span = text_format("%.3f", c->span);
    report_fact(d, "duration", span, "s");
    report_fact(d, "Aligned", by_clock ? "by the time of day" : "at their starts", NULL);
    memory_free(span);
    char *counts = text_format("%zu much worse, %zu worse, %zu better, %zu changed, %zu undecided, %zu same",
                               c->verdicts[RUN_MUCH_WORSE], c->verdicts[RUN_WORSE], c->verdicts[RUN_BETTER],
                               c->verdicts[RUN_CHANGED], c->verdicts[RUN_UNDECIDED], c->verdicts[RUN_SAME]);
    report_fact(d, "Counters", counts, NULL);
    memory_free(counts);
}

HRESULT run_compare_write(const struct run_comparison *c, const char *const names[2], bool by_clock, const char *path)
{
    struct report_document *d;
    HRESULT hr = report_document_create(path, &(struct report_head){.name = "compare", .version = "1"}, &d);
    if (FAILED(hr))
        return hr;
    write_facts(c, names, by_clock, d);
    write_warnings(c, d);
    report_section_begin(d, "comparison", "1", NULL);
    write_table(c, d);
    write_only(&c->only[0], "onlyA", d);
    write_only(&c->only[1], "onlyB", d);
    hr = write_charts(c, by_clock, d);
    report_section_end(d);
    write_strings(d);
    if (SUCCEEDED(hr))
        return report_document_close(d);
    const struct error_kept why = error_keep(hr);
    report_document_drop(d);
    return error_restore(&why);
}
