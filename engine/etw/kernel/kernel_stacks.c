/* SPDX-License-Identifier: MIT */
/* Writes the stacks of events as StackWalk events. If a Linux event has the stacktrace trigger, Linux writes the
   running thread's stack after the event, on the same processor: first the user stack (for every event of the
   instance), then the kernel stack. Two kinds of stacks are kept until a later event. The stack of a thread that is
   switched out is written when the thread is switched in again. The stack of a page fault is written when the fault
   ends, because only then is its kind known. */
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <string.h>

enum { KERNEL_SIZE, KERNEL_FRAMES };
enum { USER_PROCESS, USER_FRAMES };
enum { VERSION = 2, FRAME_BYTES = 8, MOST_KEPT = 1 << 14 };
#define KERNEL_HALF UINT64_C(0xFFFF800000000000) /* lower values are not kernel addresses */

struct stack {
    uint32_t kernel, user; /* number of frames; kernel frames come first */
    uint64_t frame[STACK_FRAMES + STACK_USER_FRAMES];
};
struct kept_stack {
    struct stack stack;
    bool has_place; /* the stack has a place in the queue (for faults) */
    size_t entry;
};

/* Each row names a Windows event, the flags that enable the Windows event, and the Linux event whose stack the Windows
   event gets. */
static const struct {
    uint16_t hook;
    uint32_t flags;
    const char *point;
} carriers[] = {
    {HOOK_PROCESS_START, FLAG_PROCESS, "task_newtask"},
    {HOOK_PROCESS_END, FLAG_PROCESS, "sched_process_exit"},
    {HOOK_THREAD_START, FLAG_THREAD, "task_newtask"},
    {HOOK_THREAD_END, FLAG_THREAD, "sched_process_exit"},
    {HOOK_SWITCH, FLAG_SWITCH, "sched_switch"},
    {HOOK_READY, FLAG_DISPATCHER, "sched_wakeup"},
    {HOOK_READY, FLAG_DISPATCHER, "sched_wakeup_new"},
    {HOOK_DISK_READ_INIT, FLAG_DISK_INIT, "block_io_start"},
    {HOOK_DISK_READ_INIT, FLAG_DISK_INIT, "block_rq_insert"},
    {HOOK_DISK_READ_INIT, FLAG_DISK_INIT, "block_rq_issue"},
    {HOOK_DISK_WRITE_INIT, FLAG_DISK_INIT, "block_io_start"},
    {HOOK_DISK_WRITE_INIT, FLAG_DISK_INIT, "block_rq_insert"},
    {HOOK_DISK_WRITE_INIT, FLAG_DISK_INIT, "block_rq_issue"},
    {HOOK_DISK_FLUSH_INIT, FLAG_DISK_INIT, "block_io_start"},
    {HOOK_DISK_FLUSH_INIT, FLAG_DISK_INIT, "block_rq_insert"},
    {HOOK_DISK_FLUSH_INIT, FLAG_DISK_INIT, "block_rq_issue"},
    {HOOK_DISK_READ, FLAG_DISK, "block_rq_complete"},
    {HOOK_DISK_WRITE, FLAG_DISK, "block_rq_complete"},
    {HOOK_DISK_FLUSH, FLAG_DISK, "block_rq_complete"},
    {HOOK_FAULT_TRANSITION, FLAG_PAGE_FAULTS, "page_fault_user"},
    {HOOK_FAULT_ZERO, FLAG_PAGE_FAULTS, "page_fault_user"},
    {HOOK_FAULT_COPY, FLAG_PAGE_FAULTS, "page_fault_user"},
    {HOOK_HARD_FAULT, FLAG_HARD_FAULTS, "page_fault_user"},
    {HOOK_TCP + NET_SEND, FLAG_NETWORK, "sock_send_length"},
    {HOOK_TCP + NET_RECEIVE, FLAG_NETWORK, "sock_recv_length"},
    {HOOK_TCP + NET_CONNECT, FLAG_NETWORK, "inet_sock_set_state"},
    {HOOK_TCP + NET_ACCEPT, FLAG_NETWORK, "inet_sock_set_state"},
    {HOOK_TCP + NET_DISCONNECT, FLAG_NETWORK, "inet_sock_set_state"},
    {HOOK_TCP + NET_RETRANSMIT, FLAG_NETWORK, "tcp_retransmit_skb"},
    {HOOK_UDP + NET_SEND, FLAG_NETWORK, "sock_send_length"},
    {HOOK_UDP + NET_RECEIVE, FLAG_NETWORK, "sock_recv_length"},
    {HOOK_INTERRUPT, FLAG_INTERRUPT, "irq_handler_exit"},
    {HOOK_DPC, FLAG_DPC, "softirq_exit"},
    {HOOK_TIMER_DPC, FLAG_DPC, "softirq_exit"},
    {HOOK_SAMPLE, FLAG_PROFILE, "local_timer_entry"},
};
enum { CARRIERS = sizeof carriers / sizeof *carriers };

/* Returns the hook under which `carriers` lists this hook: for an IPv6 type, the hook of the corresponding IPv4 type,
   otherwise the hook itself. */
static uint16_t ipv4_hook(uint16_t hook)
{
    const bool of_network = hook >> 8 == HOOK_TCP >> 8 || hook >> 8 == HOOK_UDP >> 8;
    return of_network && (hook & 0xFF) >= NET_SEND + NET_V6 ? (uint16_t)(hook - NET_V6) : hook;
}

bool kernel_has_stacks(uint16_t hook)
{
    for (size_t i = 0; i < CARRIERS; i++)
        if (carriers[i].hook == ipv4_hook(hook))
            return true;
    return false;
}

/* ---- selection ---- */

static bool is_chosen(const struct kernel_tracer *k, uint16_t hook)
{
    return hook / 8 < STACK_HOOK_BYTES && (k->stacks.chosen[hook / 8] >> (hook & 7) & 1) != 0;
}

HRESULT stack_begin(struct kernel_tracer *k, uint32_t processors)
{
    k->stacks.switched = (struct id_map){.item_size = sizeof(struct kept_stack), .most = MOST_KEPT};
    k->stacks.faulted = k->stacks.switched;
    k->stacks.due = memory_zero(processors, sizeof *k->stacks.due);
    return k->stacks.due ? S_OK : E_OUTOFMEMORY;
}

void stack_end(struct kernel_tracer *k)
{
    id_map_free(&k->stacks.switched);
    id_map_free(&k->stacks.faulted);
    memory_free(k->stacks.due);
    k->stacks.due = NULL;
    k->stacks.of_programs = false;
}

void stack_choose(struct kernel_tracer *k, const uint16_t *hooks, size_t count)
{
    memset(k->stacks.chosen, 0, sizeof k->stacks.chosen);
    for (size_t i = 0; i < count; i++)
        if (kernel_has_stacks(hooks[i]) && hooks[i] / 8 < STACK_HOOK_BYTES)
            k->stacks.chosen[hooks[i] / 8] |= (uint8_t)(1u << (hooks[i] & 7));
}

/* Returns whether the tracepoint needs stacks. Samples always need stacks, because they are created from stacks. */
static bool needs_stack(const struct kernel_tracer *k, const char *point)
{
    for (size_t i = 0; i < CARRIERS; i++) {
        const uint16_t hook = carriers[i].hook;
        if (strcmp(carriers[i].point, point) != 0 || !kernel_wants(k, carriers[i].flags))
            continue;
        if (hook == HOOK_SAMPLE || is_chosen(k, hook) || is_chosen(k, (uint16_t)(hook + NET_V6)))
            return true;
    }
    return false;
}

HRESULT kernel_tracer_stacks(struct kernel_tracer *k, const uint16_t *hooks, size_t count)
{
    HRESULT hr = S_OK;
    bool any = false;
    stack_choose(k, hooks, count);
    for (size_t i = 0; k->instance && i < k->point_count; i++) {
        const struct tracepoint *point = k->points[i].point;
        const bool needs = needs_stack(k, point->name);
        char file[96];
        any = any || needs;
        if (needs == k->points[i].has_stack)
            continue;
        snprintf(file, sizeof file, "events/%s/%s/trigger", point->system, point->name);
        const HRESULT set = trace_instance_set(k->instance, file, needs ? "stacktrace" : "!stacktrace");
        k->points[i].has_stack = SUCCEEDED(set) ? needs : k->points[i].has_stack;
        hr = FAILED(hr) ? hr : set;
    }
    if (k->instance && any != k->stacks.of_programs) {
        const HRESULT set = trace_instance_set(k->instance, "options/userstacktrace", any ? "1" : "0");
        k->stacks.of_programs = SUCCEEDED(set) ? any : k->stacks.of_programs;
        hr = FAILED(hr) ? hr : set;
    }
    return hr;
}

/* ---- expected stacks ---- */

static void stack_set_due(struct kernel_tracer *k, const struct tracepoint_event *e, enum stack_use use)
{
    struct stack_due *due = &k->stacks.due[e->processor];
    due->use = use;
    due->time = e->time;
    due->thread = e->thread;
    due->context = e->context;
    due->users = 0;
}

void stack_expect(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook)
{
    if (k->stacks.due && hook != HOOK_SWITCH && hook != HOOK_HARD_FAULT && is_chosen(k, (uint16_t)hook))
        stack_set_due(k, e, STACK_OF_EVENT);
}

void stack_expect_fault(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    static const uint16_t hooks[] = {HOOK_FAULT_TRANSITION, HOOK_FAULT_ZERO, HOOK_FAULT_COPY, HOOK_HARD_FAULT};
    for (size_t i = 0; k->stacks.due && i < sizeof hooks / sizeof *hooks; i++)
        if (is_chosen(k, hooks[i]))
            stack_set_due(k, e, STACK_OF_FAULT);
}

void stack_clear_due(struct kernel_tracer *k, uint32_t processor)
{
    if (k->stacks.due)
        k->stacks.due[processor].use = STACK_OF_NOTHING;
}

/* ---- events ---- */

static void put_stack(struct kernel_tracer *k, uint64_t time, uint32_t thread, const struct stack *s, uint32_t skipped)
{
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u64(d, time);
    kernel_data_u32(d, kernel_process_id(k, kernel_process_of(k, thread)));
    kernel_data_u32(d, kernel_thread_id(k, thread));
    for (uint32_t i = skipped; i < s->kernel + s->user; i++)
        kernel_data_u64(d, s->frame[i]);
}

static HRESULT emit_stack(struct kernel_tracer *k, const struct tracepoint_event *e, uint64_t time, uint32_t thread,
                          const struct stack *s, uint32_t skipped)
{
    if (s->kernel + s->user <= skipped)
        return S_OK;
    put_stack(k, time, thread, s, skipped);
    return kernel_emit(k, e, HOOK_STACK, VERSION);
}

HRESULT stack_switch(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread)
{
    if (!k->stacks.due || !is_chosen(k, HOOK_SWITCH))
        return S_OK;
    struct kept_stack *kept = id_map_find(&k->stacks.switched, thread);
    const HRESULT hr = kept ? emit_stack(k, e, e->time, thread, &kept->stack, 0) : S_OK;
    id_map_remove(&k->stacks.switched, thread);
    stack_set_due(k, e, STACK_OF_SWITCH);
    return hr;
}

static HRESULT stack_keep(struct id_map *map, uint32_t thread, const struct stack *s, struct kept_stack **kept)
{
    *kept = id_map_put(map, thread);
    if (!*kept)
        return thread == 0 ? S_FALSE : E_OUTOFMEMORY; /* a map cannot contain key 0, but thread 0 is the idle thread,
                                                         whose stack is not needed */
    **kept = (struct kept_stack){.stack = *s};
    return S_OK;
}

/* Keeps the stack of a page fault. Reserves a place in the queue now, so that the stack of a soft fault appears at the
   time of the fault. */
static HRESULT keep_fault(struct kernel_tracer *k, const struct tracepoint_event *e, const struct stack *s)
{
    struct kept_stack *kept;
    const struct kernel_event place = {
        .time = e->time, .processor = (uint16_t)e->processor, .version = VERSION, .has_start = true};
    HRESULT hr = stack_keep(&k->stacks.faulted, e->thread, s, &kept);
    if (hr != S_OK)
        return hr;
    hr = kernel_queue_keep_place(&k->queue, &place, &kept->entry);
    kept->has_place = SUCCEEDED(hr);
    return hr;
}

HRESULT stack_soft_fault(struct kernel_tracer *k, uint32_t thread, uint64_t time, enum kernel_hook hook)
{
    struct kept_stack *kept = k->stacks.due ? id_map_find(&k->stacks.faulted, thread) : NULL;
    if (!kept)
        return S_OK;
    const bool has_place = kept->has_place && is_chosen(k, (uint16_t)hook);
    const size_t entry = kept->entry;
    if (has_place)
        put_stack(k, time, thread, &kept->stack, 0);
    id_map_remove(&k->stacks.faulted, thread);
    return has_place ? kernel_queue_fill(&k->queue, entry, HOOK_STACK, &k->data) : S_OK;
}

HRESULT stack_hard_fault(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread)
{
    struct kept_stack *kept = k->stacks.due ? id_map_find(&k->stacks.faulted, thread) : NULL;
    HRESULT hr = S_OK;
    if (kept && is_chosen(k, HOOK_HARD_FAULT))
        hr = emit_stack(k, e, e->time, thread, &kept->stack, 0);
    if (kept)
        id_map_remove(&k->stacks.faulted, thread);
    return hr;
}

void stack_drop_places(struct kernel_tracer *k)
{
    size_t at = 0;
    for (struct kept_stack *kept; k->stacks.due && (kept = id_map_next(&k->stacks.faulted, &at, NULL)) != NULL;)
        kept->has_place = false;
}

void stack_forget(struct kernel_tracer *k, uint32_t thread)
{
    id_map_remove(&k->stacks.switched, thread);
    id_map_remove(&k->stacks.faulted, thread);
}

/* ---- samples ---- */

static bool is_among(const uint64_t *frames, uint32_t count, uint64_t frame)
{
    for (uint32_t i = 0; i < count; i++)
        if (frames[i] == frame)
            return true;
    return false;
}

/* Returns the number of leading frames that belong to the timer interrupt itself. The interrupt's entry function is
   among the first frames of every sample. The frames that precede this entry differ between kernel and user code. The
   frames that follow it belong to the interrupted code. Returns 0 for the first sample, because no other sample exists
   to compare it with. */
static uint32_t interrupt_frame_count(struct kernel_tracer *k, const struct stack *s)
{
    struct kernel_stacks *own = &k->stacks;
    const uint32_t first = s->kernel < STACK_COMMON ? s->kernel : STACK_COMMON;
    uint32_t kept = 0, last = 0;
    if (own->common_count == 0) {
        memcpy(own->common, s->frame, first * sizeof *s->frame);
        own->common_count = first;
        return 0;
    }
    for (uint32_t i = 0; i < own->common_count; i++)
        if (is_among(s->frame, first, own->common[i]))
            own->common[kept++] = own->common[i];
    own->common_count = kept;
    for (uint32_t i = 0; i < first; i++)
        if (is_among(own->common, kept, s->frame[i]))
            last = i + 1;
    return last;
}

static HRESULT take_sample(struct kernel_tracer *k, const struct tracepoint_event *e, const struct stack_due *due,
                           const struct stack *s)
{
    enum { IN_SOFT_INTERRUPT = 0x10, IN_DPC = 1, PRIORITY = 8, PRIORITY_AT = 3, SAMPLE_VERSION = 2 };
    struct kernel_data *d = &k->data;
    const uint32_t own = interrupt_frame_count(k, s);
    if (own == 0 || s->kernel + s->user <= own)
        return S_OK; /* the first sample, or a kernel thread without known frames */
    const struct tracepoint_event at = {.time = due->time, .processor = e->processor, .thread = due->thread};
    kernel_data_clear(d);
    kernel_data_u64(d, s->frame[own]);
    kernel_data_u32(d, kernel_thread_id(k, due->thread));
    kernel_data_u16(d, 1);
    kernel_data_u8(d, (uint8_t)(PRIORITY << PRIORITY_AT | ((due->context & IN_SOFT_INTERRUPT) != 0 ? IN_DPC : 0)));
    kernel_data_u8(d, 0);
    const HRESULT hr = kernel_emit(k, &at, HOOK_SAMPLE, SAMPLE_VERSION);
    if (FAILED(hr) || !is_chosen(k, HOOK_SAMPLE))
        return hr;
    k->stacks.due[e->processor].use = STACK_OF_NOTHING; /* the stack has arrived */
    return emit_stack(k, e, due->time, due->thread, s, own);
}

void kernel_tracer_interval(struct kernel_tracer *k, uint32_t asked)
{
    k->stacks.interval = kernel_profile_interval(asked);
}

static HRESULT emit_interval(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook)
{
    enum { SOURCE_TIME = 0, INTERVAL_VERSION = 3, NAME_UNITS = 16 };
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u32(d, SOURCE_TIME);
    kernel_data_u32(d, kernel_profile_interval(k->stacks.interval));
    kernel_data_u32(d, kernel_profile_interval(k->stacks.interval_reported));
    kernel_data_text(d, "Timer", NAME_UNITS);
    k->stacks.interval_reported = k->stacks.interval;
    return kernel_emit(k, e, hook, INTERVAL_VERSION);
}

HRESULT profile_interval(struct kernel_tracer *k, const struct tracepoint_event *e, bool end)
{
    if ((k->sources & FLAG_PROFILE) == 0)
        return S_OK;
    if (!end)
        k->stacks.interval_reported = k->stacks.interval;
    return emit_interval(k, e, end ? HOOK_SAMPLE_INTERVAL_END : HOOK_SAMPLE_INTERVAL_START);
}

/* Takes a sample at a tick. The processor's timer also runs between its ticks to wake sleeping threads, so only one
   sample per interval is taken. */
static HRESULT take_tick(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    enum { EARLY = 5000 };
    const uint32_t interval = kernel_profile_interval(k->stacks.interval);
    struct stack_due *due = k->stacks.due ? &k->stacks.due[e->processor] : NULL;
    if (!due || e->time + EARLY < due->sample)
        return S_OK;
    const uint64_t next = due->sample + interval;
    due->sample = e->time < next ? next : e->time + interval;
    stack_set_due(k, e, STACK_OF_SAMPLE);
    return k->stacks.interval_reported == k->stacks.interval ? S_OK : emit_interval(k, e, HOOK_SAMPLE_INTERVAL);
}

/* ---- tracepoints ---- */

/* Reads at most `most` frames. A list of fixed length ends at its first 0. */
static uint32_t read_frames(const struct tracepoint_event *e, int field, uint64_t most, uint64_t *to)
{
    const uint32_t at = e->fields[field].offset;
    uint32_t count = 0;
    for (uint32_t from = at; at != 0 && count < most && from + FRAME_BYTES <= e->event->size; from += FRAME_BYTES) {
        const uint64_t address = get_u64(e->event->data + from);
        if (address == 0)
            break;
        to[count++] = address;
    }
    return count;
}

static HRESULT take_user(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    struct stack_due *due = k->stacks.due ? &k->stacks.due[e->processor] : NULL;
    if (due && due->use != STACK_OF_NOTHING && due->thread == e->thread)
        due->users = read_frames(e, USER_FRAMES, STACK_USER_FRAMES, due->user);
    return S_OK;
}

/* Reads the kernel frames. Drops values that are not addresses, such as the marker between an interrupt's own frames
   and the frames of the interrupted code. */
static void read_kernel(const struct tracepoint_event *e, struct stack *s)
{
    uint64_t frame[STACK_FRAMES];
    const int64_t length = tracepoint_number(e, KERNEL_SIZE);
    const uint64_t most = length < 0 ? 0 : length > STACK_FRAMES ? STACK_FRAMES : (uint64_t)length;
    const uint32_t count = read_frames(e, KERNEL_FRAMES, most, frame);
    for (uint32_t i = 0; i < count; i++)
        if (frame[i] >= KERNEL_HALF && frame[i] != UINT64_MAX)
            s->frame[s->kernel++] = frame[i];
}

static HRESULT take_kernel(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    struct stack_due *slot = k->stacks.due ? &k->stacks.due[e->processor] : NULL;
    struct stack s = {.kernel = 0};
    struct kept_stack *kept;
    if (!slot || slot->use == STACK_OF_NOTHING || slot->thread != e->thread)
        return S_OK;
    const struct stack_due due = *slot;
    slot->use = STACK_OF_NOTHING;
    read_kernel(e, &s);
    for (; s.user < due.users; s.user++)
        s.frame[s.kernel + s.user] = due.user[s.user];
    switch (due.use) {
    case STACK_OF_SWITCH:
        return stack_keep(&k->stacks.switched, e->thread, &s, &kept);
    case STACK_OF_FAULT:
        return keep_fault(k, e, &s);
    case STACK_OF_SAMPLE:
        return take_sample(k, e, &due, &s);
    default:
        return emit_stack(k, e, due.time, due.thread, &s, 0);
    }
}

const struct tracepoint stack_tracepoints[] = {
    {"irq_vectors", "local_timer_entry", "common_pid != 0", FLAG_PROFILE, FLAG_PROFILE, take_tick, {NULL}},
    {TRACEPOINT_UNASKED,
     "kernel_stack",
     NULL,
     KERNEL_ALWAYS,
     0,
     take_kernel,
     {[KERNEL_SIZE] = "size", [KERNEL_FRAMES] = "caller"}},
    {TRACEPOINT_UNASKED,
     "user_stack",
     NULL,
     KERNEL_ALWAYS,
     0,
     take_user,
     {[USER_PROCESS] = "tgid", [USER_FRAMES] = "caller"}},
    {0},
};
