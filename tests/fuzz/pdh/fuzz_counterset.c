/* SPDX-License-Identifier: MIT */
/* Any bytes as the section of a Perflib V2 provider: its objects are created and sampled without access outside the
   section, and within limits. The input's records follow a valid header; the input's first byte is the number of valid
   records before them. */
#include "engine/base/memory.h"
#include "engine/pdh/extension/counterset_share.h"
#include "engine/pdh/extension/extension_object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static volatile uint64_t sink; /* so that every byte is read */

static struct counterset_provider *provider;
static uint8_t *section;
static uint32_t used; /* bytes used by a counterset and its instance */

static void begin(void)
{
    static const struct counterset_counter counters[] = {
        {.id = 1, .type = PERF_LARGE_RAW_FRACTION, .detail = 100, .name = "Share"},
        {.id = 2, .type = PERF_LARGE_RAW_BASE, .detail = 100, .name = "Share Base"},
        {.id = 3, .type = PERF_COUNTER_LARGE_RAWCOUNT, .detail = 100, .name = "Raw"},
    };
    const GUID guid = {1, 2, 3, {4}};
    uint32_t set, instance;
    if (FAILED(counterset_provider_open(&provider)) ||
        FAILED(counterset_provider_add(provider, &guid, "Set", false, counters, 3, &set)) ||
        FAILED(counterset_provider_create_instance(provider, set, "one", 1, &instance)))
        abort();
    section = (uint8_t *)counterset_provider_values(provider, instance) - sizeof(struct counterset_record) - instance;
    memcpy(&used, section + offsetof(struct counterset_head, used), sizeof used);
}

/* Checks that everything that is returned is inside the bytes. */
static void visit(const struct counterset_bytes *b)
{
    uint64_t sum = 0;
    for (const struct counterset_record *r = NULL; (r = counterset_next(b, r));) {
        const struct counterset_record *set = counterset_of(b, r);
        for (uint32_t i = 0; i < r->count; i++)
            sum += r->kind == COUNTERSET_KIND_SET ? counterset_counters(r)[i].type : (uint64_t)counterset_values(r)[i];
        for (uint32_t i = 0; set && i < set->count; i++)
            sum += counterset_counters(set)[i].id;
        char *name = counterset_text(r->name, sizeof r->name);
        memory_free(name);
    }
    sink = sum;
}

static void close_catalogue(struct catalogue *c)
{
    (void)c;
}

static void sample_all(void)
{
    static const struct catalogue_functions functions = {.close = close_catalogue};
    struct catalogue c = {.functions = &functions};
    struct countersets *s;
    struct source source = {0};
    source_begin(&source);
    if (FAILED(countersets_open(&s)) || FAILED(countersets_add_objects(s, &c)))
        abort();
    for (size_t i = 0; i < c.count; i++) {
        struct counter_object *o;
        PDH_RAW_COUNTER raw;
        if (FAILED(counter_object_open(c.types[i], &source, &o)))
            continue;
        for (size_t row = 0; row < o->rows; row++)
            for (uint32_t n = 0; n < o->type->counter_count; n++)
                counter_object_raw(o, row, n, &raw);
        counter_object_close(o);
    }
    catalogue_close(&c);
    countersets_close(s);
    source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t good[8192];
    if (!provider) {
        begin();
        memcpy(good, section, used);
    }
    if (size < 1 || size > 1u << 20)
        return 0;
    const uint32_t keep = data[0] % 4 == 3 ? COUNTERSET_FIRST_RECORD : used;
    memcpy(section, good, used);
    if (data[0] % 4 == 2) { /* overwrite the valid records */
        for (size_t i = 1; i + 3 <= size; i += 3)
            section[(data[i] | data[i + 1] << 8) % used] = data[i + 2];
    } else {
        memcpy(section + keep, data + 1, size - 1);
        const uint32_t end = keep + (uint32_t)size - 1;
        memcpy(section + offsetof(struct counterset_head, used), &end, sizeof end);
    }
    uint64_t *copy = memory_alloc(size + 8192);
    memcpy(copy, section, keep + size);
    visit(&(struct counterset_bytes){(const uint8_t *)copy, (keep + size) & ~(size_t)7});
    memory_free(copy);
    sample_all();
    return 0;
}
