/* SPDX-License-Identifier: MIT */
/* Measures the cost of samples of counters.
     bench_pdh ratio [hz]                   a sample of 10,000 counters of all objects, including processes of the
                                            host OS, as a ratio to a plain loop that keeps the same files open,
                                            reads them and parses every number; with "hz" one sample per second
     bench_pdh ratio [hz] new               the same, but the objects include those of devices, groups and servers
     bench_pdh each                         the cost of each object in a sample, with all instances (microseconds)
     bench_pdh hold SECONDS COUNTERS PATH.. collects up to COUNTERS counters of the expanded paths once a second, for
                                            peers.py to read; with 0 counters it only sleeps */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/core/pdh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#include <unistd.h>
#endif

#define COUNTERS 10000
#define ROUNDS   15
#define TIMES    8
#define SECONDS  30

static volatile uint64_t sink;

/* The plain loop: keeps handles open and parses every number of the text. */
static void parse(const char *text, size_t size)
{
    uint64_t v = 0, sum = 0;
    bool in = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            v = v * 10 + (uint64_t)(text[i] - '0');
            in = true;
        } else if (in) {
            sum += v;
            v = 0;
            in = false;
        }
    }
    sink = sink + sum;
}

static struct kernel_file *files[4000];
static bool pieces[4000]; /* as in source.h */
static size_t file_count;

static void keep_open(const char *path, bool piece)
{
    if (file_count < sizeof files / sizeof *files && SUCCEEDED(kernel_file_open(path, &files[file_count]))) {
        pieces[file_count] = piece;
        file_count++;
    }
}

static void keep_all_open(void)
{
    static const char *const paths[] = {"stat",    "meminfo",    "softirqs",  "net/snmp",       "net/snmp6",
                                        "vmstat",  "interrupts", "diskstats", "self/mountinfo", "swaps",
                                        "net/dev", "net/tcp",    "net/tcp6"};
    static const char *const of_process[] = {"stat", "status", "io"};
    char path[64];
    uint32_t *ids;
    size_t count;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(path, sizeof path, "/proc/%s", paths[i]);
        keep_open(path, i < 5);
    }
    if (FAILED(kernel_folder_numbers("/proc", &ids, &count)))
        return;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof of_process / sizeof *of_process; k++) {
            snprintf(path, sizeof path, "/proc/%u/%s", (unsigned)ids[i], of_process[k]);
            keep_open(path, true);
        }
    }
    memory_free(ids);
}

static void plain_sample(void)
{
    for (size_t i = 0; i < file_count; i++) {
        const char *text;
        size_t size;
        HRESULT hr =
            pieces[i] ? kernel_file_read_piece(files[i], &text, &size) : kernel_file_read(files[i], &text, &size);
        if (SUCCEEDED(hr))
            parse(text, size);
    }
    uint32_t *ids;
    size_t count;
    if (SUCCEEDED(kernel_folder_numbers("/proc", &ids, &count)))
        memory_free(ids);
}

static PDH_HQUERY query;
static PDH_HCOUNTER counters[COUNTERS];
static size_t count;

static void pdh_sample(void)
{
    PDH_RAW_COUNTER raw;
    PdhCollectQueryData(query);
    for (size_t i = 0; i < count; i++) {
        PdhGetRawCounterValue(counters[i], NULL, &raw);
        sink = sink + (uint64_t)raw.FirstValue;
    }
}

/* Adds the expansion of the path, up to `most` in total. */
static void add_all(const char *path, size_t most)
{
    static WCHAR list[1 << 21];
    DWORD units = sizeof list / sizeof *list;
    WCHAR *wide;
    if (FAILED(text_to_utf16(path, &wide, NULL)))
        return;
    if (PdhExpandWildCardPathW(NULL, wide, list, &units, 0) == ERROR_SUCCESS) {
        for (const WCHAR *p = list; *p && count < most;) {
            count += PdhAddEnglishCounterW(query, p, 0, &counters[count]) == ERROR_SUCCESS;
            while (*p++) {
            }
        }
    }
    memory_free(wide);
}

/* Processor time in us; under Wine with a resolution of 10 ms. */
static double now(void)
{
#ifdef _WIN32
    FILETIME start, end, kernel, user;
    GetProcessTimes(GetCurrentProcess(), &start, &end, &kernel, &user);
    return ((double)kernel.dwLowDateTime + user.dwLowDateTime) / 10 +
           ((double)kernel.dwHighDateTime + user.dwHighDateTime) * 429496729.6;
#else
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
#endif
}

static void pause_ms(unsigned ms)
{
#ifdef _WIN32
    Sleep(ms);
#else
    usleep(ms * 1000);
#endif
}

static double time_of(void (*sample)(void), int times)
{
    double start = now();
    for (int i = 0; i < times; i++)
        sample();
    return (now() - start) / times;
}

/* Prints means per sample in us. The two alternate, so that other load and cold caches affect both. */
static int ratio(bool hz, bool with_new)
{
    double ours = 0, peer = 0;
    int n = hz ? SECONDS : ROUNDS, times = hz ? 1 : TIMES;
    static const char *const paths[] = {"\\Processor(*)\\*",
                                        "\\Memory\\*",
                                        "\\System\\*",
                                        "\\PhysicalDisk(*)\\*",
                                        "\\Paging File(*)\\*",
                                        "\\Cache\\*",
                                        "\\TCPv4\\*",
                                        "\\TCPv6\\*",
                                        "\\UDPv4\\*",
                                        "\\UDPv6\\*",
                                        "\\IPv4\\*",
                                        "\\IPv6\\*",
                                        "\\ICMP\\*",
                                        "\\Network Interface(*)\\Packets*",
                                        "\\Process(*)\\% *",
                                        "\\Process(*)\\IO*",
                                        "\\Process(*)\\*Bytes*",
                                        "\\Process(*)\\W*",
                                        "\\Process(*)\\*ID*",
                                        "\\Process(*)\\Page Faults/sec",
                                        "\\Process(*)\\T*"};
    static const char *const new_paths[] = {"\\GPU Engine(*)\\*",
                                            "\\GPU Process Memory(*)\\*",
                                            "\\GPU Adapter Memory(*)\\*",
                                            "\\SMB Client Shares(*)\\*",
                                            "\\Redirector\\*",
                                            "\\Wine Server\\*",
                                            "\\Pressure(*)\\*",
                                            "\\Control Group(*)\\*",
                                            "\\NUMA Node Memory(*)\\*",
                                            "\\Thermal Zone Information(*)\\*",
                                            "\\Processor Performance(*)\\*",
                                            "\\Per Processor Network Interface Card Activity(*)\\*",
                                            "\\Server\\*",
                                            "\\SMB Server Shares(*)\\*",
                                            "\\SMB Server Sessions(*)\\*"};
    for (size_t i = 0; with_new && i < sizeof new_paths / sizeof *new_paths; i++)
        add_all(new_paths[i], COUNTERS);
    while (count < COUNTERS) {
        size_t before = count;
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
            add_all(paths[i], COUNTERS);
        if (count == before) {
            fprintf(stderr, "no counters\n");
            return 1;
        }
    }
    keep_all_open();
    for (int i = 0; i < n; i++) {
        ours += time_of(pdh_sample, times) / n;
        pause_ms(hz ? 500 : 0);
        peer += time_of(plain_sample, times) / n;
        pause_ms(hz ? 500 : 0);
    }
    printf("%u counters%s%s: %.0f us per sample; plain loop over %u files: %.0f us; ratio %.2f\n", (unsigned)count,
           with_new ? ", new objects among them" : "", hz ? " at 1 Hz" : "", ours, (unsigned)file_count, peer,
           ours / peer);
    return 0;
}

/* Measures each object with a separate query, as a query samples only its own objects. */
static int each(void)
{
    static WCHAR objects[1 << 14];
    DWORD units = sizeof objects / sizeof *objects;
    if (PdhEnumObjectsW(NULL, NULL, objects, &units, PERF_DETAIL_WIZARD, 1) != ERROR_SUCCESS)
        return 1;
    printf("%-28s %9s %10s\n", "object", "counters", "us");
    for (const WCHAR *object = objects, *end; *object; object = end + 1) {
        char *name = NULL;
        for (end = object; *end; end++) {
        }
        PdhCloseQuery(query);
        count = 0;
        if (FAILED(text_from_utf16(object, (size_t)(end - object), true, &name)) ||
            PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS)
            return 1;
        for (int instances = 1; instances >= 0 && !count; instances--) {
            char *path = text_format("\\%s%s\\*", name, instances ? "(*)" : "");
            if (path)
                add_all(path, COUNTERS);
            memory_free(path);
        }
        pdh_sample(); /* allocates the memory that is kept between samples */
        /* The clock's resolution is 10 ms under Wine. */
        double spent = 0;
        unsigned samples = 0;
        uint64_t end_ms = clock_monotonic_ms() + 1000;
        while (count && spent < 200000 && (samples < 20 || clock_monotonic_ms() < end_ms)) {
            spent += time_of(pdh_sample, 20) * 20;
            samples += 20;
        }
        if (count)
            printf("%-28s %9u %10.1f\n", name, (unsigned)count, spent / samples);
        memory_free(name);
    }
    return 0;
}

static int collect_for(unsigned seconds, unsigned most, char **paths, int path_count)
{
    for (int i = 0; i < path_count; i++)
        add_all(paths[i], most < COUNTERS ? most : COUNTERS);
    for (size_t before = 0; count < most && count > before && most <= COUNTERS;) {
        before = count;
        for (int i = 0; i < path_count; i++)
            add_all(paths[i], most);
    }
    printf("counters %u\n", (unsigned)count);
    fflush(stdout);
    for (unsigned i = 0; i < seconds; i++) {
        if (count > 0)
            pdh_sample();
        pause_ms(1000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rc = 2;
#ifdef _WIN32
    SetEnvironmentVariableW(L"OPENPLA_PROCESSES", L"host");
#endif
    if (argc > 3 && !strcmp(argv[1], "hold") && !atoi(argv[3]))
        return collect_for((unsigned)atoi(argv[2]), 0, NULL, 0); /* not even our library runs */
    if (PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS)
        return 1;
    if (argc > 1 && !strcmp(argv[1], "ratio"))
        rc = ratio(argc > 2 && !strcmp(argv[2], "hz"), argc > 2 && !strcmp(argv[argc - 1], "new"));
    else if (argc > 1 && !strcmp(argv[1], "each"))
        rc = each();
    else if (argc > 4 && !strcmp(argv[1], "hold"))
        rc = collect_for((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), argv + 4, argc - 4);
    else
        fprintf(stderr, "usage: bench_pdh ratio [hz] [new] | each | hold SECONDS COUNTERS PATH...\n");
    PdhCloseQuery(query);
    return rc;
}
