/* SPDX-License-Identifier: MIT */
/* bench_consumer FILE [MB]: measures the time that ProcessTrace needs for each event of a log file of MB (1024)
   megabytes. The events have 64 bytes of payload, in buffers of 64 KB from four processors. FILE (on tmpfs: /dev/shm)
   is created if it does not exist. The same run measures the floor, which is the time to read the file's bytes and one
   word of each event, and the memory that the process needed. Both times are processor times. Then it measures the wall
   time of the same events in real time: a thread of this process writes such buffers into a consumer's ring as fast as
   there is space. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 65536, HEADER = 0x50, EVENT = HEADER + 64, PROCESSORS = 4 };
#define MB UINT64_C(1048576)

static const struct etl_log log_header = {.buffer_size = BUFFER,
                                          .version_major = 10,
                                          .processors = PROCESSORS,
                                          .mode = ETL_MODE_SEQUENTIAL,
                                          .frequency = 10000000,
                                          .start_utc = INT64_C(132590000000000000),
                                          .clock = ETL_CLOCK_TICKS,
                                          .cpu_mhz = 1000};

/* The buffer of number n, from 1. */
static struct etl_buffer_header fill(uint8_t *buffer, uint64_t n)
{
    struct etl_buffer_header head = {.sequence = n,
                                     .processor = (uint16_t)(n % PROCESSORS),
                                     .used = ETL_BUFFER_HEAD,
                                     .flags = ETL_FLAG_PROCESSOR_INDEX};
    for (uint64_t i = 0; head.used + EVENT <= BUFFER; i++, head.used += EVENT) {
        uint8_t *at = buffer + head.used;
        memset(at, 0, EVENT);
        put_u16(at, EVENT);
        put_u16(at + 2, 0xC013);
        put_u64(at + 0x10, (n / PROCESSORS * 500 + i) * PROCESSORS + n % PROCESSORS);
        head.time = (int64_t)get_u64(at + 0x10);
    }
    return head;
}

static void make(const char *path, uint64_t bytes)
{
    static uint8_t buffer[BUFFER];
    struct etl_file *file;
    must(etl_file_create(path, false, &log_header, &file), "bench_consumer");
    for (uint64_t n = 1; n * BUFFER < bytes; n++) {
        const struct etl_buffer_header head = fill(buffer, n);
        must(etl_file_add_buffer(file, log_header.start_utc + head.time, &head, buffer), "bench_consumer");
    }
    must(etl_file_close(file), "bench_consumer");
}

static uint64_t events, bytes, buffers, sum;

static void WINAPI count_event(EVENT_RECORD *e)
{
    events++;
    bytes += e->UserDataLength;
}

static ULONG WINAPI count_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    buffers = logfile->BuffersRead;
    return 1;
}

static double seconds(uint64_t ticks)
{
    return (double)ticks / (double)clock_frequency();
}

/* Returns the processor seconds for reading the whole file. */
static double plain_read(const char *path)
{
    static uint8_t buffer[BUFFER];
    struct file *file;
    size_t got = BUFFER;
    uint64_t at = 0;
    must(file_open(path, FILE_READ, &file), "bench_consumer");
    const double from = processor_seconds();
    while (got == BUFFER) {
        must(file_read_at(file, at, buffer, BUFFER, &got), "bench_consumer");
        for (size_t i = ETL_BUFFER_HEAD; i + 8 <= got; i += EVENT)
            sum += buffer[i];
        at += got;
    }
    const double passed = processor_seconds() - from;
    file_close(file);
    return passed;
}

static double process(const char *path)
{
    EVENT_TRACE_LOGFILEW logfile = {.BufferCallback = count_buffer};
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    logfile.EventRecordCallback = count_event;
    must(text_to_utf16(path, (WCHAR **)&logfile.LogFileName, NULL), "bench_consumer");
    const double from = processor_seconds();
    TRACEHANDLE handle = OpenTraceW(&logfile);
    if (handle == INVALID_PROCESSTRACE_HANDLE)
        must(E_FAIL, "bench_consumer");
    events = bytes = 0;
    const ULONG status = ProcessTrace(&handle, 1, NULL, NULL);
    const double passed = processor_seconds() - from;
    if (status != ERROR_SUCCESS || CloseTrace(handle) != ERROR_SUCCESS)
        must(E_FAIL, "bench_consumer");
    memory_free(logfile.LogFileName);
    return passed;
}

/* ---- real time ---- */

enum { REALTIME_BUFFERS = 20000 };
static struct realtime_ring host;
static struct wakeup *news;

static HRESULT wait_for_host(void *context, uint32_t timeout)
{
    (void)context;
    return wakeup_wait(news, timeout) ? S_OK : S_FALSE;
}

static void wake_consumer(void *context)
{
    (void)context;
    wakeup_set(news);
}

static void disconnect_from_host(void *context)
{
    (void)context;
}

static HRESULT connect_to_host(void *context, const char *session, struct realtime_connection *out)
{
    const size_t size = realtime_ring_size(BUFFER);
    void *memory = memory_zero(1, size);
    (void)context, (void)session;
    must(memory ? wakeup_create(&news) : E_OUTOFMEMORY, "bench_consumer");
    *out = (struct realtime_connection){.wait = wait_for_host, .wake = wake_consumer, .close = disconnect_from_host};
    realtime_ring_create(memory, BUFFER, &out->ring);
    must(realtime_ring_map(memory, size, BUFFER, &host), "bench_consumer");
    must(realtime_ring_begin(&host, &log_header), "bench_consumer");
    return S_OK;
}

/* Marks the complete part after each round of the processors, as a session host process does after each pass. */
static void run_host(void *user)
{
    static uint8_t buffer[PROCESSORS][BUFFER];
    struct etl_buffer_header head[PROCESSORS];
    bool wake;
    (void)user;
    for (unsigned p = 0; p < PROCESSORS; p++)
        head[p] = fill(buffer[p], PROCESSORS + p);
    for (uint64_t n = 0; n < REALTIME_BUFFERS; n++) {
        const unsigned p = n % PROCESSORS;
        while (realtime_ring_is_full(&host))
            thread_yield();
        head[p].sequence = n + 1;
        must(realtime_ring_put(&host, &head[p], buffer[p], &wake), "bench_consumer");
        if (wake)
            wakeup_set(news);
        if (p == PROCESSORS - 1) {
            realtime_ring_mark(&host, head[p].time, &wake);
            if (wake)
                wakeup_set(news);
        }
    }
    realtime_ring_end(&host, &wake);
    if (wake)
        wakeup_set(news);
}

static void in_real_time(void)
{
    static const struct realtime_source source = {connect_to_host, NULL};
    static const WCHAR name[] = u"bench";
    EVENT_TRACE_LOGFILEW logfile = {.LoggerName = (WCHAR *)(uintptr_t)name};
    struct thread *thread;
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME;
    logfile.EventRecordCallback = count_event;
    consumer_set_realtime(&source);
    TRACEHANDLE handle = OpenTraceW(&logfile);
    if (handle == INVALID_PROCESSTRACE_HANDLE)
        must(E_FAIL, "bench_consumer");
    events = 0;
    const int64_t from = clock_ticks();
    must(thread_start(run_host, NULL, &thread), "bench_consumer");
    if (ProcessTrace(&handle, 1, NULL, NULL) != ERROR_SUCCESS || CloseTrace(handle) != ERROR_SUCCESS)
        must(E_FAIL, "bench_consumer");
    const double passed = seconds((uint64_t)(clock_ticks() - from));
    printf("real time:    %llu events, %.1f ns an event, %.2f million events/s\n", (unsigned long long)events,
           passed / (double)events * 1e9, (double)events / passed / 1e6);
}

/* The process's peak memory in KB, if the kernel reports it. */
static unsigned long most_memory(void)
{
    char line[128];
    unsigned long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lu", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb;
}

int main(int argc, char **argv)
{
    uint64_t size = argc > 2 ? strtoull(argv[2], NULL, 10) * MB : 1024 * MB;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_consumer FILE [MB]\n");
        return 2;
    }
    struct file *file;
    if (FAILED(file_open(argv[1], FILE_READ, &file)))
        make(argv[1], size);
    else
        file_close(file);
    const unsigned long before = most_memory();
    double best_floor = 1e9, best = 1e9;
    for (int round = 0; round < 3; round++) {
        const double floor = plain_read(argv[1]), own = process(argv[1]);
        best_floor = floor < best_floor ? floor : best_floor;
        best = own < best ? own : best;
    }
    printf("%llu events, %llu bytes of payload, %llu buffers\n", (unsigned long long)events, (unsigned long long)bytes,
           (unsigned long long)buffers);
    printf("ProcessTrace: %.3f s, %.1f ns an event, %.2f million events/s\n", best, best / (double)events * 1e9,
           (double)events / best / 1e6);
    printf("plain read:   %.3f s; ProcessTrace takes %.2f of it\n", best_floor, best / best_floor);
    printf("memory:       %lu KB at most, %lu KB of it since the file was read first\n", most_memory(),
           most_memory() - before);
    in_real_time();
    return sum == 1; /* so that the reading is not optimised away */
}
