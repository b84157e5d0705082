/* SPDX-License-Identifier: MIT */
/* What interrupts the processors: devices as ISR, Linux' soft interrupts as DPC. Their routines have no address that a
   reader could name, so a number of their own stands there. */
#include "engine/etw/kernel/tracepoint.h"

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
        return S_OK; /* it began before the session */
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
