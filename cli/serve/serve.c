/* SPDX-License-Identifier: MIT */
/* openpla serve: serves counters as metrics for Prometheus and for programs that read its formats. */
#include "cli/serve/serve.h"

#include "cli/cli.h"
#include "cli/counters/remote_counters.h"
#include "engine/base/memory.h"
#include "engine/export/preset.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static const char verb_name[] = "serve";
static const char help_text[] =
    "openpla serve -http [ADDRESS:]PORT COUNTER ...   counters as metrics for Prometheus\n"
    "openpla serve -http [ADDRESS:]PORT -cf FILE      counters from a file, one per line\n"
    "openpla serve -http [ADDRESS:]PORT -set SET      the counters of a data collector set\n"
    "openpla serve -http [ADDRESS:]PORT -preset windows_exporter   the metrics of that exporter\n"
    "\n"
    "  -http [ADDRESS:]PORT  serve /metrics at this port; the default address is 127.0.0.1, which only this computer "
    "can\n"
    "                reach; port 0 selects a free port. The address of the page is printed\n"
    "  COUNTER       a counter path, such as \\Processor(*)\\% Processor Time or \\Memory\\*; with * and ?, each\n"
    "                page has the instances that exist at that time\n"
    "  -c COUNTER ...  the same, as in other tools\n"
    "  -cf FILE      counters from a file, one per line\n"
    "  -set SET      the counters of a data collector set and its alerts, whether or not the set runs\n"
    "  -preset windows_exporter  the metrics of Prometheus' exporter for Windows, with its names and labels\n"
    "  -names both|new|old  for renamed metrics of the preset: both names (default), or only the new or the old one\n"
    "  -s COMPUTER   the computer for counters whose path contains no computer\n"
    "  -web FILE     TLS and accounts, in the format of Prometheus' exporter toolkit\n"
    "  -config FILE  read options from a file\n"
    "  -total        for counters with *, also the instance _Total, which is the sum of the others\n"
    "\n"
    "Runs until Ctrl+C. Each request takes a sample. The page has Prometheus' text format 0.0.4, or OpenMetrics 1.0\n"
    "if the client prefers it. Counters that cannot be added are listed and retried every 30 seconds; the others are\n"
    "served.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong command line.\n";

struct serve_settings {
    const char *http, *web;
    struct exporting counters;
};

static int serve_parse(int argc, char **argv, struct serve_settings *s)
{
    struct exporting *x = &s->counters;
    const struct option options[] = {
        {"http", OPTION_TEXT, &s->http}, {"c", OPTION_TEXTS, &x->counters},   {"cf", OPTION_TEXT, &x->counter_file},
        {"set", OPTION_TEXT, &x->set},   {"preset", OPTION_TEXT, &x->preset}, {"names", OPTION_TEXT, &x->names},
        {"web", OPTION_TEXT, &s->web},   {"s", OPTION_TEXT, &x->machine},     {"total", OPTION_FLAG, &x->totals},
    };
    const int result = options_parse(verb_name, argc, argv, options, sizeof options / sizeof *options, &x->counters);
    if (result != CLI_DONE)
        return result;
    return s->http ? exporting_check(verb_name, x) : cli_usage(verb_name, "missing -http [ADDRESS:]PORT");
}

static const char front_page[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>openpla serve</title></head>"
                                 "<body><h1>openpla serve</h1><p><a href=\"/metrics\">Metrics</a></p></body></html>\n";

static bool key_is(struct http_span key, const char *name)
{
    char text[32];
    return http_span_fits(key, text, sizeof text) && text_equal_nocase(text, name);
}

/* Reads the collectors from a query such as "collect[]=cpu&collect[]=memory". Returns the status of the response. */
static unsigned query_read(struct http_span query, struct texts *collectors)
{
    enum { MOST_COLLECTORS = 64 };
    while (query.size > 0) {
        struct http_span value, key;
        char name[32];
        if (!http_span_split(&query, '&', &value)) {
            value = query;
            query.size = 0;
        }
        if (!http_span_split(&value, '=', &key) || !(key_is(key, "collect[]") || key_is(key, "collect%5b%5d")))
            continue; /* ignore this parameter, which is meant for other exporters */
        if (!preset_has_collector(value.at, value.size) || collectors->count == MOST_COLLECTORS ||
            !http_span_fits(value, name, sizeof name))
            return 400;
        if (FAILED(texts_add(collectors, name)))
            return 500;
    }
    return 200;
}

/* A page that is being sent to a client. */
struct served_page {
    struct metric_pages *pages;
    struct text_buffer text;
};

static void served_page_end(void *owner)
{
    struct served_page *p = owner;
    metric_page_give_back(p->pages, &p->text);
    memory_free(p);
}

static unsigned serve_metrics(struct metric_pages *pages, const struct http_request *request, struct http_body *out)
{
    struct texts collectors = {0};
    struct served_page *p = memory_zero(1, sizeof *p);
    const bool openmetrics = page_wants_openmetrics(request->accept);
    unsigned status = p ? query_read(request->query, &collectors) : 500;
    if (!p)
        return status;
    p->pages = pages;
    if (status == 200 && FAILED(metric_page(pages, openmetrics, &collectors, &p->text)))
        status = 500;
    texts_free(&collectors);
    *out = (struct http_body){.type = openmetrics ? page_type_openmetrics : page_type_text,
                              .bytes = p->text.text,
                              .size = p->text.length,
                              .give_back = served_page_end,
                              .owner = p};
    return status;
}

static unsigned serve_answer(void *user, const struct http_request *request, struct http_body *out)
{
    if (http_span_is(request->path, "/")) {
        *out =
            (struct http_body){.type = "text/html; charset=utf-8", .bytes = front_page, .size = sizeof front_page - 1};
        return 200;
    }
    return http_span_is(request->path, "/metrics") ? serve_metrics(user, request, out) : 404;
}

static int serve_until_interrupted(const struct serve_settings *s, struct exporter *e)
{
    struct metric_pages pages = {.exporter = e};
    struct http_serving serving;
    const struct http_options options = {.where = s->http,
                                         .headers =
                                             "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
                                         .any_host = true,
                                         .answer = serve_answer,
                                         .user = &pages};
    const HRESULT hr = http_serving_begin(verb_name, s->web, "metrics", &options, &serving);
    while (SUCCEEDED(hr) && !interrupt_wait(UINT32_MAX)) {
    }
    http_serving_end(&serving);
    text_buffer_free(&pages.spare);
    return FAILED(hr) ? cli_error(verb_name, hr) : CLI_DONE;
}

static int serve_counters(const struct serve_settings *s)
{
    struct exporter *e;
    if (!interrupt_begin()) /* must run before PDH creates threads, because a signal could go to one of these threads */
        return cli_error(verb_name, E_FAIL);
    const HRESULT hr = exporting_open(verb_name, &s->counters, false, &e);
    const int result = FAILED(hr) ? cli_error(verb_name, hr) : serve_until_interrupted(s, e);
    exporter_close(e);
    interrupt_end();
    return result;
}

/* Limits glibc to one heap. Each connection has a thread, and by default glibc uses several heaps for threads. With
   several heaps, the data that the exporter keeps would be spread over all of them, and memory use would grow during
   the first hundreds of requests. Large blocks are mapped separately, so that freeing them returns their memory. */
static void serve_use_one_heap(void)
{
#ifdef __GLIBC__
    enum { LARGE_BYTES = 64 << 10 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

static int serve_run(int argc, char **argv)
{
    struct serve_settings s = {0};
    struct texts arguments = {0};
    serve_use_one_heap();
    remote_counters_begin();
    int result = options_with_settings(verb_name, argc, argv, &arguments);
    if (result == CLI_DONE)
        result = serve_parse((int)arguments.count, arguments.items, &s);
    if (result == CLI_DONE) {
        const HRESULT hr = exporting_find_counters(&s.counters);
        result = FAILED(hr) ? cli_error(verb_name, hr) : serve_counters(&s);
    }
    exporting_free(&s.counters);
    texts_free(&arguments);
    return result;
}

const struct verb verb_serve = {
    .name = verb_name,
    .summary = "serves counters as metrics for Prometheus",
    .help = help_text,
    .run = serve_run,
};
