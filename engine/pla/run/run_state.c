/* SPDX-License-Identifier: MIT */
/* The shared section of a run, and the state machine of its phases. Other processes can write anything to the section.
   Therefore each value is copied once, validated, and only then used. Every loop has a limit. The section is not used
   to identify the host process (run_host_find). */
#include "engine/pla/run/run_state.h"

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/run.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit words must be lock-free to be shared between processes");

#define ANSWER_TEXT      1024 /* longer error messages are truncated */
#define READ_TRIES       1000 /* a reader normally needs one or two tries */
#define STOLEN_SIGNAL_MS 5000 /* longest single wait: another process may consume the host process's signals */

/* The layout of the section. */
struct shared_request {
    atomic_uint_least64_t asked, answered; /* request numbers */
    atomic_int_least32_t result;           /* result of the latest answer */
    char text[ANSWER_TEXT];
};
struct named_figures {
    char name[120]; /* truncated, for display */
    struct collector_figures figures;
};
#define FIGURES_WORDS ((sizeof(struct named_figures) + 7) / 8)
struct figures_cell {
    struct publications count;
    atomic_uint_least64_t words[2][FIGURES_WORDS];
};
struct shared_run {
    atomic_uint_least64_t stop_requested; /* time * 2 + reason, or 0 */
    struct shared_request requests[RUN_REQUESTS];
    struct state_cell state;
    atomic_uint_least64_t figures_count;
    struct figures_cell figures[RUN_FIGURES_MAX]; /* unused pages do not use memory */
};

struct run_section {
    struct section *section;
    struct signal *signal; /* NULL for a reader */
    struct shared_run *shared;
    struct run_host host; /* the host process that was registered when the section was opened */
    char *space, *name;   /* the set for which it is registered; only in the host process */
};

/* Copies `size` bytes of `data` into the buffer that is not current; each buffer has `length` words. */
static void section_publish(struct publications *count, atomic_uint_least64_t *places, size_t length, const void *data,
                            size_t size)
{
    /* Based on `done`, because `begun` is ahead if a writer died during a write. */
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

/* Reads the current buffer. False: no consistent publication was found, because other processes write to the
   section. */
static bool read_published(struct publications *count, const atomic_uint_least64_t *places, size_t length, void *data,
                           size_t size)
{
    for (int tries = 0; tries < READ_TRIES; tries++) {
        uint64_t done = atomic_load_explicit(&count->done, memory_order_acquire);
        const atomic_uint_least64_t *words = places + done % 2 * length;
        for (size_t i = 0; i < length; i++) {
            uint64_t word = atomic_load_explicit(&words[i], memory_order_relaxed);
            memcpy((char *)data + i * sizeof word, &word, size - i * sizeof word < 8 ? size - i * sizeof word : 8);
        }
        atomic_thread_fence(memory_order_acquire);
        uint64_t begun = atomic_load_explicit(&count->begun, memory_order_relaxed);
        /* begun == done + 1: the writer is using the other buffer. If `begun` is greater, the writer may be using this
           buffer again. */
        if (begun - done <= 1)
            return true;
    }
    return false;
}

void state_publish(struct state_cell *cell, const struct run_state *state)
{
    section_publish(&cell->count, &cell->words[0][0], RUN_STATE_WORDS, state, sizeof *state);
}

bool state_read(struct state_cell *cell, struct run_state *state)
{
    return read_published(&cell->count, &cell->words[0][0], RUN_STATE_WORDS, state, sizeof *state);
}

void run_section_close(struct run_section *s)
{
    if (!s)
        return;
    if (s->name)
        store_remove_host(s->space, s->name);
    signal_close(s->signal);
    section_close(s->section);
    memory_free(s->space);
    memory_free(s->name);
    memory_free(s);
}

/* Opens the registered section, or creates one if none is registered. */
static HRESULT open_section(struct run_section *s)
{
    bool fresh = !*s->host.owner;
    char *name = text_format("openpla-run-%s", s->host.key);
    const struct shared what = {.name = name, .create = fresh, .fresh = fresh, .owner = fresh ? NULL : s->host.owner};
    HRESULT hr = name ? section_open(&what, sizeof *s->shared, &s->section) : E_OUTOFMEMORY;
    memory_free(name);
    if (SUCCEEDED(hr))
        s->shared = section_memory(s->section);
    return hr;
}

static HRESULT open_signal(struct run_section *s, bool fresh)
{
    char *name = text_format("openpla-stop-%s", s->host.key);
    const struct shared what = {.name = name, .create = fresh, .fresh = fresh, .owner = fresh ? NULL : s->host.owner};
    HRESULT hr = name ? signal_open(&what, &s->signal) : E_OUTOFMEMORY;
    memory_free(name);
    return hr;
}

static HRESULT know_owner(struct run_section *s)
{
    char *owner;
    HRESULT hr = section_owner(s->section, &owner);
    if (FAILED(hr))
        return hr;
    text_fit(s->host.owner, sizeof s->host.owner, owner);
    memory_free(owner);
    return S_OK;
}

HRESULT run_section_create(const char *space, const char *name, struct run_section **out)
{
    struct run_section *s = memory_zero(1, sizeof *s);
    HRESULT hr = s ? shared_new_key(s->host.key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = open_section(s);
    if (SUCCEEDED(hr))
        hr = open_signal(s, true);
    if (SUCCEEDED(hr))
        hr = know_owner(s);
    if (SUCCEEDED(hr)) {
        s->host.process_id = process_own_id();
        s->host.process_start = process_start_time(s->host.process_id);
        s->space = text_copy(space);
        s->name = s->space ? text_copy(name) : NULL;
        hr = s->name ? store_save_host(space, name, &s->host) : E_OUTOFMEMORY;
    }
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        run_section_close(s);
        return error_restore(&why);
    }
    *out = s;
    return S_OK;
}

HRESULT run_section_open(const char *space, const char *name, struct run_section **out)
{
    struct run_section *s = memory_zero(1, sizeof *s);
    HRESULT hr = s ? run_host_find(space, name, &s->host) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "the set '%s\\%s' has no host process", space, name);
    if (SUCCEEDED(hr))
        hr = open_section(s);
    if (FAILED(hr)) {
        run_section_close(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

void run_section_publish(struct run_section *s, const struct run_state *state)
{
    state_publish(&s->shared->state, state);
}

void run_section_publish_figures(struct run_section *s, size_t place, const char *collector,
                                 const struct collector_figures *figures)
{
    struct named_figures named = {.figures = *figures};
    assert(place < RUN_FIGURES_MAX);
    text_fit(named.name, sizeof named.name, collector);
    struct figures_cell *cell = &s->shared->figures[place];
    section_publish(&cell->count, &cell->words[0][0], FIGURES_WORDS, &named, sizeof named);
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

static bool read_figures(struct run_section *s, size_t place, struct named_figures *out)
{
    struct figures_cell *cell = &s->shared->figures[place];
    if (!read_published(&cell->count, &cell->words[0][0], FIGURES_WORDS, out, sizeof *out))
        return false;
    out->name[sizeof out->name - 1] = 0;
    return text_is_utf8(out->name, strlen(out->name));
}

bool run_section_alive(struct run_section *s)
{
    return run_host_lives(&s->host);
}

bool run_section_read(struct run_section *s, struct run_state *state)
{
    bool read = state_read(&s->shared->state, state);
    state->location[sizeof state->location - 1] = 0;
    if (!read || (unsigned)state->phase >= RUN_PHASES || !text_is_utf8(state->location, strlen(state->location))) {
        memset(state, 0, sizeof *state);
        state->phase = PHASE_RUNNING;
    }
    state->status = phase_status(state->phase);
    state->process_id = s->host.process_id;
    state->stop_since = atomic_load(&s->shared->stop_requested) / 2;
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

/* Signals the host process. If this fails, the host process notices the request a few seconds later. */
static void set_signal(struct run_section *s)
{
    if (s->signal || SUCCEEDED(open_signal(s, false)))
        signal_set(s->signal);
}

HRESULT run_section_request_stop(struct run_section *s, enum stop_reason why)
{
    uint64_t none = 0, now = clock_monotonic_ms();
    atomic_compare_exchange_strong(&s->shared->stop_requested, &none, (now ? now : 1) * 2 + why);
    set_signal(s);
    return S_OK;
}

bool run_section_stop_requested(struct run_section *s, enum stop_reason *why)
{
    uint64_t requested = atomic_load(&s->shared->stop_requested);
    *why = requested % 2 ? STOP_EXPIRED : STOP_ASKED;
    return requested != 0;
}

HRESULT run_section_wait(struct run_section *s, uint32_t timeout_ms)
{
    return signal_wait(s->signal, timeout_ms < STOLEN_SIGNAL_MS ? timeout_ms : STOLEN_SIGNAL_MS);
}

void run_section_wake(struct run_section *s)
{
    if (s)
        signal_set(s->signal);
}

HRESULT run_section_end_host(struct run_section *s, const char *space, const char *name)
{
    return run_host_end(space, name, &s->host);
}

HRESULT run_section_ask(struct run_section *s, enum run_request request, uint64_t *number)
{
    struct shared_request *r = &s->shared->requests[request];
    *number = atomic_fetch_add(&r->asked, 1) + 1;
    if (*number <= atomic_load(&r->answered))
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "the shared memory of the run (host process %u) contains invalid data",
                         (unsigned)s->host.process_id);
    set_signal(s);
    return S_OK;
}

bool run_section_answered(struct run_section *s, enum run_request request, uint64_t number, HRESULT *hr)
{
    struct shared_request *r = &s->shared->requests[request];
    char text[ANSWER_TEXT];
    if (atomic_load(&r->answered) < number)
        return false;
    *hr = atomic_load(&r->result);
    if (!error_is_result(*hr)) {
        *hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                        "the shared memory of the run (host process %u) contains the invalid response 0x%08X",
                        (unsigned)s->host.process_id, (unsigned)*hr);
    } else if (FAILED(*hr)) {
        memcpy(text, r->text, sizeof text);
        text[ANSWER_TEXT - 1] = 0;
        error_set(*hr, "%s", text_is_utf8(text, strlen(text)) ? text : "");
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

/* ---- for other processes ---- */

HRESULT run_query(const char *space, const char *name, struct run_state *state)
{
    struct run_section *section;
    HRESULT hr = run_section_open_running(space, name, &section, state);
    if (hr == S_OK)
        run_section_close(section);
    if (hr != S_OK)
        memset(state, 0, sizeof *state);
    return FAILED(hr) ? hr : S_OK;
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
        {"Processes", f->api_processes},
        {"Functions", f->api_functions},
        {"Calls", f->api_calls},
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
        if (read_figures(section, i, &named))
            add_figures(&b, &named);
    }
    run_section_close(section);
    return text_buffer_take(&b);
}

/* ---- phases ---- */

struct way {
    HRESULT hr;
    enum run_phase next; /* valid if `hr` is S_OK */
};

#define TO(phase)                                                                                                      \
    {                                                                                                                  \
        S_OK, PHASE_##phase                                                                                            \
    }
#define STAYS                                                                                                          \
    {                                                                                                                  \
        S_FALSE, PHASE_STOPPED                                                                                         \
    }
#define IN_USE                                                                                                         \
    {                                                                                                                  \
        PLA_E_DCS_IN_USE, PHASE_STOPPED                                                                                \
    }
#define NOT_RUN                                                                                                        \
    {                                                                                                                  \
        PLA_E_DCS_NOT_RUNNING, PHASE_STOPPED                                                                           \
    }
#define NEVER                                                                                                          \
    {                                                                                                                  \
        E_UNEXPECTED, PHASE_STOPPED                                                                                    \
    }

/* clang-format off */
static const struct way ways[RUN_PHASES][RUN_STEPS] = {
    /*                   START         BEGUN        FAILED        LIMIT           UPDATE          STOP          COMPILE        DONE         LOST */
    [PHASE_STOPPED]    = {TO(STARTING), NEVER,       NEVER,        NEVER,          STAYS,          NOT_RUN,      NEVER,         NEVER,       STAYS},
    [PHASE_STARTING]   = {IN_USE,       TO(RUNNING), TO(STOPPED),  NEVER,          STAYS,          STAYS,        NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_RUNNING]    = {IN_USE,       NEVER,       TO(STOPPING), TO(SEGMENTING), TO(SEGMENTING), TO(STOPPING), NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_SEGMENTING] = {IN_USE,       TO(RUNNING), TO(STOPPING), NEVER,          STAYS,          STAYS,        NEVER,         NEVER,       TO(STOPPED)},
    [PHASE_STOPPING]   = {IN_USE,       NEVER,       STAYS,        NEVER,          STAYS,          STAYS,        TO(COMPILING), TO(STOPPED), TO(STOPPED)},
    [PHASE_COMPILING]  = {IN_USE,       NEVER,       STAYS,        NEVER,          STAYS,          STAYS,        NEVER,         TO(STOPPED), TO(STOPPED)},
};
/* clang-format on */

HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next)
{
    assert((unsigned)phase < RUN_PHASES && (unsigned)step < RUN_STEPS);
    const struct way *way = &ways[phase][step];
    *next = way->hr == S_OK ? way->next : phase;
    return way->hr;
}

enum run_status phase_status(enum run_phase phase)
{
    static const enum run_status statuses[RUN_PHASES] = {
        [PHASE_STOPPED] = RUN_STOPPED,    [PHASE_STARTING] = RUN_STOPPED, [PHASE_RUNNING] = RUN_RUNNING,
        [PHASE_SEGMENTING] = RUN_RUNNING, [PHASE_STOPPING] = RUN_RUNNING, [PHASE_COMPILING] = RUN_COMPILING,
    };
    return statuses[phase];
}

const char *phase_name(enum run_phase phase)
{
    static const char *const names[RUN_PHASES] = {
        [PHASE_STOPPED] = "stopped",       [PHASE_STARTING] = "starting", [PHASE_RUNNING] = "running",
        [PHASE_SEGMENTING] = "segmenting", [PHASE_STOPPING] = "stopping", [PHASE_COMPILING] = "compiling",
    };
    return names[phase];
}

bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms)
{
    if (state->phase == PHASE_COMPILING)
        return false;
    return (state->phase == PHASE_STARTING && clock_passed_ms(state->phase_since, now) > start_ms) ||
           (state->stop_since && clock_passed_ms(state->stop_since, now) > stop_ms);
}
