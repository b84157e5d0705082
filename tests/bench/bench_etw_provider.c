/* SPDX-License-Identifier: MIT */
/* bench_etw_provider [FILE [SECONDS]]: measures the cost of an event provider's call for its thread, in ns, as the
   median of bursts that fill an eighth of the buffers, which does not wake the session host. It measures an event that
   a session receives, events that no session enables, and the inline test in a generated header, whose callback sets
   the tested value. The floor is a plain copy of the same bytes, with a time stamp, to a ring of the same size that
   is never read. All calls go through the functions that programs call: under Wine those of openetw.dll. The session
   has a real session host, which writes FILE (on tmpfs: /dev/shm). Then one, two and four writers run at full speed for
   SECONDS (0: skipped), with 1 MB of buffers; the number of lost events and the cost of an event are printed. bench_etw
   measures without a session host. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "tests/bench/thread_time.h"

#ifdef _WIN32
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#else
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/provider/event_api.h"
#endif

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 64, BUFFER_KB = 64, EVENT = 144, ROUNDS = 201, BURST = BUFFERS / 8 * BUFFER_KB * 1024 / EVENT };
enum { DISABLED_BURST = 200000, WAIT_MS = 10000, PIECES = 8, FLAT_OUT_BUFFERS = 16, MOST_WRITERS = 4 };

static const GUID guid = {0x33333333, 1, 2, {3}}, other_guid = {0x33333333, 1, 2, {4}};
static const EVENT_DESCRIPTOR wanted = {.Id = 1, .Level = 4, .Keyword = 1},
                              unwanted = {.Id = 1, .Level = 5, .Keyword = 1};
static REGHANDLE provider, disabled;
static uint8_t payload[64];
static EVENT_DATA_DESCRIPTOR one[1], four[4], eight[PIECES];
static uint64_t refused;

static void must(ULONG status, const char *what)
{
    if (status == ERROR_SUCCESS)
        return;
    fprintf(stderr, "bench_etw_provider: %s: %lu\n", what, (unsigned long)status);
    exit(1);
}

/* As in generated headers. */
static struct {
    volatile uint32_t enabled;
} context;

static VOID WINAPI set_context(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                               EVENT_FILTER_DESCRIPTOR *filter, PVOID user)
{
    (void)source, (void)level, (void)any, (void)all, (void)filter, (void)user;
    context.enabled = enabled;
}

static void burst_of_events(void)
{
    for (int i = 0; i < BURST; i++)
        refused += EventWrite(provider, &wanted, 1, one) != ERROR_SUCCESS;
}
static void burst_of_fours(void)
{
    for (int i = 0; i < BURST; i++)
        refused += EventWrite(provider, &wanted, 4, four) != ERROR_SUCCESS;
}
static void burst_of_eights(void)
{
    for (int i = 0; i < BURST; i++)
        refused += EventWrite(provider, &wanted, PIECES, eight) != ERROR_SUCCESS;
}
static void burst_of_unwanted(void)
{
    for (int i = 0; i < DISABLED_BURST; i++)
        refused += EventWrite(provider, &unwanted, 1, one) != ERROR_SUCCESS;
}
static void burst_of_disabled(void)
{
    for (int i = 0; i < DISABLED_BURST; i++)
        refused += EventWrite(disabled, &wanted, 1, one) != ERROR_SUCCESS;
}
static void burst_of_questions(void)
{
    for (int i = 0; i < DISABLED_BURST; i++)
        refused += EventEnabled(disabled, &wanted) != 0;
}
static void burst_of_tests(void)
{
    for (int i = 0; i < DISABLED_BURST; i++)
        if (__builtin_expect(context.enabled != 0, 0))
            refused += EventWrite(disabled, &wanted, 1, one) != ERROR_SUCCESS;
}

static uint8_t ring[BUFFERS * BUFFER_KB * 1024];
static void burst_of_copies(void)
{
    static uint8_t event[EVENT] = {1};
    static size_t at;
    for (int i = 0; i < BURST; i++, at += EVENT) {
        const uint64_t stamp = processor_cycles();
        if (at > sizeof ring - EVENT)
            at = 0;
        memcpy(ring + at, event, EVENT);
        memcpy(ring + at + 16, &stamp, sizeof stamp);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void pause_ms(uint32_t ms)
{
    const uint64_t from = clock_monotonic_ms();
    while (clock_monotonic_ms() - from < ms)
        thread_yield();
}

static void measure(const char *what, void (*burst)(void), int events, uint32_t pause)
{
    double ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        const int64_t from = clock_ticks();
        burst();
        ns[r] = (double)(clock_ticks() - from) * 1e9 / (double)clock_frequency() / events;
        pause_ms(pause); /* the session host empties the buffers */
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    printf("%-44s %6.2f ns  (min %.2f, 90 %% below %.2f)\n", what, ns[ROUNDS / 2], ns[0], ns[ROUNDS * 9 / 10]);
}

static EVENT_DATA_DESCRIPTOR piece(uint32_t of, uint32_t i)
{
    return (EVENT_DATA_DESCRIPTOR){.Ptr = (uintptr_t)(payload + 64 / of * i), .Size = 64 / of};
}

static struct {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[64], file[512];
} block;

static void start(const char *file, ULONG buffers, TRACEHANDLE *session)
{
    memset(&block, 0, sizeof block);
    block.p.Wnode.BufferSize = sizeof block;
    block.p.Wnode.Flags = 0x20000;          /* WNODE_FLAG_TRACED_GUID */
    block.p.LogFileMode = file ? 0 : 0x400; /* EVENT_TRACE_BUFFERING_MODE */
    block.p.BufferSize = BUFFER_KB;
    block.p.MinimumBuffers = block.p.MaximumBuffers = buffers;
    block.p.LoggerNameOffset = (ULONG)((char *)block.name - (char *)&block);
    if (file)
        block.p.LogFileNameOffset = (ULONG)((char *)block.file - (char *)&block);
    for (size_t i = 0; file && file[i] && i < 511; i++)
        block.file[i] = (WCHAR)file[i];
    static WCHAR name[] = {'b', 'e', 'n', 'c', 'h', 0};
    must(StartTraceW(session, name, &block.p), "StartTrace");
    must(EnableTraceEx2(*session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, WAIT_MS, NULL), "EnableTraceEx2");
}

static void stop(TRACEHANDLE session)
{
    must(ControlTraceW(session, NULL, &block.p, EVENT_TRACE_CONTROL_STOP), "ControlTrace");
}

/* ---- writers at full speed ---- */

struct flat_out {
    uint64_t events, refused;
    double wall, processor; /* s */
    uint8_t padding[128];   /* two writers share no cache line */
};
static atomic_bool enough;

static void write_flat_out(void *user)
{
    struct flat_out *f = user;
    uint8_t own[64] = {1};
    EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)own, .Size = sizeof own};
    uint64_t events = 0, lost = 0;
    const double used = thread_time();
    const int64_t from = clock_ticks();
    while (!enough)
        for (int i = 0; i < 256; i++, events++)
            lost += EventWrite(provider, &wanted, 1, &data) != ERROR_SUCCESS;
    f->wall = (double)(clock_ticks() - from) / (double)clock_frequency();
    f->processor = thread_time() - used;
    f->events = events;
    f->refused = lost;
}

static void count_losses(const char *file, uint32_t writers, uint32_t seconds)
{
    static struct flat_out flat[MOST_WRITERS];
    struct thread *threads[MOST_WRITERS];
    struct flat_out all = {0};
    TRACEHANDLE session;
    start(file, FLAT_OUT_BUFFERS, &session);
    enough = false;
    for (uint32_t i = 0; i < writers; i++)
        must(FAILED(thread_start(write_flat_out, &flat[i], &threads[i])), "thread_start");
    thread_sleep(seconds * 1000);
    enough = true;
    for (uint32_t i = 0; i < writers; i++) {
        while (!thread_wait(threads[i], 1000))
            ;
        thread_close(threads[i]);
        all.events += flat[i].events;
        all.refused += flat[i].refused;
        all.wall += flat[i].wall;
        all.processor += flat[i].processor;
    }
    stop(session);
    printf("%u writers, %u s %13llu events, lost %llu (1 in %.0f), counted %llu; an event: wall %.1f ns, processor "
           "%.1f ns; %.0f MB/s, %lu buffers lost\n",
           (unsigned)writers, (unsigned)seconds, (unsigned long long)all.events, (unsigned long long)all.refused,
           all.refused ? (double)all.events / (double)all.refused : 0.0, (unsigned long long)block.p.EventsLost,
           all.wall * 1e9 / (double)all.events, all.processor * 1e9 / (double)all.events,
           (double)(all.events - all.refused) * EVENT * writers / all.wall / 1e6,
           (unsigned long)block.p.LogBuffersLost);
}

int main(int count, char **arguments)
{
    const char *file = count > 1 ? arguments[1] : NULL;
    const uint32_t seconds = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 0;
    TRACEHANDLE session;
    one[0] = piece(1, 0);
    for (uint32_t i = 0; i < 4; i++)
        four[i] = piece(4, i);
    for (uint32_t i = 0; i < PIECES; i++)
        eight[i] = piece(PIECES, i);
    must(EventRegister(&guid, NULL, NULL, &provider), "EventRegister");
    must(EventRegister(&other_guid, (PENABLECALLBACK)set_context, NULL, &disabled), "EventRegister");
    start(file, BUFFERS, &session);
    measure("inline test of a header's context", burst_of_tests, DISABLED_BURST, 0);
    measure("EventEnabled of a provider nobody enables", burst_of_questions, DISABLED_BURST, 0);
    measure("EventWrite of a provider nobody enables", burst_of_disabled, DISABLED_BURST, 0);
    measure("EventWrite above the session's level", burst_of_unwanted, DISABLED_BURST, 0);
    measure("floor: a stamp and a copy of the same bytes", burst_of_copies, BURST, 30);
    measure("EventWrite of 64 bytes, enabled", burst_of_events, BURST, 30);
    measure("  in 4 pieces", burst_of_fours, BURST, 30);
    measure("  in 8 pieces", burst_of_eights, BURST, 30);
    printf("%-44s %6llu\n", "refused", (unsigned long long)refused);
    stop(session);
    for (uint32_t writers = 1; seconds && writers <= MOST_WRITERS; writers *= 2)
        count_losses(file, writers, seconds);
    must(EventUnregister(provider), "EventUnregister");
    must(EventUnregister(disabled), "EventUnregister");
    return 0;
}
