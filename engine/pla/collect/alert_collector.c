/* SPDX-License-Identifier: MIT */
/* The alert collector (MS-PLA 3.2.4.8): compares samples with thresholds, writes crossings to the alert log, and passes
   them to the run, which performs the actions. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/alert_log.h"
#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

#include <inttypes.h>

#define ONE_SAMPLE     UINT32_MAX /* value of SampleInterval: take a single sample */
#define READINGS_MS    1000       /* wait between the two counter reads of a single sample */
/* Missing counters are searched for again after this many samples or milliseconds, whichever comes first. */
#define SEARCH_SAMPLES 10
#define SEARCH_MS      60000

struct alerts {
    struct collector collector;
    struct alert_watch *watch;
    struct alert_log *log; /* NULL: not requested */
    struct collect_context context;
    char *path;
    uint64_t max_bytes; /* maximum size of the log per segment; 0: no limit */
    /* once: a single sample is taken; read_once: the first counter read of this sample is done; done: it is complete */
    bool once, read_once, done;
    bool completed;
    bool log_full, log_fails;
    uint32_t samples_since; /* samples since the latest search */
    uint64_t searched;      /* time of the latest search, clock_monotonic_ms */
    int64_t utc;            /* time of the latest sample */
};

/* ---- callbacks of the watch ---- */

static void missing(void *user, HRESULT reason, const char *path, const char *text)
{
    struct alerts *a = user;
    a->context.note(a->context.user, reason, path, text);
}

static void alerts_write_note(struct alerts *a, const char *text)
{
    if (text)
        a->context.note(a->context.user, S_OK, NULL, text);
}

static void alerts_counter_appeared(void *user, const char *path)
{
    struct alerts *a = user;
    char *text = text_format("%s: the counter was missing; it exists now and is watched", path);
    alerts_write_note(a, text);
    memory_free(text);
}

static void alerts_value_found(void *user, const struct alert_found *what)
{
    struct alerts *a = user;
    char value[ALERT_NUMBER_SIZE] = "", threshold[ALERT_NUMBER_SIZE];
    if (what->has_value)
        alert_number(what->value, value);
    alert_number(what->threshold->value, threshold);
    const struct crossing crossing = {.utc = a->utc,
                                      .counter = what->counter,
                                      .value = value,
                                      .threshold = threshold,
                                      .comparison = what->threshold->operator_,
                                      .clear = what->verdict == ALERT_CLEAR};
    char *message = a->context.alert(a->context.user, &crossing);
    if (a->log)
        (void)alert_log_add(a->log, &(struct alert_row){.utc = crossing.utc,
                                                        .counter = crossing.counter,
                                                        .value = value,
                                                        .threshold = threshold,
                                                        .comparison = crossing.comparison,
                                                        .kind = crossing.clear ? "clear" : "alert",
                                                        .message = message ? message : ""});
    memory_free(message);
}

/* ---- the log ---- */

/* Writes the log. A failure does not stop alerts: it is reported, and the rows are kept for the next attempt. */
static void write_log(struct alerts *a)
{
    HRESULT hr = a->log ? alert_log_write(a->log) : S_OK;
    char *text = NULL;
    if (FAILED(hr) && !a->log_fails) {
        struct error_kept why = error_keep(hr);
        text = text_format("cannot write the alert log; its rows are kept and alerts continue: %s", why.text);
    } else if (SUCCEEDED(hr) && a->log_fails) {
        text = text_format("%s: the alert log can be written again; lost rows: %" PRIu64, a->path,
                           alert_log_dropped(a->log));
    }
    a->log_fails = FAILED(hr);
    alerts_write_note(a, text);
    memory_free(text);
}

/* When the log reaches SegmentMaxSize, requests the next segment if the set has segments. Otherwise restarts the log,
   because a full log must not stop alerts. */
static void bound_log(struct alerts *a)
{
    if (!a->log || !a->max_bytes || alert_log_written(a->log) < a->max_bytes)
        return;
    if (a->context.segmented)
        a->log_full = true;
    else
        alert_log_restart(a->log);
}

/* Opens the log. If the log's path leads out of RootPath, the start fails, as for every file (DECISIONS 36). */
static HRESULT open_log(struct alerts *a, bool replace)
{
    if (!a->context.output_path[0])
        return S_OK;
    HRESULT hr = alert_log_create(a->context.output_path, a->context.output_base, replace, &a->log);
    if (FAILED(hr))
        return hr;
    hr = alert_log_write(a->log);
    if (hr == E_OUTOFMEMORY || hr == HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME) || hr == E_INVALIDARG)
        return hr;
    write_log(a);
    return S_OK;
}

/* ---- the kind ---- */

static HRESULT alert_close(struct collector *c)
{
    struct alerts *a = (struct alerts *)c;
    HRESULT hr = alert_log_close(a->log);
    alert_watch_close(a->watch);
    memory_free(a->path);
    memory_free(a);
    return hr;
}

static const struct alert_listener listener = {
    .missing = missing, .appeared = alerts_counter_appeared, .found = alerts_value_found};

static HRESULT open_watch(struct alerts *a, const struct texts *thresholds, struct alert_watch *before,
                          struct alert_watch *beside, struct alert_watch **out)
{
    struct alert_listener own = listener;
    own.user = a;
    HRESULT hr = alert_watch_open(thresholds, &own, before, beside, out);
    if (SUCCEEDED(hr) && !before && beside)
        (void)alert_watch_read(*out); /* so that the next sample has rates */
    return hr;
}

static void alerts_counter_missing(void *user, HRESULT reason, const char *path, const char *text)
{
    (void)user;
    (void)reason;
    (void)path;
    (void)text;
}

static void alert_rehearse(struct object *object)
{
    const struct alert_listener nobody = {.missing = alerts_counter_missing};
    struct alert_watch *w;
    if (FAILED(alert_watch_open(&((const struct alert_collector *)object)->AlertThresholds, &nobody, NULL, NULL, &w)))
        return;
    (void)alert_watch_read(w);
    alert_watch_close(w);
}

static HRESULT alert_open(struct object *object, const struct collect_context *context, struct collector **out)
{
    const struct alert_collector *model = (const struct alert_collector *)object;
    struct alerts *a = memory_zero(1, sizeof *a), *previous = (struct alerts *)context->previous;
    if (!a)
        return E_OUTOFMEMORY;
    a->once = model->SampleInterval == ONE_SAMPLE;
    a->collector.interval_ms = a->once ? READINGS_MS : (uint64_t)model->SampleInterval * 1000;
    a->collector.ends_by_itself = a->once;
    a->context = *context;
    a->max_bytes = (uint64_t)context->segment_max_mb << 20;
    a->searched = clock_monotonic_ms();
    a->path = text_copy(context->output_path);
    a->context.output_path = a->path;
    HRESULT hr = a->path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        bool over = previous && previous->completed;
        a->read_once = a->once && over && previous->read_once;
        a->done = a->once && over && previous->done;
        hr = open_watch(a, &model->AlertThresholds, over ? previous->watch : NULL, previous ? previous->watch : NULL,
                        &a->watch);
    }
    if (SUCCEEDED(hr) && !model->AlertThresholds.count)
        alerts_write_note(a, "the alert has no thresholds and watches nothing");
    if (SUCCEEDED(hr))
        hr = open_log(a, model->LogOverwrite && !model->LogAppend);
    a->context.output_base = NULL; /* borrowed only during open */
    a->context.previous = NULL;
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        alert_close(&a->collector);
        return error_restore(&why);
    }
    if (a->done)
        context->wake(context->user); /* requests a poll, because there will be no further sample */
    *out = &a->collector;
    return S_OK;
}

static HRESULT alerts_search_missing(struct alerts *a)
{
    uint64_t now = clock_monotonic_ms();
    if (!alert_watch_missing(a->watch))
        return S_OK;
    if (++a->samples_since < SEARCH_SAMPLES && clock_passed_ms(a->searched, now) < SEARCH_MS)
        return S_OK;
    a->samples_since = 0;
    a->searched = now;
    return alert_watch_search(a->watch);
}

static HRESULT alert_sample(struct collector *c)
{
    struct alerts *a = (struct alerts *)c;
    if (a->once && !a->read_once) { /* a rate needs two counter reads */
        HRESULT hr = alert_watch_read(a->watch);
        a->read_once = SUCCEEDED(hr);
        return hr;
    }
    struct alert_rules rules = {0};
    a->context.alert_rules(a->context.user, &rules);
    HRESULT searched = alerts_search_missing(a);
    a->utc = clock_utc();
    HRESULT hr = alert_watch_sample(a->watch, &rules, &a->utc);
    write_log(a);
    bound_log(a);
    if (FAILED(hr))
        return hr;
    c->figures.samples++;
    a->done = a->once;
    return searched;
}

static enum collector_standing alert_poll(struct collector *c, HRESULT *reason)
{
    const struct alerts *a = (const struct alerts *)c;
    (void)reason;
    if (a->done)
        return COLLECTOR_DONE;
    return a->log_full ? COLLECTOR_AT_LIMIT : COLLECTOR_GOES_ON;
}

static HRESULT alert_flush(struct collector *c)
{
    write_log((struct alerts *)c);
    return S_OK;
}

static HRESULT alert_complete(struct collector *c)
{
    struct alerts *a = (struct alerts *)c;
    HRESULT hr = alert_log_close(a->log);
    a->log = NULL;
    a->completed = true;
    return hr;
}

static HRESULT alert_update(struct collector *c, struct object *object)
{
    struct alerts *a = (struct alerts *)c;
    const struct alert_collector *model = (const struct alert_collector *)object;
    struct alert_watch *fresh;
    if (a->once || model->SampleInterval == ONE_SAMPLE ||
        a->collector.interval_ms != (uint64_t)model->SampleInterval * 1000)
        return S_FALSE;
    HRESULT hr = open_watch(a, &model->AlertThresholds, NULL, a->watch, &fresh);
    if (FAILED(hr))
        return hr;
    alert_watch_close(a->watch);
    a->watch = fresh;
    return S_OK;
}

static bool alert_follows(const struct collector *c, struct object *model)
{
    (void)c;
    (void)model;
    return true;
}

const struct collector_kind alert_collector_kind = {
    .output = WRITES_FILE,
    .end = ENDS_WITH_RUN,
    .open = alert_open,
    .rehearse = alert_rehearse,
    .sample = alert_sample,
    .poll = alert_poll,
    .flush = alert_flush,
    .complete = alert_complete,
    .close = alert_close,
    .update = alert_update,
    .follows = alert_follows,
};
