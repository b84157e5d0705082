/* SPDX-License-Identifier: MIT */
/* Collector kinds for the tests of runs. This file replaces engine/pla/collect/kinds.c. There are two kinds: the real
   counter collector, and a fake collector. The Name of the fake collector says what it does:
     segment, limit, done, fail   does this 300 ms after it was opened, on a separate thread, like sessions and copies
     once                         requests a segment too, but cannot be opened for it
     cross                        takes samples, each of which crosses a threshold
     break                        like "cross", but fails after the first sample of a segment */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

#include <stdatomic.h>
#include <string.h>

struct fake {
    struct collector collector;
    struct collect_context context;
    struct thread *thread;
    struct wakeup *closing;
    enum collector_standing later;
    bool breaks;
    atomic_int standing;
};

static void act_later(void *user)
{
    struct fake *f = user;
    if (wakeup_wait(f->closing, 300))
        return;
    atomic_store(&f->standing, (int)f->later);
    f->context.wake(f->context.user);
}

static HRESULT fake_close(struct collector *c)
{
    struct fake *f = (struct fake *)c;
    wakeup_set(f->closing);
    if (f->thread) {
        thread_wait(f->thread, UINT32_MAX);
        thread_close(f->thread);
    }
    wakeup_free(f->closing);
    memory_free(f);
    return S_OK;
}

static HRESULT fake_open(struct object *model, const struct collect_context *context, struct collector **out)
{
    static const char *const names[] = {"", "segment", "limit", "done", "fail"};
    const char *name = collector_of(model)->Name;
    struct fake *f = memory_zero(1, sizeof *f);
    if (!f || FAILED(wakeup_create(&f->closing)))
        return E_OUTOFMEMORY;
    bool once = !strcmp(name, "once"), breaks = !strcmp(name, "break");
    f->context = *context;
    for (int i = COLLECTOR_WANTS_SEGMENT; i <= COLLECTOR_FAILED; i++)
        if (!strcmp(name, names[i]))
            f->later = (enum collector_standing)i;
    if (once)
        f->later = COLLECTOR_WANTS_SEGMENT;
    if (breaks || !strcmp(name, "cross"))
        f->collector.interval_ms = 1000;
    f->breaks = breaks;
    context->note(context->user, S_OK, NULL, "a kind of the tests");
    HRESULT hr = once && context->previous ? error_set(E_ACCESSDENIED, "the tests allow one session") : S_OK;
    if (SUCCEEDED(hr) && context->output_path[0])
        hr = file_store(context->output_path, "fake", 4);
    if (SUCCEEDED(hr) && f->later)
        hr = thread_start(act_later, f, &f->thread);
    if (FAILED(hr)) {
        fake_close(&f->collector);
        return hr;
    }
    *out = &f->collector;
    return S_OK;
}

static HRESULT fake_sample(struct collector *c)
{
    struct fake *f = (struct fake *)c;
    const struct crossing crossing = {
        .counter = "\\Memory\\Available MBytes", .value = "12.5", .threshold = "100", .comparison = '<'};
    memory_free(f->context.alert(f->context.user, &crossing));
    c->figures.samples++;
    if (f->breaks)
        atomic_store(&f->standing, COLLECTOR_FAILED);
    return S_OK;
}

static enum collector_standing fake_poll(struct collector *c, HRESULT *reason)
{
    struct fake *f = (struct fake *)c;
    enum collector_standing standing = (enum collector_standing)atomic_load(&f->standing);
    if (standing == COLLECTOR_FAILED)
        *reason = error_set(E_ACCESSDENIED, "the session of the tests was ended");
    return standing;
}

static void fake_statistics(struct collector *c)
{
    c->figures.events_lost = 7;
    c->figures.buffers_written++;
}

static const struct collector_kind trace = {.output = WRITES_FILE,
                                            .end = ENDS_AT_LIMIT,
                                            .open = fake_open,
                                            .poll = fake_poll,
                                            .figures = fake_statistics,
                                            .close = fake_close};
static const struct collector_kind configuration = {
    .output = WRITES_FILES, .end = ENDS_BY_ITSELF, .open = fake_open, .poll = fake_poll, .close = fake_close};
static const struct collector_kind alert = {.output = WRITES_NOTHING,
                                            .end = ENDS_WITH_RUN,
                                            .open = fake_open,
                                            .sample = fake_sample,
                                            .poll = fake_poll,
                                            .close = fake_close};

const struct collector_kind *const collector_kinds[] = {&counter_collector_kind, &trace, &configuration, &alert};
const size_t collector_kind_count = sizeof collector_kinds / sizeof collector_kinds[0];
