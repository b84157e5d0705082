/* SPDX-License-Identifier: MIT */
#include "engine/etw/session/session_kernel.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/processor.h"
#include "engine/base/thread.h"
#include "engine/etw/group_masks.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/session/session_journal.h"
#include "engine/etw/session/session_kernel_notes.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/etw/session/system_providers.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/etl_header.h"
#include "engine/logs/etl_record.h"

#include <stdio.h>
#include <string.h>

enum { PASS_MS = 50, MOST_READINGS = 16, FINE = 100000 /* of a second: 10 us */ };
enum { SYSTEM_HEAD = 0x20, SHORT_HEAD = 0x10, SHORT_64 = 0x11 };

struct session_kernel {
    const struct directory_session *session; /* the host's, which changes it: not looked at by the thread */
    struct directory *directory;
    uint32_t clock;
    struct session_buffers buffers; /* with a processor that is chosen, not the one we run on */
    struct session_writer writer;
    struct kernel_tracer *tracer;
    struct thread *thread;
    struct wakeup *wakeup;
    /* Readings of the clocks, for times of the session's. A time that was an event's before has the same one again. */
    struct clock_reading {
        int64_t ticks, utc;
        uint64_t cycles;
    } first, before, now;
    uint64_t newest; /* ticks: until then events had times by `before` */
    uint64_t written;
    uint64_t lost; /* in the kernel, as counted in the session so far */
    char *name;    /* the session's; what its trace and the journal were told last: */
    uint32_t flags;
    struct kernel_state told; /* without texts */
    char told_why[256];
    struct kernel_data note;
    bool has_stacks; /* the source that it began with */
    /* Which events have stacks, when that was set anew: the host's until the thread takes it. */
    _Atomic(struct stack_list *) stacks;
};
struct stack_list {
    size_t count;
    uint16_t hooks[DIRECTORY_STACK_EVENTS];
};

bool session_kernel_is_one(const struct directory_session *s)
{
    return s->kernel || (s->mode & TRACE_MODE_SYSTEM_LOGGER) != 0 ||
           memcmp(&s->guid, &trace_context_guid, sizeof s->guid) == 0;
}

/* ---- time ---- */

static void read_clocks(struct session_kernel *k)
{
    k->before = k->now;
    k->newest = k->written;
    /* Whoever is interrupted in the middle reads again: two readings that do not fit would turn events around. */
    int64_t narrowest = INT64_MAX;
    for (int i = 0; i < MOST_READINGS && narrowest > clock_frequency() / FINE; i++) {
        const int64_t from = clock_ticks();
        struct clock_reading r = {.utc = clock_utc(), .cycles = processor_cycles()};
        const int64_t width = clock_ticks() - from;
        r.ticks = from + width / 2;
        if (width < narrowest) {
            narrowest = width;
            k->now = r;
        }
    }
}

static uint64_t session_time(const struct session_kernel *k, uint64_t ticks)
{
    const struct clock_reading *at = ticks <= k->newest ? &k->before : &k->now;
    const int64_t before = at->ticks - (int64_t)ticks, passed = at->ticks - k->first.ticks;
    switch (k->clock) {
    case ETL_CLOCK_SYSTEM:
        return (uint64_t)(at->utc - before);
    case ETL_CLOCK_CYCLES: {
        const double rate =
            passed > 0 ? (double)(at->cycles - k->first.cycles) / (double)passed : clock_cpu_mhz() / 10.0;
        return at->cycles - (uint64_t)(int64_t)((double)before * rate);
    }
    default:
        return ticks;
    }
}

/* ---- events ---- */

/* As a provider on the event's own processor would, with the time that it had. */
static HRESULT write(void *context, const struct kernel_event *e)
{
    struct session_kernel *k = context;
    const uint32_t head = e->is_system ? SYSTEM_HEAD : SHORT_HEAD, size = head + e->size;
    uint64_t stamp;
    k->writer.processor = e->processor;
    uint8_t *at = size <= UINT16_MAX ? session_reserve(&k->buffers, &k->writer, (size + 7) & ~7u, &stamp) : NULL;
    if (!at)
        return S_OK; /* it is counted */
    const uint8_t type = e->is_system ? ETL_HEADER_SYSTEM_64 : SHORT_64;
    const uint64_t first = (uint64_t)e->version | (uint64_t)type << 16 | (uint64_t)ETL_MARKS << 24 |
                           (uint64_t)size << 32 | (uint64_t)e->hook << 48;
    uint8_t *stamp_at = at + 8;
    if (e->is_system) {
        put_u32(at + 8, e->thread);
        put_u32(at + 12, e->process);
        stamp_at = at + 16;
        put_u64(at + 24, 0); /* processor times */
    }
    put_u64(stamp_at, session_time(k, e->time));
    k->written = e->time > k->written ? e->time : k->written;
    memcpy(at + head, e->data, e->size);
    if (e->has_start)
        put_u64(at + head, session_time(k, get_u64(e->data)));
    session_commit(at, first | SESSION_OWN_STAMP);
    return S_OK;
}

/* k->note, at that time. */
static void write_note(struct session_kernel *k, uint64_t time)
{
    struct kernel_data *note = &k->note;
    const uint32_t size = (uint32_t)note->size;
    uint64_t stamp;
    k->writer.processor = 0;
    uint8_t *at = note->failed ? NULL : session_reserve(&k->buffers, &k->writer, (size + 7) & ~7u, &stamp);
    if (!at)
        return;
    put_u64(note->bytes + NOTE_STAMP_AT, session_time(k, time));
    memcpy(at + 8, note->bytes + 8, size - 8);
    session_commit(at, get_u64(note->bytes) | SESSION_OWN_STAMP);
}

/* What cannot be seen from now on is said where it is missed, in the trace, and in the journal. */
static void note_state(struct session_kernel *k)
{
    struct kernel_state now;
    kernel_tracer_state(k->tracer, &now);
    const bool first = !k->told.source, other_source = first || strcmp(k->told_why, now.why) != 0;
    const bool hidden = now.hides_processes && !k->told.hides_processes;
    if (!other_source && now.missing == k->told.missing && now.hides_processes == k->told.hides_processes)
        return;
    k->told = now;
    text_fit(k->told_why, sizeof k->told_why, now.why);
    if (other_source && *now.why)
        session_tell_source(SESSION_KERNEL_POORER, k->name, now.source, now.why);
    if (hidden)
        session_tell_source(SESSION_KERNEL_HIDDEN, k->name, NULL, NULL);
    kernel_note_source(&now, k->flags, &k->note);
    write_note(k, now.time);
}

static void count_lost(struct session_kernel *k)
{
    const uint64_t lost = kernel_tracer_lost(k->tracer), missed = lost - k->lost;
    struct kernel_state state;
    kernel_tracer_state(k->tracer, &state);
    for (; k->lost < lost; k->lost++)
        session_count_lost(&k->buffers, &k->writer);
    if (missed == 0 || !*state.why)
        return;
    kernel_note_missed(missed, &k->note);
    write_note(k, state.time);
}

/* A failure leaves events without stacks. */
static void take_stacks(struct session_kernel *k)
{
    struct stack_list *list = atomic_exchange(&k->stacks, NULL);
    if (list)
        (void)kernel_tracer_stacks(k->tracer, list->hooks, list->count);
    memory_free(list);
}

static void pass(struct session_kernel *k, bool last)
{
    const struct kernel_sink sink = {write, k};
    take_stacks(k);
    kernel_tracer_interval(k->tracer, directory_profile_interval(k->directory));
    read_clocks(k);
    (void)kernel_tracer_pass(k->tracer, last, &sink);
    note_state(k);
    count_lost(k);
}

static void run(void *user)
{
    struct session_kernel *k = user;
    const struct kernel_sink sink = {write, k};
    k->writer.thread = thread_own_id();
    take_stacks(k);
    kernel_tracer_interval(k->tracer, directory_profile_interval(k->directory));
    read_clocks(k);
    (void)kernel_tracer_rundown(k->tracer, false, &sink);
    note_state(k);
    while (!wakeup_wait(k->wakeup, PASS_MS))
        pass(k, false);
    pass(k, true);
    read_clocks(k);
    (void)kernel_tracer_rundown(k->tracer, true, &sink);
}

/* ---- beginning and end ---- */

static void release(struct session_kernel *k)
{
    if (FAILED(kernel_tracer_end(k->tracer)))
        session_tell(SESSION_KERNEL_LEFT, k->session, S_OK, 0);
    thread_close(k->thread);
    wakeup_free(k->wakeup);
    memory_free(atomic_load(&k->stacks));
    kernel_data_free(&k->note);
    memory_free(k->name);
    memory_free(k);
}

/* What no flag stands for, as PERF_ constants; those of the configuration are of it, and have no events of their own.
 */
static void tell_masks(const struct directory_session *s, struct session_kernel_told *told)
{
    enum { BITS = 29, CONFIGURATION = 6, SHOWN = 16 };
    char constants[SHOWN * 12 + 1] = "", *end = constants;
    for (uint32_t m = 1; m < GROUP_MASKS; m++)
        for (uint32_t bit = 0; m != CONFIGURATION && bit < BITS; bit++) {
            const uint32_t mask = s->enable_flags[m] & ~told->masks[m] & UINT32_C(1) << bit,
                           constant = m << BITS | mask;
            uint32_t alone[GROUP_MASKS] = {0};
            alone[m] = mask;
            if (mask == 0 || group_masks_flags(alone) != 0)
                continue;
            told->masks[m] |= mask;
            if (constants + sizeof constants - end > 12)
                end += snprintf(end, 12, "%s0x%08X", end == constants ? "" : " ", (unsigned)constant);
        }
    if (end != constants)
        session_tell_missing(SESSION_KERNEL_FLAGS, s, "GroupMasks", constants);
}

/* Each once. */
static void tell_missing(const struct directory_session *s, uint32_t missing, struct session_kernel_told *told)
{
    char number[16];
    missing &= ~told->masks[0];
    told->masks[0] |= missing;
    tell_masks(s, told);
    if (missing == 0)
        return;
    snprintf(number, sizeof number, "0x%08X", (unsigned)missing);
    session_tell_missing(SESSION_KERNEL_FLAGS, s, "EnableFlags", number);
}

/* ---- lists ---- */

static void tell_list(const struct directory_session *s, enum directory_kernel_list list,
                      struct session_kernel_told *told)
{
    static const char *const classes[] = {
        [DIRECTORY_PROFILE_SOURCES] = "TraceProfileSourceConfigInfo",
        [DIRECTORY_COUNTED_EVENTS] = "TracePmcEventListInfo",
        [DIRECTORY_COUNTER_SOURCES] = "TracePmcCounterListInfo",
    };
    if (list == DIRECTORY_STACKS || s->lists.count[list] == 0 || told->lists[list])
        return;
    told->lists[list] = true;
    session_tell_missing(SESSION_KERNEL_COUNTERS, s, "InformationClass", classes[list]);
}

static void tell_stacks(const struct directory_session *s, bool has_stacks, struct session_kernel_told *told)
{
    enum { SHOWN = 16 };
    char hooks[SHOWN * 8 + 8] = "", *end = hooks;
    size_t missing = 0;
    for (uint32_t i = 0; i < s->lists.count[DIRECTORY_STACKS]; i++) {
        const uint16_t hook = s->lists.stack[i];
        if (has_stacks && kernel_has_stacks(hook))
            continue;
        if (missing < SHOWN)
            end += snprintf(end, 8, "%s0x%04X", missing ? " " : "", hook);
        missing++;
    }
    if (missing > SHOWN)
        (void)snprintf(end, 5, " ...");
    if (missing == 0 || told->lists[DIRECTORY_STACKS])
        return;
    told->lists[DIRECTORY_STACKS] = true;
    session_tell_missing(SESSION_KERNEL_STACKS, s, "Events", hooks);
}

static void hand_over_stacks(struct session_kernel *k, const struct directory_session *s)
{
    struct stack_list *list = memory_alloc(sizeof *list);
    if (!list)
        return; /* what was chosen before goes on */
    list->count = s->lists.count[DIRECTORY_STACKS];
    memcpy(list->hooks, s->lists.stack, sizeof list->hooks);
    memory_free(atomic_exchange(&k->stacks, list));
}

void session_kernel_list(struct session_kernel *k, const struct directory_session *s, enum directory_kernel_list list,
                         struct session_kernel_told *told)
{
    tell_list(s, list, told);
    if (list != DIRECTORY_STACKS)
        return;
    tell_stacks(s, !k || k->has_stacks, told);
    if (k)
        hand_over_stacks(k, s);
}

/* ---- the beginning ---- */

HRESULT session_kernel_begin(struct directory *d, const struct directory_session *s, const struct session_buffers *b,
                             struct session_kernel_told *told, struct session_kernel **out)
{
    enum { NO_CONFIGURATION = 0x10000000 };
    uint32_t flags = group_masks_flags(s->enable_flags) & ~(uint32_t)NO_CONFIGURATION, enabled = 0;
    char name[48];
    *out = NULL;
    if (!session_kernel_is_one(s))
        return S_FALSE;
    const HRESULT had = system_providers_enabled(d, s, &enabled);
    if (FAILED(had))
        session_tell(SESSION_WITHOUT_KERNEL, s, had, 0);
    flags |= enabled;
    if (flags == 0) {
        tell_masks(s, told);
        return S_FALSE;
    }
    struct session_kernel *k = memory_zero(1, sizeof *k);
    if (!k)
        return E_OUTOFMEMORY;
    snprintf(name, sizeof name, "%u-%u", (unsigned)s->logger, (unsigned)s->turn);
    const struct kernel_tracer_options options = {
        .name = name,
        .flags = flags,
        .configuration = (group_masks_flags(s->enable_flags) & NO_CONFIGURATION) == 0,
    };
    k->session = s;
    k->directory = d;
    k->flags = flags;
    k->clock = s->clock;
    k->buffers = *b;
    k->buffers.method = PROCESSOR_UNKNOWN;
    read_clocks(k);
    k->first = k->now;
    k->name = text_copy(s->name);
    HRESULT hr = k->name ? directory_join(d, &k->writer.owner) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = wakeup_create(&k->wakeup);
    if (SUCCEEDED(hr))
        hr = kernel_tracer_begin(&options, &k->tracer);
    if (SUCCEEDED(hr)) {
        struct kernel_state state;
        kernel_tracer_state(k->tracer, &state);
        k->has_stacks = state.has_stacks;
        tell_missing(s, flags & ~kernel_tracer_sources(k->tracer), told);
        if (s->lists.count[DIRECTORY_STACKS] != 0)
            session_kernel_list(k, s, DIRECTORY_STACKS, told);
        hr = thread_start(run, k, &k->thread);
    }
    if (FAILED(hr)) {
        session_tell(SESSION_WITHOUT_KERNEL, s, hr, 0);
        release(k);
        return S_FALSE;
    }
    *out = k;
    return S_OK;
}

void session_kernel_stop(struct session_kernel *k)
{
    if (k)
        wakeup_set(k->wakeup);
}

bool session_kernel_ended(struct session_kernel *k, uint32_t timeout_ms)
{
    if (!k)
        return true;
    if (!thread_wait(k->thread, timeout_ms))
        return false;
    release(k);
    return true;
}
