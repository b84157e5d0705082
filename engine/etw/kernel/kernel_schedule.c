/* SPDX-License-Identifier: MIT */
/* Creates events for the activity of the processors: context switches, threads that become ready, and interrupts. */
#include "engine/etw/kernel/tracepoint.h"

enum { SWITCH_OLD, SWITCH_OLD_PRIORITY, SWITCH_STATE, SWITCH_NEW, SWITCH_NEW_PRIORITY };
enum { WAKE_ID };
enum { SWITCH_VERSION = 2, READY_VERSION = 2 };
/* Values of sched_switch's prev_state. */
enum {
    LINUX_INTERRUPTIBLE = 0x1,
    LINUX_DISK = 0x2,
    LINUX_STOPPED = 0x4 | 0x8,
    LINUX_DEAD = 0x10 | 0x20,
    LINUX_PREEMPTED = 0x100
};
/* Values in CSwitch: KTHREAD_STATE and KWAIT_REASON. */
enum { STATE_READY = 1, STATE_TERMINATED = 4, STATE_WAITING = 5 };
enum {
    WAIT_EXECUTIVE = 0,
    WAIT_SUSPENDED = 5,
    WAIT_USER_REQUEST = 6,
    WAIT_QUANTUM_END = 30,
    WAIT_YIELD = 33,
    WAIT_TERMINATED = 36
};
enum { IN_INTERRUPT = 0x08 | 0x10 }; /* bits of common_flags: hard and soft interrupts */

/* Converts a Linux priority to Windows' priority: 100 to 139 (ordinary threads) become 15 down to 1, and 0 to 99 (real
   time) become 31 down to 16. */
static uint8_t windows_priority(const struct tracepoint_event *e, int field, uint32_t thread)
{
    const int64_t linux_priority = tracepoint_number(e, field);
    if (thread == 0 || linux_priority < 0)
        return 0;
    if (linux_priority >= 100)
        return linux_priority >= 139 ? 1 : (uint8_t)(15 - (linux_priority - 100) * 14 / 39);
    return (uint8_t)(16 + (99 - linux_priority) * 15 / 99);
}

static void why_out(int64_t state, uint8_t *windows_state, uint8_t *reason)
{
    const int64_t waits = state & (LINUX_INTERRUPTIBLE | LINUX_DISK | LINUX_STOPPED | LINUX_DEAD | 0xC0);
    *windows_state = waits == 0 ? STATE_READY : (waits & LINUX_DEAD) != 0 ? STATE_TERMINATED : STATE_WAITING;
    *reason = (state & LINUX_PREEMPTED) != 0       ? WAIT_QUANTUM_END
              : waits == 0                         ? WAIT_YIELD
              : (waits & LINUX_DEAD) != 0          ? WAIT_TERMINATED
              : (waits & LINUX_STOPPED) != 0       ? WAIT_SUSPENDED
              : (waits & LINUX_INTERRUPTIBLE) != 0 ? WAIT_USER_REQUEST
                                                   : WAIT_EXECUTIVE;
}

static HRESULT take_switch(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t old = (uint32_t)tracepoint_number(e, SWITCH_OLD), new = (uint32_t)tracepoint_number(e, SWITCH_NEW);
    const int64_t state = tracepoint_number(e, SWITCH_STATE);
    struct kernel_data *d = &k->data;
    uint8_t windows_state, reason;
    if ((state & LINUX_DISK) != 0) {
        fault_waits(k, old, 0);
    } else {
        const HRESULT hr = fault_settle(k, e, old);
        if (FAILED(hr))
            return hr;
    }
    if (!kernel_wants(k, FLAG_SWITCH))
        return S_OK;
    struct kernel_thread *out = id_map_find(&k->threads, old), *in = id_map_find(&k->threads, new);
    const uint64_t waited = in && in->out != 0 && e->time > in->out ? e->time - in->out : 0;
    if (out)
        out->out = e->time;
    why_out(state, &windows_state, &reason);
    kernel_data_clear(d);
    kernel_data_u32(d, kernel_thread_id(k, new));
    kernel_data_u32(d, kernel_thread_id(k, old));
    kernel_data_u8(d, windows_priority(e, SWITCH_NEW_PRIORITY, new));
    kernel_data_u8(d, windows_priority(e, SWITCH_OLD_PRIORITY, old));
    kernel_data_u8(d, 0); /* idle state that the processor leaves */
    kernel_data_u8(d, 0);
    kernel_data_u8(d, reason);
    kernel_data_u8(d, reason == WAIT_USER_REQUEST ? 1 : 0); /* the thread waited in user mode */
    kernel_data_u8(d, windows_state);
    kernel_data_u8(d, (uint8_t)e->processor);
    kernel_data_u32(d, waited > UINT32_MAX ? UINT32_MAX : (uint32_t)waited);
    kernel_data_u32(d, 0);
    const HRESULT hr = kernel_emit(k, e, HOOK_SWITCH, SWITCH_VERSION);
    return SUCCEEDED(hr) ? stack_switch(k, e, new) : hr;
}

static HRESULT take_wake(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u32(d, kernel_thread_id(k, (uint32_t)tracepoint_number(e, WAKE_ID)));
    kernel_data_u8(d, 0); /* adjust reason */
    kernel_data_u8(d, 0); /* increment */
    kernel_data_u8(d, (e->context & IN_INTERRUPT) != 0 ? 1 : 0);
    kernel_data_u8(d, 0);
    return kernel_emit(k, e, HOOK_READY, READY_VERSION);
}

const struct tracepoint schedule_tracepoints[] = {
    {"sched",
     "sched_switch",
     NULL,
     FLAG_SWITCH | FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS,
     FLAG_SWITCH,
     take_switch,
     {[SWITCH_OLD] = "prev_pid",
      [SWITCH_OLD_PRIORITY] = "prev_prio",
      [SWITCH_STATE] = "prev_state",
      [SWITCH_NEW] = "next_pid",
      [SWITCH_NEW_PRIORITY] = "next_prio"}},
    {"sched", "sched_wakeup", NULL, FLAG_DISPATCHER, FLAG_DISPATCHER, take_wake, {[WAKE_ID] = "pid"}},
    {"sched", "sched_wakeup_new", NULL, FLAG_DISPATCHER, 0, take_wake, {[WAKE_ID] = "pid"}},
    {0},
};

/* ---- interrupts ---- */

/* Device interrupts become ISR events, and Linux' soft interrupts become DPC events. The events have the interrupt's
   number in place of the routine's address, which readers could not resolve. */

enum { HARD_NUMBER, HARD_RESULT };
enum { SOFT_KIND };
enum { SOFT_TIMER = 1, SOFT_HIGH_TIMER = 8, VERSION = 2 };
#define ROUTINES UINT64_C(0xFFFFF80000000000)

static HRESULT take_hard_entry(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    k->interrupt_from[e->processor] = e->time;
    return S_OK;
}

static HRESULT take_hard_exit(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t number = (uint32_t)tracepoint_number(e, HARD_NUMBER);
    const uint64_t from = k->interrupt_from[e->processor];
    struct kernel_data *d = &k->data;
    if (from == 0)
        return S_OK; /* the start of the interrupt is unknown, because it was before the session */
    k->interrupt_from[e->processor] = 0;
    kernel_data_clear(d);
    kernel_data_u64(d, from);
    kernel_data_u64(d, ROUTINES + ((uint64_t)number << 4));
    kernel_data_u8(d, (uint8_t)tracepoint_number(e, HARD_RESULT));
    kernel_data_u16(d, (uint16_t)number);
    kernel_data_u8(d, 0);
    return kernel_emit(k, e, HOOK_INTERRUPT, VERSION);
}

static HRESULT take_soft_entry(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    k->soft_from[e->processor] = e->time;
    return S_OK;
}

static HRESULT take_soft_exit(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t kind = (uint32_t)tracepoint_number(e, SOFT_KIND);
    const uint64_t from = k->soft_from[e->processor];
    struct kernel_data *d = &k->data;
    if (from == 0)
        return S_OK;
    k->soft_from[e->processor] = 0;
    kernel_data_clear(d);
    kernel_data_u64(d, from);
    kernel_data_u64(d, ROUTINES + 0x10000 + ((uint64_t)kind << 4));
    return kernel_emit(k, e, kind == SOFT_TIMER || kind == SOFT_HIGH_TIMER ? HOOK_TIMER_DPC : HOOK_DPC, VERSION);
}

const struct tracepoint interrupt_tracepoints[] = {
    {"irq", "irq_handler_entry", NULL, FLAG_INTERRUPT, 0, take_hard_entry, {NULL}},
    {"irq",
     "irq_handler_exit",
     NULL,
     FLAG_INTERRUPT,
     FLAG_INTERRUPT,
     take_hard_exit,
     {[HARD_NUMBER] = "irq", [HARD_RESULT] = "ret"}},
    {"irq", "softirq_entry", NULL, FLAG_DPC, 0, take_soft_entry, {NULL}},
    {"irq", "softirq_exit", NULL, FLAG_DPC, FLAG_DPC, take_soft_exit, {[SOFT_KIND] = "vec"}},
    {0},
};
