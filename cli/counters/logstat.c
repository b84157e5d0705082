/* SPDX-License-Identifier: MIT */
/* openpla logstat: shows the contents of a log. Reads the whole log to determine the number of samples, the intervals
   and the gaps. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/trace/logstat_trace.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/logs/log_inputs.h"

#include <stdio.h>

enum { MAX_GAPS = 100 };

struct counter_statistics {
    uint64_t missing;      /* number of samples in which the counter has no value, or the wildcard has no instance */
    uint64_t fewest, most; /* lowest and highest number of instances of a wildcard */
};

struct log_gap {
    int64_t from, to; /* FILETIMEs, UTC; if to < from, the clock was set back */
};

struct log_statistics {
    uint64_t bytes; /* 0 if unknown */
    uint64_t samples;
    int64_t first, last;
    int64_t interval; /* median, in units of 100 ns; 0 if there are fewer than two samples */
    struct log_gap gaps[MAX_GAPS];
    size_t gap_count;
    uint64_t gaps_in_all;
    struct counter_statistics *counters; /* one element per counter of the log reader, in the reader's order */
    size_t counter_count;
};

/* Counts the values of a sample. `cells` is NULL if the log has counters but no samples. */
static HRESULT count_cells(struct log_statistics *s, struct log_reader *log, const struct log_cell *cells)
{
    size_t count;
    const struct log_counter *counters = log_reader_counters(log, &count);
    const bool values = log_reader_info(log)->has_values;
    if (count > s->counter_count) {
        struct counter_statistics *larger = memory_resize(s->counters, count * sizeof *larger);
        if (!larger)
            return E_OUTOFMEMORY;
        s->counters = larger;
        for (size_t i = s->counter_count; i < count; i++)
            larger[i] = (struct counter_statistics){.fewest = cells ? UINT64_MAX : 0};
        s->counter_count = count;
    }
    for (size_t i = 0; cells && i < count; i++) {
        struct counter_statistics *c = &s->counters[i];
        if (counters[i].wildcard) {
            c->fewest = cells[i].item_count < c->fewest ? cells[i].item_count : c->fewest;
            c->most = cells[i].item_count > c->most ? cells[i].item_count : c->most;
            c->missing += cells[i].item_count == 0;
        } else {
            c->missing += values ? !cells[i].has_value : cells[i].raw.status > 1;
        }
    }
    return S_OK;
}

static void add_gap(struct log_statistics *s, int64_t from, int64_t to)
{
    if (s->gap_count < MAX_GAPS)
        s->gaps[s->gap_count++] = (struct log_gap){from, to};
    s->gaps_in_all++;
}

/* Reads the times of the samples again, because gaps can be found only when the interval is known. */
static HRESULT find_gaps(struct log_reader *log, struct cli_progress *progress, struct log_statistics *s)
{
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc, before = 0;
    HRESULT hr = log_reader_seek(log, INT64_MIN);
    for (uint64_t i = 0; SUCCEEDED(hr) && (hr = log_reader_next(log, &utc, &cells)) == S_OK; i++) {
        if (i > 0 && (utc < before || utc - before > 2 * s->interval))
            add_gap(s, before, utc);
        before = utc;
        log_reader_progress(log, &done, &total);
        cli_progress_show(progress, total + done, 2 * total);
    }
    return hr;
}

/* Reads the log to its end. *out must be freed even after a failure. */
static HRESULT log_statistics_read(struct log_reader *log, struct cli_progress *progress, struct log_statistics *out)
{
    struct sample_distances distances = {0};
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc, before = 0, longest = 0;
    bool back = false;
    HRESULT hr;
    *out = (struct log_statistics){0};
    while ((hr = log_reader_next(log, &utc, &cells)) == S_OK) {
        hr = count_cells(out, log, cells);
        if (SUCCEEDED(hr) && out->samples > 0) {
            longest = utc - before > longest ? utc - before : longest;
            back |= utc < before;
            hr = sample_distances_add(&distances, utc - before);
        }
        if (FAILED(hr))
            break;
        out->first = out->samples == 0 || utc < out->first ? utc : out->first;
        out->last = out->samples == 0 || utc > out->last ? utc : out->last;
        out->samples++;
        before = utc;
        log_reader_progress(log, &done, &total);
        cli_progress_show(progress, done, total);
    }
    out->interval = sample_distances_middle(&distances);
    sample_distances_free(&distances);
    if (log_format_traits(log_reader_info(log)->format)->is_file)
        log_reader_progress(log, &done, &out->bytes);
    if (SUCCEEDED(hr) && (back || longest > 2 * out->interval))
        hr = find_gaps(log, progress, out);
    if (SUCCEEDED(hr)) {
        size_t count;
        (void)log_reader_counters(log, &count);
        if (count > out->counter_count) /* counters in no sample, or only in samples written since the first reading */
            hr = count_cells(out, log, NULL);
    }
    return FAILED(hr) ? hr : S_OK;
}

static void log_statistics_free(struct log_statistics *s)
{
    memory_free(s->counters);
    s->counters = NULL;
}

/* ---- output ---- */

#define VERB "logstat"

static double seconds(int64_t ticks)
{
    return (double)ticks / 1e7;
}

static void print_counters(const struct log_statistics *s, const struct log_counter *counters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct counter_statistics *c = &s->counters[i];
        char *path = log_counter_path(&counters[i]);
        printf("  %s", path ? path : "");
        memory_free(path);
        if (counters[i].wildcard)
            printf("  (%llu to %llu instances)", (unsigned long long)c->fewest, (unsigned long long)c->most);
        if (c->missing > 0)
            printf("  (no value in %llu samples)", (unsigned long long)c->missing);
        printf("\n");
    }
}

static void print_text(const char *path, struct log_reader *log, const struct log_statistics *s, bool all)
{
    const struct log_info *info = log_reader_info(log);
    const struct texts *warnings = log_reader_warnings(log);
    size_t count;
    const struct log_counter *counters = log_reader_counters(log, &count);
    assert(count == s->counter_count);
    printf("%-12s%s\n%-12s%s\n", "File:", path, "Format:", format_name(log));
    if (s->bytes > 0)
        printf("%-12s%llu bytes\n", "Size:", (unsigned long long)s->bytes);
    printf("%-12s%s\n", "Computer:", info->machine ? info->machine : "unknown");
    if (info->comment && info->comment[0])
        printf("%-12s%s\n", "Comment:", info->comment);
    if (info->zone.known) {
        printf("%-12s%s, UTC = local time %+d minutes\n", "Zone:", info->zone.name ? info->zone.name : "unnamed",
               info->zone.bias_minutes);
    } else {
        printf("%-12sunknown, assumed to be UTC = local time %+d minutes\n", "Zone:", info->zone.bias_minutes);
    }
    printf("%-12s%llu\n", "Samples:", (unsigned long long)s->samples);
    if (s->samples > 0) {
        print_log_time("Begin:", s->first, &info->zone);
        print_log_time("End:", s->last, &info->zone);
        printf("%-12s%.3f s\n", "Span:", seconds(s->last - s->first));
    }
    if (s->interval > 0)
        printf("%-12s%.3f s\n", "Interval:", seconds(s->interval));
    for (size_t i = 0; i < s->gap_count; i++) {
        const struct log_gap *gap = &s->gaps[i];
        print_log_time("Gap:", gap->from, &info->zone);
        printf("%-12s%.3f s%s\n", "", seconds(gap->to - gap->from),
               gap->to < gap->from ? ": the time goes backwards, as after a clock change" : " without a sample");
    }
    if (s->gaps_in_all > s->gap_count)
        printf("%-12s%llu more\n", "Gaps:", (unsigned long long)(s->gaps_in_all - s->gap_count));
    for (size_t i = 0; i < warnings->count; i++)
        printf("%-12s%s\n", "Damage:", warnings->items[i]);
    printf("%-12s%zu\n", "Counters:", count);
    if (all)
        print_counters(s, counters, count);
}

static void json_counters(struct json *j, const struct log_statistics *s, const struct log_counter *counters,
                          size_t count)
{
    json_begin(j, "counters", '[');
    for (size_t i = 0; i < count; i++) {
        const struct counter_statistics *c = &s->counters[i];
        char *path = log_counter_path(&counters[i]);
        json_begin(j, NULL, '{');
        json_text(j, "path", path);
        json_integer(j, "type", counters[i].type);
        json_bool(j, "wildcard", counters[i].wildcard);
        if (counters[i].wildcard) {
            json_integer(j, "fewestInstances", (int64_t)c->fewest);
            json_integer(j, "mostInstances", (int64_t)c->most);
        }
        json_integer(j, "missing", (int64_t)c->missing);
        json_end(j, '}');
        memory_free(path);
    }
    json_end(j, ']');
}

static void print_json(struct json *j, const char *path, struct log_reader *log, const struct log_statistics *s)
{
    const struct log_info *info = log_reader_info(log);
    const struct texts *warnings = log_reader_warnings(log);
    size_t count;
    const struct log_counter *counters = log_reader_counters(log, &count);
    assert(count == s->counter_count);
    json_begin(j, NULL, '{');
    json_text(j, "file", path);
    json_text(j, "format", format_name(log));
    json_integer(j, "bytes", (int64_t)s->bytes);
    json_text(j, "computer", info->machine);
    json_text(j, "comment", info->comment);
    json_bool(j, "zoneKnown", info->zone.known);
    json_text(j, "zone", info->zone.name);
    json_integer(j, "biasMinutes", info->zone.bias_minutes);
    json_integer(j, "samples", (int64_t)s->samples);
    if (s->samples > 0) {
        json_log_time(j, "begin", s->first);
        json_log_time(j, "end", s->last);
    }
    json_number(j, "intervalSeconds", seconds(s->interval));
    json_begin(j, "gaps", '[');
    for (size_t i = 0; i < s->gap_count; i++) {
        json_begin(j, NULL, '{');
        json_log_time(j, "from", s->gaps[i].from);
        json_log_time(j, "to", s->gaps[i].to);
        json_end(j, '}');
    }
    json_end(j, ']');
    json_integer(j, "gapsInAll", (int64_t)s->gaps_in_all);
    json_begin(j, "damage", '[');
    for (size_t i = 0; i < warnings->count; i++)
        json_text(j, NULL, warnings->items[i]);
    json_end(j, ']');
    json_counters(j, s, counters, count);
    json_end(j, '}');
}

/* Shows one log. Returns CLI_DONE, CLI_FAILED or CLI_REMARKS. */
static int log_show(const char *path, const char *shown, bool all, struct json *j)
{
    struct log_reader *log;
    struct log_statistics s;
    struct cli_progress progress = {0};
    HRESULT hr = log_reader_open(path, &log);
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)) {
        const struct error_kept why = error_keep(hr);
        const int trace = logstat_trace(path, shown, j);
        if (trace >= 0)
            return trace;
        hr = error_restore(&why);
    }
    if (FAILED(hr))
        return cli_error(VERB, hr);
    hr = log_statistics_read(log, &progress, &s);
    cli_progress_end(&progress);
    int result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    if (SUCCEEDED(hr)) {
        if (j)
            print_json(j, shown, log, &s);
        else
            print_text(shown, log, &s, all);
        result = log_reader_warnings(log)->count > 0 ? CLI_REMARKS : CLI_DONE;
    }
    log_statistics_free(&s);
    log_reader_close(log);
    return result;
}

static int logstat_run(int argc, char **argv)
{
    struct texts files = {0};
    bool as_json = false, all = false;
    const struct option options[] = {{"json", OPTION_FLAG, &as_json}, {"c", OPTION_FLAG, &all}};
    struct json j = {.out = stdout};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result == CLI_DONE && files.count == 0)
        result = cli_usage(VERB, "missing log");
    if (result == CLI_DONE && as_json)
        json_begin(&j, NULL, '[');
    const bool begun = result == CLI_DONE;
    for (size_t i = 0; begun && i < files.count; i++) {
        if (i > 0 && !as_json)
            printf("\n");
        char *shown = format_path(files.items[i]);
        const int one =
            shown ? log_show(files.items[i], shown, all, as_json ? &j : NULL) : cli_error(VERB, E_OUTOFMEMORY);
        memory_free(shown);
        result = result == CLI_FAILED || one == CLI_DONE ? result : one;
    }
    if (begun && as_json)
        json_end(&j, ']');
    texts_free(&files);
    return result;
}

const struct verb verb_logstat = {
    "logstat", "shows what a log contains",
    "openpla logstat LOG [LOG ...] [-c] [--json]\n"
    "\n"
    "Reads whole performance logs and shows their format, computer, time zone, time range, sample interval, gaps,\n"
    "corruption and counters. A log in a database is SQL:DSN!SET. For an event trace (ETL) it shows the session, "
    "clock,\n"
    "time range, events per event provider, lost events and corruption.\n"
    "\n"
    "  -c        list the counters\n"
    "  --json    print an array with one object per log, counters included\n"
    "\n"
    "The interval is the median of all intervals; a gap is an interval of more than twice that.\n"
    "Exit code 3: a log is corrupt.\n",
    logstat_run};
