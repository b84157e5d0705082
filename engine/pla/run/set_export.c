/* SPDX-License-Identifier: MIT */
/* The export of a running set.

   The export has a separate query and a thread that samples it; the sender has another thread. The run loop therefore
   shares only one lock with these threads: the lock of the notes, which is never held for long. When a run ends, it
   waits up to END_MS for the sampling thread. If the sampling thread hangs in a sample, for example of a remote
   computer, the run abandons the thread and its memory; the thread frees the memory when the sample returns. */
#include "engine/pla/run/set_export.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/export/feed.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <inttypes.h>
#include <string.h>

enum {
    END_MS = 10000,
    MOST_NOTES = 100,
    DEFAULT_SECONDS = 15,
    DEFAULT_QUEUE_MB = 64,
};

struct set_export {
    struct lock lock;
    struct thread_condition changed;
    unsigned holders; /* references: the run's, and the thread's */
    bool ending, ended;
    struct texts notes;
    size_t taken; /* number of `notes` that are already in the run's diagnostics */
    void (*wake)(void *user);
    void *user;
    struct thread *thread;
    /* Used by the thread; copied from the settings. */
    char *space, *name, *url, *certificates, *queue;
    struct push_credentials credentials;
    struct texts counters;
    enum push_kind kind;
    uint64_t interval_ms;
    uint32_t queue_megabytes;
    bool preset, totals;
};

static void export_free(struct set_export *x)
{
    texts_free(&x->notes);
    texts_free(&x->counters);
    push_credentials_free(&x->credentials);
    memory_free(x->space);
    memory_free(x->name);
    memory_free(x->url);
    memory_free(x->certificates);
    memory_free(x->queue);
    memory_free(x);
}

/* Releases a reference; the last release frees the export. Call it under the lock; it releases the lock. */
static void export_unref(struct set_export *x)
{
    const bool last = --x->holders == 0;
    lock_leave(&x->lock);
    if (last)
        export_free(x);
}

/* ---- notes ---- */

static void export_note(struct set_export *x, char *text)
{
    bool fresh = text != NULL;
    lock_enter(&x->lock);
    for (size_t i = 0; fresh && i < x->notes.count; i++)
        fresh = strcmp(x->notes.items[i], text) != 0;
    fresh = fresh && x->notes.count < MOST_NOTES && SUCCEEDED(texts_add(&x->notes, text));
    if (fresh && !x->ending)
        x->wake(x->user);
    lock_leave(&x->lock);
    memory_free(text);
}

/* Reports a failure of the sender or of the export. S_OK: the server accepts data again. */
static void export_report(void *user, HRESULT reason, const char *text)
{
    struct set_export *x = user;
    const struct journal_facts facts = {
        .space = x->space, .name = x->name, .server = x->url, .error = reason, .reason = text};
    (void)journal_write(FAILED(reason) ? JOURNAL_EXPORT_FAILED : JOURNAL_EXPORT_RESUMED, &facts);
    if (FAILED(reason))
        export_note(x, text_format("0x%08X: export to '%s': %s", (unsigned)reason, x->url, text));
}

static void export_summarize(struct set_export *x, const struct push_figures *f)
{
    if (f->dropped_points > 0)
        export_note(x, text_format("export to '%s': %" PRIu64 " points dropped, %" PRIu64 " sent", x->url,
                                   f->dropped_points, f->sent_points));
    if (f->waiting_points > 0)
        export_note(x, text_format("export to '%s': %" PRIu64 " points wait in the queue", x->url, f->waiting_points));
}

/* ---- the thread ---- */

/* Waits until the time `until`. False: the run ends. */
static bool export_wait(struct set_export *x, uint64_t until)
{
    bool goes_on;
    lock_enter(&x->lock);
    for (;;) {
        const uint64_t now = clock_monotonic_ms();
        goes_on = !x->ending;
        if (!goes_on || now >= until)
            break;
        thread_condition_wait(&x->changed, &x->lock, (uint32_t)(until - now));
    }
    lock_leave(&x->lock);
    return goes_on;
}

/* Samples until the run ends. A sample that fails is skipped, as in the set's logs. Of several consecutive failures,
   only the first one is reported. */
static HRESULT export_sample_all(struct set_export *x, struct feed *feed)
{
    const uint64_t begun = clock_monotonic_ms();
    uint64_t next = begun;
    bool fails = false;
    while (export_wait(x, next)) {
        const HRESULT hr = feed_sample(feed);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr) && !fails) {
            const struct error_kept why = error_keep(hr);
            export_report(x, hr, why.text);
        }
        fails = FAILED(hr);
        next = begun + ((clock_monotonic_ms() - begun) / x->interval_ms + 1) * x->interval_ms;
    }
    return S_OK;
}

static HRESULT export_run(struct set_export *x)
{
    const struct push_settings sending = {.kind = x->kind,
                                          .url = x->url,
                                          .ca_file = x->certificates,
                                          .credentials = &x->credentials,
                                          .queue_folder = x->queue,
                                          .queue_bytes = (uint64_t)x->queue_megabytes << 20,
                                          .report = export_report,
                                          .user = x};
    const struct exporter_settings selection = {
        .paths = &x->counters, .totals = x->totals, .preset = x->preset, .values = x->kind == PUSH_INFLUX};
    struct push *push = NULL;
    struct exporter *exporter = NULL;
    struct feed *feed = NULL;
    struct push_figures figures;
    HRESULT hr = push_open(&sending, &push);
    push_credentials_free(&x->credentials);
    if (FAILED(hr))
        return hr;
    hr = exporter_open(&selection, &exporter);
    for (size_t i = 0; SUCCEEDED(hr) && i < exporter_refused(exporter)->count; i++)
        export_note(x, text_format("export: %s", exporter_refused(exporter)->items[i]));
    if (SUCCEEDED(hr))
        hr = feed_open(x->kind, x->name, exporter, push, &feed);
    if (SUCCEEDED(hr))
        hr = export_sample_all(x, feed);
    const struct error_kept why = error_keep(hr);
    feed_close(feed);
    exporter_close(exporter);
    push_close(push, &figures);
    export_summarize(x, &figures);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static void export_thread(void *user)
{
    struct set_export *x = user;
    const HRESULT hr = export_run(x);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        export_report(x, hr, why.text);
    }
    lock_enter(&x->lock);
    x->ended = true;
    thread_condition_wake(&x->changed);
    export_unref(x);
}

/* ---- the settings ---- */

/* Determines the path of the queue. Each set and server has a separate queue, so that data for one server are not sent
   to another. The path contains a hash, because namespaces and sets can have any names. */
static HRESULT export_find_queue(struct set_export *x)
{
    char *data = os_data_folder(), *all = data ? path_join(data, "push") : NULL, *set = store_file_name(x->name);
    uint64_t hash = hash_text(hash_number(HASH_START, x->kind), x->url);
    hash = hash_text(hash_text(hash, x->space), set ? set : "");
    char *name = set ? text_format("set-%016llx", (unsigned long long)hash) : NULL;
    x->queue = all && name ? path_join(all, name) : NULL;
    memory_free(data);
    memory_free(all);
    memory_free(set);
    memory_free(name);
    return x->queue ? S_OK : E_OUTOFMEMORY;
}

static HRESULT export_read_credentials(struct set_export *x, struct object *set)
{
    char *text = NULL;
    HRESULT hr = setting_read_text(set, NULL, SETTING_ExportCredentials, &text);
    if (SUCCEEDED(hr) && *text)
        hr = push_credentials_parse(text, strlen(text), &x->credentials);
    memory_free_secret(text);
    return FAILED(hr) ? error_prefix(hr, SETTING_KEY(ExportCredentials)) : S_OK;
}

static HRESULT export_read_numbers(struct set_export *x, struct object *set)
{
    uint32_t kind = 0, seconds = 0, preset = 0, totals = 0;
    HRESULT hr = setting_read(set, SETTING_ExportKind, &kind);
    if (SUCCEEDED(hr))
        hr = setting_read(set, SETTING_ExportInterval, &seconds);
    if (SUCCEEDED(hr))
        hr = setting_read(set, SETTING_ExportPreset, &preset);
    if (SUCCEEDED(hr))
        hr = setting_read(set, SETTING_ExportTotal, &totals);
    if (SUCCEEDED(hr))
        hr = setting_read(set, SETTING_ExportQueueSize, &x->queue_megabytes);
    if (FAILED(hr))
        return hr;
    x->kind = kind ? PUSH_INFLUX : PUSH_OTLP;
    x->preset = preset != 0;
    x->totals = totals != 0;
    x->queue_megabytes = x->queue_megabytes ? x->queue_megabytes : DEFAULT_QUEUE_MB;
    x->interval_ms = (uint64_t)seconds * 1000;
    return x->preset && x->kind == PUSH_INFLUX
               ? error_set(E_INVALIDARG,
                           SETTING_KEY(ExportPreset) ": not available for InfluxDB, which has no metric names")
               : S_OK;
}

static HRESULT export_read(struct set_export *x, const struct run_set *run)
{
    struct object *set = &run->set->object;
    uint64_t shortest = 0;
    x->space = text_copy(run->space);
    x->name = text_copy(run->name);
    HRESULT hr = x->space && x->name ? setting_read_text(set, NULL, SETTING_ExportCertificates, &x->certificates)
                                     : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !*x->certificates) {
        memory_free(x->certificates);
        x->certificates = NULL;
    }
    if (SUCCEEDED(hr))
        hr = export_read_numbers(x, set);
    if (SUCCEEDED(hr))
        hr = export_find_queue(x);
    if (SUCCEEDED(hr))
        hr = export_read_credentials(x, set);
    if (SUCCEEDED(hr))
        hr = set_list_counters(set, &x->counters, &shortest);
    if (SUCCEEDED(hr) && x->counters.count == 0 && !x->preset)
        hr = error_set(E_INVALIDARG, SETTING_KEY(ExportUrl) ": the set has no counters");
    if (x->interval_ms == 0)
        x->interval_ms = shortest ? shortest : DEFAULT_SECONDS * 1000;
    return hr;
}

/* ---- the run's side ---- */

void set_export_begin(struct run_set *set, void (*wake)(void *user), void *user, struct set_export **out)
{
    char *url = NULL;
    *out = NULL;
    HRESULT hr = setting_read_text(&set->set->object, NULL, SETTING_ExportUrl, &url);
    if (SUCCEEDED(hr) && !*url) {
        memory_free(url);
        return;
    }
    struct set_export *x = memory_zero(1, sizeof *x);
    if (!x || FAILED(hr)) {
        memory_free(x);
        memory_free(url);
        diagnostics_note(&set->diagnostics, E_OUTOFMEMORY, "export: out of memory");
        return;
    }
    x->holders = 2;
    x->wake = wake;
    x->user = user;
    x->url = url;
    hr = export_read(x, set);
    if (SUCCEEDED(hr))
        hr = thread_start(export_thread, x, &x->thread);
    if (SUCCEEDED(hr)) {
        *out = x;
        return;
    }
    const struct error_kept why = error_keep(hr);
    const struct journal_facts facts = {
        .space = set->space, .name = set->name, .server = url, .error = hr, .reason = why.text};
    (void)journal_write(JOURNAL_EXPORT_FAILED, &facts);
    diagnostics_note(&set->diagnostics, hr, why.text);
    export_free(x);
}

bool set_export_take_notes(struct set_export *x, struct diagnostics *out)
{
    bool fresh = false;
    lock_enter(&x->lock);
    for (; x->taken < x->notes.count; x->taken++)
        fresh |= diagnostics_note(out, S_OK, x->notes.items[x->taken]);
    lock_leave(&x->lock);
    return fresh;
}

void set_export_end(struct set_export *x, struct diagnostics *out)
{
    if (!x)
        return;
    const uint64_t began = clock_monotonic_ms();
    lock_enter(&x->lock);
    x->ending = true;
    thread_condition_wake(&x->changed);
    for (uint64_t passed = 0; !x->ended && passed < END_MS; passed = clock_passed_ms(began, clock_monotonic_ms()))
        thread_condition_wait(&x->changed, &x->lock, (uint32_t)(END_MS - passed));
    if (!x->ended)
        diagnostics_note(out, HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                         "export: the last sample was not taken in time and was abandoned");
    lock_leave(&x->lock);
    (void)set_export_take_notes(x, out);
    thread_close(x->thread);
    lock_enter(&x->lock);
    export_unref(x);
}
