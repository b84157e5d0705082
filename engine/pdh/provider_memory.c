/* SPDX-License-Identifier: MIT */
/* The object Memory, from /proc/meminfo. */
#include "engine/pdh/object.h"

enum {
    AVAILABLE_BYTES,
    AVAILABLE_KBYTES,
    AVAILABLE_MBYTES,
    COMMITTED_BYTES,
    COMMIT_LIMIT,
    COMMITTED_IN_USE,
    COUNTERS,
    COMMIT_LIMIT_PAGES = COUNTERS,
    VALUES,
};

static const struct counter_schema counters[] = {
    [AVAILABLE_BYTES] = {"Available Bytes",
                         "Memory that programs can get without paging, in bytes (MemAvailable of the kernel).",
                         PERF_COUNTER_LARGE_RAWCOUNT, PERF_DETAIL_NOVICE, -6, 0},
    [AVAILABLE_KBYTES] = {"Available KBytes", "Available Bytes in units of 1,024.", PERF_COUNTER_LARGE_RAWCOUNT,
                          PERF_DETAIL_NOVICE, -3, 0},
    [AVAILABLE_MBYTES] = {"Available MBytes", "Available Bytes in units of 1,048,576.", PERF_COUNTER_LARGE_RAWCOUNT,
                          PERF_DETAIL_NOVICE, 0, 0},
    [COMMITTED_BYTES] = {"Committed Bytes", "Memory that was promised to programs, in bytes (Committed_AS).",
                         PERF_COUNTER_LARGE_RAWCOUNT, PERF_DETAIL_NOVICE, -6, 0},
    [COMMIT_LIMIT] =
        {"Commit Limit",
         "Memory that can be promised before paging space must grow, in bytes (CommitLimit). A kernel that "
         "overcommits promises more.",
         PERF_COUNTER_LARGE_RAWCOUNT, PERF_DETAIL_NOVICE, -6, 0},
    /* 32-bit values as on Windows, so both are in pages there and here. */
    [COMMITTED_IN_USE] = {"% Committed Bytes In Use", "Committed Bytes as a share of Commit Limit.", PERF_RAW_FRACTION,
                          PERF_DETAIL_NOVICE, 0, COMMIT_LIMIT_PAGES},
};

#define PAGE 4096

static HRESULT sample(struct object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    HRESULT hr = source_need(source, SOURCE_MEMORY, &o->time);
    if (SUCCEEDED(hr)) {
        hr = object_set_rows(o, 1);
    }
    if (FAILED(hr)) {
        return hr;
    }
    const struct kernel_memory *m = &source->memory;
    int64_t *row = object_row(o, 0);
    o->present = 0;
    if (m->has_available) {
        row[AVAILABLE_BYTES] = (int64_t)m->available;
        row[AVAILABLE_KBYTES] = (int64_t)(m->available >> 10);
        row[AVAILABLE_MBYTES] = (int64_t)(m->available >> 20);
        o->present |= 1u << AVAILABLE_BYTES | 1u << AVAILABLE_KBYTES | 1u << AVAILABLE_MBYTES;
    }
    if (m->has_committed) {
        row[COMMITTED_BYTES] = (int64_t)m->committed;
        o->present |= 1u << COMMITTED_BYTES;
    }
    if (m->has_commit_limit) {
        row[COMMIT_LIMIT] = (int64_t)m->commit_limit;
        o->present |= 1u << COMMIT_LIMIT;
    }
    if (m->has_committed && m->has_commit_limit) {
        row[COMMITTED_IN_USE] = (int64_t)(m->committed / PAGE);
        row[COMMIT_LIMIT_PAGES] = (int64_t)(m->commit_limit / PAGE);
        o->present |= 1u << COMMITTED_IN_USE;
    }
    return S_OK;
}

const struct provider pdh_memory = {
    .name = "Memory",
    .help = "The main memory of this computer.",
    .counters = counters,
    .counter_count = COUNTERS,
    .value_count = VALUES,
    .sample = sample,
};
