/* SPDX-License-Identifier: MIT */
/* The shared section of a run. */
#include "engine/run/run_state.h"

#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "engine/store/store.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit words must be lock-free to be shared between processes");

/* What the section holds. The host is named by its id and start time, so that a process that got the id of a dead host
   is not taken for it. */
#define ANSWER_TEXT 1024 /* error texts are cut at 1023 bytes */
struct shared_request {
    atomic_uint_least64_t asked, answered; /* numbers */
    atomic_int_least32_t result;           /* of the latest answer */
    char text[ANSWER_TEXT];
};
struct named_figures {
    uint64_t hash;  /* of the collector's name */
    char name[120]; /* its first bytes, for people */
    struct collector_figures figures;
};
#define FIGURES_WORDS ((sizeof(struct named_figures) + 7) / 8)
struct figures_cell {
    struct publications count;
    atomic_uint_least64_t words[2][FIGURES_WORDS];
};
struct shared_run {
    atomic_uint_least64_t process_id, start_time;
    atomic_uint_least64_t stop_requested; /* when, or 0 */
    struct shared_request requests[RUN_REQUESTS];
    struct state_cell state;
    atomic_uint_least64_t figures_count;
    struct figures_cell figures[RUN_FIGURES_MAX]; /* pages that nobody has touched cost nothing */
};

struct run_section {
    struct section *section;
    struct signal *signal;
    struct shared_run *shared;
    uint32_t host_id; /* of the host that was there when the section was opened, 0: none */
    uint64_t host_start;
};

/* `size` bytes of `data` into the place that is not valid now; the places are `length` words each. */
static void publish(struct publications *count, atomic_uint_least64_t *places, size_t length, const void *data,
                    size_t size)
{
    /* From `done`: a writer that died in the middle left `begun` ahead. */
    uint64_t number = atomic_load_explicit(&count->done, memory_order_relaxed) + 1;
    atomic_uint_least64_t *words = places + number % 2 * length;
    atomic_store_explicit(&count->begun, number, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < length; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + i * sizeof word, size - i * sizeof word < 8 ? size - i * sizeof word : 8);
        atomic_store_explicit(&words[i], word, memory_order_relaxed);
    }
    atomic_store_explicit(&count->done, number, memory_order_release);
}

static void read_published(struct publications *count, const atomic_uint_least64_t *places, size_t length, void *data,
                           size_t size)
{
    uint64_t done, begun;
    do {
        done = atomic_load_explicit(&count->done, memory_order_acquire);
        const atomic_uint_least64_t *words = places + done % 2 * length;
        for (size_t i = 0; i < length; i++) {
            uint64_t word = atomic_load_explicit(&words[i], memory_order_relaxed);
            memcpy((char *)data + i * sizeof word, &word, size - i * sizeof word < 8 ? size - i * sizeof word : 8);
        }
        atomic_thread_fence(memory_order_acquire);
        begun = atomic_load_explicit(&count->begun, memory_order_relaxed);
        /* begun == done + 1: the writer is at the other place. Further ahead, it may have come back to ours. */
    } while (begun > done + 1);
}

void state_publish(struct state_cell *cell, const struct run_state *state)
{
    publish(&cell->count, &cell->words[0][0], RUN_STATE_WORDS, state, sizeof *state);
}

void state_read(struct state_cell *cell, struct run_state *state)
{
    read_published(&cell->count, &cell->words[0][0], RUN_STATE_WORDS, state, sizeof *state);
}

void run_section_close(struct run_section *s)
{
    if (!s)
        return;
    if (s->signal)
        signal_close(s->signal);
    section_close(s->section);
    memory_free(s);
}

static HRESULT open_section(const char *space, const char *name, bool create, struct run_section **out)
{
    char key[17];
    HRESULT hr = store_key(space, name, key);
    if (FAILED(hr))
        return hr;
    struct run_section *s = memory_zero(1, sizeof *s);
    if (!s)
        return E_OUTOFMEMORY;
    char *names[2] = {text_format("openpla-run-%s", key), text_format("openpla-stop-%s", key)};
    hr = names[0] && names[1]
             ? section_open(&(struct shared){.name = names[0], .create = create}, sizeof *s->shared, &s->section)
             : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = names[1], .create = create}, &s->signal);
    memory_free(names[0]);
    memory_free(names[1]);
    if (FAILED(hr)) {
        run_section_close(s);
        return hr;
    }
    s->shared = section_memory(s->section);
    *out = s;
    return S_OK;
}

HRESULT run_section_create(const char *space, const char *name, struct run_section **out)
{
    HRESULT hr = open_section(space, name, true, out);
    if (FAILED(hr))
        return hr;
    struct shared_run *shared = (*out)->shared;
    struct run_state nothing;
    memset(&nothing, 0, sizeof nothing);
    atomic_store(&shared->process_id, 0);
    atomic_store(&shared->stop_requested, 0);
    for (size_t i = 0; i < RUN_REQUESTS; i++)
        atomic_store(&shared->requests[i].answered, atomic_load(&shared->requests[i].asked));
    state_publish(&shared->state, &nothing);
    atomic_store(&shared->figures_count, 0);
    uint32_t id = process_own_id();
    atomic_store(&shared->start_time, process_start_time(id));
    atomic_store(&shared->process_id, id);
    (*out)->host_id = id;
    (*out)->host_start = atomic_load(&shared->start_time);
    return S_OK;
}

HRESULT run_section_open(const char *space, const char *name, struct run_section **out)
{
    HRESULT hr = open_section(space, name, false, out);
    if (FAILED(hr))
        return hr;
    struct run_section *s = *out;
    do { /* a pair that belongs together */
        s->host_id = (uint32_t)atomic_load(&s->shared->process_id);
        s->host_start = atomic_load(&s->shared->start_time);
    } while (atomic_load(&s->shared->process_id) != s->host_id);
    return S_OK;
}

void run_section_publish(struct run_section *s, const struct run_state *state)
{
    state_publish(&s->shared->state, state);
}

void run_section_publish_figures(struct run_section *s, size_t place, const char *collector,
                                 const struct collector_figures *figures)
{
    struct named_figures named = {.hash = text_hash_nocase(collector), .figures = *figures};
    text_fit(named.name, sizeof named.name, collector);
    struct figures_cell *cell = &s->shared->figures[place];
    publish(&cell->count, &cell->words[0][0], FIGURES_WORDS, &named, sizeof named);
}

void run_section_publish_count(struct run_section *s, size_t count)
{
    atomic_store(&s->shared->figures_count, count);
}

static size_t figures_count(struct run_section *s)
{
    uint64_t count = atomic_load(&s->shared->figures_count);
    return count < RUN_FIGURES_MAX ? (size_t)count : RUN_FIGURES_MAX;
}

static void read_figures(struct run_section *s, size_t place, struct named_figures *out)
{
    struct figures_cell *cell = &s->shared->figures[place];
    read_published(&cell->count, &cell->words[0][0], FIGURES_WORDS, out, sizeof *out);
    out->name[sizeof out->name - 1] = 0;
}

bool run_section_alive(struct run_section *s)
{
    return s->host_id && process_alive(s->host_id, s->host_start);
}

bool run_section_read(struct run_section *s, struct run_state *state)
{
    state_read(&s->shared->state, state);
    state->stop_since = atomic_load(&s->shared->stop_requested);
    return run_section_alive(s);
}

HRESULT run_section_open_running(const char *space, const char *name, struct run_section **out, struct run_state *state)
{
    HRESULT hr = run_section_open(space, name, out);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE;
    if (FAILED(hr) || (run_section_read(*out, state) && state->phase != PHASE_STOPPED))
        return hr;
    run_section_close(*out);
    return S_FALSE;
}

HRESULT run_section_request_stop(struct run_section *s)
{
    uint64_t none = 0, now = clock_monotonic_ms();
    atomic_compare_exchange_strong(&s->shared->stop_requested, &none, now ? now : 1);
    return signal_set(s->signal);
}

bool run_section_stop_requested(struct run_section *s)
{
    return atomic_load(&s->shared->stop_requested) != 0;
}

HRESULT run_section_wait(struct run_section *s, uint32_t timeout_ms)
{
    return signal_wait(s->signal, timeout_ms);
}

void run_section_wake(struct run_section *s)
{
    if (s)
        signal_set(s->signal);
}

HRESULT run_section_end_host(struct run_section *s)
{
    return s->host_id ? process_terminate(s->host_id, s->host_start) : S_FALSE;
}

HRESULT run_section_ask(struct run_section *s, enum run_request request, uint64_t *number)
{
    *number = atomic_fetch_add(&s->shared->requests[request].asked, 1) + 1;
    return signal_set(s->signal);
}

bool run_section_answered(struct run_section *s, enum run_request request, uint64_t number, HRESULT *hr)
{
    struct shared_request *r = &s->shared->requests[request];
    if (atomic_load(&r->answered) < number)
        return false;
    *hr = atomic_load(&r->result);
    if (FAILED(*hr)) {
        r->text[ANSWER_TEXT - 1] = 0;
        error_set(*hr, "%s", r->text);
    }
    return true;
}

bool run_section_asked(struct run_section *s, enum run_request request, uint64_t *number)
{
    *number = atomic_load(&s->shared->requests[request].asked);
    return *number > atomic_load(&s->shared->requests[request].answered);
}

void run_section_answer(struct run_section *s, enum run_request request, uint64_t number, HRESULT hr)
{
    struct shared_request *r = &s->shared->requests[request];
    text_fit(r->text, sizeof r->text, FAILED(hr) ? error_text(hr) : "");
    atomic_store(&r->result, hr);
    atomic_store(&r->answered, number);
}

/* ---- what others read ---- */

HRESULT run_query(const char *space, const char *name, struct run_state *state)
{
    struct run_section *section;
    HRESULT hr = run_section_open_running(space, name, &section, state);
    if (hr == S_OK)
        run_section_close(section);
    if (hr != S_OK || (unsigned)state->phase >= RUN_PHASES)
        memset(state, 0, sizeof *state);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT run_query_figures(const char *space, const char *name, const char *collector, struct collector_figures *out)
{
    struct run_section *section;
    struct run_state state;
    struct named_figures named;
    uint64_t hash = text_hash_nocase(collector);
    bool found = false;
    memset(out, 0, sizeof *out);
    HRESULT hr = run_section_open_running(space, name, &section, &state);
    if (hr != S_OK)
        return hr;
    for (size_t i = 0; !found && i < figures_count(section); i++) {
        read_figures(section, i, &named);
        found = named.hash == hash;
    }
    if (found)
        *out = named.figures;
    run_section_close(section);
    return found ? S_OK : S_FALSE;
}

static void add_figures(struct text_buffer *b, const struct named_figures *named)
{
    const struct collector_figures *f = &named->figures;
    const struct {
        const char *name;
        uint64_t value;
    } others[] = {
        {"EventsLost", f->events_lost},
        {"BuffersLost", f->buffers_lost},
        {"RealTimeBuffersLost", f->real_time_buffers_lost},
        {"BuffersWritten", f->buffers_written},
        {"FreeBuffers", f->free_buffers},
        {"FilesCopied", f->files_copied},
    };
    text_buffer_format(b, "%s: Samples %" PRIu64, named->name, f->samples);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].value)
            text_buffer_format(b, ", %s %" PRIu64, others[i].name, others[i].value);
    text_buffer_add(b, "\n");
}

char *run_figures_text(const char *space, const char *name)
{
    struct run_section *section;
    struct run_state state;
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    if (run_section_open_running(space, name, &section, &state) != S_OK)
        return text_buffer_take(&b);
    for (size_t i = 0; i < figures_count(section); i++) {
        struct named_figures named;
        read_figures(section, i, &named);
        add_figures(&b, &named);
    }
    run_section_close(section);
    return text_buffer_take(&b);
}
