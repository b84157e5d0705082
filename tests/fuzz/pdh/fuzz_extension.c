/* SPDX-License-Identifier: MIT */
/* Any bytes as the reply of a performance extension DLL: objects are created from them and sampled, then sampled again
   from a second reply. The input replaces the DLL's process. Its first byte selects where the second reply begins, and
   whether the bytes are the two replies or changes (offset, byte) to a valid reply. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/extension/extension_object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *answer;
static size_t answer_size;

struct extension_host {
    int unused;
};

HRESULT extension_host_open(const char *service, struct extension_host **out)
{
    (void)service;
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

void extension_host_request(struct extension_host *h)
{
    (void)h;
}

HRESULT extension_host_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply **out)
{
    (void)h;
    (void)timeout_ms;
    struct extension_reply *r = malloc(sizeof *r + answer_size); /* exact size, for the sanitizer */
    *r = (struct extension_reply){.objects = UINT32_MAX, .size = answer_size, .ticks = 1000, .frequency = 10000000};
    memcpy(r->data, answer, answer_size);
    *out = r;
    return S_OK;
}

void extension_reply_release(struct extension_host *h, struct extension_reply *reply)
{
    (void)h;
    free(reply);
}

void extension_host_close(struct extension_host *h)
{
    memory_free(h);
}

static void close_catalogue(struct catalogue *c)
{
    (void)c;
}

static void read_object(const struct counter_object_type *p, struct source *source, const uint8_t *second,
                        size_t second_size)
{
    struct counter_object *o;
    PDH_RAW_COUNTER raw;
    const uint8_t *first = answer;
    const size_t first_size = answer_size;
    if (FAILED(counter_object_open(p, source, &o)))
        return;
    answer = second;
    answer_size = second_size;
    counter_objects_sample(&(struct counter_object_use){o, UINT64_MAX}, 1, source);
    answer = first;
    answer_size = first_size;
    for (size_t row = 0; row < o->rows && row < 100; row++)
        for (uint32_t i = 0; i < p->counter_count && i < 100; i++) {
            counter_object_raw(o, row, i, &raw);
            counter_object_time_base(o, i);
        }
    counter_object_close(o);
}

enum { COUNTERS = 3, INSTANCES = 3, BLOCK = 4 + 4 + 8 * COUNTERS, INSTANCE = 24 + 8 };
enum { DEFINITIONS = 64 + 40 * COUNTERS, OBJECT = DEFINITIONS + INSTANCES * (INSTANCE + BLOCK), GOOD = 2 * OBJECT };

/* Adds an object whose instances have parents in the object `parent`. */
static void put_object(uint8_t *to, uint32_t title, uint32_t parent)
{
    put_u32(to, OBJECT);
    put_u32(to + 0x04, DEFINITIONS);
    put_u32(to + 0x08, 64);
    put_u32(to + 0x0C, title);
    put_u32(to + 0x20, COUNTERS);
    put_u32(to + 0x28, INSTANCES);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        static const uint32_t types[] = {PERF_LARGE_RAW_FRACTION, PERF_LARGE_RAW_BASE, PERF_COUNTER_BULK_COUNT};
        uint8_t *c = to + 64 + (size_t)40 * i;
        put_u32(c, 40);
        put_u32(c + 0x04, title + 2 + 2 * i);
        put_u32(c + 0x1C, types[i]);
        put_u32(c + 0x20, 8);
        put_u32(c + 0x24, 8 + 8 * i);
    }
    for (uint32_t n = 0; n < INSTANCES; n++) {
        uint8_t *at = to + DEFINITIONS + (size_t)n * (INSTANCE + BLOCK);
        put_u32(at, INSTANCE);
        put_u32(at + 0x04, parent);
        put_u32(at + 0x08, n);
        put_u32(at + 0x0C, UINT32_MAX);
        put_u32(at + 0x10, 24);
        put_u32(at + 0x14, 4);
        put_u16(at + 24, (uint16_t)('a' + n));
        put_u32(at + INSTANCE, BLOCK);
    }
}

static void change(uint8_t good[GOOD], const uint8_t *data, size_t size)
{
    memset(good, 0, GOOD);
    put_object(good, 9000, 0);
    put_object(good + OBJECT, 9500, 9000);
    for (size_t i = 0; i + 3 <= size; i += 3)
        good[(data[i] | data[i + 1] << 8) % GOOD] = data[i + 2];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct catalogue_functions functions = {.close = close_catalogue};
    struct catalogue c = {.functions = &functions};
    struct extension_names_table names = {0};
    struct source source = {0};
    struct extension *e;
    if (size < 2)
        return 0;
    const size_t first = (size - 1) * (data[0] / 2) / 127;
    const uint8_t *second = data + 1 + first;
    size_t second_size = size - 1 - first;
    static uint8_t changed[2][GOOD];
    answer = data + 1;
    answer_size = first;
    if (data[0] % 2) {
        change(changed[0], answer, answer_size);
        change(changed[1], second, second_size);
        answer = changed[0];
        second = changed[1];
        answer_size = second_size = GOOD;
    }
    source_begin(&source);
    if (FAILED(extension_open("fuzzed", &e)) || FAILED(extension_add_objects(e, &names, &c, 0)))
        abort();
    for (size_t i = 0; i < c.count && i < 20; i++)
        read_object(c.types[i], &source, second, second_size);
    catalogue_close(&c);
    extension_close(e);
    source_close(&source);
    return 0;
}
