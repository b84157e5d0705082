/* SPDX-License-Identifier: MIT */
/* openpla live: shows counters while they change, in the terminal or in a browser. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "cli/counters/remote_counters.h"
#include "cli/counters/sample_pace.h"
#include "cli/live/live_http.h"
#include "cli/output.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pdh/counter_query.h"

#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "openpla live [COUNTER ...]     show counters while they change\n"
    "openpla live -cf FILE          counters from a file, one per line\n"
    "openpla live SET               the counters of a data collector set, at its interval\n"
    "openpla live ... -http [ADDRESS:]PORT   in a browser instead of the terminal\n"
    "\n"
    "  COUNTER       a counter path, such as \\Processor(_Total)\\% Processor Time; * and ? match all that exist at "
    "the\n"
    "                start. Without COUNTER: the processor, memory, disks and network of this computer\n"
    "  -si TIME      sample interval [[hh:]mm:]ss, with fractions of a second as in 0.25 (default 1)\n"
    "  -sc NUMBER    stop after this number of samples\n"
    "  -s COMPUTER   the computer for counters whose path contains no computer\n"
    "  -http [ADDRESS:]PORT  serve a page with live charts at this port; the default address is 127.0.0.1, which "
    "only\n"
    "                this computer can reach; port 0 selects a free port. The page's address is printed\n"
    "  -web FILE     TLS and accounts of that page, in the format of Prometheus' exporter toolkit\n"
    "\n"
    "In a terminal: q quits, space pauses, arrows and PgUp, PgDn scroll. Without a terminal, one line per counter and\n"
    "sample is written: time, counter and value, separated by tabs. The last hour is kept.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong command line, 3 done without some of the counters.\n";

struct live_settings {
    const char *counter_file, *interval, *machine, *http, *web;
    uint32_t samples; /* 0 means no limit */
    uint64_t interval_ms;
    struct texts counters, paths; /* `counters` are the paths as the user specified them; `paths` are the same paths
                                     with computer names */
};

struct live_run {
    const struct live_settings *settings;
    const struct pdh_api *pdh;
    struct counter_query *query;
    struct counter_nearest nearest;
    struct texts refused; /* why counters are missing */
    bool failed;          /* an entry of `refused` could not be allocated */
    struct live_history history;
    struct sample_pace pace;
    uint32_t taken; /* number of samples shown */
};

static int live_parse(int argc, char **argv, struct live_settings *s)
{
    const struct option options[] = {
        {"cf", OPTION_TEXT, &s->counter_file}, {"si", OPTION_TEXT, &s->interval}, {"sc", OPTION_COUNT, &s->samples},
        {"s", OPTION_TEXT, &s->machine},       {"http", OPTION_TEXT, &s->http},   {"web", OPTION_TEXT, &s->web},
    };
    const int result = options_parse(LIVE_VERB, argc, argv, options, sizeof options / sizeof *options, &s->counters);
    s->interval_ms = 1000;
    if (result == CLI_DONE && s->web && !s->http)
        return cli_usage(LIVE_VERB, "-web requires -http");
    if (result == CLI_DONE && s->interval && !pace_parse_interval(s->interval, &s->interval_ms))
        return cli_usage(LIVE_VERB, "-si: invalid time '%s': expected, for example, 5, 0.25 or 1:30", s->interval);
    return result;
}

/* Finds the counters. An argument without a leading backslash is the name of a set. */
static HRESULT live_find_counters(struct live_settings *s)
{
    struct texts named = {0};
    uint64_t of_sets = UINT64_MAX;
    HRESULT hr = s->counter_file ? lines_read(s->counter_file, &named) : S_OK;
    for (size_t i = 0; i < s->counters.count && SUCCEEDED(hr); i++)
        hr = s->counters.items[i][0] == '\\' ? texts_add(&named, s->counters.items[i])
                                             : live_set_counters(s->counters.items[i], &named, &of_sets);
    if (SUCCEEDED(hr) && s->counter_file && named.count == 0)
        hr = error_set(E_INVALIDARG, "-cf: '%s' has no counters", s->counter_file);
    if (SUCCEEDED(hr) && named.count == 0)
        hr = live_default_counters(&named);
    if (!s->interval && of_sets != UINT64_MAX)
        s->interval_ms = of_sets;
    for (size_t i = 0; i < named.count && SUCCEEDED(hr); i++) {
        char *path = counter_full_path(named.items[i], s->machine);
        hr = path ? texts_add_owned(&s->paths, path) : E_OUTOFMEMORY;
    }
    texts_free(&named);
    return hr;
}

static void live_refuse(void *user, HRESULT reason, const char *path, const char *text)
{
    struct live_run *r = user;
    const struct error_kept why = error_keep(reason);
    char *nearest = counter_nearest_text(&r->nearest, path, reason);
    char *line =
        nearest ? text_format("%s%s (0x%08X)", error_text(error_restore(&why)), nearest, (unsigned)reason) : NULL;
    (void)text;
    memory_free(nearest);
    r->failed |= !line || FAILED(texts_add_owned(&r->refused, line));
}

static HRESULT live_open(struct live_run *r)
{
    HRESULT hr = host_pdh(&r->pdh);
    r->nearest.pdh = r->pdh;
    const struct counter_query_request request = {.pdh = r->pdh,
                                                  .paths = &r->settings->paths,
                                                  .values = true,
                                                  .present = true,
                                                  .refused = live_refuse,
                                                  .user = r};
    if (SUCCEEDED(hr))
        hr = counter_query_open(&request, &r->query);
    if (FAILED(hr) || r->failed)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    size_t count = 0;
    const struct log_counter *columns = counter_query_columns(r->query, &count);
    if (count == 0)
        return S_FALSE;
    return live_history_open(&r->history, columns, count, r->settings->interval_ms);
}

static HRESULT live_sample(struct live_run *r)
{
    int64_t utc;
    const struct log_cell *cells;
    const HRESULT hr = counter_query_sample(r->query, &utc, &cells);
    pace_taken(&r->pace);
    if (FAILED(hr))
        return hr;
    live_history_add(&r->history, utc, cells);
    r->taken++;
    return S_OK;
}

static bool live_is_complete(const struct live_run *r)
{
    return r->settings->samples != 0 && r->taken >= r->settings->samples;
}

/* ---- plain lines, or no output while a browser shows the samples ---- */

static HRESULT live_put_lines(const struct live_history *h)
{
    char *time = format_iso_time(live_history_time(h, h->taken - 1));
    if (!time)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < h->count; i++) {
        struct text_buffer b = {0};
        text_buffer_format(&b, "%s\t", time);
        add_shown(&b, h->counters[i].path);
        text_buffer_add(&b, "\t");
        live_add_value(&b, &h->counters[i], live_history_value(h, h->taken - 1, i));
        char *line = text_buffer_take(&b);
        if (line)
            printf("%s\n", line);
        memory_free(line);
    }
    memory_free(time);
    fflush(stdout);
    return S_OK;
}

static HRESULT live_wait_and_put(struct live_run *r, bool lines)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && !live_is_complete(r) && !ferror(stdout) && pace_wait(&r->pace)) {
        hr = live_sample(r);
        if (SUCCEEDED(hr) && lines)
            hr = live_put_lines(&r->history);
    }
    return hr;
}

/* ---- the terminal ---- */

static void live_draw(struct live_run *r, struct live_screen *screen, uint64_t taken)
{
    struct text_buffer b = {0};
    live_screen_draw(&r->history, taken, screen, &b);
    char *text = text_buffer_take(&b);
    if (text)
        fputs(text, stdout);
    fflush(stdout);
    memory_free(text);
}

static void live_scroll(struct live_screen *s, enum live_key key)
{
    const size_t page = s->lines > 4 ? s->lines - 4 : 1;
    if (key == LIVE_KEY_UP)
        s->top -= s->top > 0;
    else if (key == LIVE_KEY_DOWN)
        s->top++;
    else if (key == LIVE_KEY_PAGE_UP)
        s->top -= s->top < page ? s->top : page;
    else if (key == LIVE_KEY_PAGE_DOWN)
        s->top += page;
    else if (key == LIVE_KEY_TOP)
        s->top = 0;
}

static HRESULT live_show_terminal(struct live_run *r)
{
    enum { AGAIN_MS = 100 }; /* interval for checking keys, signals and the window size */
    struct live_screen screen = {0};
    uint64_t frozen = 0; /* a paused display shows the samples up to this number */
    HRESULT hr = S_OK;
    bool changed = true;
    while (SUCCEEDED(hr) && !live_is_complete(r) && !interrupt_wait(0) && !ferror(stdout)) {
        unsigned columns, lines;
        live_terminal_size(&columns, &lines);
        changed |= columns != screen.columns || lines != screen.lines;
        screen.columns = columns;
        screen.lines = lines;
        if (pace_remaining_ms(&r->pace) == 0) {
            pace_advance(&r->pace);
            hr = live_sample(r);
            changed |= !screen.paused;
        }
        if (changed && SUCCEEDED(hr))
            live_draw(r, &screen, screen.paused ? frozen : r->history.taken);
        const uint32_t left = pace_remaining_ms(&r->pace);
        const enum live_key key = live_terminal_key(left < AGAIN_MS ? left : AGAIN_MS);
        if (key == LIVE_KEY_QUIT)
            break;
        if (key == LIVE_KEY_PAUSE) {
            screen.paused = !screen.paused;
            frozen = r->history.taken;
        }
        live_scroll(&screen, key);
        changed = key != LIVE_KEY_NONE;
    }
    return hr;
}

/* ---- the verb ---- */

static HRESULT live_show(struct live_run *r)
{
    struct http_serving serving = {NULL, NULL};
    HRESULT hr = S_OK;
    int64_t utc;
    const struct log_cell *cells;
    if (r->settings->http) {
        const struct http_options options = {
            .where = r->settings->http, .headers = live_answer_headers, .answer = live_answer, .user = &r->history};
        hr = http_serving_begin(LIVE_VERB, r->settings->web, "", &options, &serving);
    }
    r->pace = pace_begin(r->settings->interval_ms);
    if (SUCCEEDED(hr) && pace_wait(&r->pace)) { /* the first sample is the base of rates */
        hr = counter_query_sample(r->query, &utc, &cells);
        pace_taken(&r->pace);
    }
    if (FAILED(hr) || r->settings->http || !screen_is_terminal(stdout) || !live_terminal_begin()) {
        hr = SUCCEEDED(hr) ? live_wait_and_put(r, !r->settings->http) : hr;
    } else {
        hr = live_show_terminal(r);
        live_terminal_end();
    }
    http_serving_end(&serving);
    return hr;
}

static void live_put_refused(const struct live_run *r)
{
    for (size_t i = 0; i < r->refused.count; i++)
        fprintf(stderr, "openpla live: %s\n", r->refused.items[i]);
}

static int live_collect(const struct live_settings *s)
{
    struct live_run r = {.settings = s};
    int result;
    if (!interrupt_begin()) /* must run before PDH creates threads, because a signal could go to one of these threads */
        return cli_error(LIVE_VERB, E_FAIL);
    HRESULT hr = live_open(&r);
    const bool is_default = s->counters.count == 0 && !s->counter_file;
    if (hr == S_FALSE) {
        live_put_refused(&r);
        fputs("openpla live: no counter could be added\n", stderr);
        result = CLI_FAILED;
    } else if (FAILED(hr)) {
        result = cli_error(LIVE_VERB, hr);
    } else {
        if (s->http && !is_default)
            live_put_refused(&r);
        hr = live_show(&r);
        if (!s->http && !is_default) /* The messages are printed after the display has ended, because the display
                                        would have hidden them. */
            live_put_refused(&r);
        result = FAILED(hr) ? cli_error(LIVE_VERB, hr) : r.refused.count > 0 && !is_default ? CLI_REMARKS : CLI_DONE;
    }
    interrupt_end();
    counter_query_close(r.query);
    live_history_free(&r.history);
    texts_free(&r.refused);
    counter_nearest_free(&r.nearest);
    return result;
}

static int live_run(int argc, char **argv)
{
    struct live_settings s = {0};
    remote_counters_begin();
    int result = live_parse(argc, argv, &s);
    if (result == CLI_DONE) {
        const HRESULT hr = live_find_counters(&s);
        result = FAILED(hr) ? cli_error(LIVE_VERB, hr) : live_collect(&s);
    }
    texts_free(&s.counters);
    texts_free(&s.paths);
    return result;
}

const struct verb verb_live = {
    .name = LIVE_VERB,
    .summary = "shows counters while they change, in the terminal or a browser",
    .help = help_text,
    .run = live_run,
};
