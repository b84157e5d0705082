/* SPDX-License-Identifier: MIT */
/* The object Process: one instance per process of the process list, and their sum, _Total. There is no Idle: it has no
   working set to tell truly. */
#include "engine/pdh/object.h"
#include "engine/os/memory.h"

enum { PROCESSOR_TIME, USER_TIME, PRIVILEGED_TIME, WORKING_SET, THREAD_COUNT, PROCESS_ID, ELAPSED, VALUES };

static const struct counter_schema counters[] = {
    [PROCESSOR_TIME] = {"% Processor Time",
                        "Processor time of all threads as a share of one processor's time: more than 100 where several "
                        "processors serve it.",
                        PERF_100NSEC_TIMER, PERF_DETAIL_NOVICE, 0, 0},
    [USER_TIME] = {"% User Time", "The part of % Processor Time spent in the program's own code.", PERF_100NSEC_TIMER,
                   PERF_DETAIL_NOVICE, 0, 0},
    [PRIVILEGED_TIME] = {"% Privileged Time", "The part of % Processor Time spent in the kernel.", PERF_100NSEC_TIMER,
                         PERF_DETAIL_NOVICE, 0, 0},
    [WORKING_SET] = {"Working Set", "Memory of the process that is in main memory, in bytes, shared pages included.",
                     PERF_COUNTER_LARGE_RAWCOUNT, PERF_DETAIL_NOVICE, -5, 0},
    [THREAD_COUNT] = {"Thread Count", "Threads of the process.", PERF_COUNTER_RAWCOUNT, PERF_DETAIL_NOVICE, 0, 0},
    [PROCESS_ID] = {"ID Process", "Number of the process. _Total has none.", PERF_COUNTER_RAWCOUNT, PERF_DETAIL_NOVICE,
                    -1, 0},
    [ELAPSED] = {"Elapsed Time", "Seconds since the process was started. _Total has none.", PERF_ELAPSED_TIME,
                 PERF_DETAIL_NOVICE, -4, 0},
};

/* A process of the last sample, and the time it had used. */
struct known {
    uint32_t id;
    int64_t start, user, kernel;
};
struct process_state {
    bool listed;         /* an instance list was made, from... */
    uint64_t generation; /* ...this state of the process list */
    struct known *known;
    size_t count, capacity;
    int64_t gone_user, gone_kernel; /* time of processes that have ended: it keeps _Total from running backwards */
};

static HRESULT name_instances(struct object *o, const struct process_entry *entries, size_t count)
{
    const char **names = memory_alloc((count + 1) * sizeof *names);
    uint64_t *keys = memory_alloc((count + 1) * sizeof *keys);
    struct instance_list *list = NULL;
    if (names && keys) {
        for (size_t i = 0; i < count; i++) {
            names[i] = entries[i].name;
            keys[i] = (uint64_t)entries[i].start ^ (uint64_t)entries[i].id << 32 ^ entries[i].id;
        }
        names[count] = "_Total";
        keys[count] = 0;
        list = instance_list_create(count + 1, names, keys);
    }
    memory_free(names);
    memory_free(keys);
    if (!list) {
        return E_OUTOFMEMORY;
    }
    object_set_instances(o, list);
    return S_OK;
}

static bool is_listed(const struct known *k, size_t hint, const struct process_entry *entries, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const struct process_entry *e = &entries[(hint + n) % count];
        if (e->id == k->id && e->start == k->start) {
            return true;
        }
    }
    return false;
}

/* Adds the times of the processes that were there in the last sample and are not in this one. */
static void keep_time_of_gone(struct process_state *state, const struct process_entry *entries, size_t count)
{
    for (size_t i = 0; i < state->count; i++) {
        if (!is_listed(&state->known[i], i, entries, count)) {
            state->gone_user += state->known[i].user;
            state->gone_kernel += state->known[i].kernel;
        }
    }
}

static HRESULT follow(struct object *o, struct process_state *state, struct source *source)
{
    const struct process_entry *entries = source->processes;
    size_t count = source->process_count;
    uint64_t generation = process_list_generation(source->list);
    if (!memory_grow((void **)&state->known, &state->capacity, count, sizeof *state->known)) {
        return E_OUTOFMEMORY;
    }
    if (!state->listed || generation != state->generation) {
        HRESULT hr = name_instances(o, entries, count);
        if (FAILED(hr)) {
            return hr;
        }
        keep_time_of_gone(state, entries, count);
        state->listed = true;
        state->generation = generation;
    }
    for (size_t i = 0; i < count; i++) {
        const struct process_entry *e = &entries[i];
        state->known[i] = (struct known){e->id, e->start, e->user_time, e->kernel_time};
    }
    state->count = count;
    return S_OK;
}

static void fill_rows(struct object *o, const struct process_state *state, const struct process_entry *entries,
                      size_t count)
{
    int64_t user = state->gone_user, kernel = state->gone_kernel, working_set = 0, threads = 0;
    for (size_t i = 0; i < count; i++) {
        const struct process_entry *e = &entries[i];
        int64_t *row = object_row(o, i);
        row[PROCESSOR_TIME] = e->user_time + e->kernel_time;
        row[USER_TIME] = e->user_time;
        row[PRIVILEGED_TIME] = e->kernel_time;
        row[WORKING_SET] = (int64_t)e->working_set;
        row[THREAD_COUNT] = e->threads;
        row[PROCESS_ID] = e->id;
        row[ELAPSED] = e->start;
        user += e->user_time;
        kernel += e->kernel_time;
        working_set += (int64_t)e->working_set;
        threads += e->threads;
    }
    int64_t *total = object_row(o, count);
    total[PROCESSOR_TIME] = user + kernel;
    total[USER_TIME] = user;
    total[PRIVILEGED_TIME] = kernel;
    total[WORKING_SET] = working_set;
    total[THREAD_COUNT] = threads;
}

static HRESULT sample(struct object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct process_state *state = o->state;
    HRESULT hr = source_need(source, SOURCE_PROCESSES, &o->time);
    if (SUCCEEDED(hr)) {
        hr = follow(o, state, source);
    }
    if (SUCCEEDED(hr)) {
        hr = object_set_rows(o, source->process_count + 1);
    }
    if (FAILED(hr)) {
        return hr;
    }
    fill_rows(o, state, source->processes, source->process_count);
    o->present = (1u << VALUES) - 1;
    return S_OK;
}

static void close_state(struct object *o)
{
    memory_free(((struct process_state *)o->state)->known);
}

const struct provider pdh_process = {
    .name = "Process",
    .help = "The processes that run: under Wine those of this prefix.",
    .has_instances = true,
    .counters = counters,
    .counter_count = VALUES,
    .value_count = VALUES,
    .sample = sample,
    .state_size = sizeof(struct process_state),
    .close = close_state,
};
