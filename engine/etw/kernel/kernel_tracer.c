/* SPDX-License-Identifier: MIT */
/* Converts Linux events to events of the NT Kernel Logger.

   The problem. Linux writes events into one ring per processor, each in order, with its own event numbers and fields.
   Windows' readers expect one sequence in order of time, complete events, and Windows' process numbers. Three things
   are not known when an event arrives: whether another processor has an older event, the name of the process (it loads
   its program and gets its Windows name after the fork), and how a page fault ends.

       tracefs ring of processor 0 --+
       tracefs ring of processor 1 --+-> trace_stream --> tracer_take_record --> k->queue --> sink (the session)
       tracefs ring of processor n --+   heap by time     one function per       places, in
                                         trace_instance.c Linux event            order of time
       /proc, polled (fallback)   ----------------------> kernel_polling.c ---->

   One pass (kernel_tracer_pass, every 50 ms or more often, by one thread of the session host):
   1. Read the clock, and then find out which Linux threads belong to Wine's processes (windows_ids.c). The order
      matters: every thread that existed when the clock was read is then known, or is known to be starting up.
   2. trace_stream_pass queries the number of events in each ring and reads the pages that contain these events. It
      merges all events by time and forwards those older than 100 ms. Newer events stay in the lanes (one per
      processor), because another processor may still write an older one. If a Wine process is starting up, its events
      and all later ones wait too, for one second at most.
   3. Each Linux event is passed to the `take` function of its tracepoint (kernel_tasks.c, kernel_schedule.c,
      kernel_io.c, kernel_memory.c, kernel_stacks.c). This function updates the maps of k and appends Windows events to
      k->queue.
   4. An event that cannot be completed yet reserves a place: an entry in the queue at its own time, without data. A
      process start is filled in when the name is known. A soft fault is filled in when its thread continues; the stack
      of a fault is filled in together with the fault.
   5. At the end of the pass, everything that is still waiting is settled. Process starts get the name known by now
      (kernel_tasks_settle), new images are read (images_settle), and faults that did not wait for a disk become soft
      faults (fault_settle_all). Then the queue is flushed to the sink; entries that are still empty are skipped.
      Therefore no reserved place remains after a pass, and no reserved place delays other events beyond the end of the
      pass.

   Ownership. The kernel writes the rings, and the tracer only reads them. All fields of k belong to the thread that
   calls the tracer; k has no locks. k->queue and the `entry` members that refer to it are valid only within one pass.

   Stacks. Linux writes the user stack and the kernel stack as separate records after the event, on the same processor.
   k->stacks.due[processor] remembers to which event these records belong. Any other event from that processor clears
   this entry.

   What can be missing. If a ring is full, Linux overwrites or drops events and counts them (kernel_tracer_lost). An
   event whose processor was paused for more than 100 ms arrives late. The functions of kernel_tasks.c therefore accept
   that the exit or exec event of a process arrives before its start event (`first_seen`, `ended`). If the start event
   of an exited process has not arrived after 10 s, the process is dropped.

   Failures. If a pass fails and the source no longer works (tracefs was unmounted, access was withdrawn), the next
   source takes over within the same pass. If the pass fails because memory ran out, the source is kept.

   After a crash. A tracefs instance survives its process and keeps recording. The name of its folder contains the ids
   and start times of the owner's processes. When a tracer starts, it first removes the instances of dead owners
   (trace_instance_sweep). Events that a dead tracer had not forwarded are lost with its instance. */
#include "engine/etw/kernel/kernel_tracer.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/kernel/tracepoint.h"

#include <string.h>

enum { DEFAULT_BUFFER_KB = 4096, NS_PER_TICK = 100, MOST_REQUESTS = 1 << 16, MOST_SOCKETS = 1 << 16 };

static const struct tracepoint *const groups[] = {task_tracepoints,    schedule_tracepoints, disk_tracepoints,
                                                  network_tracepoints, fault_tracepoints,    interrupt_tracepoints,
                                                  stack_tracepoints};

/* ---- functions for the other files of the tracer ---- */

bool kernel_wants(const struct kernel_tracer *k, uint32_t flags)
{
    return (k->flags & flags) != 0;
}

uint32_t kernel_process_of(const struct kernel_tracer *k, uint32_t thread)
{
    const struct kernel_thread *t = id_map_find(&k->threads, thread);
    return t ? t->process : thread;
}

/* Returns whether the process is part of the kernel. *out is the number that Windows would use: 0 ("Idle") or 4
   ("System"). */
static bool tracer_own_id(const struct kernel_tracer *k, uint32_t process, uint32_t *out)
{
    enum { SYSTEM = 4 };
    const struct kernel_process *p = id_map_find(&k->processes, process);
    const bool is_kernel = process == KERNEL_SYSTEM || kernel_is_kthreadd(k, process) || (p && p->is_kernel);
    *out = process == 0 ? 0 : !k->host_ids ? SYSTEM : k->in_container ? KERNEL_SYSTEM : KTHREADD;
    return process == 0 || is_kernel;
}

/* Returns the Windows number of a process. Wine's numbers are known per thread, so the process is identified by its
   first thread. That thread can exit before the process. */
uint32_t kernel_windows_process(const struct kernel_tracer *k, uint32_t process)
{
    struct kernel_process *p = id_map_find(&k->processes, process);
    const struct windows_thread *first =
        k->windows && !(p && p->windows != 0) ? windows_ids_find(k->windows, process) : NULL;
    if (p && first)
        p->windows = first->process;
    return first ? first->process : p ? p->windows : 0;
}

uint32_t kernel_process_id(const struct kernel_tracer *k, uint32_t process)
{
    uint32_t id;
    if (tracer_own_id(k, process, &id))
        return id;
    if (k->host_ids)
        return process;
    id = kernel_windows_process(k, process);
    return id != 0 ? id : process + KERNEL_HOST_OFFSET;
}

uint32_t kernel_thread_id(const struct kernel_tracer *k, uint32_t thread)
{
    if (k->host_ids || thread == 0)
        return thread;
    const struct windows_thread *known = k->windows ? windows_ids_find(k->windows, thread) : NULL;
    return known ? known->id : thread + KERNEL_HOST_OFFSET;
}

HRESULT kernel_emit_of(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                       uint8_t version, uint32_t process, uint32_t thread)
{
    const struct kernel_event event = {
        .time = e->time,
        .hook = (uint16_t)hook,
        .processor = (uint16_t)e->processor,
        .version = version,
        .is_system = true,
        .process = kernel_process_id(k, process),
        .thread = kernel_thread_id(k, thread),
        .data = k->data.bytes,
        .size = (uint32_t)k->data.size,
    };
    stack_expect(k, e, hook);
    return k->data.failed ? E_OUTOFMEMORY : kernel_queue_add(&k->queue, &event);
}

static bool has_start(enum kernel_hook hook)
{
    return hook == HOOK_INTERRUPT || hook == HOOK_DPC || hook == HOOK_TIMER_DPC || hook == HOOK_HARD_FAULT ||
           hook == HOOK_STACK;
}

HRESULT kernel_emit(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook, uint8_t version)
{
    const struct kernel_event event = {
        .time = e->time,
        .hook = (uint16_t)hook,
        .processor = (uint16_t)e->processor,
        .version = version,
        .has_start = has_start(hook),
        .data = k->data.bytes,
        .size = (uint32_t)k->data.size,
    };
    stack_expect(k, e, hook);
    return k->data.failed ? E_OUTOFMEMORY : kernel_queue_add(&k->queue, &event);
}

/* ---- tracefs ---- */

/* Reads the number and the fields of a tracepoint from its format file. Returns S_FALSE if this kernel does not have
   the event. */
static HRESULT load_point(struct kernel_tracer *k, const struct tracepoint *point)
{
    char *format;
    HRESULT hr = trace_instance_format(k->instance, point->system, point->name, &format);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE;
    if (FAILED(hr))
        return hr;
    const uint32_t id = ring_format_id(format);
    if (id == RING_NO_EVENT || k->point_count == TRACEPOINT_MOST || k->point_of[id] != 0) {
        memory_free(format);
        return S_FALSE;
    }
    k->points[k->point_count].point = point;
    for (size_t i = 0; i < TRACEPOINT_FIELDS && point->fields[i]; i++)
        k->points[k->point_count].fields[i] = ring_format_field(format, point->fields[i]);
    k->common_thread = ring_format_field(format, "common_pid");
    k->common_flags = ring_format_field(format, "common_flags");
    k->point_of[id] = (uint8_t)++k->point_count;
    memory_free(format);
    return S_OK;
}

static HRESULT load_points(struct kernel_tracer *k)
{
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (const struct tracepoint *point = groups[g]; point->name; point++) {
            if (point->flags != KERNEL_ALWAYS && !kernel_wants(k, point->flags))
                continue;
            const HRESULT hr = load_point(k, point);
            if (FAILED(hr))
                return hr;
            if (hr == S_OK)
                k->sources |= point->gives & k->flags;
        }
    return S_OK;
}

static HRESULT enable_points(struct kernel_tracer *k)
{
    for (size_t i = 0; i < k->point_count; i++) {
        const struct tracepoint *point = k->points[i].point;
        if (strcmp(point->system, TRACEPOINT_UNASKED) == 0)
            continue;
        const HRESULT hr = trace_instance_enable(k->instance, point->system, point->name, point->filter, true);
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

static HRESULT tracefs_begin(struct kernel_tracer *k, const struct kernel_tracer_options *options)
{
    const struct trace_options instance = {
        .root = options->root,
        .name = options->name,
        .buffer_kb = options->buffer_kb ? options->buffer_kb : DEFAULT_BUFFER_KB,
    };
    size_t left; /* ignored: the next tracer tries again to remove the instances that are left */
    (void)trace_instance_sweep(options->root, &left);
    HRESULT hr = k->host_ids ? S_OK : windows_ids_begin(options->name, &k->windows);
    if (SUCCEEDED(hr))
        hr = trace_instance_begin(&instance, &k->instance);
    if (SUCCEEDED(hr))
        hr = trace_stream_create(k->instance, &k->stream);
    if (SUCCEEDED(hr)) {
        k->processors = trace_instance_processors(k->instance);
        k->interrupt_from = memory_zero(k->processors, sizeof *k->interrupt_from);
        k->soft_from = memory_zero(k->processors, sizeof *k->soft_from);
        hr = k->interrupt_from && k->soft_from ? stack_begin(k, k->processors) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = load_points(k);
    k->began = (uint64_t)clock_ticks();
    if (SUCCEEDED(hr) && FAILED(kernel_tracer_stacks(k, NULL, 0)))
        k->sources &= ~(uint32_t)FLAG_PROFILE; /* samples are created from stacks, and there are no stacks */
    return SUCCEEDED(hr) ? enable_points(k) : hr;
}

static HRESULT tracer_take_record(void *context, const struct trace_record *r)
{
    struct kernel_tracer *k = context;
    if (r->event.size < 2)
        return S_OK;
    const uint8_t number = k->point_of[get_u16(r->event.data)];
    if (number == 0)
        return S_OK;
    if (strcmp(k->points[number - 1].point->system, TRACEPOINT_UNASKED) != 0)
        stack_clear_due(k, r->processor);
    const struct tracepoint_event e = {
        .event = &r->event,
        .fields = k->points[number - 1].fields,
        .time = r->event.time / NS_PER_TICK,
        .processor = r->processor,
        .thread = (uint32_t)ring_number(&r->event, &k->common_thread),
        .context = (uint8_t)ring_number(&r->event, &k->common_flags),
    };
    k->newest = e.time > k->newest ? e.time : k->newest;
    k->newest_processor = e.processor;
    return k->points[number - 1].point->take(k, &e);
}

/* Learns the numbers of new Wine threads. A failure is ignored, because the next pass tries again. */
void kernel_learn_windows(struct kernel_tracer *k)
{
    if (k->windows)
        (void)windows_ids_pass(k->windows);
}

/* Returns the argument `now` (ns) for trace_stream_pass, which forwards the events that are at least 100 ms older than
   `now`. The Windows numbers of all threads that occur in these events are known, or the wait for them has ended. */
static uint64_t complete_until(struct kernel_tracer *k)
{
    const uint64_t now = (uint64_t)clock_ticks() * NS_PER_TICK; /* read the clock before querying which threads exist */
    kernel_learn_windows(k);
    const uint64_t known = k->windows ? windows_ids_known_until(k->windows, now) : now;
    return known < now - TRACE_STREAM_KEPT_NS ? known + TRACE_STREAM_KEPT_NS - 1 : now;
}

static HRESULT tracefs_pass(struct kernel_tracer *k, bool last, const struct kernel_sink *sink)
{
    const struct trace_sink taken = {tracer_take_record, k};
    HRESULT hr = last ? trace_instance_set(k->instance, "tracing_on", "0") : S_OK;
    const HRESULT passed = trace_stream_pass(k->stream, complete_until(k), last, &taken);
    hr = FAILED(hr) ? hr : passed;
    HRESULT settled = kernel_tasks_settle(k);
    hr = FAILED(hr) ? hr : settled;
    settled = images_settle(k, &(struct tracepoint_event){.time = k->newest, .processor = k->newest_processor});
    hr = FAILED(hr) ? hr : settled;
    fault_settle_all(k);
    stack_drop_places(k);
    const HRESULT flushed = kernel_queue_flush(&k->queue, sink);
    return FAILED(hr) ? hr : flushed;
}

static HRESULT tracefs_works(struct kernel_tracer *k)
{
    struct trace_state state;
    HRESULT hr = S_OK;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < k->processors; i++)
        hr = trace_instance_state(k->instance, i, &state);
    return hr;
}

static uint64_t tracefs_lost(const struct kernel_tracer *k)
{
    return trace_stream_lost(k->stream);
}

static HRESULT tracefs_end(struct kernel_tracer *k)
{
    trace_stream_free(k->stream);
    const HRESULT ended = trace_instance_end(k->instance), learned = windows_ids_end(k->windows);
    const HRESULT hr = FAILED(ended) ? ended : learned;
    k->windows = NULL;
    k->stream = NULL;
    k->instance = NULL;
    k->point_count = 0;
    memset(k->point_of, 0, sizeof k->point_of);
    memory_free(k->interrupt_from);
    memory_free(k->soft_from);
    stack_end(k);
    k->interrupt_from = k->soft_from = NULL;
    return hr;
}

const struct kernel_source kernel_source_tracefs = {
    .name = "tracefs",
    .begin = tracefs_begin,
    .pass = tracefs_pass,
    .works = tracefs_works,
    .lost = tracefs_lost,
    .end = tracefs_end,
};

/* ---- start ---- */

/* The sources in order of preference. */
static const struct kernel_source *const all_sources[] = {&kernel_source_tracefs, &kernel_source_polling};
enum { SOURCES = sizeof all_sources / sizeof all_sources[0] };

/* Returns the source that the environment variable requires. *out is NULL if it requires no source. */
static HRESULT forced_source(const struct kernel_source **out)
{
    char *name;
    HRESULT hr = environment_get(KERNEL_SOURCE_VARIABLE, &name);
    *out = NULL;
    if (hr != S_OK)
        return hr;
    for (size_t i = 0; !*out && i < SOURCES; i++)
        if (strcmp(all_sources[i]->name, name) == 0)
            *out = all_sources[i];
    if (!*out)
        hr = error_set(E_INVALIDARG, "invalid " KERNEL_SOURCE_VARIABLE " '%.64s': expected tracefs or polling", name);
    memory_free(name);
    return hr;
}

static void note_why(struct kernel_tracer *k, HRESULT hr)
{
    text_fit(k->why, sizeof k->why, error_text(hr));
}

/* Releases all resources of k->source, which could not start or has stopped working. */
static HRESULT end_source(struct kernel_tracer *k, HRESULT hr)
{
    const struct error_kept why = error_keep(hr);
    if (k->source->lost && k->begun)
        k->lost_before += k->source->lost(k);
    const HRESULT ended = k->source->end(k);
    k->left = FAILED(ended) ? ended : k->left;
    k->begun = false;
    k->sources = 0;
    return error_restore(&why);
}

/* Starts the first working source, beginning with index `at`. If memory runs out, no further source is tried. */
static HRESULT begin_source(struct kernel_tracer *k, const struct kernel_tracer_options *options, size_t at)
{
    HRESULT hr = E_FAIL;
    for (; at < SOURCES; at++) {
        k->source = all_sources[at];
        hr = k->source->begin(k, options);
        k->begun = SUCCEEDED(hr);
        if (k->begun || (hr = end_source(k, hr)) == E_OUTOFMEMORY)
            break;
        if (at + 1 < SOURCES)
            note_why(k, hr);
    }
    return hr;
}

static HRESULT choose_source(struct kernel_tracer *k, const struct kernel_tracer_options *options)
{
    const struct kernel_source *forced = options->source;
    HRESULT hr = forced ? S_OK : forced_source(&forced);
    if (FAILED(hr) || !forced)
        return SUCCEEDED(hr) ? begin_source(k, options, 0) : hr;
    if (forced == &kernel_source_polling)
        text_fit(k->why, sizeof k->why, KERNEL_SOURCE_VARIABLE " requests it");
    k->source = forced;
    hr = forced->begin(k, options);
    k->begun = SUCCEEDED(hr);
    return k->begun ? hr : end_source(k, hr);
}

HRESULT kernel_tracer_begin(const struct kernel_tracer_options *options, struct kernel_tracer **out)
{
    struct kernel_tracer *k = memory_zero(1, sizeof *k);
    *out = NULL;
    if (!k)
        return E_OUTOFMEMORY;
    k->flags = options->flags;
    k->host_ids = !os_is_wine() || os_processes_wanted();
    k->proc = options->proc;
    k->reports_configuration = options->configuration;
    k->processes.item_size = sizeof(struct kernel_process);
    k->threads.item_size = sizeof(struct kernel_thread);
    disk_begin(k, MOST_REQUESTS);
    network_begin(k, MOST_SOCKETS);
    fault_begin(k);
    images_begin(k);
    k->details.item_size = sizeof(struct process_details);
    k->in_container = !kernel_has_kthreadd(k);
    k->hides_processes = kernel_proc_hides(k);
    const HRESULT hr = choose_source(k, options);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        (void)kernel_tracer_end(k);
        return error_restore(&why);
    }
    *out = k;
    return S_OK;
}

uint32_t kernel_tracer_sources(const struct kernel_tracer *k)
{
    return k->sources;
}

void kernel_tracer_state(const struct kernel_tracer *k, struct kernel_state *out)
{
    *out = (struct kernel_state){
        .source = k->source->name,
        .why = k->why,
        .missing = k->flags & ~k->sources,
        .hides_processes = k->hides_processes,
        .has_stacks = k->stacks.due != NULL,
        .time = k->reported_until > k->began ? k->reported_until : k->began,
    };
}

/* ---- passes ---- */

HRESULT kernel_tracer_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink)
{
    const HRESULT hr = kernel_tasks_rundown(k, end, sink);
    if (!end && k->source->ran_down)
        k->source->ran_down(k);
    return hr;
}

/* Starts the next source. The failed pass has already forwarded the events that the old source still had. */
static HRESULT take_next_source(struct kernel_tracer *k, HRESULT hr)
{
    static const struct kernel_tracer_options none;
    note_why(k, hr);
    (void)end_source(k, hr);
    hr = begin_source(k, &none, SOURCES - 1);
    if (SUCCEEDED(hr) && k->source->ran_down)
        k->source->ran_down(k);
    return hr;
}

HRESULT kernel_tracer_pass(struct kernel_tracer *k, bool last, const struct kernel_sink *sink)
{
    if (!k->begun)
        return S_OK;
    counters_poll(k);
    HRESULT hr = k->source->pass(k, last, sink);
    if (SUCCEEDED(hr) || !k->source->works)
        return hr;
    const struct error_kept why = error_keep(hr);
    const HRESULT works = k->source->works(k);
    if (SUCCEEDED(works))
        return error_restore(&why);
    hr = take_next_source(k, works);
    return SUCCEEDED(hr) && last ? k->source->pass(k, true, sink) : hr;
}

uint64_t kernel_tracer_lost(const struct kernel_tracer *k)
{
    return k->lost_before + (k->begun ? k->source->lost(k) : 0);
}

HRESULT kernel_tracer_end(struct kernel_tracer *k)
{
    if (!k)
        return S_OK;
    const HRESULT ended = k->begun ? k->source->end(k) : S_OK, hr = FAILED(ended) ? ended : k->left;
    id_map_free(&k->processes);
    id_map_free(&k->threads);
    id_map_free(&k->requests);
    id_map_free(&k->sockets);
    id_map_free(&k->faults);
    images_free(k);
    process_details_free(k);
    kernel_queue_free(&k->queue);
    kernel_data_free(&k->data);
    memory_free(k);
    return hr;
}
