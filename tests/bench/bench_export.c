/* SPDX-License-Identifier: MIT */
/* bench_export FOLDER [MEGABYTES [FORMAT ...]]: exports a kernel trace in the formats of other tools. Writes a trace of
   MEGABYTES (1000) of switches, ready threads, samples and disk requests of 200 threads with cached stacks (20,000 in
   programs, 64 in the kernel), and exports it in each format in a separate process. Prints events per second of
   processor time, and the process's peak memory. An export reads the trace twice; the time includes both. One thread.
 */
#include "cli/trace/trace.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/session/session_output.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20, THREADS = 200, STACKS = 20000, CALLS = 64, DEPTH = 24, LIVE = 2000, HEAD = 16, STEP = 40 };
#define KERNEL UINT64_C(0xFFFFF80000000000)
#define USER   UINT64_C(0x140000000)

struct maker {
    struct etl_file *file;
    int64_t stamp, utc;
    uint64_t events, bytes;
    uint32_t random, running;
};

static uint32_t next(struct maker *m)
{
    return m->random = m->random * 1664525u + 1013904223u;
}

/* Adds an event whose header has only a time. */
static void put(struct maker *m, uint16_t hook, int64_t stamp, const uint8_t *data, uint32_t size)
{
    struct etl_event e = {.head_size = HEAD, .data = data, .data_size = size};
    put_u16(e.head, 2);
    e.head[2] = 0x11;
    e.head[3] = ETL_MARKS;
    put_u16(e.head + 4, (uint16_t)(HEAD + size));
    put_u16(e.head + 6, hook);
    put_u64(e.head + 8, (uint64_t)stamp);
    must(etl_file_add(m->file, m->utc, &e, 1), "add");
    m->events++;
    m->bytes += (HEAD + size + 7) & ~7u;
}

static void put_image(struct maker *m, uint64_t base, uint32_t process, const char *path)
{
    uint8_t data[256] = {0};
    size_t at = 56;
    put_u64(data, base);
    put_u64(data + 8, 0x1000000);
    put_u32(data + 16, process);
    for (const char *c = path; *c; c++, at += 2)
        data[at] = (uint8_t)*c;
    struct etl_event e = {.head_size = HEAD, .data = data, .data_size = (uint32_t)at + 2};
    put_u16(e.head, 3);
    e.head[2] = 0x11;
    e.head[3] = ETL_MARKS;
    put_u16(e.head + 4, (uint16_t)(HEAD + at + 2));
    put_u16(e.head + 6, 0x1403);
    put_u64(e.head + 8, (uint64_t)m->stamp);
    must(etl_file_add(m->file, m->utc, &e, 1), "add");
}

static void put_keys(struct maker *m, int64_t of, uint32_t thread)
{
    uint8_t data[24];
    const uint32_t kind = next(m) >> 8;
    put_u64(data, (uint64_t)of);
    put_u32(data + 8, 100 + thread % 10);
    put_u32(data + 12, 1000 + thread);
    put_u64(data + 16, KERNEL + 8 * (uint64_t)(thread % 4 + 4 * (kind % (CALLS / 4))));
    put(m, 0x1825, of + 1, data, sizeof data);
    put_u64(data + 16, USER + 8 * (uint64_t)(thread + THREADS * (kind % (LIVE / THREADS))));
    put(m, 0x1826, of + 2, data, sizeof data);
}

/* Adds a definition of a live key. The kernel's keys always denote the same stack; the keys of programs change. */
static void put_definition(struct maker *m, bool kernel)
{
    uint8_t data[8 * (1 + DEPTH)];
    const uint32_t key = (next(m) >> 8) % (kernel ? CALLS : LIVE);
    uint32_t kind = kernel ? key : key + LIVE * ((next(m) >> 8) % (STACKS / LIVE));
    put_u64(data, (kernel ? KERNEL : USER) + 8 * (uint64_t)key);
    for (int i = 0; i < DEPTH; i++, kind /= 2)
        put_u64(data + 8 + 8 * i, (kernel ? KERNEL : USER) + 0x1000 + 64 * (uint64_t)kind + 0x10000 * (uint64_t)i);
    put(m, 0x1823, m->stamp + 3, data, sizeof data);
}

static void put_moment(struct maker *m)
{
    uint8_t data[64] = {0};
    const uint32_t from = m->running, to = m->running = (next(m) >> 8) % THREADS;
    m->stamp += STEP;
    m->utc += STEP;
    put_u32(data, 1000 + to);
    put(m, 0x0532, m->stamp, data, 8);
    put_u32(data + 4, 1000 + from);
    data[12] = 6;
    data[14] = 5;
    put(m, 0x0524, m->stamp + 4, data, 24);
    put_keys(m, m->stamp + 4, to);
    put_u64(data, USER + 0x1000 + (next(m) >> 8) % 4096 * 16);
    put_u32(data + 8, 1000 + to);
    put(m, 0x0F2E, m->stamp + 12, data, 16);
    put_keys(m, m->stamp + 12, to);
    put_definition(m, next(m) >> 31);
    if (next(m) >> 28 == 0) {
        memset(data, 0, sizeof data);
        put_u32(data + 8, 4096);
        put_u32(data + 48, 1000 + to);
        put(m, 0x010A, m->stamp + 20, data, 52);
    }
}

static uint64_t make(const char *path, uint64_t bytes)
{
    struct etl_log log;
    struct maker m = {.random = 1};
    must(session_log_of_host(ETL_CLOCK_SYSTEM, &log), "log");
    log.buffer_size = 1 << 16;
    must(etl_file_create(path, true, &log, &m.file), "create");
    m.stamp = m.utc = log.start_utc;
    put_image(&m, KERNEL, 0, "\\SystemRoot\\system32\\ntoskrnl.exe");
    for (uint32_t i = 0; i < 10; i++)
        put_image(&m, USER, 100 + i, "\\Device\\HarddiskVolume1\\app.exe");
    while (m.bytes < bytes)
        put_moment(&m);
    must(etl_file_close(m.file), "close");
    etl_log_free(&log);
    return m.events;
}

static void export(const char *trace, const char *folder, const char *format, uint64_t events)
{
    char *to = path_join(folder, strcmp(format, "ctf") == 0 ? "bench_export.ctf" : "bench_export.out");
    fflush(stdout);
    const pid_t child = to ? fork() : -1;
    if (child == 0) {
        char name[1024], of[16], f[] = "-f", o[] = "-o", y[] = "-y";
        (void)snprintf(of, sizeof of, "%s", format);
        (void)snprintf(name, sizeof name, "%s", trace);
        char *line[] = {name, f, of, o, to, y};
        const double begin = processor_seconds();
        if (trace_export(sizeof line / sizeof *line, line) != 0)
            _exit(1);
        const double seconds = processor_seconds() - begin;
        printf("%-10s %.0f events a second, %.1f s for %llu, peak %.0f MB\n", format, (double)events / seconds, seconds,
               (unsigned long long)events, peak_megabytes());
        fflush(stdout);
        _exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "bench_export: %s failed\n", format);
        exit(1);
    }
    memory_free(to);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"folded", "pprof", "speedscope", "firefox", "chrome", "ctf"};
    uint64_t megabytes = 1000;
    if (argc < 2 || (argc > 2 && !text_to_u64(argv[2], &megabytes))) {
        fprintf(stderr, "bench_export FOLDER [MEGABYTES [FORMAT ...]]\n");
        return 2;
    }
    char *trace = path_join(argv[1], "bench_export.etl");
    if (!trace)
        return 1;
    const uint64_t events = make(trace, megabytes * MEGABYTE);
    for (int i = 3; i < argc; i++)
        export(trace, argv[1], argv[i], events);
    for (size_t i = 0; argc <= 3 && i < sizeof all / sizeof *all; i++)
        export(trace, argv[1], all[i], events);
    (void)file_delete(trace);
    memory_free(trace);
    return 0;
}
