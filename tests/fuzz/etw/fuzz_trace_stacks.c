/* SPDX-License-Identifier: MIT */
/* Stacks, images and methods of a malicious trace: every event that has a stack gets frames from the trace, the same in
   a second reading. Every address is looked up without access outside the tables. Each event takes a few
   bytes of the input: its kind and sizes are from a small set, so that stamps, keys, threads and addresses coincide. */
#include "engine/base/memory.h"
#include "engine/etw/trace_stacks.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 16, PAYLOAD = 512 };
static const GUID stack_walk = {0xDEF2FE46, 0x7BD6, 0x4B80, {0xBD, 0x94, 0xF5, 0x7F, 0xE2, 0x0D, 0x0C, 0xE3}};
static const GUID image = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};
static const GUID image_id = {0xB3E675D7, 0x2554, 0x4F18, {0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE}};
static const GUID clr = {0xE13C0D23, 0xCCBC, 0x4E12, {0x93, 0x1B, 0xD9, 0xCC, 0x2E, 0xEE, 0x27, 0xE4}};
static const GUID rundown = {0xA669021C, 0xC450, 0x4609, {0xA0, 0x35, 0x5A, 0xF5, 0x9A, 0xF4, 0xDF, 0x18}};
static const GUID script = {0x57277741, 0x3638, 0x4A4B, {0xBD, 0xBA, 0x0A, 0xC6, 0xE4, 0x5D, 0xA5, 0x6C}};
static const GUID other = {1, 2, 3, {4}};

static const struct {
    const GUID *provider;
    uint16_t id; /* the id of a manifest event, or the type of another event */
    bool manifest;
} kinds[KINDS] = {
    {&stack_walk, 32, false}, {&stack_walk, 37, false}, {&stack_walk, 38, false}, {&stack_walk, 35, false},
    {&image, 10, false},      {&image, 2, false},       {&image, 4, false},       {&image_id, 0, false},
    {&image_id, 36, false},   {&clr, 143, true},        {&clr, 144, true},        {&clr, 82, true},
    {&rundown, 144, true},    {&rundown, 154, true},    {&script, 9, true},       {&other, 1, false}};

struct choices {
    const uint8_t *at;
    size_t left;
};

static uint8_t next(struct choices *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* Creates each word of 8 bytes from a byte of the input: a kernel address, a program's address, or a small number. */
static size_t payload(struct choices *in, uint8_t *out)
{
    const size_t words = next(in) % (PAYLOAD / 8);
    for (size_t i = 0; i < words; i++) {
        const uint8_t b = next(in);
        put_u64(out + 8 * i, b & 0x80   ? 0xFFFFF80000000000u + (uint64_t)(b & 0x7F) * 16
                             : b & 0x40 ? 0x140000000u + (uint64_t)(b & 0x3F) * 16
                                        : b);
    }
    return 8 * words - (words != 0 ? next(in) % 8 : 0);
}

struct made {
    EVENT_RECORD record;
    EVENT_HEADER_EXTENDED_DATA_ITEM item;
    uint8_t *data; /* a block of exactly its size, so that the sanitizer detects reads beyond its end */
};

static bool make(struct choices *in, uint64_t number, struct made *m, struct trace_event *e)
{
    uint8_t bytes[PAYLOAD];
    if (in->left == 0)
        return false;
    const uint8_t kind = next(in) % KINDS, more = next(in), clock = next(in);
    const size_t size = payload(in, bytes);
    *m = (struct made){.data = memory_copy(bytes, size)};
    if (!m->data)
        abort();
    EVENT_HEADER *h = &m->record.EventHeader;
    h->Flags = more & 1 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER;
    h->Flags |= kinds[kind].manifest ? 0 : EVENT_HEADER_FLAG_CLASSIC_HEADER;
    h->ProviderId = *kinds[kind].provider;
    h->EventDescriptor.Id = kinds[kind].manifest ? kinds[kind].id : 0;
    h->EventDescriptor.Opcode = (uint8_t)(kinds[kind].manifest ? 0 : kinds[kind].id);
    h->EventDescriptor.Version = more >> 1 & 3;
    h->ThreadId = more & 0x40 ? UINT32_MAX : clock & 3;
    h->ProcessId = more & 0x40 ? UINT32_MAX : clock >> 2 & 3;
    h->TimeStamp.QuadPart = clock >> 4;
    m->record.BufferContext.ProcessorIndex = more >> 5 & 1;
    m->record.UserData = m->data;
    m->record.UserDataLength = (uint16_t)size;
    if (more & 0x80 && kinds[kind].manifest) { /* the payload is an item, too */
        static const uint16_t types[] = {5, 6, 17, 18};
        m->item = (EVENT_HEADER_EXTENDED_DATA_ITEM){
            .ExtType = types[clock & 3], .DataSize = (uint16_t)size, .DataPtr = (uintptr_t)m->data};
        m->record.ExtendedDataCount = 1;
        m->record.ExtendedData = &m->item;
    }
    *e = (struct trace_event){
        .record = &m->record, .pointer_size = more & 0x10 ? 4 : 8, .known = true, .input = clock & 1, .number = number};
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_stacks s = {0};
    struct choices in = {data, size};
    struct made m;
    struct trace_event e;
    struct event_stack stack;
    struct code_place place;
    static uint64_t frames[STACK_MOST_FRAMES];
    uint64_t count = 0, joined = 0;
    if (FAILED(stack_joiner_create(2, &s.joiner)) || FAILED(code_places_create(&s.places)))
        abort();
    while (make(&in, count + 1, &m, &e)) {
        if (FAILED(stack_joiner_take(s.joiner, &e)) || FAILED(code_places_take(s.places, &e)))
            abort();
        memory_free(m.data);
        count++;
    }
    stack_joiner_finish(s.joiner, &s.counts);
    if (FAILED(code_places_finish(s.places)))
        abort();
    for (uint64_t number = 1; number <= count; number++) {
        if (!stack_joiner_find(s.joiner, number, &stack))
            continue;
        joined++;
        const size_t depth = stack_frames(stack_joiner_tree(s.joiner), &stack, frames);
        if (depth == 0)
            abort();
        for (size_t i = 0; i < depth; i++) {
            if (frames[i] == 0)
                abort();
            if (trace_stacks_place(&s, stack.process, frames[i], i == 0, number, &place) && !place.module &&
                !place.method)
                abort();
        }
    }
    if (joined != s.counts.joined)
        abort();
    trace_stacks_free(&s);
    return 0;
}
