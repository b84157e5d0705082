/* SPDX-License-Identifier: MIT */
/* openpla typeperf: writes live counters to the terminal or to a log, and lists counters. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "cli/counters/remote_counters.h"
#include "cli/counters/sample_pace.h"
#include "cli/output.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pdh/counter_query.h"

#include <stdio.h>
#include <string.h>

static const char verb_name[] = "typeperf";
static const char done_text[] = "The command completed successfully.";
static const char help_text[] =
    "openpla typeperf COUNTER ... | -cf FILE   show or log counters\n"
    "openpla typeperf -q [OBJECT]              list counters\n"
    "openpla typeperf -qx [OBJECT]             list counters with every instance\n"
    "\n"
    "  COUNTER       a counter path, such as \\Processor(_Total)\\% Processor Time; * and ? match all that exist now\n"
    "  -c COUNTER ...  the same, as in other tools\n"
    "  -cf FILE      counters from a file, one per line\n"
    "  -si TIME      sample interval [[hh:]mm:]ss, with fractions of a second as in 0.25 (default 1);\n"
    "                0: as fast as possible, at most every 10 ms. Late samples are skipped\n"
    "  -sc NUMBER    number of samples (default: until Ctrl+C)\n"
    "  -o FILE       write a log instead of showing; SQL:DSN!NAME is the log set NAME of a database;\n"
    "                with -q and -qx: write the list, for use with -cf\n"
    "  -f CSV|TSV|BIN|SQL  log format, default CSV; BIN and SQL require -o\n"
    "  -y            overwrite an existing file without asking\n"
    "  -s COMPUTER   the computer for counters whose path contains no computer\n"
    "  -u USER *     log on to other computers with this account; asks for the password, or reads it from standard\n"
    "                input; default: the account that openpla remote has stored for the computer\n"
    "  -config FILE  read options from a file\n"
    "  --json        print one JSON object per sample and line; with -q and -qx an array with path, object, counter,\n"
    "                type, unit, help and source (the data from which OpenPLA computes it) of each counter\n"
    "\n"
    "A log (-o) is written sample by sample; Ctrl+C completes it.\n"
    "Messages go to stdout, as in Windows' typeperf; with --json, they go to stderr. Counters that cannot be\n"
    "added are listed on stderr if it is a terminal, and otherwise after the samples; the others are collected.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong command line, 3 done without some of the counters.\n";

struct settings {
    const char *counter_file, *output, *format, *interval, *machine;
    uint32_t samples; /* 0 means no limit */
    bool yes, list, list_instances, json;
    struct texts counters, account;
    uint64_t interval_ms;
    const struct log_format_traits *log;
};

static int check_format(struct settings *s)
{
    bool is_sql = s->output && !strncmp(s->output, "SQL:", 4);
    const char *name = s->format ? s->format : is_sql ? "SQL" : "CSV";
    char words[LOG_WORDS_BYTES];
    log_format_words(LOG_FOR_SAMPLES, ", ", words, sizeof words);
    s->log = log_format_by_word(name);
    if (!s->log)
        s->log = log_format_by_extension(name); /* "blg" means BIN */
    if (s->log && s->log->is_export)
        return cli_usage(verb_name, "-f: only relog can write '%s': expected one of %s (use openpla relog -f %s)", name,
                         words, s->log->word);
    if (!s->log)
        return cli_usage(verb_name, "-f: unknown format '%s': expected one of %s", name, words);
    if (!s->output && !s->log->separator)
        return cli_usage(verb_name, "-f %s needs -o", name);
    if (s->output && is_sql == s->log->is_file)
        return cli_usage(verb_name, "-o: invalid output '%s' for -f %s", s->output, name);
    if (s->json && s->output)
        return cli_usage(verb_name, "--json cannot be combined with -o");
    return CLI_DONE;
}

static int typeperf_parse(int argc, char **argv, struct settings *s)
{
    const struct option options[] = {
        {"c", OPTION_TEXTS, &s->counters},       {"cf", OPTION_TEXT, &s->counter_file},
        {"o", OPTION_TEXT, &s->output},          {"f", OPTION_TEXT, &s->format},
        {"si", OPTION_TEXT, &s->interval},       {"sc", OPTION_COUNT, &s->samples},
        {"s", OPTION_TEXT, &s->machine},         {"y", OPTION_FLAG, &s->yes},
        {"u", OPTION_TEXTS, &s->account},        {"q", OPTION_FLAG, &s->list},
        {"qx", OPTION_FLAG, &s->list_instances}, {"json", OPTION_FLAG, &s->json},
    };
    int result = options_parse(verb_name, argc, argv, options, sizeof options / sizeof *options, &s->counters);
    if (result != CLI_DONE)
        return result;
    if (s->account.count > 2 || (s->account.count == 2 && strcmp(s->account.items[1], "*") != 0))
        return cli_usage(
            verb_name,
            "-u: expected an account, and optionally * (put the counters before -u, or after another option)");
    if ((s->list || s->list_instances) && s->json && s->output)
        return cli_usage(verb_name, "--json cannot be combined with -o");
    if (s->list || s->list_instances)
        return s->counters.count > 1 ? cli_usage(verb_name, "-q and -qx accept one object") : CLI_DONE;
    s->interval_ms = 1000;
    if (s->interval && !pace_parse_interval(s->interval, &s->interval_ms))
        return cli_usage(verb_name, "-si: invalid time '%s': expected, for example, 5, 0.25 or 1:30", s->interval);
    if (s->counter_file) {
        HRESULT hr = lines_read(s->counter_file, &s->counters);
        if (FAILED(hr))
            return cli_error(verb_name, hr);
    }
    if (!s->counters.count)
        return cli_usage(verb_name, "missing counter");
    return check_format(s);
}

static HRESULT may_write(const struct settings *s)
{
    if (s->yes || !file_exists(s->output) || cli_may_overwrite(s->output))
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)", s->output);
}

static HRESULT write_list(const struct settings *s, const char *object)
{
    struct texts paths = {0};
    struct text_buffer b = {0};
    HRESULT hr = counter_list_paths(s->machine, object, s->list_instances, &paths);
    for (size_t i = 0; SUCCEEDED(hr) && i < paths.count; i++)
        text_buffer_format(&b, "%s\r\n", paths.items[i]);
    if (SUCCEEDED(hr))
        hr = b.failed ? E_OUTOFMEMORY : may_write(s);
    if (SUCCEEDED(hr))
        hr = file_store(s->output, b.text ? b.text : "", b.length);
    text_buffer_free(&b);
    texts_free(&paths);
    return hr;
}

static int no_object(const struct settings *s, const char *object, HRESULT hr)
{
    struct counter_nearest n = {0};
    const struct error_kept why = error_keep(hr);
    char *nearest = s->machine || FAILED(host_pdh(&n.pdh)) ? NULL : counter_nearest_object_text(&n, object);
    if (s->json)
        fprintf(stderr, "openpla %s: %s%s (0x%08X)\n", verb_name, why.text, nearest ? nearest : "", (unsigned)hr);
    else /* first Windows' message, then OpenPLA's message */
        printf("\r\nError: The specified object was not found on the computer.\r\n%s%s (0x%08X)\r\n", why.text,
               nearest ? nearest : "", (unsigned)hr);
    memory_free(nearest);
    counter_nearest_free(&n);
    return CLI_FAILED;
}

static int typeperf_list(const struct settings *s)
{
    const char *object = s->counters.count ? s->counters.items[0] : NULL;
    HRESULT hr = s->output ? write_list(s, object) : counter_list_show(s->machine, object, s->list_instances, s->json);
    if (hr == (HRESULT)PDH_CSTATUS_NO_OBJECT && object)
        return no_object(s, object, hr);
    if (FAILED(hr))
        return cli_error(verb_name, hr);
    if (!s->json)
        printf("\r\n%s\r\n", done_text);
    return CLI_DONE;
}

/* The live output: the names of the counters, and the source of the samples. */
struct live {
    const struct pdh_api *pdh;
    struct counter_query *query;
    struct texts names;
    struct texts refused; /* why counters of the command line are missing */
    bool failed;          /* an entry of `refused` could not be allocated */
    struct counter_nearest nearest;
};

static void put_header(const struct live *l, const struct log_format_traits *format)
{
    printf("\r\n\"(PDH-%s 4.0)\"", format->name);
    for (size_t i = 0; i < l->names.count; i++)
        printf("%c\"%s\"", format->separator, l->names.items[i]);
    fputs("\r\n", stdout);
}

static void put_row(const struct live *l, int64_t utc, const struct log_cell *cells, char separator)
{
    struct calendar_time t = clock_calendar(clock_utc_to_local(utc));
    printf("\"%02d/%02d/%04d %02d:%02d:%02d.%03d\"", t.month, t.day, t.year, t.hour, t.minute, t.second, t.millisecond);
    for (size_t i = 0; i < l->names.count; i++)
        if (cells[i].has_value)
            printf("%c\"%.6f\"", separator, cells[i].value);
        else
            printf("%c\" \"", separator);
    fputs("\r\n", stdout);
}

static HRESULT put_json(const struct live *l, int64_t utc, const struct log_cell *cells)
{
    struct json json = {.out = stdout, .compact = true};
    char *time = format_iso_time(utc);
    if (!time)
        return E_OUTOFMEMORY;
    json_begin(&json, NULL, '{');
    json_text(&json, "time", time);
    json_begin(&json, "values", '[');
    for (size_t i = 0; i < l->names.count; i++) {
        json_begin(&json, NULL, '{');
        json_text(&json, "counter", l->names.items[i]);
        if (cells[i].has_value)
            json_number(&json, "value", cells[i].value);
        else
            json_text(&json, "value", NULL);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    memory_free(time);
    return S_OK;
}

static HRESULT typeperf_show(const struct settings *s, const struct live *l)
{
    int64_t utc;
    const struct log_cell *cells;
    struct sample_pace pace = pace_begin(s->interval_ms);
    HRESULT hr = pace_wait(&pace) ? counter_query_sample(l->query, &utc, &cells) : S_OK; /* the first sample is the base
                                                                                            of rates */
    pace_taken(&pace);
    if (!s->json)
        put_header(l, s->log);
    for (uint32_t n = 0; SUCCEEDED(hr) && (!s->samples || n < s->samples) && !ferror(stdout); n++) {
        fflush(stdout);
        if (!pace_wait(&pace))
            break;
        hr = counter_query_sample(l->query, &utc, &cells);
        pace_taken(&pace);
        if (SUCCEEDED(hr) && s->json)
            hr = put_json(l, utc, cells);
        else if (SUCCEEDED(hr))
            put_row(l, utc, cells, s->log->separator);
    }
    return hr;
}

static HRESULT write_samples(const struct settings *s, const struct live *l, PDH_HLOG log)
{
    struct sample_pace pace = pace_begin(s->interval_ms);
    PDH_STATUS status = 0;
    for (uint32_t n = 0; !status && (!s->samples || n < s->samples) && pace_wait(&pace); n++) {
        status = l->pdh->PdhUpdateLogW(log, NULL);
        pace_taken(&pace);
    }
    return status ? pdh_error(status, s->output) : S_OK;
}

static HRESULT write_log(const struct settings *s, const struct live *l)
{
    WCHAR *path;
    PDH_HLOG log = NULL;
    DWORD type = s->log->pdh_type, access = PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS;
    HRESULT hr = s->log->is_file ? may_write(s) : S_OK;
    if (SUCCEEDED(hr))
        hr = text_to_utf16(s->output, &path, NULL);
    if (FAILED(hr))
        return hr;
    PDH_STATUS status = l->pdh->PdhOpenLogW(path, access, &type, counter_query_handle(l->query), 0, NULL, &log);
    memory_free(path);
    if (status)
        return pdh_error(status, s->output);
    hr = write_samples(s, l, log);
    status = l->pdh->PdhCloseLog(log, 0);
    return SUCCEEDED(hr) && status ? pdh_error(status, s->output) : hr;
}

static void put_refusals(const struct live *l, FILE *to)
{
    for (size_t i = 0; i < l->refused.count; i++)
        fprintf(to, "%s%s", l->refused.items[i], to == stdout ? "\r\n" : "\n");
}

static void counter_refuse(void *user, HRESULT reason, const char *path, const char *text)
{
    struct live *l = user;
    const struct error_kept why = error_keep(reason);
    char *nearest = counter_nearest_text(&l->nearest, path, reason);
    char *line =
        nearest ? text_format("%s%s (0x%08X)", error_text(error_restore(&why)), nearest, (unsigned)reason) : NULL;
    (void)text;
    memory_free(nearest);
    l->failed |= !line || FAILED(texts_add_owned(&l->refused, line));
}

static HRESULT open_counters(const struct settings *s, struct live *l)
{
    struct texts paths = {0};
    HRESULT hr = host_pdh(&l->pdh);
    l->nearest.pdh = l->pdh;
    for (size_t i = 0; i < s->counters.count && SUCCEEDED(hr); i++) {
        char *path = counter_full_path(s->counters.items[i], s->machine);
        hr = path ? texts_add_owned(&paths, path) : E_OUTOFMEMORY;
    }
    const struct counter_query_request request = {
        .pdh = l->pdh, .paths = &paths, .values = true, .present = true, .refused = counter_refuse, .user = l};
    if (SUCCEEDED(hr))
        hr = counter_query_open(&request, &l->query);
    size_t count = 0;
    const struct log_counter *columns = SUCCEEDED(hr) ? counter_query_columns(l->query, &count) : NULL;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        char *name = log_counter_path(&columns[i]);
        hr = name ? texts_add_owned(&l->names, name) : E_OUTOFMEMORY;
    }
    texts_free(&paths);
    return SUCCEEDED(hr) && l->failed ? E_OUTOFMEMORY : hr;
}

static int no_counter(const struct settings *s, const struct live *l)
{
    if (s->json)
        fprintf(stderr, "openpla %s: no counter could be added\n", verb_name);
    else
        printf("\r\nError: No valid counters.\r\n"); /* Windows' message */
    put_refusals(l, cli_messages());
    return CLI_FAILED;
}

static void put_end(const struct settings *s, const struct live *l, bool refusals_wait)
{
    if (refusals_wait && l->refused.count) {
        fputs("\r\n", stdout);
        put_refusals(l, stdout);
    }
    /* Windows' program prints the spaces after "please wait..." to overwrite the line. */
    if (!s->output)
        printf("\r\nExiting, please wait...                         \r\n");
    printf("%s\r\n", done_text);
}

static int typeperf_collect(const struct settings *s)
{
    struct live l = {0};
    int result = CLI_DONE;
    HRESULT hr = open_counters(s, &l);
    /* Scripts expect the first row at a fixed line of stdout, so print the missing counters at the end. */
    const bool refusals_wait = !s->json && !s->output && !screen_is_terminal(stderr);
    if (FAILED(hr)) {
        result = cli_error(verb_name, hr);
    } else if (!l.names.count) {
        result = no_counter(s, &l);
    } else if (!interrupt_begin()) {
        result = cli_error(verb_name, E_FAIL);
    } else {
        if (!refusals_wait)
            put_refusals(&l, screen_is_terminal(stderr) ? stderr : cli_messages());
        hr = s->output ? write_log(s, &l) : typeperf_show(s, &l);
        result = FAILED(hr) ? cli_error(verb_name, hr) : l.refused.count ? CLI_REMARKS : CLI_DONE;
        if (SUCCEEDED(hr) && !s->json)
            put_end(s, &l, refusals_wait);
        interrupt_end();
    }
    counter_query_close(l.query);
    texts_free(&l.names);
    texts_free(&l.refused);
    counter_nearest_free(&l.nearest);
    return result;
}

static int typeperf_log_on(const struct settings *s)
{
    const HRESULT hr = s->account.count ? remote_counters_log_on(s->machine, s->account.items[0]) : S_OK;
    return FAILED(hr) ? cli_error(verb_name, hr) : CLI_DONE;
}

static int typeperf_run(int argc, char **argv)
{
    struct settings s = {0};
    struct texts arguments = {0};
    remote_counters_begin();
    cli_speak_as_windows(argc, argv);
    int result = options_with_settings(verb_name, argc, argv, &arguments);
    if (result == CLI_DONE)
        result = typeperf_parse((int)arguments.count, arguments.items, &s);
    if (result == CLI_DONE)
        result = typeperf_log_on(&s);
    if (result == CLI_DONE)
        result = s.list || s.list_instances ? typeperf_list(&s) : typeperf_collect(&s);
    texts_free(&s.counters);
    texts_free(&s.account);
    texts_free(&arguments);
    return result;
}

const struct verb verb_typeperf = {
    .name = verb_name,
    .summary = "shows live counters or writes them to a log",
    .help = help_text,
    .run = typeperf_run,
};
