/* SPDX-License-Identifier: MIT */
/* The object Processor: one instance per online processor and their mean, _Total, from /proc/stat. */
#include "engine/pdh/object.h"
#include "engine/os/memory.h"
#include <stdio.h>

enum { PROCESSOR_TIME, USER_TIME, PRIVILEGED_TIME, IDLE_TIME, VALUES };

static const struct counter_schema counters[] = {
    [PROCESSOR_TIME] =
        {"% Processor Time",
         "Share of the time in which the processor was not idle. Waiting for a disk counts as idle; time "
         "that a hypervisor took away counts as busy.",
         PERF_100NSEC_TIMER_INV, PERF_DETAIL_NOVICE, 0, 0},
    [USER_TIME] = {"% User Time", "Share of the time that programs spent in their own code.", PERF_100NSEC_TIMER,
                   PERF_DETAIL_NOVICE, 0, 0},
    [PRIVILEGED_TIME] = {"% Privileged Time", "Share of the time spent in the kernel, its interrupt handlers included.",
                         PERF_100NSEC_TIMER, PERF_DETAIL_NOVICE, 0, 0},
    [IDLE_TIME] = {"% Idle Time", "Share of the time in which the processor was idle.", PERF_100NSEC_TIMER,
                   PERF_DETAIL_NOVICE, 0, 0},
};

/* The processors of the present instance list; set as soon as it is made from them. */
struct processor_state {
    uint32_t *ids;
    size_t count, capacity;
    uint64_t epoch; /* key of _Total: its mean over other processors is another figure */
};

static bool same_processors(const struct processor_state *state, const struct kernel_stat *stat)
{
    bool same = state->count == stat->count;
    for (size_t i = 0; same && i < stat->count; i++) {
        same = state->ids[i] == stat->cpus[i].id;
    }
    return same;
}

static HRESULT name_instances(struct object *o, struct processor_state *state, const struct kernel_stat *stat)
{
    size_t n = stat->count;
    if (!memory_grow((void **)&state->ids, &state->capacity, n, sizeof *state->ids)) {
        return E_OUTOFMEMORY;
    }
    char(*digits)[12] = memory_alloc((n + 1) * sizeof *digits);
    const char **names = memory_alloc((n + 1) * sizeof *names);
    uint64_t *keys = memory_alloc((n + 1) * sizeof *keys);
    struct instance_list *list = NULL;
    if (digits && names && keys) {
        for (size_t i = 0; i < n; i++) {
            snprintf(digits[i], sizeof digits[i], "%u", (unsigned)stat->cpus[i].id);
            names[i] = digits[i];
            keys[i] = stat->cpus[i].id;
        }
        names[n] = "_Total";
        keys[n] = state->epoch + 1;
        list = instance_list_create(n + 1, names, keys);
    }
    memory_free(digits);
    memory_free(names);
    memory_free(keys);
    if (!list) {
        return E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        state->ids[i] = stat->cpus[i].id;
    }
    state->count = n;
    state->epoch++;
    object_set_instances(o, list);
    return S_OK;
}

#define TICK 100000 /* 10 ms in 100 ns */

static HRESULT sample(struct object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct processor_state *state = o->state;
    HRESULT hr = source_need(source, SOURCE_STAT, &o->time);
    const struct kernel_stat *stat = &source->stat;
    if (SUCCEEDED(hr) && stat->count == 0) {
        hr = E_UNEXPECTED; /* the mean below divides by it */
    }
    if (SUCCEEDED(hr) && !same_processors(state, stat)) {
        hr = name_instances(o, state, stat);
    }
    if (SUCCEEDED(hr)) {
        hr = object_set_rows(o, stat->count + 1);
    }
    if (FAILED(hr)) {
        return hr;
    }
    uint64_t user = 0, privileged = 0, idle = 0;
    for (size_t i = 0; i < stat->count; i++) {
        const struct kernel_cpu *cpu = &stat->cpus[i];
        int64_t *row = object_row(o, i);
        row[PROCESSOR_TIME] = row[IDLE_TIME] = (int64_t)(cpu->idle * TICK);
        row[USER_TIME] = (int64_t)(cpu->user * TICK);
        row[PRIVILEGED_TIME] = (int64_t)(cpu->privileged * TICK);
        user += cpu->user;
        privileged += cpu->privileged;
        idle += cpu->idle;
    }
    int64_t *total = object_row(o, stat->count);
    total[PROCESSOR_TIME] = total[IDLE_TIME] = (int64_t)(idle * TICK / stat->count);
    total[USER_TIME] = (int64_t)(user * TICK / stat->count);
    total[PRIVILEGED_TIME] = (int64_t)(privileged * TICK / stat->count);
    o->present = (1u << VALUES) - 1;
    return S_OK;
}

static void close_state(struct object *o)
{
    memory_free(((struct processor_state *)o->state)->ids);
}

const struct provider pdh_processor = {
    .name = "Processor",
    .help = "How the processors of this computer spend their time.",
    .has_instances = true,
    .counters = counters,
    .counter_count = VALUES,
    .value_count = VALUES,
    .sample = sample,
    .state_size = sizeof(struct processor_state),
    .close = close_state,
};
