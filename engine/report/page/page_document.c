/* SPDX-License-Identifier: MIT */
/* Writes the document of a report page, from which an XSLT sheet makes HTML or SVG.

   A report may have a million rows, but a page must stay small enough for a browser, and XSLT 1.0 cannot count, sort or
   split strings within reasonable time. Therefore this file chooses what to show, formats numbers, and resolves strings
   and links; the sheet only does the layout. The report is read twice as a stream, because it may exceed the memory:

   1. Survey: page_survey_make collects the rows and columns of each table, the strings, the warnings with their links,
      the tagged rows, and the names of the charts' series.
   2. Choice: page_findings_settle numbers the warnings, the most severe first, and chooses the charts.
      page_survey_share divides the cells of the page among the tables, so that small tables are complete.
   3. Writing: write_all reads the report again, element by element in the same order, and writes the part to show. The
      indexes table_at, chart_at and warning_at find the survey's entry for each element, so both readings must count
      the same elements.

   The drawing shows the elements of both documents; "+" marks attributes and elements that are added:

       report:   Section > Table > Header, Item > Data, Table          Chart > Series
       page:     Section > Table > Header, Item > Data > Tag, Table    Chart > Line, Time, Limit (page_chart.c)
                 + title, number, raw, id, severity                    + warning numbers
                 + Omitted (shown, rows) where rows are missing        Omitted (tables, charts) and Damage at the end

   The document has these limits, which `writing` counts down:
   - Three quarters of page_bounds.cells are divided among the tables in sections. The other quarter (cells_left) is for
     tables within rows; each of these has at most SUB_ROWS rows.
   - Up to MOST_ALWAYS rows are shown in addition to the shares of tables: warnings, and rows to which a warning refers.
   - MOST_COLUMNS limits the columns of a table, MOST_TAGS the tags, MOST_FACTS the facts of the header, and
     PAGE_LONGEST_* the lengths of strings.
   - Only the charts that page_findings_settle has chosen are shown.
   - The values of all series for the script take at most page_bounds.waves bytes, in the order of the document.
   If the page still exceeds PAGE_MOST_BYTES, page.c starts again with a quarter of the cells and of the values.

   The report may be corrupt, or may change between the two readings. In this case the second reading ends early, or
   finds tables that are not in the survey; such tables are skipped. */
#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"
#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"
#include "engine/report/page/page_waves.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

/* maximum number of rows, beyond the shares of tables, that are warnings or that warnings refer to */
#define MOST_ALWAYS  500
#define MOST_FACTS   64
#define SUB_ROWS     25 /* maximum rows of a table within a row */
#define MOST_COLUMNS 40
#define MOST_TAGS    3000 /* maximum tags of all tables */

struct shown_column {
    char *name, *format;
    bool left, hidden, counted; /* `counted` means that the column is in a CounterTable, so whole numbers get digit
                                   groups */
    bool bars;
    double longest; /* the value of the first row, which has the longest bar */
};

struct open_table {
    struct shown_column columns[MOST_COLUMNS];
    size_t column_count;
    uint64_t most, rows, shown; /* `most`: maximum number of rows to show; `rows`: rows read so far; `shown`: rows
                                   written so far */
    bool warnings;
};

struct writing {
    const struct page_bounds *bounds;
    struct page_survey survey;
    uint64_t share;
    size_t cells_left, always_left, tags_left, facts; /* `cells_left` is only for tables within rows */
    struct text_buffer *out;
    bool facts_open;
    struct open_table open[REPORT_MAX_TABLES];
    size_t table_at; /* index of the next table in the survey */
    unsigned sections, tables, cells, charts;
    size_t warning_at, chart_at;           /* indexes of the next entries in the findings */
    unsigned passed_tables, passed_charts; /* numbers of tables and charts omitted from the page */
    unsigned skipped; /* 0 if no table is skipped; otherwise 1 plus the depth of the table that is skipped, or whose
                         current row is skipped */
    bool row_open[REPORT_MAX_TABLES];
    struct chart_layout chart;
    bool chart_shown, chart_watched; /* `chart_shown`: the open chart is shown; `chart_watched`: the open chart is a
                                        watched chart */
    struct page_waves waves;
};

static const char *title_of(const struct writing *w, const char *id)
{
    return page_survey_string(&w->survey, id);
}

static HRESULT status(const struct writing *w)
{
    if (w->out->failed)
        return E_OUTOFMEMORY;
    return w->bounds->stop && w->bounds->stop(w->bounds->context) ? HRESULT_FROM_WIN32(ERROR_CANCELLED) : S_OK;
}

/* ---- header ---- */

static HRESULT on_begin(void *about, const struct report_attribute *attributes, size_t count)
{
    struct writing *w = about;
    const char *name = report_attribute(attributes, count, "name");
    const char *complete = report_attribute(attributes, count, "complete");
    text_buffer_add(w->out, "<Report");
    page_attribute(w->out, "name", name, PAGE_LONGEST_NAME);
    page_attribute(w->out, "title", title_of(w, name ? name : ""), PAGE_LONGEST_NAME);
    page_attribute(w->out, "complete", complete, PAGE_LONGEST_NAME);
    text_buffer_add(w->out, ">\n<Header>");
    w->facts_open = true;
    return status(w);
}

static HRESULT on_fact(void *about, const struct report_data *fact)
{
    struct writing *w = about;
    if (!w->facts_open || w->facts++ >= MOST_FACTS)
        return S_OK;
    text_buffer_add(w->out, "<Data");
    page_attribute(w->out, "name", fact->name, PAGE_LONGEST_NAME);
    page_attribute(w->out, "units", report_attribute(fact->attributes, fact->attribute_count, "units"),
                   PAGE_LONGEST_NAME);
    text_buffer_add(w->out, ">");
    page_text(w->out, fact->text, PAGE_LONGEST_CELL, false);
    text_buffer_add(w->out, "</Data>");
    return status(w);
}

static void end_facts(struct writing *w)
{
    text_buffer_add(w->out, w->facts_open ? "</Header>\n" : "");
    w->facts_open = false;
}

static HRESULT on_section(void *about, const struct report_section *section)
{
    struct writing *w = about;
    end_facts(w);
    const char *note = report_attribute(section->attributes, section->attribute_count, "note");
    text_buffer_format(w->out, "<Section id=\"s%u\"", ++w->sections);
    page_attribute(w->out, "name", section->name, PAGE_LONGEST_NAME);
    page_attribute(w->out, "title", title_of(w, section->name), PAGE_LONGEST_NAME);
    page_attribute(w->out, "note", note ? title_of(w, note) : NULL, PAGE_LONGEST_CELL);
    text_buffer_add(w->out, ">\n");
    return status(w);
}

static HRESULT on_section_end(void *about)
{
    struct writing *w = about;
    text_buffer_add(w->out, "</Section>\n");
    return status(w);
}

/* ---- tables ---- */

static void free_columns(struct open_table *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        memory_free(t->columns[i].name);
        memory_free(t->columns[i].format);
    }
    t->column_count = 0;
}

/* Returns whether this is one of the columns that reports add to counter tables (CounterTable); these columns have no
   mask. */
static bool is_amount(const char *name)
{
    static const char *const names[] = {"mean", "min", "max", "sum", "count", "p50", "p95", "p99", "last", "trend"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static HRESULT read_columns(struct open_table *t, const struct report_table *table)
{
    free_columns(t);
    for (size_t i = 0; i < table->column_count && i < MOST_COLUMNS; i++) {
        const struct report_data *d = &table->columns[i];
        const char *align = report_attribute(d->attributes, d->attribute_count, "align");
        const char *format = report_attribute(d->attributes, d->attribute_count, "format");
        const char *visible = report_attribute(d->attributes, d->attribute_count, "visible");
        const char *bars = report_attribute(d->attributes, d->attribute_count, "bars");
        struct shown_column *c = &t->columns[t->column_count++];
        *c = (struct shown_column){.name = text_copy(d->name),
                                   .format = format ? text_copy(format) : NULL,
                                   .left = align && !strcmp(align, "left"),
                                   .hidden = visible && !strcmp(visible, "0"),
                                   .bars = bars && !strcmp(bars, "1"),
                                   .counted = is_amount(d->name)};
        if (!c->name || (format && !c->format))
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

static void add_columns(struct writing *w, const struct report_table *table)
{
    const struct open_table *t = &w->open[table->depth];
    text_buffer_add(w->out, "<Header>");
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *d = &table->columns[i];
        const char *note = report_attribute(d->attributes, d->attribute_count, "note");
        if (t->columns[i].hidden)
            continue;
        text_buffer_add(w->out, t->columns[i].left ? "<Data" : "<Data number=\"1\"");
        page_attribute(w->out, "title", title_of(w, d->name), PAGE_LONGEST_NAME);
        page_attribute(w->out, "units", report_attribute(d->attributes, d->attribute_count, "units"),
                       PAGE_LONGEST_NAME);
        page_attribute(w->out, "sort", report_attribute(d->attributes, d->attribute_count, "sort"), PAGE_LONGEST_NAME);
        page_attribute(w->out, "note", note ? title_of(w, note) : NULL, PAGE_LONGEST_NAME);
        text_buffer_add(w->out, "/>");
    }
    text_buffer_add(w->out, "</Header>\n");
}

/* Returns whether the table is shown, and sets how many rows of it may be shown. *all becomes the number of its rows in
   the report, or 0 for a table in a row. */
static bool choose_rows(struct writing *w, const struct report_table *table, uint64_t *all)
{
    struct open_table *t = &w->open[table->depth];
    const size_t columns = table->column_count ? table->column_count : 1;
    *all = 0;
    if (table->depth) {
        t->most = SUB_ROWS < w->cells_left / columns ? SUB_ROWS : w->cells_left / columns;
        return t->most > 0;
    }
    if (w->table_at == w->survey.table_count)
        return false;
    const struct surveyed_table *s = &w->survey.tables[w->table_at++];
    *all = s->rows;
    t->most = w->share / (s->columns ? s->columns : 1);
    return true;
}

/* Adds the tags as elements, because XSLT 1.0 cannot split strings. */
static void add_tags(struct writing *w, const char *tags)
{
    size_t length;
    for (const char *tag; w->tags_left && (tag = report_tags_next(&tags, &length)); w->tags_left--) {
        char *name = text_copy_n(tag, length);
        w->out->failed |= !name;
        text_buffer_add(w->out, "<Tag");
        page_attribute(w->out, "name", name, PAGE_LONGEST_NAME);
        text_buffer_add(w->out, "/>");
        memory_free(name);
    }
}

static HRESULT on_table(void *about, const struct report_table *table)
{
    struct writing *w = about;
    struct open_table *t = &w->open[table->depth];
    uint64_t all;
    HRESULT hr = status(w);
    if (w->skipped || FAILED(hr))
        return hr;
    if (table->depth && !strcmp(table->name, "slices")) { /* skip tables of slices, which are for rules; for readers,
                                                             charts show the values better */
        w->skipped = table->depth + 1;
        return S_OK;
    }
    if (!choose_rows(w, table, &all)) {
        w->passed_tables++;
        w->skipped = table->depth + 1;
        return S_OK;
    }
    hr = read_columns(t, table);
    t->rows = t->shown = 0;
    t->warnings = !table->depth && !strcmp(table->section, "advice") && !strcmp(table->name, "warning");
    const char *note = report_attribute(table->attributes, table->attribute_count, "note");
    text_buffer_format(w->out, "<Table id=\"t%u\"", ++w->tables);
    if (!table->depth)
        text_buffer_format(w->out, " rows=\"%llu\"", (unsigned long long)all);
    page_attribute(w->out, "name", table->name, PAGE_LONGEST_NAME);
    page_attribute(w->out, "title", title_of(w, table->name), PAGE_LONGEST_NAME);
    page_attribute(w->out, "note", note ? title_of(w, note) : NULL, PAGE_LONGEST_CELL);
    for (const char *const *name = (const char *const[]){"source", "local", "threshold", NULL}; *name; name++)
        page_attribute(w->out, *name, report_attribute(table->attributes, table->attribute_count, *name),
                       PAGE_LONGEST_CELL);
    text_buffer_add(w->out, ">");
    add_tags(w, report_attribute(table->attributes, table->attribute_count, "tag"));
    add_columns(w, table);
    return FAILED(hr) ? hr : status(w);
}

/* The sheet's names of the severities. */
static const char *const severity_words[] = {[REPORT_OTHER] = "information",
                                             [REPORT_GOOD] = "good",
                                             [REPORT_INFORMATION] = "information",
                                             [REPORT_WARNING] = "warning",
                                             [REPORT_ERROR] = "error"};

/* Returns the length of the bar for `value`, in percent of the longest bar. `value` may exceed `longest`, because rules
   can change the order of the rows. */
static double bar_length(double value, double longest)
{
    return !(value > 0) ? 0 : value < longest ? 100 * value / longest : 100;
}

/* `row_tags` are the tags of the row and of its hidden cells, for the first cell of the row; NULL for the other
   cells. */
static void add_cell(struct writing *w, const struct report_data *d, const struct shown_column *c, const char *row_tags)
{
    static const char *const kept[] = {"img", "units", "link", "summary", "local"};
    const char *img = report_attribute(d->attributes, d->attribute_count, "img");
    const char *tags = report_attribute(d->attributes, d->attribute_count, "tag");
    const char *translate = report_attribute(d->attributes, d->attribute_count, "translate");
    const char *text = translate && strcmp(translate, "0") != 0 ? title_of(w, d->text) : d->text;
    const struct shown_column *number = c && !c->left && page_is_number(text) ? c : NULL; /* NULL: not a number */
    struct text_buffer shown = {0};
    text_buffer_add(w->out, "<Data");
    if (!c)
        page_attribute(w->out, "name", d->name, PAGE_LONGEST_NAME);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        page_attribute(w->out, kept[i], report_attribute(d->attributes, d->attribute_count, kept[i]),
                       PAGE_LONGEST_NAME);
    page_attribute(w->out, "severity", img ? severity_words[report_severity_of(img)] : NULL, PAGE_LONGEST_NAME);
    if (tags || row_tags)
        text_buffer_format(w->out, " id=\"d%u\"", ++w->cells);
    text_buffer_add(w->out, number ? " number=\"1\"" : "");
    if (number)
        page_number_add(&shown, text, number->format, number->counted);
    w->out->failed |= shown.failed;
    if (number && number->longest > 0)
        text_buffer_format(w->out, " bar=\"%.0f\"", bar_length(strtod(text, NULL), number->longest));
    if (number && shown.text && strcmp(shown.text, text) != 0)
        page_attribute(w->out, "raw", text, PAGE_LONGEST_CELL);
    text_buffer_add(w->out, ">");
    add_tags(w, tags);
    add_tags(w, row_tags);
    page_text(w->out, number && shown.text ? shown.text : text, PAGE_LONGEST_CELL, false);
    text_buffer_add(w->out, "</Data>");
    text_buffer_free(&shown);
}

static const struct report_data *cell_of(const struct open_table *t, const struct report_row *row, size_t column)
{
    return report_find(row->cells, row->cell_count, t->columns[column].name, column);
}

static void gather_tags(struct text_buffer *all, const struct report_attribute *attributes, size_t count)
{
    const char *tags = report_attribute(attributes, count, "tag");
    if (tags)
        text_buffer_format(all, "%s%s", all->length ? "\n" : "", tags);
}

/* The first row has the longest bars; the footer has no bars. */
static void choose_bars(struct open_table *t, const struct report_row *row)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *d = t->columns[i].bars && !row->footer ? cell_of(t, row, i) : NULL;
        t->columns[i].longest = d && page_is_number(d->text) ? strtod(d->text, NULL) : 0;
    }
}

static void add_cells(struct writing *w, const struct open_table *t, const struct report_row *row)
{
    static const struct report_data nothing = {"", "", NULL, 0};
    struct text_buffer of_row = {0};
    gather_tags(&of_row, row->attributes, row->attribute_count);
    for (size_t i = 0; i < t->column_count && !t->warnings; i++) {
        const struct report_data *d = t->columns[i].hidden ? cell_of(t, row, i) : NULL;
        if (d)
            gather_tags(&of_row, d->attributes, d->attribute_count);
    }
    const char *tags = of_row.text;
    for (size_t i = 0; !t->column_count && i < row->cell_count && i < MOST_COLUMNS; i++, tags = NULL)
        add_cell(w, &row->cells[i], NULL, tags);
    for (size_t i = 0; i < t->column_count; i++) {
        const struct report_data *d = cell_of(t, row, i);
        const bool is_warning = t->warnings && d;
        if (!is_warning && t->columns[i].hidden)
            continue;
        add_cell(w, d ? d : &nothing, is_warning ? NULL : &t->columns[i], tags);
        tags = NULL;
    }
    w->out->failed |= of_row.failed;
    text_buffer_free(&of_row);
}

static bool is_tagged(const struct report_row *row)
{
    if (report_attribute(row->attributes, row->attribute_count, "tag"))
        return true;
    for (size_t i = 0; i < row->cell_count; i++)
        if (report_attribute(row->cells[i].attributes, row->cells[i].attribute_count, "tag"))
            return true;
    return false;
}

static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    struct writing *w = about;
    struct open_table *t = &w->open[table->depth];
    HRESULT hr = status(w);
    if (w->skipped || FAILED(hr))
        return hr;
    w->row_open[table->depth] = true;
    const size_t warning = w->warning_at;
    w->warning_at += t->warnings && !row->footer;
    if (row->footer || t->rows == 0)
        choose_bars(t, row);
    if (row->footer) {
        text_buffer_add(w->out, "<Footer>");
        add_cells(w, t, row);
        text_buffer_add(w->out, "</Footer>\n");
        w->row_open[table->depth] = false;
        return status(w);
    }
    t->rows++;
    const bool always = (t->warnings || is_tagged(row)) && w->always_left > 0;
    if (t->shown >= t->most && !always) {
        w->skipped = table->depth + 1;
        return S_OK;
    }
    w->always_left -= t->shown >= t->most;
    t->shown++;
    if (table->depth) {
        const size_t cells = row->cell_count ? row->cell_count : 1;
        w->cells_left -= cells < w->cells_left ? cells : w->cells_left;
    }
    if (t->warnings)
        text_buffer_format(w->out, "<Item number=\"%zu\" severity=\"%s\">",
                           page_findings_number(&w->survey.findings, warning),
                           severity_words[page_findings_severity(row)]);
    else
        text_buffer_add(w->out, "<Item>");
    add_cells(w, t, row);
    return status(w);
}

static HRESULT on_row_end(void *about, const struct report_table *table)
{
    struct writing *w = about;
    if (w->skipped == table->depth + 1 && w->row_open[table->depth])
        w->skipped = 0;
    else if (!w->skipped && w->row_open[table->depth])
        text_buffer_add(w->out, "</Item>\n");
    w->row_open[table->depth] = false;
    return status(w);
}

static HRESULT on_table_end(void *about, const struct report_table *table)
{
    struct writing *w = about;
    if (w->skipped) {
        w->skipped = w->skipped == table->depth + 1 ? 0 : w->skipped;
        return S_OK;
    }
    const struct open_table *t = &w->open[table->depth];
    if (t->rows > t->shown)
        text_buffer_format(w->out, "<Omitted shown=\"%llu\" rows=\"%llu\"/>", (unsigned long long)t->shown,
                           (unsigned long long)t->rows);
    text_buffer_add(w->out, "</Table>\n");
    return status(w);
}

/* ---- charts ---- */

/* Adds the lines that the report's schema defines. */
static void add_limits(struct chart_layout *c, const char *numbers)
{
    for (char *end; numbers && *(numbers += strspn(numbers, " \t\r\n")); numbers = end) {
        if (!strchr("-+.0123456789", *numbers))
            return;
        const double value = strtod(numbers, &end);
        if (!isfinite(value) || end == numbers)
            return;
        chart_layout_limit(c, &(struct chart_limit){.has_value = true, .value = value});
    }
}

static HRESULT on_chart(void *about, const struct report_data *chart)
{
    struct writing *w = about;
    const struct page_findings *f = &w->survey.findings;
    const struct found_warning *warnings[FINDINGS_MOST_LIMITS];
    const char *start = report_attribute(chart->attributes, chart->attribute_count, "start");
    const char *duration = report_attribute(chart->attributes, chart->attribute_count, "duration");
    const size_t at = w->chart_at++;
    w->passed_charts += at >= f->chart_count;
    if (at >= f->chart_count)
        return S_OK;
    w->chart_shown = f->charts[at].shown;
    w->chart_watched = f->charts[at].watched;
    HRESULT hr = chart_layout_begin(&w->chart, chart->name, start ? start : "", duration ? duration : "");
    const size_t count = page_findings_about(f, at, warnings);
    for (size_t i = 0; i < count; i++)
        chart_layout_limit(&w->chart,
                           &(struct chart_limit){warnings[i]->number, warnings[i]->has_limit, warnings[i]->limit});
    add_limits(&w->chart, report_attribute(chart->attributes, chart->attribute_count, "limit"));
    return hr;
}

/* Returns whether the series is the total, whose line would flatten the instances' lines in a chart for a warning. */
static bool is_sum(const struct found_chart *c, const char *series)
{
    static const char sum[] = " (_Total)";
    const size_t length = strlen(series);
    return c->watched && c->series.count > 1 && length >= sizeof sum - 1 &&
           !strcmp(series + length - (sizeof sum - 1), sum);
}

static bool read_seconds(const struct report_data *d, const char *name, double *out)
{
    const char *text = report_attribute(d->attributes, d->attribute_count, name);
    char *end = NULL;
    *out = text && strchr("-+.0123456789", *text) ? strtod(text, &end) : 0;
    return end && end != text && !*end && fabs(*out) < 1e10;
}

static struct chart_source read_source(const struct report_data *series)
{
    struct chart_source s = {.name = series->name, .points = series->text};
    s.has_place = read_seconds(series, "first", &s.first);
    s.has_place = read_seconds(series, "step", &s.step) && s.step > 0 && s.has_place;
    return s;
}

static HRESULT on_series(void *about, const struct report_data *series)
{
    struct writing *w = about;
    const struct page_findings *f = &w->survey.findings;
    if (!w->chart.lines)
        return S_OK;
    const size_t at = w->chart_at - 1;
    const struct chart_source source = read_source(series);
    const HRESULT hr = page_waves_series(&w->waves, &w->chart, f->charts[at].source, &source, w->chart_watched);
    if (FAILED(hr) || !w->chart_shown)
        return hr;
    const bool named = page_findings_names(f, at, series->name);
    if (!named && is_sum(&f->charts[at], series->name))
        return S_OK;
    return chart_layout_series(&w->chart, &source, named);
}

static HRESULT on_chart_end(void *about)
{
    struct writing *w = about;
    if (w->chart.lines && w->chart_shown) {
        const size_t at = w->chart_at - 1;
        chart_layout_add(w->out, &w->chart, ++w->charts, title_of(w, w->chart.name));
        page_waves_chart(&w->waves, w->charts, w->survey.findings.charts[at].source, &w->chart, &w->survey.findings,
                         at);
    }
    chart_layout_free(&w->chart);
    return status(w);
}

/* ---- both readings ---- */

static HRESULT write_all(struct writing *w, const char *report, const struct texts *notes, size_t first_note)
{
    static const struct report_handlers handlers = {.begin = on_begin,
                                                    .fact = on_fact,
                                                    .section_begin = on_section,
                                                    .table_begin = on_table,
                                                    .row = on_row,
                                                    .row_end = on_row_end,
                                                    .table_end = on_table_end,
                                                    .chart_begin = on_chart,
                                                    .series = on_series,
                                                    .chart_end = on_chart_end,
                                                    .section_end = on_section_end};
    struct texts again = {0}; /* the first reading has already added these warnings to `notes` */
    const HRESULT hr = report_read(report, &handlers, w, &again);
    texts_free(&again);
    if (FAILED(hr))
        return hr;
    end_facts(w);
    for (size_t i = first_note; i < notes->count; i++) {
        text_buffer_add(w->out, "<Damage>");
        page_text(w->out, notes->items[i], PAGE_LONGEST_CELL, false);
        text_buffer_add(w->out, "</Damage>");
    }
    page_waves_add(w->out, &w->waves);
    text_buffer_format(w->out, "<Omitted tables=\"%u\" charts=\"%u\"/></Report>\n", w->passed_tables, w->passed_charts);
    return w->out->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT page_document_make(const char *report, const struct page_bounds *bounds, struct text_buffer *out,
                           struct texts *notes)
{
    struct writing *w = memory_zero(1, sizeof *w);
    if (!w)
        return E_OUTOFMEMORY;
    w->bounds = bounds;
    w->out = out;
    w->survey.stop = bounds->stop;
    w->survey.context = bounds->context;
    w->cells_left = bounds->cells / 4;
    w->waves.most = bounds->waves;
    w->always_left = MOST_ALWAYS;
    w->tags_left = MOST_TAGS;
    const size_t before = notes->count;
    HRESULT hr = page_survey_make(&w->survey, report, notes);
    if (SUCCEEDED(hr)) {
        page_findings_settle(&w->survey.findings, PAGE_MOST_CHARTS, &w->passed_charts);
        w->share = page_survey_share(&w->survey, bounds->cells - w->cells_left);
        hr = write_all(w, report, notes, before);
    }
    const struct error_kept why = error_keep(hr);
    for (size_t i = 0; i < REPORT_MAX_TABLES; i++)
        free_columns(&w->open[i]);
    chart_layout_free(&w->chart);
    page_waves_free(&w->waves);
    page_survey_free(&w->survey);
    memory_free(w);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}
