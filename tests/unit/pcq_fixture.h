/* SPDX-License-Identifier: MIT */
/* The catalogue of an MS-PCQ server, with known values in two objects. "Parts" has instances and every type of counter
   that has hidden counters. "Whole" has no instances. */
#ifndef OPENPLA_PCQ_FIXTURE_H
#define OPENPLA_PCQ_FIXTURE_H

#include "engine/base/memory.h"
#include "engine/pdh/pcq_server.h"

#include <string.h>

static const struct counter_schema parts_counters[] = {
    {.name = "Held", .help = "How many.", .type = PERF_COUNTER_RAWCOUNT, .detail = 100, .scale = -1, .index = 700},
    {.name = "Moved/sec", .help = "Bytes.", .type = PERF_COUNTER_BULK_COUNT, .detail = 200, .index = 702},
    {.name = "Share", .help = "", .type = PERF_RAW_FRACTION, .detail = 300, .base = 5, .index = 704},
    {.name = "Age", .help = "", .type = PERF_ELAPSED_TIME, .detail = 100, .index = 706},
    {.name = "Lost", .help = "", .type = PERF_COUNTER_RAWCOUNT, .detail = 100, .index = 708},
};
static const struct counter_schema whole_counters[] = {
    {.name = "Total", .help = "All.", .type = PERF_COUNTER_LARGE_RAWCOUNT, .detail = 200, .index = 720},
};
/* The current instances of "Parts", and the result of sampling it. */
static const char *parts_names[3];
static uint64_t parts_keys[3];
static size_t parts_count;
static HRESULT parts_result;
static size_t parts_samples; /* number of samples taken */

static inline HRESULT sample_parts(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source, (void)wanted;
    parts_samples++;
    HRESULT hr = FAILED(parts_result) ? parts_result : counter_object_set_rows(o, parts_count);
    struct instance_list *list = SUCCEEDED(hr) ? instance_list_create(parts_count, parts_names, parts_keys) : NULL;
    if (FAILED(hr) || !list)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    counter_object_set_instances(o, list);
    for (size_t i = 0; i < parts_count; i++) {
        int64_t *row = counter_object_row(o, i), first = (int64_t)i * 100;
        row[0] = first + 1;
        row[1] = first + 0x100000002;
        row[2] = first + 3;
        row[3] = first + 4;
        row[4] = VALUE_ABSENT;
        row[5] = first + 50;
    }
    o->present = UINT64_MAX;
    o->time = (struct source_time){132000000000000000, 77};
    return S_OK;
}

static inline HRESULT sample_whole(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source, (void)wanted;
    HRESULT hr = counter_object_set_rows(o, 1);
    if (SUCCEEDED(hr))
        counter_object_row(o, 0)[0] = 0x1122334455667788;
    o->present = UINT64_MAX;
    o->time = (struct source_time){132000000000000009, 78};
    return hr;
}

static const struct counter_object_type parts_provider = {.name = "Parts",
                                                          .help = "Some things.",
                                                          .has_instances = true,
                                                          .counters = parts_counters,
                                                          .counter_count = 5,
                                                          .value_count = 6,
                                                          .at_once = true,
                                                          .sample = sample_parts};
static const struct counter_object_type whole_provider = {.name = "Whole",
                                                          .help = "",
                                                          .counters = whole_counters,
                                                          .counter_count = 1,
                                                          .value_count = 1,
                                                          .at_once = true,
                                                          .sample = sample_whole};

static inline void close_fixture(struct catalogue *c)
{
    memory_free(c);
}

/* Creates a server with both objects; returns NULL if memory runs out. Parts has the instances "alpha", "beta" and
   "Gamma ray". */
static inline struct pcq_server *pcq_fixture(void)
{
    static const struct catalogue_functions functions = {.close = close_fixture};
    static const char *const names[] = {"alpha", "beta", "Gamma ray"};
    struct catalogue *c = memory_zero(1, sizeof *c);
    struct pcq_server *s = NULL;
    memcpy(parts_names, names, sizeof names);
    for (size_t i = 0; i < 3; i++)
        parts_keys[i] = 10 + i;
    parts_count = 3;
    parts_result = S_OK;
    if (!c)
        return NULL;
    c->functions = &functions;
    if (!catalogue_add(c, &parts_provider) || !catalogue_add(c, &whole_provider))
        catalogue_close(c);
    else if (FAILED(pcq_server_open(c, &s)))
        s = NULL;
    return s;
}

#endif
