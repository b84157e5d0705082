/* SPDX-License-Identifier: MIT */
/* openpla relog: converts logs to another format, optionally with only some counters, a time range, or every nth
   sample. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "cli/output.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/pdh_types.h"
#include "engine/logs/sql_log.h"
#include "engine/report/columns.h"

#include <stdio.h>
#include <string.h>

#define VERB             "relog"
#define TICKS_PER_MINUTE (60 * INT64_C(10000000))

struct relog {
    struct texts files, counters, counter_files, name_files, begin, end;
    const char *format_text, *output;
    uint32_t every;
    bool append, yes, as_json;
    bool query;  /* -q, or no -o: show the contents of the logs and copy nothing */
    bool listed; /* -q: list the counters */

    const struct log_format_traits *format;
    struct counter_names *names; /* translates counter names if -c is in another language than the log, or if the
                                    output has English names; NULL if not needed */
    struct filter filter;
    struct inputs inputs;
    struct columns columns;
    struct log_zone zone; /* zone of the first input */
    struct log_writer *writer;
    char *path, *shown; /* path of the output, and the path as the user wrote it */
    struct output file; /* used if the format is a file format */
    bool appends;       /* the output is appended to an existing file */
    bool valued;        /* at least one written sample has a value */
    bool has_warnings;  /* a warning about the output was shown */
    uint64_t written;
    int64_t first, last; /* times of the first and last written sample */
    struct cli_progress progress;
};

static int failed(struct relog *r, HRESULT hr)
{
    cli_progress_end(&r->progress);
    return cli_error(VERB, hr);
}

static int choose_format(struct relog *r)
{
    char words[LOG_WORDS_BYTES];
    log_format_words(LOG_FOR_COPIES, ", ", words, sizeof words);
    r->format = log_format_by_word(r->format_text ? r->format_text : "BIN");
    if (!r->format)
        return cli_usage(VERB, "-f: unknown format '%s': expected one of %s", r->format_text, words);
    if (r->append && r->format->is_export)
        return cli_usage(VERB, "-a: cannot append to a file of the format %s (merge the logs: relog LOG LOG ...)",
                         r->format->word);
    return CLI_DONE;
}

/* Checks the output's name. Without -f, the format is BIN, regardless of the extension; an extension of another format
   is then an error, because other programs would reject the file. With -f, any extension is accepted, as in Windows'
   relog. */
static int check_name(const struct relog *r)
{
    /* Extensions that are rejected without -f: other extensions of formats that relog writes, and extensions of formats
       that it cannot write. */
    static const struct {
        const char *extension, *word;
    } others[] = {{".feather", "ARROW"},    {".ipc", "ARROW"}, {".ndjson", "JSONL"}, {".line", "INFLUX"},
                  {".prom", "OPENMETRICS"}, {".json", NULL},   {".parquet", NULL},   {".etl", NULL},
                  {".xlsx", NULL},          {".xml", NULL}};
    const char *extension = path_extension(r->output);
    const struct log_format_traits *format = *extension ? log_format_by_extension(extension) : NULL;
    char words[LOG_WORDS_BYTES];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].word && text_equal_nocase(extension, others[i].extension))
            format = log_format_by_word(others[i].word);
    if (sql_source_is(r->output))
        return cli_usage(VERB, "-o '%s': this is a database, but the default format is BIN (use -f SQL)", r->output);
    if (format && format != r->format)
        return cli_usage(VERB, "-o '%s': the default format is BIN (use -f %s, or the extension %s)", r->output,
                         format->word, r->format->extension);
    log_format_words(LOG_FOR_COPIES, ", ", words, sizeof words);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_equal_nocase(extension, others[i].extension))
            return cli_usage(VERB, "-o '%s': cannot write this format (use -f with one of %s)", r->output, words);
    return CLI_DONE;
}

/* Adds "SQL:" before a name such as "DSN!set". */
static HRESULT choose_path(struct relog *r)
{
    if (r->output) {
        const bool prefix = !r->format->is_file && !sql_source_is(r->output);
        r->path = prefix ? text_format("SQL:%s", r->output) : text_copy(r->output);
        r->shown = r->path ? format_path(r->path) : NULL;
        return r->shown ? S_OK : E_OUTOFMEMORY;
    }
    return S_OK;
}

static HRESULT read_filter(struct relog *r)
{
    HRESULT hr = S_OK;
    if (r->counters.count + r->counter_files.count || (r->format->english && !r->query))
        hr = counter_names_create(&r->name_files, &r->names);
    r->filter.names = r->inputs.names = r->names;
    for (size_t i = 0; i < r->counter_files.count && SUCCEEDED(hr); i++)
        hr = lines_read(r->counter_files.items[i], &r->counters);
    for (size_t i = 0; i < r->counters.count && SUCCEEDED(hr); i++)
        hr = filter_add(&r->filter, r->counters.items[i]);
    return hr;
}

/* Reads a time in the time zone of the first log. */
static int read_time(const struct relog *r, const char *option, const struct texts *words, int64_t *out)
{
    int64_t local = 0;
    const int result = cli_time(VERB, option, words, &local);
    if (result == CLI_DONE && words->count != 0)
        *out = local + r->zone.bias_minutes * TICKS_PER_MINUTE;
    return result;
}

static HRESULT check_interrupt(void *user)
{
    (void)user;
    return interrupt_asked(NULL) ? error_set(HRESULT_FROM_WIN32(ERROR_CANCELLED), "interrupted by the user") : S_OK;
}

/* Reads all samples. Finds all instances, because the header of some formats lists them, and counts the samples for
   -q. */
static HRESULT look_through(struct relog *r)
{
    size_t at;
    uint64_t done, total;
    HRESULT hr = inputs_rewind(&r->inputs);
    while (SUCCEEDED(hr) && (hr = inputs_next(&r->inputs, &at)) == S_OK) {
        hr = columns_learn(&r->columns, &r->inputs, at);
        if (SUCCEEDED(hr))
            hr = check_interrupt(NULL);
        inputs_progress(&r->inputs, &done, &total);
        cli_progress_show(&r->progress, done, r->query ? total : 2 * total);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* Returns true if a log has raw values. In such a log, only the samples contain the instances of a counter with a
   wildcard. */
static bool names_appear_late(const struct relog *r)
{
    for (size_t i = 0; i < r->inputs.count; i++)
        if (!log_reader_info(r->inputs.items[i].reader)->has_values)
            return true;
    return false;
}

static HRESULT begin_file(struct relog *r, bool append)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->inputs.count && SUCCEEDED(hr); i++)
        hr = output_check_input(r->path, r->inputs.items[i].path);
    if (FAILED(hr))
        return hr;
    return output_begin(&r->file, r->path, append ? OUTPUT_CONTINUE : r->yes ? OUTPUT_REPLACE : OUTPUT_ASK);
}

static HRESULT write_samples(struct relog *r)
{
    uint64_t done, total, samples = 0;
    const bool second = names_appear_late(r);
    size_t at;
    HRESULT hr = inputs_rewind(&r->inputs);
    while (SUCCEEDED(hr) && (hr = inputs_next(&r->inputs, &at)) == S_OK) {
        const int64_t utc = r->inputs.items[at].utc;
        if (FAILED(hr = check_interrupt(NULL)))
            break;
        if (samples++ % r->every != 0)
            continue;
        hr = columns_fill(&r->columns, &r->inputs, at);
        if (SUCCEEDED(hr))
            hr = log_writer_append(r->writer, utc, r->columns.cells);
        for (size_t i = 0; SUCCEEDED(hr) && !r->valued && i < r->columns.counters.count; i++)
            r->valued = r->columns.cells[i].has_value;
        if (SUCCEEDED(hr)) {
            r->first = r->written == 0 ? utc : r->first;
            r->last = utc;
            r->written++;
        }
        inputs_progress(&r->inputs, &done, &total);
        cli_progress_show(&r->progress, second ? total + done : done, second ? 2 * total : total);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* Prints the writer's warnings, for example that a database was unreachable for a while. */
static void print_writer_warnings(struct relog *r)
{
    char *text;
    while (log_writer_warning(r->writer, &text) == S_OK) {
        cli_progress_end(&r->progress);
        fprintf(cli_messages(), "openpla " VERB ": %s: %s\n", r->shown, text);
        memory_free(text);
        r->has_warnings = true;
    }
}

static HRESULT write_log(struct relog *r)
{
    const struct log_info *info = log_reader_info(r->inputs.items[0].reader);
    const bool is_file = r->format->is_file;
    /* If the format is a file format, output_begin has created the file to write. The log writer may replace this file,
       because it is empty unless the output is appended to an existing log. */
    const struct log_options options = {.append = is_file ? r->append && r->appends : r->append,
                                        .replace = is_file && !r->appends,
                                        .comment = info->comment,
                                        .zone = r->zone,
                                        .check = check_interrupt,
                                        .copy_of = r->inputs.count == 1 ? r->inputs.items[0].reader : NULL};
    uint64_t samples;
    int64_t first, last;
    size_t at;
    HRESULT hr = inputs_rewind(&r->inputs);
    if (SUCCEEDED(hr))
        hr = inputs_next(&r->inputs, &at); /* the output starts with the first sample */
    if (hr == S_FALSE && r->begin.count + r->end.count != 0)
        hr =
            error_set((HRESULT)PDH_NO_DATA, "No data to return: the logs contain no sample in the time range (-b, -e)");
    if (FAILED(hr))
        return hr;
    inputs_range(&r->inputs, &samples, &first, &last);
    hr = log_writer_create(r->format->format, is_file ? output_path(&r->file) : r->path, r->columns.counters.items,
                           r->columns.counters.count, first, &options, &r->writer);
    if (FAILED(hr))
        return hr;
    hr = write_samples(r);
    print_writer_warnings(r);
    HRESULT closed = log_writer_close(r->writer);
    return FAILED(hr) ? hr : closed;
}

static HRESULT copy_logs(struct relog *r)
{
    r->appends = r->append && file_exists(r->path);
    HRESULT hr = r->format->is_file ? begin_file(r, r->append) : S_OK;
    if (FAILED(hr) || !r->format->is_file)
        return FAILED(hr) ? hr : write_log(r);
    hr = output_failed(&r->file, write_log(r));
    return SUCCEEDED(hr) ? output_finish(&r->file) : hr;
}

static void print_range(uint64_t samples, int64_t first, int64_t last, const struct log_zone *zone)
{
    char *begin = format_time(first, zone), *end = format_time(last, zone);
    if (samples > 0 && begin && end)
        printf("\nBegin:    %s\nEnd:      %s\n", begin, end);
    printf("Samples:  %llu\n", (unsigned long long)samples);
    memory_free(begin);
    memory_free(end);
}

static void print_inputs(const struct relog *r)
{
    uint64_t samples;
    int64_t first, last;
    inputs_range(&r->inputs, &samples, &first, &last);
    printf("\nInput\n----------------\nFile(s):\n");
    for (size_t i = 0; i < r->inputs.count; i++)
        printf("     %s (%s)\n", r->inputs.items[i].shown, format_name(r->inputs.items[i].reader));
    print_range(samples, first, last, &r->zone);
}

static void json_range(struct json *j, uint64_t samples, int64_t first, int64_t last)
{
    char *begin = format_iso_time(first), *end = format_iso_time(last);
    json_text(j, "begin", samples > 0 ? begin : NULL);
    json_text(j, "end", samples > 0 ? end : NULL);
    json_integer(j, "samples", (int64_t)samples);
    memory_free(begin);
    memory_free(end);
}

static void print_json(const struct relog *r)
{
    struct json j = {.out = stdout};
    uint64_t samples;
    int64_t first, last;
    inputs_range(&r->inputs, &samples, &first, &last);
    json_begin(&j, NULL, '{');
    json_begin(&j, "input", '{');
    json_begin(&j, "files", '[');
    for (size_t i = 0; i < r->inputs.count; i++) {
        const struct texts *warnings = log_reader_warnings(r->inputs.items[i].reader);
        json_begin(&j, NULL, '{');
        json_text(&j, "file", r->inputs.items[i].shown);
        json_text(&j, "format", format_name(r->inputs.items[i].reader));
        json_begin(&j, "remarks", '[');
        for (size_t k = 0; k < warnings->count; k++)
            json_text(&j, NULL, warnings->items[k]);
        json_end(&j, ']');
        json_end(&j, '}');
    }
    json_end(&j, ']');
    json_range(&j, samples, first, last);
    json_end(&j, '}');
    if (!r->query) {
        json_begin(&j, "output", '{');
        json_text(&j, "file", r->shown);
        json_text(&j, "format", r->format->name);
        json_range(&j, r->written, r->first, r->last);
        json_end(&j, '}');
    }
    json_begin(&j, "counters", '[');
    for (size_t i = 0; i < r->columns.counters.count; i++) {
        char *path = log_counter_path(&r->columns.counters.items[i]);
        json_text(&j, NULL, path);
        memory_free(path);
    }
    json_end(&j, ']');
    json_end(&j, '}');
}

/* For -q: prints the counters, or writes them as a list that -cf can read. */
static HRESULT list_counters(struct relog *r)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < r->columns.counters.count; i++) {
        char *path = log_counter_path(&r->columns.counters.items[i]);
        b.failed |= !path;
        text_buffer_add(&b, path ? path : "");
        text_buffer_add(&b, !r->output ? "\n" : "\r\n");
        memory_free(path);
    }
    char *text = text_buffer_take(&b);
    HRESULT hr = text ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && r->output) {
        hr = begin_file(r, false);
        if (SUCCEEDED(hr))
            hr = output_failed(&r->file, file_store(output_path(&r->file), text, strlen(text)));
        if (SUCCEEDED(hr))
            hr = output_finish(&r->file);
    } else if (SUCCEEDED(hr) && !r->as_json) {
        print_inputs(r);
        if (r->listed)
            printf("\n%s", text);
    }
    memory_free(text);
    return hr;
}

/* Prints how many names were translated, if the output has English names or a pattern was translated. */
static void print_names(const struct relog *r)
{
    bool translated = r->format->english && !r->query;
    char *text = NULL;
    for (size_t i = 0; i < r->filter.count; i++)
        translated |= r->filter.patterns[i].translated;
    if (translated && inputs_describe_names(&r->inputs, &text) == S_OK)
        fprintf(cli_messages(), "openpla " VERB ": %s\n", text);
    memory_free(text);
}

/* Prints warnings about corrupt inputs and about patterns that matched nothing. */
static int relog_print_warnings(const struct relog *r)
{
    int result = r->has_warnings ? CLI_REMARKS : CLI_DONE;
    print_names(r);
    if (!r->query && r->format->values && r->written && !r->valued) {
        fprintf(cli_messages(),
                "openpla " VERB ": '%s': no value can be computed (a rate needs two consecutive samples)\n", r->shown);
        result = CLI_REMARKS;
    }
    for (size_t i = 0; i < r->inputs.count; i++) {
        const struct texts *warnings = log_reader_warnings(r->inputs.items[i].reader);
        for (size_t k = 0; k < warnings->count; k++) {
            fprintf(cli_messages(), "openpla " VERB ": %s: %s\n", r->inputs.items[i].shown, warnings->items[k]);
            result = CLI_REMARKS;
        }
    }
    for (size_t i = 0; i < r->filter.count; i++) {
        if (!r->filter.patterns[i].used) {
            char *nearest = counter_nearest_in_logs(&r->inputs, r->filter.patterns[i].text);
            fprintf(cli_messages(), "openpla " VERB ": '%s' matches no counter of the input%s\n",
                    r->filter.patterns[i].text, nearest ? nearest : "");
            memory_free(nearest);
            result = CLI_REMARKS;
        }
    }
    return result;
}

static void print_result(struct relog *r)
{
    cli_progress_end(&r->progress);
    if (r->as_json) {
        print_json(r);
    } else if (!r->query) {
        print_inputs(r);
        printf("\n100.00%%\n\nOutput\n----------------\nFile:     %s\n", r->shown);
        print_range(r->written, r->first, r->last, &r->zone);
    }
}

static int relog_copy(struct relog *r)
{
    HRESULT hr = choose_path(r);
    if (SUCCEEDED(hr))
        hr = read_filter(r);
    if (SUCCEEDED(hr))
        hr = inputs_open(&r->inputs, &r->files);
    if (FAILED(hr))
        return failed(r, hr);
    /* If a log has no time zone, its times do not change, because the same bias is used for reading and writing. */
    r->zone = log_reader_info(r->inputs.items[0].reader)->zone;
    r->zone.known = true;
    int result = read_time(r, "b", &r->begin, &r->inputs.from);
    if (result == CLI_DONE)
        result = read_time(r, "e", &r->end, &r->inputs.to);
    if (result != CLI_DONE)
        return result;
    r->columns.filter = &r->filter;
    r->columns.values = !r->query && r->format->values; /* if false, a counter with a wildcard is listed as one
                                                           counter */
    r->columns.raw = r->query || r->format->raw;
    hr = columns_begin(&r->columns, &r->inputs);
    if (SUCCEEDED(hr) && (r->query || names_appear_late(r))) {
        hr = look_through(r);
        if (SUCCEEDED(hr))
            hr = columns_arrange(&r->columns);
    }
    if (SUCCEEDED(hr) && r->columns.counters.count == 0 && r->filter.count > 0) {
        char *nearest = counter_nearest_in_logs(&r->inputs, r->filter.patterns[0].text);
        hr = error_set((HRESULT)PDH_NO_DATA, "No data to return: '%s' matches no counter of the input%s%s (-c)",
                       r->filter.patterns[0].text, nearest ? nearest : "",
                       r->filter.count > 1 ? ", nor do the other paths" : "");
        memory_free(nearest);
    }
    if (FAILED(hr))
        return failed(r, hr);
    hr = r->query ? list_counters(r) : copy_logs(r);
    if (FAILED(hr))
        return failed(r, hr);
    print_result(r);
    result = relog_print_warnings(r);
    if (result != CLI_FAILED && !r->as_json)
        printf("\nThe command completed successfully.\n");
    return result;
}

static int relog_run(int argc, char **argv)
{
    struct relog r = {.every = 1};
    struct texts arguments = {0};
    const struct option options[] = {
        {"a", OPTION_FLAG, &r.append},
        {"c", OPTION_TEXTS, &r.counters},
        {"cf", OPTION_TEXTS, &r.counter_files},
        {"names", OPTION_TEXTS, &r.name_files},
        {"f", OPTION_TEXT, &r.format_text},
        {"t", OPTION_COUNT, &r.every},
        {"o", OPTION_TEXT, &r.output},
        {"b", OPTION_TEXTS, &r.begin},
        {"e", OPTION_TEXTS, &r.end},
        {"q", OPTION_FLAG, &r.listed},
        {"y", OPTION_FLAG, &r.yes},
        {"i", OPTION_TEXTS, &r.files},
        {"json", OPTION_FLAG, &r.as_json},
    };
    cli_speak_as_windows(argc, argv);
    int result = options_with_settings(VERB, argc, argv, &arguments);
    if (result == CLI_DONE) {
        result = options_parse(VERB, (int)arguments.count, arguments.items, options, sizeof options / sizeof *options,
                               &r.files);
    }
    if (result == CLI_DONE)
        result = choose_format(&r);
    if (result == CLI_DONE && r.output && !r.format_text && !r.listed)
        result = check_name(&r);
    if (result == CLI_DONE && r.files.count == 0)
        result = cli_usage(VERB, "missing log");
    if (result == CLI_DONE && r.name_files.count && !(r.counters.count + r.counter_files.count) && !r.format->english)
        result = cli_usage(VERB, "-names: requires -c, -cf, or -f INFLUX or OPENMETRICS");
    if (result == CLI_DONE) {
        r.query = r.listed || !r.output;
        const bool begun = interrupt_begin();
        result = begun ? relog_copy(&r) : cli_error(VERB, error_set(E_FAIL, "cannot wait for Ctrl+C"));
        output_close(&r.file);
        if (begun)
            interrupt_end();
    }
    inputs_close(&r.inputs);
    columns_free(&r.columns);
    filter_free(&r.filter);
    counter_names_free(r.names);
    struct texts *const texts[] = {&r.files, &r.counters, &r.counter_files, &r.name_files,
                                   &r.begin, &r.end,      &arguments};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        texts_free(texts[i]);
    memory_free(r.path);
    memory_free(r.shown);
    return result;
}

const struct verb verb_relog = {
    "relog", "converts, filters and merges logs",
    "openpla relog LOG [LOG ...] [options]\n"
    "\n"
    "Converts performance logs to another format. Several logs are merged in time order; a name may contain * and ?.\n"
    "A log in a database is SQL:DSN!SET. Without -o it shows the time range.\n"
    "\n"
    "  -o FILE           write to this file, or with -f SQL to DSN!SET\n"
    "  -f CSV|TSV|BIN|SQL|ARROW|JSONL|INFLUX|OPENMETRICS  output format, default BIN; required if FILE has the\n"
    "                    extension of another format. For other programs: Apache Arrow (.arrow), JSON lines (.jsonl),\n"
    "                    InfluxDB's line protocol (.lp), OpenMetrics with timestamps for Prometheus (.om)\n"
    "  -a                append to an existing CSV, TSV or BIN file with the same counters (SQL always does)\n"
    "  -c PATH ...       only these counters; a path may contain *, may omit the computer, and may be in English or "
    "in\n"
    "                    the log's language\n"
    "  -cf FILE          only the counters in this file, one per line\n"
    "  -names FILE ...   translated counter names, for -c, -cf and the names in INFLUX and OPENMETRICS: an export\n"
    "                    (.reg) of the registry key Perflib of the computer that wrote the log, or its files\n"
    "                    perfcNNN.dat\n"
    "  -t N              every Nth sample; rates are then means over the whole interval\n"
    "  -b TIME           start time, \"12/31/2026 23:59:59\" or \"2026-12-31 23:59:59\" in the log's time zone\n"
    "  -e TIME           end time\n"
    "  -q                only show the counters and the time range; with -o: write the list of counters\n"
    "  -config FILE      read more of the command line from this file, as options or as \"[option]\" and lines of "
    "values\n"
    "  -i LOG ...        logs to read, for use in a settings file\n"
    "  -y                overwrite an existing file without asking\n"
    "  --json            print the result as JSON\n"
    "\n"
    "The output is written to FILE.partial and renamed when it is complete; Ctrl+C deletes it.\n"
    "Exit code 3: done, but a log was corrupt or a -c matched nothing; a message names it.\n",
    relog_run};
