/* SPDX-License-Identifier: MIT */
/* Any bytes as the replies of another computer: its countersets are listed, described, opened and sampled without
   access outside the replies, and within limits. The input's first byte is the number of calls that get valid replies.
   The rest is a sequence of replies, each after its length (2 bytes). If the length's highest bit is set, the bytes are
   the complete reply; otherwise they are put into an envelope that fits the call. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/link.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/remote_computer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at, *end;
static unsigned good; /* number of further calls that get a valid reply */
static struct link only;

static HRESULT open_fuzzed(const char *machine, struct link **out)
{
    (void)machine;
    *out = &only;
    return S_OK;
}

static void close_fuzzed(struct link *l)
{
    (void)l;
}

static const GUID guid = {1, 2, 3, {4}};

struct good_set {
    struct pcq_set_info info;
    struct pcq_counter_info counters[3];
};
struct good_names {
    struct pcq_strings head;
    struct pcq_string strings[3];
    WCHAR text[2];
};
struct good_instance {
    struct pcq_instance head;
    WCHAR name[4];
};
struct good_values {
    struct pcq_data head;
    struct pcq_block block;
    struct pcq_counters counters;
    uint32_t ids[3];
    struct pcq_instances instances;
    struct good_instance instance;
    struct {
        struct pcq_value head;
        uint32_t low, high;
    } values[3];
};

/* A set with a fraction, its base and a number, in one instance. */
static const void *good_answer(unsigned opnum, const uint8_t *request, size_t size, size_t *length)
{
    static const struct good_set set = {
        {.guid = {1, 2, 3, {4}}, .detail = 100, .counters = 3, .instance_type = PCQ_MULTI_INSTANCE},
        {{.id = 1, .type = PERF_LARGE_RAW_FRACTION, .base = 2, .time = 3, .freq = 3, .multi = PCQ_ANY},
         {.id = 2, .type = PERF_LARGE_RAW_BASE, .attributes = PCQ_NO_DISPLAY},
         {.id = 3, .type = PERF_COUNTER_BULK_COUNT, .base = PCQ_ANY, .time = PCQ_ANY, .freq = PCQ_ANY}}};
    static const struct good_names names = {{sizeof names, 3}, {{1, 0}, {2, 0}, {3, 0}}, {'A', 0}};
    static const struct good_instance instance = {{sizeof instance, 5}, {'o', 'n', 'e', 0}};
    static const struct pcq_identifier identifier = {.guid = {1, 2, 3, {4}}, .size = sizeof identifier};
    static struct good_values values;
    values = (struct good_values){.head = {.size = sizeof values, .counters = 1, .frequency = 1000},
                                  .block = {.kind = PCQ_COUNTERSET, .size = sizeof values - sizeof values.head},
                                  .counters = {20, 3},
                                  .ids = {1, 2, 3},
                                  .instances = {0, 1},
                                  .instance = instance};
    for (int i = 0; i < 3; i++) {
        values.values[i].head = (struct pcq_value){8, 16};
        values.values[i].low = (uint32_t)i + 1;
    }
    const uint32_t code = opnum == PCQ_REGISTRATION_INFO ? get_u32(request + size - 12) : 0;
    *length = sizeof guid;
    if (opnum == PCQ_ENUMERATE_SETS)
        return &guid;
    *length = sizeof set;
    if (code == PCQ_SET_INFO)
        return &set;
    *length = sizeof names;
    if (code == PCQ_COUNTER_NAMES_ENGLISH || code == PCQ_COUNTER_HELPS)
        return &names;
    *length = sizeof names.text;
    if (code)
        return names.text;
    *length = sizeof instance;
    if (opnum == PCQ_ENUMERATE_INSTANCES)
        return &instance;
    *length = opnum == PCQ_QUERY_INFO ? sizeof identifier : opnum == PCQ_QUERY_DATA ? sizeof values : 0;
    return opnum == PCQ_QUERY_INFO ? (const void *)&identifier : &values;
}

/* The size that the client offers is at the end of the request. */
static HRESULT call_fuzzed(struct link *l, unsigned opnum, const uint8_t *request, size_t size, uint8_t **reply,
                           size_t *reply_size)
{
    (void)l;
    *reply = NULL;
    *reply_size = 0;
    size_t length;
    const uint8_t *from;
    bool bare = false;
    if (good) {
        good--;
        from = good_answer(opnum, request, size, &length);
    } else if (end - at < 2) {
        return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    } else {
        bare = get_u16(at) & 0x8000;
        length = get_u16(at) & 0x7FFF;
        at += 2;
        length = length < (size_t)(end - at) ? length : (size_t)(end - at);
        from = at;
        at += length;
    }
    uint8_t *bytes = memory_zero(1, length + 64 + size);
    if (!bytes)
        return E_OUTOFMEMORY;
    size_t used = 0;
    if (bare) {
        memcpy(bytes, from, length);
        used = length;
    } else if (opnum == PCQ_OPEN_QUERY || opnum == PCQ_CLOSE_QUERY) {
        used = NDR_HANDLE_BYTES + 4;
    } else if (opnum == PCQ_VALIDATE_COUNTERS) {
        uint32_t sent = get_u32(request + NDR_HANDLE_BYTES);
        put_u32(bytes, sent);
        memcpy(bytes + 4, request + NDR_HANDLE_BYTES + 8, sent);
        memcpy(bytes + 4, from, length < sent ? length : sent);
        used = 4 + sent + 4;
    } else {
        uint32_t unit = opnum == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1, count = (uint32_t)length / unit;
        uint32_t room = get_u32(request + size - 4);
        count = count < room ? count : room;
        put_u32(bytes, count);
        put_u32(bytes + 4, count);
        put_u32(bytes + 8, room);
        put_u32(bytes + 16, count);
        memcpy(bytes + 20, from, (size_t)count * unit);
        used = ((20 + (size_t)count * unit + 3) & ~(size_t)3) + 4;
    }
    *reply = bytes;
    *reply_size = used;
    return S_OK;
}

static const struct link_kind fuzzed = {open_fuzzed, call_fuzzed, close_fuzzed};

static void close_catalogue(struct catalogue *c)
{
    (void)c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct catalogue_functions functions = {.close = close_catalogue};
    struct catalogue c = {.functions = &functions};
    struct remote_objects *all = NULL;
    struct source source = {0};
    setenv("OPENPLA_SAMPLE_LIMIT", "0", 1); /* calls are made on this thread */
    remote_computer_links(&fuzzed);
    only.kind = &fuzzed;
    if (!size)
        return 0;
    good = data[0] % 32;
    at = data + 1;
    end = data + size;
    source_begin(&source);
    remote_catalogue_functions.connect(&all, "other", false, &c);
    struct counter_object *objects[4] = {0};
    for (size_t i = 0; i < c.count && i < 4; i++)
        if (FAILED(counter_object_open(c.types[i], &source, &objects[i])))
            objects[i] = NULL;
    for (int round = 0; all && round < 3; round++) {
        remote_catalogue_functions.begin(all);
        for (size_t i = 0; i < 4; i++) {
            struct counter_object *o = objects[i];
            PDH_RAW_COUNTER raw;
            if (!o)
                continue;
            counter_objects_sample(&(struct counter_object_use){o, UINT64_MAX}, 1, &source);
            for (size_t row = 0; row < o->rows && row < 64; row++)
                for (uint32_t n = 0; n < o->type->counter_count; n++) {
                    counter_object_raw(o, row, n, &raw);
                    counter_object_time_base(o, n);
                }
        }
    }
    for (size_t i = 0; i < 4; i++)
        counter_object_close(objects[i]);
    catalogue_close(&c);
    if (all)
        remote_catalogue_functions.close(all);
    source_close(&source);
    return 0;
}
