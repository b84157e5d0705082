/* SPDX-License-Identifier: MIT */
/* openpla compare: shows what is worse in the second of two runs, if the difference exceeds the noise of both. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report/report.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/page.h"
#include "engine/report/page_unit.h"
#include "engine/report/report.h"
#include "engine/report/run_compare.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define VERB "compare"

enum { COMPARE_WORSE = 3, COMPARE_MUCH_WORSE = 4, SHOWN = 50 };

struct compare_request {
    struct texts operands, name_files;
    const char *page, *align, *skip, *slice, *least;
    bool as_json, yes;
    struct run_compare_options options;
    struct temporary_report made[2]; /* the reports of the operands that are logs */
    struct run_comparison result;
};

/* ---- input ---- */

static HRESULT read_side(struct compare_request *r, size_t at)
{
    const char *path = r->operands.items[at];
    const bool is_report = text_equal_nocase(path_extension(path), ".xml");
    HRESULT hr = is_report ? S_OK : temporary_report_make(&r->made[at], path, NULL, &r->name_files);
    for (size_t i = 0; i < r->made[at].warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": %s\n", r->made[at].warnings.items[i]);
    if (SUCCEEDED(hr))
        hr = run_side_read(is_report ? path : r->made[at].path, &r->result.sides[at], &r->result.notes);
    if (hr == S_FALSE)
        hr = error_set(REPORT_NO_DATA, "cannot compare '%s': it has no counter with values over time", path);
    return hr;
}

/* Parses a number with an optional suffix s, m or h. */
static bool read_seconds(const char *text, double *out)
{
    char *end = NULL;
    *out = text && strchr("0123456789.", *text) ? strtod(text, &end) : 0;
    if (!text)
        return true;
    const bool is_unit = end && end != text && *end && !end[1] && strchr("smh", *end);
    *out *= is_unit && *end == 'm' ? 60 : is_unit && *end == 'h' ? 3600 : 1;
    return end && end != text && (is_unit || !*end) && *out < 1e9;
}

static int read_options(struct compare_request *r)
{
    if (r->operands.count != 2)
        return cli_usage(VERB, "expected two logs, folders or reports");
    if (r->align && strcmp(r->align, "start") != 0 && strcmp(r->align, "clock") != 0)
        return cli_usage(VERB, "-align: invalid value '%s': expected start or clock", r->align);
    if (!read_seconds(r->skip, &r->options.skip))
        return cli_usage(VERB, "-skip: invalid time '%s': expected a number of seconds, or a time such as 5m or 1h",
                         r->skip);
    if (!read_seconds(r->slice, &r->options.slice))
        return cli_usage(VERB, "-slice: invalid time '%s': expected a number of seconds, or a time such as 5m or 1h",
                         r->slice);
    r->options.least_change = 5;
    if (r->least && (!read_seconds(r->least, &r->options.least_change) || strpbrk(r->least, "smh")))
        return cli_usage(VERB, "-min: invalid number '%s': expected a percentage", r->least);
    r->options.by_clock = r->align && !strcmp(r->align, "clock");
    return CLI_DONE;
}

/* ---- output ---- */

static void add_value(struct text_buffer *b, const struct run_change *x, double value)
{
    const struct page_unit unit = page_unit_of(x->counter);
    const struct page_scale scale = page_unit_scale(&unit, value);
    page_scale_add(b, &scale, value, 3);
}

static void show_change(const struct run_change *x)
{
    struct text_buffer line = {0};
    char *path = run_path(x->object, x->counter, x->instance);
    text_buffer_format(&line, "%-10s ", run_verdict_name(x->verdict));
    text_buffer_format(&line,
                       !isfinite(x->percent)     ? "     new   "
                       : fabs(x->percent) < 1000 ? "%+8.3g %% "
                                                 : "%+8.0f %% ",
                       x->percent);
    text_buffer_format(&line, "effect %+.2f  ", x->effect);
    for (size_t i = 0; i < 2; i++) {
        text_buffer_format(&line, "%c: ", (char)('A' + i));
        add_value(&line, x, x->figures[i].mean);
        text_buffer_add(&line, " (p95 ");
        add_value(&line, x, x->figures[i].p95);
        text_buffer_add(&line, ", max ");
        add_value(&line, x, x->figures[i].greatest);
        text_buffer_add(&line, ")  ");
    }
    text_buffer_add(&line, path ? path : "");
    if (*x->why)
        text_buffer_format(&line, "  (%s)", x->why);
    if (line.text)
        printf("%s\n", line.text);
    text_buffer_free(&line);
    memory_free(path);
}

static void show_text(const struct compare_request *r)
{
    const struct run_comparison *c = &r->result;
    size_t shown = 0;
    for (size_t i = 0; i < 2; i++)
        printf("%c: %s%s%s\n", (int)('A' + i), r->operands.items[i], c->sides[i].start ? ", from " : "",
               c->sides[i].start ? c->sides[i].start : "");
    printf("%.0f s compared, %s\n", c->span,
           r->options.by_clock ? "runs aligned by the time of day" : "runs aligned at their starts");
    printf(
        "%zu much worse, %zu worse, %zu better, %zu changed, %zu undecided, %zu same; only in A %zu, only in B %zu\n",
        c->verdicts[RUN_MUCH_WORSE], c->verdicts[RUN_WORSE], c->verdicts[RUN_BETTER], c->verdicts[RUN_CHANGED],
        c->verdicts[RUN_UNDECIDED], c->verdicts[RUN_SAME], c->only[0].count, c->only[1].count);
    for (; shown < c->count && shown < SHOWN && c->changes[shown].verdict != RUN_SAME; shown++)
        show_change(&c->changes[shown]);
    if (shown == SHOWN && shown < c->count && c->changes[shown].verdict != RUN_SAME)
        printf("... (--json and -html show more)\n");
}

static void show_figures(struct json *j, const char *name, const struct run_figures *f)
{
    json_begin(j, name, '{');
    json_number(j, "mean", f->mean);
    json_number(j, "p95", f->p95);
    json_number(j, "max", f->greatest);
    json_integer(j, "slices", (int64_t)f->slices);
    json_end(j, '}');
}

static void show_json(const struct compare_request *r)
{
    const struct run_comparison *c = &r->result;
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_text(&j, "a", r->operands.items[0]);
    json_text(&j, "b", r->operands.items[1]);
    json_text(&j, "aligned", r->options.by_clock ? "clock" : "start");
    json_number(&j, "seconds", c->span);
    json_text(&j, "page", r->page);
    json_begin(&j, "counts", '{');
    for (enum run_verdict v = RUN_SAME; v < RUN_VERDICTS; v++)
        json_integer(&j, run_verdict_name(v), (int64_t)c->verdicts[v]);
    json_end(&j, '}');
    json_begin(&j, "counters", '[');
    for (size_t i = 0; i < c->count; i++) {
        const struct run_change *x = &c->changes[i];
        json_begin(&j, NULL, '{');
        json_text(&j, "object", x->object);
        json_text(&j, "counter", x->counter);
        json_text(&j, "instance", *x->instance ? x->instance : NULL);
        show_figures(&j, "a", &x->figures[0]);
        show_figures(&j, "b", &x->figures[1]);
        json_number(&j, "difference", x->difference);
        json_number(&j, "percent", x->percent);
        json_number(&j, "effect", x->effect);
        json_number(&j, "p", x->p);
        json_number(&j, "drift", x->drift);
        json_text(&j, "verdict", run_verdict_name(x->verdict));
        json_text(&j, "why", *x->why ? x->why : NULL);
        json_end(&j, '}');
    }
    json_end(&j, ']');
    for (size_t side = 0; side < 2; side++) {
        json_begin(&j, side ? "onlyB" : "onlyA", '[');
        for (size_t i = 0; i < c->only[side].count; i++)
            json_text(&j, NULL, c->only[side].items[i]);
        json_end(&j, ']');
    }
    json_end(&j, '}');
}

/* Creates the page from a report that exists only temporarily. */
static HRESULT write_page(struct compare_request *r)
{
    struct temporary_report draft = {0};
    const char *const names[2] = {r->operands.items[0], r->operands.items[1]};
    for (size_t i = 0; i < 2; i++)
        if (file_is_same(names[i], r->page))
            return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", r->page);
    if (!r->yes && file_exists(r->page) && !cli_may_overwrite(r->page))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)",
                         r->page);
    HRESULT hr = folder_create_temporary(&draft.folder);
    if (SUCCEEDED(hr))
        draft.path = path_join(draft.folder, REPORT_FILE_NAME);
    if (SUCCEEDED(hr))
        hr = draft.path ? run_compare_write(&r->result, names, r->options.by_clock, draft.path) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = page_make(&(struct page_make){.report = draft.path, .output = r->page}, &r->result.notes);
    const struct error_kept why = error_keep(hr);
    temporary_report_free(&draft);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static int compare_print_result(const struct compare_request *r)
{
    const size_t *verdicts = r->result.verdicts;
    for (size_t i = 0; i < r->result.notes.count; i++)
        fprintf(stderr, "openpla " VERB ": %s\n", r->result.notes.items[i]);
    for (size_t i = 0; i < 2; i++)
        if (r->result.sides[i].names)
            fprintf(stderr, "openpla " VERB ": %c: %s\n", (int)('A' + i), r->result.sides[i].names);
    if (r->as_json)
        show_json(r);
    else
        show_text(r);
    if (!r->as_json && r->page)
        printf("%s\n", r->page);
    return verdicts[RUN_MUCH_WORSE] ? COMPARE_MUCH_WORSE : verdicts[RUN_WORSE] ? COMPARE_WORSE : CLI_DONE;
}

static int compare_sides(struct compare_request *r)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < 2 && SUCCEEDED(hr); i++)
        hr = read_side(r, i);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    hr = run_compare(&r->result, &r->options);
    if (hr == S_FALSE)
        return cli_usage(VERB, "cannot compare '%s' with '%s': %s", r->operands.items[0], r->operands.items[1],
                         r->result.nothing);
    if (SUCCEEDED(hr) && r->page)
        hr = write_page(r);
    return FAILED(hr) ? cli_error(VERB, hr) : compare_print_result(r);
}

static int compare_run(int argc, char **argv)
{
    struct compare_request r = {0};
    const struct option options[] = {{"html", OPTION_TEXT, &r.page},    {"align", OPTION_TEXT, &r.align},
                                     {"skip", OPTION_TEXT, &r.skip},    {"slice", OPTION_TEXT, &r.slice},
                                     {"min", OPTION_TEXT, &r.least},    {"names", OPTION_TEXTS, &r.name_files},
                                     {"json", OPTION_FLAG, &r.as_json}, {"y", OPTION_FLAG, &r.yes}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &r.operands);
    if (result == CLI_DONE)
        result = read_options(&r);
    if (result == CLI_DONE)
        result = compare_sides(&r);
    for (size_t i = 0; i < 2; i++)
        temporary_report_free(&r.made[i]);
    run_comparison_free(&r.result);
    texts_free(&r.operands);
    texts_free(&r.name_files);
    return result;
}

const struct verb verb_compare = {
    VERB, "compares the counters of two runs",
    "openpla compare A B [-html PAGE.html] [-align start|clock] [-skip TIME] [-slice TIME] [-min PERCENT] [--json]\n"
    "\n"
    "Compares two logs, folders of runs or reports: the mean, 95th percentile and maximum of each counter that both\n"
    "contain, and whether B differs from A by more than the noise of both. Counters that got worse come first.\n"
    "Counters that drift too slowly for the length of the runs are undecided.\n"
    "\n"
    "  -html      create a page, with charts of the first ten counters; each chart shows both runs\n"
    "  -align     start (default): the runs begin together; clock: aligned by the time of day\n"
    "  -skip      leave out this time at the start of both, for example 5m\n"
    "  -slice     compare means of slices of this length; default: 1/24 of the time\n"
    "  -min       ignore changes of the mean below this percentage; default 5\n"
    "  -names     translated counter names: an export (.reg) of the registry key Perflib of the computer that wrote\n"
    "             the logs, or its files perfcNNN.dat; six languages are built in\n"
    "  -y         overwrite an existing page without asking\n"
    "  --json     print the result, with all counters, as JSON\n"
    "\n"
    "Exit codes: 0 nothing is worse; 3 something is worse; 4 something is much worse (by half or more); 1 failed; 2 "
    "the\n"
    "command line is wrong, or the runs have nothing in common.\n",
    compare_run};
