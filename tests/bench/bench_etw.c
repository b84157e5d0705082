/* SPDX-License-Identifier: MIT */
/* bench_etw [FILE [SECONDS]]: measures the cost of an event for its writer, in ns, as the median of bursts that fill
   half of the buffers. The floor is the cost of the machine instructions that every writer needs. Also measures the
   cost for the session host, and how many events are lost when one, two and four writers run at full speed for SECONDS
   (3) with 1 MB of buffers. One session host only empties the buffers; another writes FILE (on tmpfs: /dev/shm).
   peers_etw.py compares the results with LTTng-UST. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/logs/etl_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { BUFFER = 65536, HEADER = 80, PAYLOAD = 64, EVENT = HEADER + PAYLOAD, ROUNDS = 101, MOST_WRITERS = 4 };
enum { BURST = 8 * (BUFFER - ETL_BUFFER_HEAD) / EVENT };
#define FIRST (EVENT | UINT64_C(0xC013) << 16)

static void must(HRESULT hr)
{
    if (hr == S_OK)
        return;
    fprintf(stderr, "bench_etw: %s\n", error_text(hr));
    exit(1);
}

static bool all_owners_live(void *context, uint32_t owner, uint32_t thread)
{
    (void)context, (void)owner, (void)thread;
    return true;
}

static HRESULT drop(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    (void)context, (void)head, (void)bytes;
    return S_OK;
}
static const struct session_sink nowhere = {drop, NULL, NULL};

static struct session_buffers session;
static struct session_drain *host;

static void make_session(uint32_t buffers)
{
    const struct session_shape shape = {.buffers = buffers,
                                        .minimum = buffers,
                                        .buffer_size = BUFFER,
                                        .processors = processor_count(),
                                        .wake_at = buffers / 4,
                                        .source = session_source_for(ETL_CLOCK_TICKS)};
    const struct session_drain_options options = {
        .liveness = {all_owners_live, NULL}, .clock = ETL_CLOCK_TICKS, .first_number = 1};
    static uint8_t *memory;
    size_t size;
    must(session_buffers_size(&shape, &size));
    memory_free(memory);
    session_drain_free(host);
    memory = memory_zero(1, size + SESSION_DATA_UNIT);
    must(memory ? S_OK : E_OUTOFMEMORY);
    uint8_t *aligned = memory + (SESSION_DATA_UNIT - (uintptr_t)memory % SESSION_DATA_UNIT);
    must(session_buffers_create(aligned, size, &shape, &session));
    must(session_drain_create(&session, &options, &host));
}

static inline void copy_8(uint8_t *to, const uint8_t *from, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        memcpy(to + i, &word, 8);
    }
}

static const GUID provider = {1, 2, 3, {4}};
static const uint8_t descriptor[16] = {7}, activity[16];

/* Writes an event as EventWrite does after its checks. */
static inline bool write_event(struct session_writer *w, const uint8_t *payload)
{
    uint64_t stamp;
    uint8_t *at = session_reserve(&session, w, EVENT, &stamp);
    if (__builtin_expect(!at, 0))
        return false;
    const uint64_t ids = w->thread | UINT64_C(4711) << 32;
    memcpy(at + 8, &ids, 8);
    memcpy(at + 16, &stamp, 8);
    memcpy(at + 24, &provider, 16);
    memcpy(at + 40, descriptor, 16);
    memset(at + 56, 0, 8);
    memcpy(at + 64, activity, 16);
    copy_8(at + HEADER, payload, PAYLOAD);
    session_commit(at, FIRST);
    return true;
}

static struct session_writer writer = {.owner = 1, .thread = 99};
static uint8_t payload[PAYLOAD];

static void burst_of_events(void)
{
    for (int i = 0; i < BURST; i++)
        (void)write_event(&writer, payload);
}

static void burst_of_places(void)
{
    for (int i = 0; i < BURST; i++) {
        uint64_t stamp;
        uint8_t *at = session_reserve(&session, &writer, EVENT, &stamp);
        if (at)
            session_commit(at, FIRST);
    }
}

static _Atomic uint64_t floor_word;
static void burst_of_floor(void)
{
    for (int i = 0; i < BURST; i++) {
        uint64_t old = session_load(&floor_word);
        (void)session_swap(&floor_word, &old, old + processor_cycles());
    }
}

/* Writes the burst with EventWrite itself. The registration is enabled by the session. */
static REGHANDLE provider_handle;
static void burst_of_calls(void)
{
    const EVENT_DESCRIPTOR event = {.Id = 7, .Level = 4, .Keyword = 1};
    EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)payload, .Size = PAYLOAD};
    for (int i = 0; i < BURST; i++)
        (void)EventWrite(provider_handle, &event, 1, &data);
}

static struct provider_session provider_session = {.logger = 1, .generation = 1, .references = 1};
static struct provider_session *only_session(void *context, uint32_t logger, uint32_t generation)
{
    (void)context, (void)logger, (void)generation;
    return &provider_session;
}

static void enable_provider(void)
{
    const struct provider_options options = {.guid = provider};
    const struct directory_enable e = {.provider = provider, .logger = 1, .generation = 1, .serial = 1};
    const struct provider_source source = {only_session, NULL, NULL, {{1, 0}, NULL}};
    provider_session.buffers = session;
    provider_session.most_event = etl_buffer_max_event(BUFFER);
    provider_threads_own_slot(1);
    if (provider_begin(&options, &provider_handle) != ERROR_SUCCESS)
        must(E_OUTOFMEMORY);
    (void)provider_begun(provider_handle);
    must(provider_apply(0, &e, 1, &source));
}

static volatile uint32_t enabled;
static void burst_of_tests(void)
{
    for (int i = 0; i < BURST; i++)
        if (__builtin_expect(enabled != 0, 0))
            (void)write_event(&writer, payload);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double seconds_since(int64_t ticks)
{
    return (double)(clock_ticks() - ticks) / (double)clock_frequency();
}

/* Prints the median; `empty` removes the written events in between. */
static void measure(const char *what, void (*burst)(void), bool empties)
{
    double ns[ROUNDS], host_ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        HRESULT hr;
        int64_t from = clock_ticks();
        burst();
        ns[r] = seconds_since(from) * 1e9 / BURST;
        session_drain_flush(host);
        from = clock_ticks();
        while (session_drain_pass(host, &nowhere, &hr) != 0)
            ;
        host_ns[r] = seconds_since(from) * 1e9 / BURST;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    qsort(host_ns, ROUNDS, sizeof *host_ns, by_value);
    printf("%-44s %6.1f ns  (min %.1f)\n", what, ns[ROUNDS / 2], ns[0]);
    if (empties)
        printf("%-44s %6.1f ns  (min %.1f)\n", "  the host: check, convert, copy, empty", host_ns[ROUNDS / 2],
               host_ns[0]);
}

/* ---- writers at full speed ---- */

struct flat_out {
    struct session_writer w;
    uint64_t events, refused;
    double seconds;
    atomic_bool ended;
    uint8_t padding[128]; /* two writers share no cache line */
};
static atomic_bool stop;

static void write_flat_out(void *user)
{
    struct flat_out *f = user;
    uint8_t own[PAYLOAD] = {1};
    uint64_t events = 0, refused = 0;
    struct session_writer w = f->w;
    const int64_t from = clock_ticks();
    while (!stop)
        for (int i = 0; i < 256; i++, events++)
            refused += !write_event(&w, own);
    f->seconds = seconds_since(from);
    f->events = events;
    f->refused = refused;
    f->ended = true;
}

static void count_losses(uint32_t writers, double seconds, const char *path)
{
    static struct flat_out flat[MOST_WRITERS];
    struct thread *threads[MOST_WRITERS];
    struct session_file *file = NULL;
    struct session_statistics statistics;
    struct session_file_options options = {.path = path, .mode = 1};
    HRESULT hr;
    make_session(16);
    if (path) {
        must(session_log_of_host(ETL_CLOCK_TICKS, &options.log));
        options.log.buffer_size = BUFFER;
        must(session_file_create(&options, &file));
    }
    const struct session_sink sink = {path ? session_file_write : drop, NULL, file};
    stop = false;
    for (uint32_t i = 0; i < writers; i++) {
        flat[i] = (struct flat_out){.w = {.owner = i + 1}};
        must(thread_start(write_flat_out, &flat[i], &threads[i]));
    }
    const int64_t from = clock_ticks();
    while (seconds_since(from) < seconds)
        if (session_drain_pass(host, &sink, &hr) == 0)
            thread_yield();
    stop = true;
    uint64_t events = 0, refused = 0;
    double ns = 0;
    for (uint32_t i = 0; i < writers; i++) {
        while (!thread_wait(threads[i], 0))
            (void)session_drain_pass(host, &sink, &hr);
        thread_close(threads[i]);
        events += flat[i].events;
        refused += flat[i].refused;
        ns += flat[i].seconds * 1e9;
    }
    must(session_drain_stop(host, &sink, 1000));
    session_statistics_read(&session, &statistics);
    printf("%u writers, %-10s %12" PRIu64 " events, lost %" PRIu64 " (1 in %.0f), counted %" PRIu64
           ", wall %.1f ns an event each, %.0f MB/s\n",
           (unsigned)writers, path ? "to a file" : "emptied", events, refused,
           refused ? (double)events / (double)refused : 0.0, statistics.events_lost, ns / (double)events,
           (double)(events - refused) * EVENT / seconds / 1e6);
    if (refused != statistics.events_lost || statistics.events != events - refused)
        must(error_set(E_UNEXPECTED, "%llu events came, %llu were accepted", (unsigned long long)statistics.events,
                       (unsigned long long)(events - refused)));
    must(session_file_close(file, clock_utc()));
    if (path)
        must(file_delete(path));
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : NULL;
    const double seconds = count > 2 ? strtod(arguments[2], NULL) : 3;
    make_session(16);
    measure("floor: stamp and exchange of one word", burst_of_floor, false);
    measure("test of what is disabled, inline", burst_of_tests, false);
    measure("reserve and commit", burst_of_places, false);
    measure("whole event of 64 bytes", burst_of_events, true);
    enable_provider();
    measure("EventWrite of 64 bytes", burst_of_calls, false);
    for (uint32_t writers = 1; writers <= MOST_WRITERS; writers *= 2)
        count_losses(writers, seconds, NULL);
    for (uint32_t writers = 1; path && writers <= MOST_WRITERS; writers *= 2)
        count_losses(writers, seconds, path);
    return 0;
}
