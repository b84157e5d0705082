/* SPDX-License-Identifier: MIT */
/* The configuration data collector (MS-PLA 3.2.4.7). The sources of the collector write one XML file on a separate
   thread, so that no sample of another collector waits for the sources. The collector is complete when everything is
   collected. Slow work of a source runs on an additional thread. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/pla/collect/configuration_source.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

#include <inttypes.h>
#include <string.h>

enum {
    LOOK_MS = 500,      /* time between polls; each poll updates the statistics */
    PATIENCE_MS = 1500, /* time within which a source must stop */
    DEFAULT_DEPTH = 30, /* used if FileMaxRecursiveDepth is 0 */
    HEAD_BYTES = 512,   /* bytes to check in a file before it is overwritten */
};

/* Shared by the collector and its thread. A thread that hangs, for example while it accesses an unreachable share,
   outlives the collector. */
struct work {
    atomic_int owners;
    struct configuration_request request;
    char *base, *folder, *path;
    struct file *file;
    struct configuration_document *document; /* while the thread runs, only the thread uses it */
    atomic_bool stop;
    _Atomic uint64_t files_copied;
    struct lock lock; /* guards the fields below */
    bool ended;
    bool complete;         /* nothing was skipped because of `stop` */
    struct error_kept why; /* why the sources could not continue */
    uint64_t errors;       /* entries that could not be collected */
    void *user;            /* from collect_context; NULL: the collector no longer waits */
    void (*wake)(void *user);
    void (*made)(const char *base, const char *folder, const char *path); /* from collect_context */
};

struct configuration_work {
    struct collector collector;
    struct work *work;
    struct thread *thread; /* NULL: not started, or finished */
    bool over;             /* everything has been reported */
    bool created;          /* this collector created the file */
    void *user;
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
};

/* ---- the request ---- */

static void request_free(struct configuration_request *r)
{
    texts_free(&r->registry_keys);
    texts_free(&r->files);
    texts_free(&r->queries);
    memory_free(r->state_file);
}

static HRESULT request_make(const struct configuration_collector *model, const struct collect_context *context,
                            struct configuration_request *out)
{
    *out = (struct configuration_request){
        .registry_depth = model->RegistryMaxRecursiveDepth,
        .file_depth = model->FileMaxRecursiveDepth ? model->FileMaxRecursiveDepth : DEFAULT_DEPTH,
        .file_count = model->FileMaxCount,
        .file_bytes = (uint64_t)model->FileMaxTotalSize << 20,
        .query_limit_s = context->query_timeout_seconds,
        .network_adapters = model->QueryNetworkAdapters,
        .overwrite = model->LogOverwrite,
        .state_file = text_copy(model->SystemStateFile),
    };
    HRESULT hr = out->state_file ? texts_copy(&out->registry_keys, &model->RegistryKeys) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = texts_copy(&out->files, &model->Files);
    return SUCCEEDED(hr) ? texts_copy(&out->queries, &model->ManagementQueries) : hr;
}

/* ---- the thread ---- */

static void work_release(struct work *w)
{
    if (atomic_fetch_sub(&w->owners, 1) != 1)
        return;
    if (w->document)
        configuration_document_end(w->document, false);
    file_close(w->file);
    request_free(&w->request);
    memory_free(w->base);
    memory_free(w->folder);
    memory_free(w->path);
    memory_free(w);
}

static HRESULT run_sources(struct work *w)
{
    /* The sources with volatile data are first, the slow sources last. */
    static HRESULT (*const sources[])(const struct configuration_source_context *) = {
        configuration_collect_state, configuration_collect_registry, configuration_collect_network,
        configuration_collect_files, configuration_collect_queries,
    };
    const struct configuration_source_context context = {.request = &w->request,
                                                         .document = w->document,
                                                         .output_base = w->base,
                                                         .output_folder = w->folder,
                                                         .made = w->made,
                                                         .stop = &w->stop,
                                                         .files_copied = &w->files_copied};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof sources / sizeof *sources && !atomic_load(&w->stop); i++) {
        hr = configuration_put_out(w->document);
        if (SUCCEEDED(hr))
            hr = sources[i](&context);
    }
    return hr == E_ABORT ? S_OK : hr;
}

static void work_end(struct work *w, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    const bool complete = SUCCEEDED(hr) && !atomic_load(&w->stop);
    const uint64_t errors = configuration_errors(w->document);
    HRESULT ended = configuration_document_end(w->document, complete);
    w->document = NULL;
    if (SUCCEEDED(why.hr) && FAILED(ended))
        why = error_keep(ended);
    file_close(w->file);
    w->file = NULL;
    lock_enter(&w->lock);
    w->why = why;
    w->complete = complete && SUCCEEDED(why.hr);
    w->errors = errors;
    w->ended = true;
    if (w->user)
        w->wake(w->user);
    lock_leave(&w->lock);
}

static void collect(void *user)
{
    struct work *w = user;
    work_end(w, run_sources(w));
    work_release(w);
}

/* ---- opening ---- */

/* Empties an existing file, but only if it contains a configuration document. Otherwise a user could lose other data,
   because any file can have that name. */
static HRESULT empty_file(struct work *w)
{
    static const char begins[] = "<?xml", report[] = "<Report name=\"configuration\"";
    char head[HEAD_BYTES + 1];
    size_t got = 0;
    HRESULT hr = file_open_below(w->base, w->path, FILE_APPEND, &w->file);
    if (SUCCEEDED(hr))
        hr = file_read_at(w->file, 0, head, HEAD_BYTES, &got);
    if (FAILED(hr))
        return hr;
    head[got] = 0;
    if (got && (strncmp(head, begins, sizeof begins - 1) != 0 || !strstr(head, report)))
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "'%s' already exists and is not a configuration (not overwritten)", w->path);
    return got ? file_set_size(w->file, 0) : S_OK;
}

static HRESULT open_file(struct configuration_work *c)
{
    struct work *w = c->work;
    HRESULT hr = file_open_below(w->base, w->path, FILE_CREATE_NEW, &w->file);
    c->created = SUCCEEDED(hr);
    if (hr != HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) && hr != HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        return hr;
    return w->request.overwrite ? empty_file(w) : collector_file_exists(w->path);
}

/* Begins the document with facts about the whole collection. */
static HRESULT begin_document(struct work *w, const char *name)
{
    char start[64];
    char *computer = os_computer_name();
    HRESULT hr = computer ? configuration_document_begin(w->file, &w->document) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        configuration_time(clock_utc(), start);
        configuration_fact(w->document, "computer", computer);
        configuration_fact(w->document, "collector", name);
        configuration_fact(w->document, "start", start);
        hr = configuration_put_out(w->document);
    }
    memory_free(computer);
    return hr;
}

static HRESULT configuration_collector_close(struct collector *collector);

static HRESULT configuration_collector_open(struct object *object, const struct collect_context *context,
                                            struct collector **out)
{
    const struct configuration_collector *model = (const struct configuration_collector *)object;
    struct configuration_work *c = memory_zero(1, sizeof *c);
    struct work *w = c ? memory_zero(1, sizeof *w) : NULL;
    if (!w) {
        memory_free(c);
        return E_OUTOFMEMORY;
    }
    c->work = w;
    c->user = w->user = context->user;
    c->note = context->note;
    w->wake = context->wake;
    w->made = context->made;
    atomic_store(&w->owners, 1);
    w->path = text_copy(context->output_path);
    w->base = text_copy(context->output_base);
    w->folder = path_folder(context->output_path);
    HRESULT hr = request_make(model, context, &w->request);
    if (SUCCEEDED(hr))
        hr = w->path && w->base && w->folder ? open_file(c) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = begin_document(w, collector_of(object)->Name);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        char *made = c->created ? text_copy(w->path) : NULL, *base = made ? text_copy(w->base) : NULL;
        c->over = true;
        configuration_collector_close(&c->collector);
        if (base)
            file_delete_below(base, made);
        memory_free(made);
        memory_free(base);
        return error_restore(&why);
    }
    /* The thread is started by the first poll. By then all collectors of the set have created their output files, so no
       copied file can take the name of an output file. */
    context->wake(context->user);
    *out = &c->collector;
    return S_OK;
}

/* ---- collecting ---- */

static HRESULT begin_work(struct configuration_work *c)
{
    atomic_store(&c->work->owners, 2);
    HRESULT hr = thread_start(collect, c->work, &c->thread);
    if (FAILED(hr))
        atomic_store(&c->work->owners, 1);
    c->collector.poll_ms = SUCCEEDED(hr) ? LOOK_MS : 0;
    return hr;
}

static void work_report(struct configuration_work *c, char *text)
{
    if (text)
        c->note(c->user, S_OK, NULL, text);
    memory_free(text);
}

/* Adds the final notes; called once, after the thread has ended. */
static void work_report_end(struct configuration_work *c)
{
    struct work *w = c->work;
    c->over = true;
    c->collector.poll_ms = 0;
    if (w->errors)
        work_report(c, text_format("not collected: %" PRIu64
                                   " of the entries of '%s' (each of these entries contains the reason)",
                                   w->errors, w->path));
    if (!w->complete && SUCCEEDED(w->why.hr))
        work_report(c, text_format("'%s' is incomplete: collecting was stopped early", w->path));
}

static bool has_ended(struct work *w)
{
    lock_enter(&w->lock);
    const bool ended = w->ended;
    lock_leave(&w->lock);
    return ended;
}

static enum collector_standing configuration_collector_poll(struct collector *collector, HRESULT *reason)
{
    struct configuration_work *c = (struct configuration_work *)collector;
    if (!c->thread && !c->over) {
        *reason = begin_work(c);
        return FAILED(*reason) ? COLLECTOR_FAILED : COLLECTOR_GOES_ON;
    }
    if (!has_ended(c->work))
        return COLLECTOR_GOES_ON;
    if (!c->over)
        work_report_end(c);
    *reason = FAILED(c->work->why.hr) ? error_restore(&c->work->why) : S_OK;
    return FAILED(*reason) ? COLLECTOR_FAILED : COLLECTOR_DONE;
}

static void configuration_collector_figures(struct collector *collector)
{
    collector->figures.files_copied = atomic_load(&((struct configuration_work *)collector)->work->files_copied);
}

/* A source that does not stop in time is abandoned. The document on disk is well-formed even then. */
static HRESULT configuration_collector_complete(struct collector *collector)
{
    struct configuration_work *c = (struct configuration_work *)collector;
    struct work *w = c->work;
    HRESULT hr = S_OK;
    if (!c->thread && !c->over) { /* the thread was not started */
        c->over = true;
        hr = w->document ? configuration_document_end(w->document, false) : S_OK;
        w->document = NULL;
        work_report(c, text_format("'%s' is empty: collecting was stopped before it began", w->path));
    }
    if (!c->thread)
        return hr;
    atomic_store(&w->stop, true);
    const bool ended = thread_wait(c->thread, PATIENCE_MS);
    thread_close(c->thread);
    c->thread = NULL;
    lock_enter(&w->lock);
    w->user = NULL;
    lock_leave(&w->lock);
    if (!ended) {
        c->over = true;
        work_report(c, text_format("'%s' is incomplete: a source did not stop within %d ms", w->path, PATIENCE_MS));
    } else if (!c->over) {
        work_report_end(c);
        hr = FAILED(w->why.hr) ? error_restore(&w->why) : S_OK;
    }
    return hr;
}

static HRESULT configuration_collector_close(struct collector *collector)
{
    struct configuration_work *c = (struct configuration_work *)collector;
    HRESULT hr = configuration_collector_complete(collector);
    work_release(c->work);
    memory_free(c);
    return hr;
}

const struct collector_kind configuration_collector_kind = {
    .output = WRITES_FILE,
    .end = ENDS_BY_ITSELF,
    .open = configuration_collector_open,
    .poll = configuration_collector_poll,
    .figures = configuration_collector_figures,
    .complete = configuration_collector_complete,
    .close = configuration_collector_close,
};

/* ---- slow work ---- */

/* Milliseconds between the consumer's checks for a stop request. */
#define LOOK_MS 50

struct slow_work {
    const struct slow_work_kind *kind;
    void *user;
    struct lock lock; /* guards the fields below */
    struct thread_condition changed;
    void *thing;           /* a result that was passed, but not taken yet */
    bool ended, abandoned; /* the work has ended; its consumer has abandoned it */
    struct error_kept why; /* result of the work */
};

/* Called by the last user of the work, which is either its thread or its consumer. */
static void slow_work_free(struct slow_work *p)
{
    if (p->thing)
        p->kind->free_thing(p->thing);
    p->kind->free_user(p->user);
    memory_free(p);
}

static void slow_work_run(void *user)
{
    struct slow_work *p = user;
    HRESULT hr = p->kind->run(p->user, p);
    lock_enter(&p->lock);
    p->why = error_keep(hr);
    p->ended = true;
    const bool last = p->abandoned;
    thread_condition_wake(&p->changed);
    lock_leave(&p->lock);
    if (last)
        slow_work_free(p);
}

HRESULT slow_work_start(const struct slow_work_kind *kind, void *user, struct slow_work **out)
{
    struct slow_work *p = memory_zero(1, sizeof *p);
    struct thread *thread;
    *out = NULL;
    if (!p) {
        kind->free_user(user);
        return E_OUTOFMEMORY;
    }
    p->kind = kind;
    p->user = user;
    HRESULT hr = thread_start(slow_work_run, p, &thread);
    if (FAILED(hr)) {
        slow_work_free(p);
        return hr;
    }
    thread_close(thread);
    *out = p;
    return S_OK;
}

HRESULT slow_work_give(struct slow_work *p, void *thing)
{
    lock_enter(&p->lock);
    p->thing = thing;
    thread_condition_wake(&p->changed);
    while (p->thing && !p->abandoned)
        thread_condition_wait(&p->changed, &p->lock, UINT32_MAX);
    const bool taken = !p->thing && !p->abandoned;
    lock_leave(&p->lock);
    return taken ? S_OK : E_ABORT;
}

HRESULT slow_work_take(struct slow_work *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out)
{
    const uint64_t since = clock_monotonic_ms();
    bool stopped = false;
    HRESULT hr = S_FALSE;
    lock_enter(&p->lock);
    while (!(stopped = atomic_load(stop)) && !p->thing && !p->ended &&
           clock_passed_ms(since, clock_monotonic_ms()) < limit_ms)
        thread_condition_wait(&p->changed, &p->lock, LOOK_MS);
    *out = stopped ? NULL : p->thing;
    if (*out) {
        p->thing = NULL;
        thread_condition_wake(&p->changed);
        hr = S_OK;
    } else if (!stopped) {
        hr = p->ended ? error_restore(&p->why)
                      : error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "%.600s: no result for %u s (abandoned)", what,
                                  (unsigned)(limit_ms / 1000));
    }
    lock_leave(&p->lock);
    return hr == S_OK && !*out ? S_FALSE : hr;
}

void slow_work_abandon(struct slow_work *p)
{
    lock_enter(&p->lock);
    p->abandoned = true;
    const bool last = p->ended;
    thread_condition_wake(&p->changed);
    lock_leave(&p->lock);
    if (last)
        slow_work_free(p);
}
