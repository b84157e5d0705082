/* SPDX-License-Identifier: MIT */
/* openpla push: sends counters, live or from logs, to a server by OTLP or InfluxDB's line protocol. */
#include "cli/cli.h"
#include "cli/counters/remote_counters.h"
#include "cli/counters/sample_pace.h"
#include "cli/output.h"
#include "cli/serve/serve.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/export/feed.h"
#include "engine/logs/counter_names.h"
#include "engine/report/columns.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

static const char verb_name[] = "push";
static const char help_text[] =
    "openpla push -otlp URL COUNTER ...       counters to OpenTelemetry's protocol\n"
    "openpla push -influx URL COUNTER ...     counters to InfluxDB\n"
    "openpla push -otlp URL -log FILE ...     the samples of logs\n"
    "\n"
    "  -otlp URL     send by OTLP over HTTP; /v1/metrics is added to a URL without a path\n"
    "  -influx URL   send lines to http://HOST:8086/write?db=NAME (version 1), or to\n"
    "                http://HOST:8086/api/v2/write?org=NAME&bucket=NAME\n"
    "  COUNTER       a counter path, such as \\Processor(*)\\% Processor Time or \\Memory\\*\n"
    "  -c COUNTER ...  the same, as in other tools\n"
    "  -cf FILE      counters from a file, one per line\n"
    "  -set SET      the counters of a data collector set and its alerts, whether or not the set runs\n"
    "  -preset windows_exporter  the metrics of Prometheus' exporter for Windows, with -otlp\n"
    "  -names both|new|old  for renamed metrics of the preset: both names (default), or only the new or the old one\n"
    "  -s COMPUTER   the computer for counters whose path contains no computer\n"
    "  -total        for counters with *, also the instance _Total, which is the sum of the others\n"
    "  -si [[hh:]mm:]ss  the time between two samples (default: the interval of the set, otherwise 15 seconds)\n"
    "  -sc SAMPLES   stop after this number of samples\n"
    "  -log FILE ... the samples of these logs instead of live ones; with COUNTER: only its samples\n"
    "  -b TIME, -e TIME  with -log: only samples from this time on (-b), and until this time (-e)\n"
    "  -credentials FILE  a file with the line \"token: VALUE\", or with \"user: NAME\" and \"password: VALUE\"\n"
    "  -ca FILE      trust the certificates of this PEM file instead of the system's\n"
    "  -queue FOLDER keep data here while the server does not accept it (default: a folder per URL in OpenPLA's data)\n"
    "  -queue-size MB  maximum size of the queue (default 64); when it is full, the oldest data is dropped\n"
    "  -config FILE  read options from a file\n"
    "\n"
    "Live counters are sent until Ctrl+C, which leaves unsent data in the queue for the next run. Data that the\n"
    "server permanently rejects is dropped and counted.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong command line, 3 done, but data was dropped.\n";

struct push_verb {
    const char *otlp, *influx, *ca, *credentials_file, *queue, *interval;
    uint32_t samples, queue_megabytes;
    struct texts logs, begin, end;
    struct exporting counters;
    uint64_t interval_ms;
    enum push_kind kind;
    const char *url;
    struct push_credentials credentials;
    char *queue_folder; /* for live counters only */
};

static int push_check(struct push_verb *v)
{
    struct exporting *x = &v->counters;
    if (!v->otlp == !v->influx)
        return cli_usage(verb_name,
                         v->otlp ? "-otlp cannot be combined with -influx" : "missing -otlp URL or -influx URL");
    v->kind = v->otlp ? PUSH_OTLP : PUSH_INFLUX;
    v->url = v->otlp ? v->otlp : v->influx;
    if (v->influx && x->preset)
        return cli_usage(verb_name, "-preset requires -otlp: InfluxDB has no metric names");
    if (v->interval && !pace_parse_interval(v->interval, &v->interval_ms))
        return cli_usage(verb_name, "-si: invalid interval '%s': expected [[hh:]mm:]ss", v->interval);
    if (v->logs.count == 0) {
        if (v->begin.count + v->end.count > 0)
            return cli_usage(verb_name, "-b and -e require -log");
        return exporting_check(verb_name, x);
    }
    if (x->set || x->preset || x->machine || v->interval || v->samples)
        return cli_usage(verb_name, "-log cannot be combined with -set, -preset, -s, -si or -sc");
    if (v->queue || v->queue_megabytes)
        return cli_usage(verb_name,
                         "-log cannot be combined with -queue or -queue-size: unsent samples stay in the log");
    return CLI_DONE;
}

static int push_parse(int argc, char **argv, struct push_verb *v)
{
    struct exporting *x = &v->counters;
    const struct option options[] = {
        {"otlp", OPTION_TEXT, &v->otlp},
        {"influx", OPTION_TEXT, &v->influx},
        {"c", OPTION_TEXTS, &x->counters},
        {"cf", OPTION_TEXT, &x->counter_file},
        {"set", OPTION_TEXT, &x->set},
        {"preset", OPTION_TEXT, &x->preset},
        {"names", OPTION_TEXT, &x->names},
        {"s", OPTION_TEXT, &x->machine},
        {"total", OPTION_FLAG, &x->totals},
        {"si", OPTION_TEXT, &v->interval},
        {"sc", OPTION_COUNT, &v->samples},
        {"log", OPTION_TEXTS, &v->logs},
        {"b", OPTION_TEXTS, &v->begin},
        {"e", OPTION_TEXTS, &v->end},
        {"credentials", OPTION_TEXT, &v->credentials_file},
        {"ca", OPTION_TEXT, &v->ca},
        {"queue", OPTION_TEXT, &v->queue},
        {"queue-size", OPTION_COUNT, &v->queue_megabytes},
    };
    const int result = options_parse(verb_name, argc, argv, options, sizeof options / sizeof *options, &x->counters);
    return result == CLI_DONE ? push_check(v) : result;
}

/* ---- sending ---- */

static void push_report(void *user, HRESULT reason, const char *text)
{
    const struct push_verb *v = user;
    (void)reason;
    fprintf(stderr, "openpla %s: '%s': %s\n", verb_name, v->url, text);
    fflush(stderr);
}

/* Finds the queue's folder. Each URL has its own queue. Therefore two commands for different servers do not share a
   queue. */
static HRESULT push_find_queue(struct push_verb *v)
{
    if (v->queue) {
        v->queue_folder = os_full_path(v->queue);
        return v->queue_folder ? S_OK : E_OUTOFMEMORY;
    }
    char *data = os_data_folder(), *all = data ? path_join(data, "push") : NULL;
    char *name = text_format("%016llx", (unsigned long long)hash_text(hash_number(HASH_START, v->kind), v->url));
    v->queue_folder = all && name ? path_join(all, name) : NULL;
    memory_free(data);
    memory_free(all);
    memory_free(name);
    return v->queue_folder ? S_OK : E_OUTOFMEMORY;
}

static HRESULT push_begin(struct push_verb *v, struct push **out)
{
    const struct push_settings settings = {.kind = v->kind,
                                           .url = v->url,
                                           .ca_file = v->ca,
                                           .credentials = &v->credentials,
                                           .queue_folder = v->queue_folder,
                                           .queue_bytes = (uint64_t)(v->queue_megabytes ? v->queue_megabytes : 64)
                                                          << 20,
                                           .report = push_report,
                                           .stopped = interrupt_asked,
                                           .user = v};
    HRESULT hr = v->credentials_file ? push_credentials_load(v->credentials_file, &v->credentials) : S_OK;
    if (SUCCEEDED(hr))
        hr = push_open(&settings, out);
    push_credentials_free(&v->credentials);
    return hr;
}

/* Prints how much data was sent, is waiting, and was dropped. */
static int push_summarize(const struct push_verb *v, const struct push_figures *f)
{
    printf("sent %" PRIu64 " points in %" PRIu64 " requests", f->sent_points, f->sent_requests);
    if (f->waiting_points > 0 && v->queue_folder)
        printf(", %" PRIu64 " points wait in the queue '%s'", f->waiting_points, v->queue_folder);
    if (f->dropped_points > 0)
        printf(", %" PRIu64 " points dropped", f->dropped_points);
    if (f->corrupt_requests > 0)
        printf(", %" PRIu64 " corrupt files in the queue", f->corrupt_requests);
    printf("\n");
    if (f->dropped_points == 0 && f->corrupt_requests == 0)
        return CLI_DONE;
    return f->sent_points > 0 ? CLI_REMARKS : CLI_FAILED;
}

/* ---- live counters ---- */

static HRESULT push_samples(const struct push_verb *v, struct feed *feed, struct push *push)
{
    struct sample_pace pace = pace_begin(v->interval_ms);
    HRESULT hr = S_OK;
    for (uint32_t taken = 0; SUCCEEDED(hr) && (!v->samples || taken < v->samples); taken++) {
        if (!pace_wait(&pace))
            return S_OK;
        hr = feed_sample(feed);
        pace_taken(&pace);
    }
    return SUCCEEDED(hr) ? push_finish(push) : hr;
}

static int push_live(struct push_verb *v)
{
    struct exporter *e = NULL;
    struct push *push = NULL;
    struct feed *feed = NULL;
    struct push_figures figures = {0};
    HRESULT hr = exporting_find_counters(&v->counters);
    if (v->interval_ms == 0)
        v->interval_ms = v->counters.interval_ms ? v->counters.interval_ms : 15000;
    if (SUCCEEDED(hr))
        hr = push_find_queue(v);
    if (SUCCEEDED(hr))
        hr = push_begin(v, &push);
    if (SUCCEEDED(hr))
        hr = exporting_open(verb_name, &v->counters, v->kind == PUSH_INFLUX, &e);
    if (SUCCEEDED(hr))
        hr = feed_open(v->kind, "openpla", e, push, &feed);
    if (SUCCEEDED(hr))
        hr = push_samples(v, feed, push);
    const struct error_kept why = error_keep(hr);
    feed_close(feed);
    exporter_close(e);
    const bool opened = push != NULL;
    push_close(push, &figures);
    const int summary = opened ? push_summarize(v, &figures) : CLI_DONE;
    return FAILED(hr) ? cli_error(verb_name, error_restore(&why)) : summary;
}

/* ---- logs ---- */

/* Reads a time in the time zone of the first log. */
static int push_read_time(const struct inputs *in, const char *option, const struct texts *words, int64_t *out)
{
    int64_t local = 0;
    const int result = cli_time(verb_name, option, words, &local);
    if (result == CLI_DONE && words->count > 0)
        *out = local + log_reader_info(in->items[0].reader)->zone.bias_minutes * INT64_C(600000000);
    return result;
}

static HRESULT push_all(struct push *push, struct feed *feed, const struct inputs *in)
{
    struct cli_progress progress = {0};
    uint64_t done, total;
    HRESULT hr = S_OK;
    while (hr == S_OK) {
        hr = interrupt_asked(NULL) ? E_ABORT : feed_next(feed);
        inputs_progress(in, &done, &total);
        cli_progress_show(&progress, done, total);
    }
    cli_progress_end(&progress);
    if (hr == S_FALSE)
        return push_finish(push) == S_FALSE ? E_ABORT : S_OK;
    /* Samples that were read before an error are sent. Samples that were read before Ctrl+C count as not sent. */
    const struct error_kept why = error_keep(hr);
    (void)feed_flush(feed);
    if (hr != E_ABORT)
        (void)push_finish(push);
    return error_restore(&why);
}

static HRESULT push_open_logs(struct push_verb *v, struct inputs *in, struct filter *filter,
                              struct counter_names **names)
{
    struct texts paths = {0};
    HRESULT hr = counter_names_create(NULL, names);
    filter->names = in->names = *names;
    if (SUCCEEDED(hr) && v->counters.counter_file)
        hr = lines_read(v->counters.counter_file, &v->counters.counters);
    for (size_t i = 0; i < v->counters.counters.count && SUCCEEDED(hr); i++)
        hr = filter_add(filter, v->counters.counters.items[i]);
    if (SUCCEEDED(hr))
        hr = input_paths(&v->logs, &paths);
    if (SUCCEEDED(hr))
        hr = inputs_open(in, &paths);
    texts_free(&paths);
    return hr;
}

static void push_report_warnings(const struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        const struct texts *warnings = log_reader_warnings(in->items[i].reader);
        for (size_t k = 0; k < warnings->count; k++)
            fprintf(stderr, "openpla %s: '%s': %s\n", verb_name, in->items[i].shown, warnings->items[k]);
    }
}

/* Reports where sending was interrupted. `unsent` is the time of the first sample that was read but not sent; 0 means
   that every sample that was read was also sent. */
static void push_report_rest(const struct inputs *in, int64_t unsent)
{
    uint64_t samples;
    int64_t first, last;
    inputs_range(in, &samples, &first, &last);
    const int64_t at = unsent ? unsent : last;
    char *time = at && in->count > 0 ? format_time(at, &log_reader_info(in->items[0].reader)->zone) : NULL;
    if (!time)
        fprintf(stderr, "openpla %s: interrupted before the first sample was sent\n", verb_name);
    else if (unsent)
        fprintf(stderr, "openpla %s: interrupted: the samples at and after %s were not sent (continue with -b)\n",
                verb_name, time);
    else
        fprintf(stderr,
                "openpla %s: interrupted: the last sample that was sent is the sample of %s (continue with -b)\n",
                verb_name, time);
    memory_free(time);
}

static int push_logs(struct push_verb *v)
{
    struct inputs in = {.from = INT64_MIN, .to = INT64_MAX};
    struct filter filter = {0};
    struct counter_names *names = NULL;
    struct exporter *e = NULL;
    struct push *push = NULL;
    struct feed *feed = NULL;
    struct push_figures figures = {0};
    int result = CLI_DONE;
    HRESULT hr = push_open_logs(v, &in, &filter, &names);
    if (SUCCEEDED(hr)) {
        result = push_read_time(&in, "b", &v->begin, &in.from);
        if (result == CLI_DONE)
            result = push_read_time(&in, "e", &v->end, &in.to);
        if (result == CLI_DONE)
            hr = inputs_rewind(&in);
    }
    if (result == CLI_DONE && SUCCEEDED(hr))
        hr = push_begin(v, &push);
    if (push)
        hr = exporter_open_logs(&in, &filter, v->kind == PUSH_INFLUX, v->counters.totals, &e);
    if (push && SUCCEEDED(hr))
        hr = feed_open(v->kind, "openpla", e, push, &feed);
    if (push && SUCCEEDED(hr))
        hr = push_all(push, feed, &in);
    const struct error_kept why = error_keep(hr);
    feed_close(feed);
    exporter_close(e);
    if (push) {
        push_close(push, &figures);
        push_report_warnings(&in);
        result = push_summarize(v, &figures);
    }
    if (hr == E_ABORT) {
        push_report_rest(&in, figures.first_waiting);
        result = CLI_FAILED;
    } else if (FAILED(hr)) {
        result = cli_error(verb_name, error_restore(&why));
    }
    inputs_close(&in);
    filter_free(&filter);
    counter_names_free(names);
    return result;
}

static int push_run(int argc, char **argv)
{
    struct push_verb v = {0};
    struct texts arguments = {0};
    remote_counters_begin();
    int result = options_with_settings(verb_name, argc, argv, &arguments);
    if (result == CLI_DONE)
        result = push_parse((int)arguments.count, arguments.items, &v);
    /* interrupt_begin must run before any thread is created, because a signal could go to that thread. */
    if (result == CLI_DONE && !interrupt_begin())
        result = cli_error(verb_name, E_FAIL);
    else if (result == CLI_DONE) {
        result = v.logs.count > 0 ? push_logs(&v) : push_live(&v);
        interrupt_end();
    }
    exporting_free(&v.counters);
    texts_free(&v.logs);
    texts_free(&v.begin);
    texts_free(&v.end);
    memory_free(v.queue_folder);
    texts_free(&arguments);
    return result;
}

const struct verb verb_push = {
    .name = verb_name,
    .summary = "sends counters by OTLP or to InfluxDB",
    .help = help_text,
    .run = push_run,
};
