/* SPDX-License-Identifier: MIT */
/* The performance counter collector: samples PDH counters and writes them to one log. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/counter_query.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

#include <string.h>

/* Counters that appear after the log was created. When such counters appear, the collector requests a new segment,
   whose log has columns for these counters. */
struct late_counters {
    struct counter_watch *watch; /* NULL: not watched */
    uint64_t from;               /* no check before this time, clock_monotonic_ms */
    uint64_t pause;              /* ms between two checks */
};

struct counter_collector {
    struct collector collector;
    struct counter_query *query;
    struct log_writer *log;
    const struct log_format_traits *format;
    struct log_options options; /* options.comment is owned */
    char *path, *base;
    uint32_t max_records; /* 0: no limit */
    void *user;           /* from collect_context */
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
    bool circular;
    bool has_new; /* counters of `instances` or `computers` have appeared */
    struct late_counters instances, computers;
};

/* Adds a note about the log's latest warning, which can exist even if no sample failed. */
static void note_log_warning(struct counter_collector *cc)
{
    char *text;
    if (!cc->log || log_writer_warning(cc->log, &text) != S_OK)
        return;
    cc->note(cc->user, S_OK, NULL, text);
    memory_free(text);
}

static HRESULT counter_collector_close(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    note_log_warning(cc);
    HRESULT hr = log_writer_close(cc->log);
    counter_watch_close(cc->instances.watch);
    counter_watch_close(cc->computers.watch);
    counter_query_close(cc->query);
    memory_free((void *)cc->options.comment);
    memory_free(cc->path);
    memory_free(cc->base);
    memory_free(cc);
    return hr;
}

/* Counters that could not be added. Each refused counter is also passed to the run as a note. */
struct refusals {
    const struct collect_context *context;
    struct error_kept first; /* the first failure; S_OK: none */
    struct texts elsewhere;  /* paths of the rejected counters that belong to other computers */
    bool failed;             /* out of memory */
};

static bool is_remote_path(const char *text)
{
    struct counter_path path;
    bool elsewhere =
        !counter_path_parse(text, &path) && (DWORD)counter_path_machine_is_ours(path.machine) == PDH_CSTATUS_NO_MACHINE;
    counter_path_free(&path);
    return elsewhere;
}

static void refusals_add(void *user, HRESULT reason, const char *subject, const char *text)
{
    struct refusals *r = user;
    if (is_remote_path(subject))
        r->failed = FAILED(texts_add(&r->elsewhere, subject)) || r->failed;
    if (SUCCEEDED(r->first.hr))
        r->first = error_keep(error_set(reason, "%s", text));
    r->context->note(r->context->user, reason, subject, text);
}

/* Opens the query with the counters that can be added. Skips all other counters and adds a note for each (DECISIONS
   16). Fails if no counter can be added (DECISIONS 34), unless the collector watches for new instances or for other
   computers. */
static HRESULT open_query(struct counter_collector *cc, const struct texts *paths,
                          const struct collect_context *context, struct texts *elsewhere)
{
    struct refusals refusals = {.context = context};
    const struct counter_collector *previous = (const struct counter_collector *)context->previous;
    struct counter_query_request request = {.paths = paths,
                                            .keep_instances = cc->format->wildcards,
                                            .values = cc->format->values,
                                            .previous = previous ? previous->query : NULL,
                                            .refused = refusals_add,
                                            .user = &refusals};
    HRESULT hr = host_pdh(&request.pdh);
    if (SUCCEEDED(hr))
        hr = counter_query_open(&request, &cc->query);
    *elsewhere = refusals.elsewhere;
    if (SUCCEEDED(hr) && refusals.failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !paths->count)
        context->note(context->user, S_OK, NULL, "the collector has no counters; its log only shows when the set ran");
    if (FAILED(hr) || SUCCEEDED(refusals.first.hr) || context->new_instances_seconds || elsewhere->count)
        return hr;
    size_t count;
    counter_query_columns(cc->query, &count);
    return count ? S_OK
                 : error_set((HRESULT)PDH_NO_DATA, "none of the %zu counters can be collected; the first error: %s",
                             paths->count, refusals.first.text);
}

/* Returns whether the next segment continues the log. Only a log in a database without a size limit is continued. If
   such a database is unavailable, no segment has to wait, and the samples that wait for the database are not lost when
   a segment ends. */
static bool log_goes_on(const struct counter_collector *cc)
{
    return !cc->format->is_file && !cc->options.max_bytes && cc->log;
}

static bool take_over_log(struct counter_collector *cc, struct counter_collector *previous)
{
    if (!previous || !log_goes_on(previous) || cc->format != previous->format ||
        strcmp(cc->path, previous->path) != 0 || !counter_query_same_columns(cc->query, previous->query))
        return false;
    cc->log = previous->log;
    previous->log = NULL;
    return true;
}

static HRESULT create_log(struct counter_collector *cc)
{
    size_t count;
    const struct log_counter *columns = counter_query_columns(cc->query, &count);
    HRESULT hr = log_writer_create(cc->format->format, cc->path, columns, count, clock_utc(), &cc->options, &cc->log);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) || hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        hr = collector_file_exists(cc->path);
    return hr;
}

static HRESULT watch_paths(struct counter_collector *cc, const struct texts *paths, bool refused, uint32_t seconds,
                           struct late_counters *out)
{
    out->from = clock_monotonic_ms() + (uint64_t)seconds * 1000;
    return paths->count && seconds ? counter_watch_open(cc->query, paths, refused, &out->watch) : S_OK;
}

#define OTHER_COMPUTERS_SECONDS 60

static HRESULT begin_watch(struct counter_collector *cc, const struct texts *paths, const struct texts *elsewhere,
                           const struct collect_context *context)
{
    uint32_t seconds = context->other_computers_seconds ? context->other_computers_seconds : OTHER_COMPUTERS_SECONDS;
    HRESULT hr = watch_paths(cc, elsewhere, true, seconds, &cc->computers);
    cc->computers.pause = (uint64_t)seconds * 1000;
    if (SUCCEEDED(hr) && !cc->format->wildcards)
        hr = watch_paths(cc, paths, false, context->new_instances_seconds, &cc->instances);
    return hr;
}

static bool late_counters_appeared(struct late_counters *l)
{
    bool all, found;
    if (!l->watch || clock_monotonic_ms() < l->from)
        return false;
    found = counter_watch_has_new(l->watch, &all);
    if (all)
        l->from = clock_monotonic_ms() + l->pause;
    return found;
}

/* Checks for counters that have appeared. Call after a sample. */
static void watch(struct counter_collector *cc)
{
    cc->has_new = cc->has_new || late_counters_appeared(&cc->instances) || late_counters_appeared(&cc->computers);
}

static void refuse_and_continue(void *user, HRESULT reason, const char *subject, const char *text)
{
    (void)user;
    (void)reason;
    (void)subject;
    (void)text;
}

static void counter_collector_rehearse(struct object *object)
{
    const struct performance_counter_collector *model = (const struct performance_counter_collector *)object;
    const struct log_format_traits *format = log_format_traits((enum log_format)model->LogFileFormat);
    struct counter_query_request request = {.paths = &model->PerformanceCounters,
                                            .keep_instances = format->wildcards,
                                            .values = format->values,
                                            .refused = refuse_and_continue};
    struct counter_query *query;
    const struct log_cell *cells;
    int64_t utc;
    if (FAILED(host_pdh(&request.pdh)) || FAILED(counter_query_open(&request, &query)))
        return;
    counter_query_sample(query, &utc, &cells);
    counter_query_close(query);
}

static HRESULT counter_collector_open(struct object *object, const struct collect_context *context,
                                      struct collector **out)
{
    const struct performance_counter_collector *model = (const struct performance_counter_collector *)object;
    struct counter_collector *cc = memory_zero(1, sizeof *cc);
    if (!cc)
        return E_OUTOFMEMORY;
    cc->collector.interval_ms = (uint64_t)model->SampleInterval * 1000;
    cc->format = log_format_traits((enum log_format)model->LogFileFormat);
    cc->max_records = model->SegmentMaxRecords;
    cc->collector.limited = cc->max_records != 0;
    cc->user = context->user;
    cc->note = context->note;
    /* MS-PLA 2.2.2.11: LogCircular, LogOverwrite and LogAppend have no meaning for an SQL log. */
    cc->circular = model->LogCircular && context->segment_max_mb && !context->segmented && cc->format->is_file;
    cc->options.append = model->LogAppend && cc->format->appends;
    /* LogAppend takes precedence over LogOverwrite and LogCircular, so that earlier data are kept. */
    cc->options.replace = !cc->options.append && (model->LogOverwrite || model->LogCircular);
    cc->options.base = cc->base = text_copy(context->output_base);
    cc->options.max_bytes = (uint64_t)context->segment_max_mb << 20;
    cc->options.circular = cc->circular && cc->format->ring;
    cc->options.comment = text_copy(context->description);
    cc->path = text_copy(cc->format->is_file ? context->output_path : model->DataSourceName);
    HRESULT hr = cc->options.comment && cc->path && cc->base ? S_OK : E_OUTOFMEMORY;
    struct texts elsewhere = {0};
    if (SUCCEEDED(hr))
        hr = open_query(cc, &model->PerformanceCounters, context, &elsewhere);
    if (SUCCEEDED(hr))
        hr = begin_watch(cc, &model->PerformanceCounters, &elsewhere, context);
    texts_free(&elsewhere);
    if (SUCCEEDED(hr) && !take_over_log(cc, (struct counter_collector *)context->previous))
        hr = create_log(cc);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        counter_collector_close(&cc->collector);
        return error_restore(&why);
    }
    *out = &cc->collector;
    return S_OK;
}

/* Replaces a full circular log with an empty one, for formats that cannot overwrite old samples. The log thus never
   exceeds its limit and always ends with the newest samples. */
static HRESULT start_over(struct counter_collector *cc)
{
    HRESULT hr = log_writer_close(cc->log);
    cc->log = NULL;
    cc->options.append = false;
    cc->options.replace = true;
    return SUCCEEDED(hr) ? create_log(cc) : hr;
}

static HRESULT take_sample(struct counter_collector *cc)
{
    int64_t utc;
    const struct log_cell *cells;
    HRESULT hr = counter_query_sample(cc->query, &utc, &cells);
    if (FAILED(hr))
        return hr;
    if (!cc->log) /* start_over failed before */
        hr = create_log(cc);
    if (SUCCEEDED(hr))
        hr = log_writer_append(cc->log, utc, cells);
    if (hr == S_FALSE && cc->circular && !cc->options.circular) {
        hr = start_over(cc);
        if (SUCCEEDED(hr))
            hr = log_writer_append(cc->log, utc, cells);
    }
    if (hr != S_OK)
        return hr;
    hr = log_writer_flush(cc->log);
    if (FAILED(hr))
        return hr;
    cc->collector.figures.samples++;
    watch(cc);
    return S_OK;
}

static HRESULT counter_collector_sample(struct collector *c)
{
    HRESULT hr = take_sample((struct counter_collector *)c);
    note_log_warning((struct counter_collector *)c);
    return hr;
}

static enum collector_standing counter_collector_poll(struct collector *c, HRESULT *reason)
{
    (void)reason;
    const struct counter_collector *cc = (const struct counter_collector *)c;
    if (cc->max_records && c->figures.samples >= cc->max_records)
        return COLLECTOR_AT_LIMIT;
    return cc->has_new ? COLLECTOR_WANTS_SEGMENT : COLLECTOR_GOES_ON;
}

static HRESULT counter_collector_flush(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    return cc->log ? log_writer_flush(cc->log) : S_OK;
}

static HRESULT counter_collector_complete(struct collector *c)
{
    struct counter_collector *cc = (struct counter_collector *)c;
    note_log_warning(cc);
    if (log_goes_on(cc))
        return S_OK;
    HRESULT hr = log_writer_close(cc->log);
    cc->log = NULL;
    return hr;
}

const struct collector_kind counter_collector_kind = {
    .output = WRITES_FILE,
    .end = ENDS_AT_LIMIT,
    .open = counter_collector_open,
    .rehearse = counter_collector_rehearse,
    .sample = counter_collector_sample,
    .poll = counter_collector_poll,
    .flush = counter_collector_flush,
    .complete = counter_collector_complete,
    .close = counter_collector_close,
};
