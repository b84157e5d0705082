/* SPDX-License-Identifier: MIT */
/* Processes, threads, samples, switches, stacks and images of a malicious trace, exported in every format. Each event
   takes a few bytes of the input, so that ids, stamps and addresses coincide. The output is discarded; the test checks
   that nothing outside a payload is read and that no format fails. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/export_events.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAYLOAD = 256, FORMATS = 6 };
static const GUID process_class = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID thread_class = {0x3D6FA8D1, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID disk_class = {0x3D6FA8D4, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID tcp_class = {0x9A280AC0, 0xC8E0, 0x11D1, {0x84, 0xE2, 0x00, 0xC0, 0x4F, 0xB9, 0x98, 0xA2}};
static const GUID image_class = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};
static const GUID perf_class = {0xCE1DBFB4, 0x137E, 0x4DA6, {0x87, 0xB0, 0x3F, 0x59, 0xAA, 0x10, 0x2C, 0xBC}};
static const GUID stack_walk = {0xDEF2FE46, 0x7BD6, 0x4B80, {0xBD, 0x94, 0xF5, 0x7F, 0xE2, 0x0D, 0x0C, 0xE3}};
static const struct {
    const GUID *class;
    uint8_t type;
} kinds[] = {{&process_class, 1}, {&process_class, 3}, {&thread_class, 1},  {&thread_class, 4}, {&thread_class, 72},
             {&thread_class, 36}, {&thread_class, 36}, {&thread_class, 50}, {&perf_class, 46},  {&perf_class, 46},
             {&perf_class, 73},   {&stack_walk, 32},   {&stack_walk, 37},   {&stack_walk, 35},  {&image_class, 10},
             {&image_class, 2},   {&disk_class, 10},   {&tcp_class, 11}};
static const struct export_format *const formats[FORMATS] = {&export_firefox, &export_speedscope, &export_chrome,
                                                             &export_folded,  &export_pprof,      &export_ctf};

struct choices {
    const uint8_t *at;
    size_t left;
    int64_t time;
};

static uint8_t next(struct choices *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* Creates each word of 4 bytes from a byte of the input: a small number, text, or half of an address. */
static size_t payload(struct choices *in, uint8_t *out)
{
    const size_t words = next(in) % (PAYLOAD / 4);
    for (size_t i = 0; i < words; i++) {
        const uint8_t b = next(in);
        put_u32(out + 4 * i, b & 0x80 ? b & 0x40 ? 0xFFFFF800u : 0x00410042u + b : b);
    }
    return 4 * words - (words != 0 ? next(in) % 4 : 0);
}

/* Returns S_FALSE if the input has ended. */
static HRESULT give(struct choices *in, uint64_t number, HRESULT (*take)(void *context, const struct trace_event *e),
                    void *context)
{
    uint8_t bytes[PAYLOAD];
    EVENT_RECORD r = {0};
    if (in->left == 0)
        return S_FALSE;
    const uint8_t kind = next(in) % (sizeof kinds / sizeof *kinds), more = next(in), step = next(in);
    const size_t size = payload(in, bytes);
    uint8_t *data = memory_copy(bytes, size); /* a block of exactly its size */
    if (!data)
        abort();
    in->time += step & 0x40 ? 0 : step & 0x80 ? 100000 : step;
    r.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX;
    r.EventHeader.Flags |= more & 1 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER;
    r.EventHeader.ProviderId = *kinds[kind].class;
    r.EventHeader.EventDescriptor.Opcode = kinds[kind].type;
    r.EventHeader.EventDescriptor.Version = more >> 1 & 7;
    r.EventHeader.ThreadId = more & 0x40 ? UINT32_MAX : more >> 4 & 3;
    r.EventHeader.ProcessId = more & 0x40 ? UINT32_MAX : more >> 5 & 1;
    r.EventHeader.TimeStamp.QuadPart = in->time;
    r.BufferContext.ProcessorIndex = more >> 7;
    r.UserData = data;
    r.UserDataLength = (uint16_t)size;
    const struct trace_event e = {
        .record = &r, .pointer_size = more & 1 ? 4 : 8, .timer_resolution = 156250, .known = true, .number = number};
    const HRESULT hr = take(context, &e);
    memory_free(data);
    return hr;
}

struct first {
    struct trace_stacks *stacks;
    struct export_events *events;
};

static HRESULT record_first(void *context, const struct trace_event *e)
{
    struct first *f = context;
    if (FAILED(stack_joiner_take(f->stacks->joiner, e)) || FAILED(code_places_take(f->stacks->places, e)))
        return E_FAIL;
    return export_events_prepare(f->events, e);
}

static void read_all(const uint8_t *data, size_t size, HRESULT (*take)(void *, const struct trace_event *),
                     void *context)
{
    struct choices in = {data, size, INT64_C(132590000000000000)};
    HRESULT hr = S_OK;
    for (uint64_t number = 1; hr == S_OK; number++)
        hr = give(&in, number, take, context);
    if (FAILED(hr))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct trace_schemas schemas;
    static struct trace_frames frames;
    static struct export x;
    static const struct texts all;
    if (!schemas.all && FAILED(trace_schemas_open(&(struct trace_knowledge){0}, &schemas)))
        abort();
    if (size == 0)
        return 0;
    frames = (struct trace_frames){0};
    x = (struct export){
        .frames = &frames, .title = "fuzz", .folder = "fuzz_trace_export.tmp", .format = formats[data[0] % FORMATS]};
    struct export_events events = {.to = &x, .schemas = &schemas, .providers = &all, .processes = &all};
    events.from = INT64_MIN;
    events.until = INT64_MAX;
    struct first first = {&frames.stacks, &events};
    if (FAILED(stack_joiner_create(1, &frames.stacks.joiner)) || FAILED(code_places_create(&frames.stacks.places)) ||
        FAILED(folder_create(x.folder)) || FAILED(file_open("/dev/null", FILE_REPLACE, &x.out.file)))
        abort();
    read_all(data + 1, size - 1, record_first, &first);
    stack_joiner_finish(frames.stacks.joiner, &frames.stacks.counts);
    if (FAILED(code_places_finish(frames.stacks.places)) || FAILED(x.format->begin(&x)))
        abort();
    read_all(data + 1, size - 1, export_events_take, &events);
    if (FAILED(export_events_end(&events)) || FAILED(x.format->end(&x)) || FAILED(export_file_flush(&x.out)))
        abort();
    x.format->free(&x);
    export_file_close(&x.out);
    export_events_free(&events);
    export_threads_free(&x);
    export_stacks_free(&x);
    trace_frames_close(&frames);
    return 0;
}
