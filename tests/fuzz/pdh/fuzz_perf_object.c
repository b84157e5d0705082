/* SPDX-License-Identifier: MIT */
/* Any bytes as the block of a performance extension DLL: everything in the block is visited, and nothing outside it. */
#include "engine/logs/perf_data.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static volatile uint64_t sink; /* so that every byte is read */

static uint64_t visit_block(const struct perf_object *o, const uint8_t *block, size_t block_size)
{
    const struct perf_times times = {.ticks = 1000, .frequency = 10000000, .utc = 2000};
    struct perf_counter c, base;
    uint64_t sum = 0;
    size_t offset = o->definitions;
    for (uint32_t i = 0; i < o->counters && perf_object_counter(o, &offset, &c); i++) {
        struct log_raw raw;
        size_t next = offset;
        bool has_base = i + 1 < o->counters && perf_object_counter(o, &next, &base) && perf_counter_is_base(&base);
        if (perf_counter_raw(&times, o, &c, has_base ? &base : NULL, block, block_size, &raw))
            sum += (uint64_t)raw.first + (uint64_t)raw.second + (uint64_t)perf_counter_time_base(&times, o, &c);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_object o;
    uint8_t *copy = malloc(size ? size : 1); /* so that the sanitizer detects reads beyond its end */
    uint64_t sum = 0;
    memcpy(copy, data, size);
    if (perf_object_read(copy, size, &o)) {
        struct perf_instance instance;
        const uint8_t *block;
        size_t block_size, offset = o.values;
        if (perf_object_block(&o, &block, &block_size))
            sum += visit_block(&o, block, block_size);
        for (int32_t i = 0; i < o.instances && i < 1000 && perf_object_instance(&o, &offset, &instance); i++) {
            for (size_t n = 0; n < instance.name_units * 2; n++)
                sum += instance.name[n];
            sum += visit_block(&o, instance.block, instance.block_size);
        }
    }
    sink = sum;
    free(copy);
    return 0;
}
