/* SPDX-License-Identifier: MIT */
/* openpla plot: draws charts of counter logs, as a picture or a page. The program creates two reports. The first report
   only serves to list the counters. The second report contains the selected counters, and the charts are drawn from
   this report. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/xml_text.h"
#include "engine/logs/log_inputs.h"
#include "engine/report/columns.h"
#include "engine/report/page.h"
#include "engine/report/report.h"
#include "engine/report/report_reader.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define VERB           "plot"
#define MOST_INSTANCES 256 /* maximum number of named instances per chart; a chart draws eight */

/* -limit: a number, or PATH=NUMBER. */
struct plot_limit {
    const char *text, *number;
    struct filter of; /* empty: the limit applies to every counter */
    bool used, here;  /* `used`: applies to at least one chart; `here`: applies to the current counter */
};

struct plot {
    struct texts logs, patterns, limit_texts, begin, end; /* words of the operands and of -counter, -limit, -b and -e */
    const char *output, *title;
    int64_t from, to; /* FILETIMEs in the first log's zone */
    bool yes;

    struct filter filter;
    struct plot_limit *limits; /* one per element of limit_texts */
    char *draft;               /* path of the temporary reports, which are deleted at the end */
    struct text_buffer tables; /* part of the second report's schema */
    char *object, *counter;    /* the current object and counter of the first report */
    struct texts instances;    /* selected instances of the current counter */
    bool all;                  /* all instances are shown */
    bool too_many;             /* more than one limit applies to a counter */
    size_t charts, omitted;
    struct texts warnings;
};

/* ---- selection of counters ---- */

/* Escapes wildcard characters for a schema's pattern. */
static void add_pattern(struct text_buffer *b, const char *name, const char *text)
{
    struct text_buffer pattern = {0};
    text_buffer_add(&pattern, "i/");
    for (; *text; text++) {
        text_buffer_add(&pattern, strchr("/\\*?|", *text) ? "\\" : "");
        text_buffer_add_n(&pattern, text, 1);
    }
    text_buffer_add(&pattern, "/");
    b->failed |= pattern.failed;
    xml_add_attribute(b, name, pattern.text ? pattern.text : "");
    text_buffer_free(&pattern);
}

static void add_limits(struct plot *p)
{
    struct text_buffer all = {0};
    size_t count = 0;
    for (size_t i = 0; i < p->limit_texts.count; i++) {
        struct plot_limit *l = &p->limits[i];
        l->used |= l->here;
        count += l->here;
        if (l->here && count <= SCHEMA_MOST_LIMITS)
            text_buffer_format(&all, "%s%s", all.length ? " " : "", l->number);
    }
    p->too_many |= count > SCHEMA_MOST_LIMITS;
    if (all.length)
        xml_add_attribute(&p->tables, "limit", all.text);
    p->tables.failed |= all.failed;
    text_buffer_free(&all);
}

/* Ends the chart of the counter whose rows have been read. */
static void end_counter(struct plot *p)
{
    struct text_buffer *b = &p->tables;
    const bool wanted = p->counter && p->instances.count > 0;
    if (wanted && p->charts == PAGE_MOST_CHARTS)
        p->omitted++;
    else if (wanted) {
        p->charts++;
        text_buffer_add(b, "<CounterTable topic=\"plot\"");
        xml_add_attribute(b, "name", p->object);
        xml_add_attribute(b, "object", p->object);
        add_pattern(b, "chart", p->counter);
        add_pattern(b, "watch", p->counter); /* the reader of the page can select these instances */
        add_limits(p);
        text_buffer_add(b, ">");
        for (size_t i = 0; i < p->instances.count && (i == 0 || !p->all); i++) {
            text_buffer_add(b, "<Include");
            add_pattern(b, "counter", p->counter);
            if (!p->all)
                add_pattern(b, "instance", p->instances.items[i]);
            text_buffer_add(b, "/>");
        }
        text_buffer_add(b, "</CounterTable>");
    }
    for (size_t i = 0; p->limits && i < p->limit_texts.count; i++)
        p->limits[i].here = false;
    texts_free(&p->instances);
    memory_free(p->counter);
    p->counter = NULL;
    p->all = true;
}

static HRESULT on_table(void *about, const struct report_table *table)
{
    struct plot *p = about;
    memory_free(p->object);
    p->object = text_copy(table->name);
    return p->object ? S_OK : E_OUTOFMEMORY;
}

/* Determines whether the counter is drawn, and marks the limits that apply to it. */
static HRESULT plot_counter_matches(struct plot *p, const char *counter, const char *instance, bool *right)
{
    struct log_counters one = {0};
    char *path = *instance ? text_format("\\%s(%s)\\%s", p->object, instance, counter)
                           : text_format("\\%s\\%s", p->object, counter);
    HRESULT hr = path ? log_counters_add_path(&one, path) : E_OUTOFMEMORY;
    *right = false;
    if (SUCCEEDED(hr))
        hr = filter_matches(&p->filter, &one.items[0], NULL, right);
    for (size_t i = 0; i < p->limit_texts.count && SUCCEEDED(hr) && *right; i++) {
        bool here = false;
        hr = filter_matches(&p->limits[i].of, &one.items[0], NULL, &here);
        p->limits[i].here |= here;
    }
    log_counters_free(&one);
    memory_free(path);
    return hr;
}

/* Receives a row of the first report. The table is sorted by counters. */
static HRESULT on_row(void *about, const struct report_table *table, const struct report_row *row)
{
    struct plot *p = about;
    const struct report_data *counter = report_find(row->cells, row->cell_count, "counter", 0);
    const struct report_data *instance = report_find(row->cells, row->cell_count, "instance", 1);
    bool right;
    if (!counter || strcmp(table->section, "counters") != 0)
        return S_OK;
    if (!p->counter || strcmp(p->counter, counter->text) != 0) {
        end_counter(p);
        p->counter = text_copy(counter->text);
        if (!p->counter)
            return E_OUTOFMEMORY;
    }
    const char *name = instance ? instance->text : "";
    HRESULT hr = plot_counter_matches(p, counter->text, name, &right);
    if (SUCCEEDED(hr) && right && p->instances.count < MOST_INSTANCES)
        hr = texts_add(&p->instances, name);
    p->all = p->all && right && SUCCEEDED(hr);
    return hr;
}

static HRESULT on_table_end(void *about, const struct report_table *table)
{
    (void)table;
    end_counter(about);
    return S_OK;
}

static HRESULT read_limits(struct plot *p)
{
    HRESULT hr = S_OK;
    p->limits = memory_zero(p->limit_texts.count + 1, sizeof *p->limits);
    if (!p->limits)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < p->limit_texts.count && SUCCEEDED(hr); i++) {
        struct plot_limit *l = &p->limits[i];
        char *end = NULL;
        l->text = p->limit_texts.items[i];
        const char *behind = strrchr(l->text, '=');
        l->number = behind ? behind + 1 : l->text;
        const double value = strchr("-+.0123456789", *l->number) ? strtod(l->number, &end) : NAN;
        if (!end || !(fabs(value) < CHART_GREATEST) || end == l->number || *end)
            return error_set(E_INVALIDARG, "-limit: invalid limit '%s': expected a number or PATH=NUMBER", l->text);
        char *path = behind ? text_copy_n(l->text, (size_t)(behind - l->text)) : NULL;
        if (behind)
            hr = path ? filter_add(&l->of, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    return hr;
}

static HRESULT check_limits(const struct plot *p)
{
    for (size_t i = 0; i < p->limit_texts.count; i++)
        if (!p->limits[i].used)
            return error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "-limit: '%s' matches no counter in the charts",
                             p->limits[i].text);
    return p->too_many
               ? error_set(E_INVALIDARG, "-limit: too many limits: the maximum is %d per chart", SCHEMA_MOST_LIMITS)
               : S_OK;
}

/* ---- reports ---- */

static HRESULT make_report(struct plot *p, const char *tables, struct texts *warnings)
{
    struct report_schema schema = {0};
    struct text_buffer b = {0};
    text_buffer_format(
        &b,
        "<Report name=\"plot\" version=\"1\"><Sections><Section name=\"counters\" key=\"1\">%s"
        "</Section></Sections><StringTable><String ID=\"counters\">Counters</String><String ID=\"plot\">",
        tables);
    xml_add_escaped(&b, p->title && *p->title ? p->title : "Counters", false);
    text_buffer_add(&b, "</String></StringTable></Report>");
    char *text = text_buffer_take(&b);
    HRESULT hr = text ? report_schema_add(&schema, VERB, text, strlen(text), NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        report_schema_order(&schema);
        hr = report_make(&(struct report_make){.inputs = &p->logs,
                                               .schema = &schema,
                                               .output = p->draft,
                                               .ranged = true,
                                               .from = p->from,
                                               .to = p->to,
                                               .stop = interrupt_asked},
                         warnings);
    }
    report_schema_free(&schema);
    memory_free(text);
    return hr;
}

static HRESULT any_matches(const struct inputs *in, const char *pattern, bool *any)
{
    struct filter one = {0};
    HRESULT hr = filter_add(&one, pattern);
    *any = false;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++) {
        size_t count;
        const struct log_counter *counters = log_reader_counters(in->items[i].reader, &count);
        for (size_t k = 0; k < count && SUCCEEDED(hr) && !*any; k++)
            hr = filter_matches(&one, &counters[k], NULL, any);
    }
    filter_free(&one);
    return hr;
}

/* Determines whether the logs have a sample in the time range. */
static HRESULT any_sample(struct inputs *in, const struct plot *p, bool *any)
{
    size_t at;
    HRESULT hr = inputs_limit(in, p->from, p->to);
    if (SUCCEEDED(hr))
        hr = inputs_next(in, &at);
    *any = hr == S_OK;
    return hr;
}

/* Explains why nothing is drawn: no counter matches the pattern, the time range has no sample, or no value can be
   computed (reports contain only counters with values). */
static HRESULT not_drawn(const struct plot *p, const char *pattern)
{
    struct inputs in = {0};
    bool any = false, sampled = true;
    HRESULT hr = inputs_open(&in, &p->logs);
    if (SUCCEEDED(hr))
        hr = any_matches(&in, pattern, &any);
    if (SUCCEEDED(hr) && any && p->begin.count + p->end.count > 0)
        hr = any_sample(&in, p, &sampled);
    if (SUCCEEDED(hr) && !sampled) {
        hr = error_set(REPORT_NO_DATA, "cannot draw '%s': the logs contain no sample in the time range (-b, -e)",
                       pattern);
    } else if (SUCCEEDED(hr) && any) {
        hr = error_set(
            REPORT_NO_DATA,
            "cannot draw '%s': no value can be computed from the logs (a rate needs two consecutive samples)", pattern);
    } else if (SUCCEEDED(hr)) {
        char *nearest = counter_nearest_in_logs(&in, pattern);
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "cannot draw '%s': the logs do not contain this counter%s",
                       pattern, nearest ? nearest : "");
        memory_free(nearest);
    }
    inputs_close(&in);
    return hr;
}

static HRESULT plot_choose_charts(struct plot *p)
{
    static const struct report_handlers handlers = {.table_begin = on_table, .row = on_row, .table_end = on_table_end};
    struct texts again = {0};
    HRESULT hr = read_limits(p);
    for (size_t i = 0; i < p->patterns.count && SUCCEEDED(hr); i++)
        hr = filter_add(&p->filter, p->patterns.items[i]);
    if (SUCCEEDED(hr))
        hr = make_report(p,
                         "<CounterTable name=\"*\" topic=\"plot\" object=\"*\" sort=\"counter\" order=\"ascending\"/>",
                         &p->warnings);
    if (SUCCEEDED(hr))
        hr = report_read(p->draft, &handlers, p, &again);
    texts_free(&again);
    for (size_t i = 0; i < p->filter.count && SUCCEEDED(hr); i++)
        if (!p->filter.patterns[i].used)
            hr = not_drawn(p, p->filter.patterns[i].text);
    if (SUCCEEDED(hr) && p->charts)
        hr = check_limits(p);
    if (SUCCEEDED(hr) && !p->charts)
        hr = not_drawn(p, "\\*\\*");
    if (SUCCEEDED(hr) && p->omitted) {
        char *text = text_format("%zu counters are omitted: the maximum is %d charts (select counters with -counter)",
                                 p->omitted, PAGE_MOST_CHARTS);
        hr = text ? texts_add_owned(&p->warnings, text) : E_OUTOFMEMORY;
    }
    return FAILED(hr) ? hr : p->tables.failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT plot_write(struct plot *p)
{
    struct texts again = {0};
    for (size_t i = 0; i < p->logs.count; i++)
        if (file_is_same(p->logs.items[i], p->output))
            return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", p->output);
    if (!p->yes && file_exists(p->output) && !cli_may_overwrite(p->output))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)",
                         p->output);
    p->draft = text_format("%s.%u.report", p->output, (unsigned)process_own_id());
    if (p->draft && file_exists(p->draft)) { /* a process with this ID is writing the file, or an earlier process with
                                                this ID did not delete it */
        memory_free(p->draft);
        p->draft = NULL;
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                         "cannot write '%s': its temporary file already exists", p->output);
    }
    HRESULT hr = p->draft ? plot_choose_charts(p) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = make_report(p, p->tables.text, &again);
    if (SUCCEEDED(hr))
        hr = page_make(&(struct page_make){.report = p->draft,
                                           .output = p->output,
                                           .picture = text_equal_nocase(path_extension(p->output), ".svg"),
                                           .stop = interrupt_asked},
                       &p->warnings);
    const struct error_kept why = error_keep(hr);
    if (p->draft)
        (void)file_delete(p->draft);
    texts_free(&again);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static int plot_draw(struct plot *p)
{
    const bool begun = interrupt_begin();
    const HRESULT hr = begun ? plot_write(p) : error_set(E_FAIL, "cannot wait for Ctrl+C");
    const struct error_kept why = error_keep(hr);
    if (begun)
        interrupt_end();
    if (FAILED(hr))
        return cli_error(VERB, error_restore(&why));
    for (size_t i = 0; i < p->warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": %s\n", p->warnings.items[i]);
    printf("%s\n", p->output);
    return p->warnings.count ? CLI_REMARKS : CLI_DONE;
}

static bool has_form(const char *path)
{
    const char *extension = path_extension(path);
    return text_equal_nocase(extension, ".svg") || text_equal_nocase(extension, ".html") ||
           text_equal_nocase(extension, ".htm");
}

static int plot_run(int argc, char **argv)
{
    struct plot p = {.all = true, .from = INT64_MIN, .to = INT64_MAX};
    const struct option options[] = {{"counter", OPTION_TEXTS, &p.patterns},
                                     {"o", OPTION_TEXT, &p.output},
                                     {"b", OPTION_TEXTS, &p.begin},
                                     {"e", OPTION_TEXTS, &p.end},
                                     {"limit", OPTION_TEXTS, &p.limit_texts},
                                     {"title", OPTION_TEXT, &p.title},
                                     {"y", OPTION_FLAG, &p.yes}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &p.logs);
    if (result == CLI_DONE && !p.logs.count)
        result = cli_usage(VERB, "missing log");
    if (result == CLI_DONE && (!p.output || !has_form(p.output)))
        result = cli_usage(VERB, "-o: missing or invalid output: expected a .svg or .html file");
    if (result == CLI_DONE)
        result = cli_time(VERB, "b", &p.begin, &p.from);
    if (result == CLI_DONE)
        result = cli_time(VERB, "e", &p.end, &p.to);
    if (result == CLI_DONE && p.to < p.from)
        result = cli_usage(VERB, "-e: the end is before the start (-b)");
    if (result == CLI_DONE)
        result = plot_draw(&p);
    end_counter(&p);
    memory_free(p.object);
    memory_free(p.draft);
    text_buffer_free(&p.tables);
    filter_free(&p.filter);
    for (size_t i = 0; p.limits && i < p.limit_texts.count; i++)
        filter_free(&p.limits[i].of);
    memory_free(p.limits);
    texts_free(&p.warnings);
    texts_free(&p.logs);
    texts_free(&p.patterns);
    texts_free(&p.limit_texts);
    texts_free(&p.begin);
    texts_free(&p.end);
    return result;
}

const struct verb verb_plot = {
    VERB, "draws the counters of logs over time",
    "openpla plot LOG ... -o PICTURE.svg|PAGE.html [-counter PATH ...] [-b TIME] [-e TIME]\n"
    "             [-limit [PATH=]VALUE ...] [-title TEXT]\n"
    "\n"
    "Draws counters of counter logs (.blg, .csv, .tsv) over time: one chart per counter. A chart has at most 8 lines:\n"
    "_Total, and the instances with the highest means. A line is interrupted where the log has no values.\n"
    "\n"
    "  -o        the output: a picture (SVG), or a page (HTML) that has the statistics too\n"
    "  -counter  counters, with wildcards: \"\\Processor(*)\\% Processor Time\"; default: the first 12 of the log\n"
    "  -b, -e    start and end: \"12/31/2026 23:59:59\" or \"2026-12-31 23:59:59\" in the first log's time zone\n"
    "  -limit    draw a line at a value in all charts (80), or only in the charts of a counter\n"
    "            (\"\\Processor(*)\\% Processor Time=80\"); at most 4 per chart\n"
    "  -title    the title above the charts\n"
    "  -y        overwrite an existing file without asking\n"
    "\n"
    "Exit code 3: the charts were drawn, with warnings about the logs or omitted counters.\n",
    plot_run};
