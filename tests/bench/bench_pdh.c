/* SPDX-License-Identifier: MIT */
/* What a sample of 1,000 counters costs through PDH's functions, as a ratio to a plain loop that reads and parses the
   same sources. Usage: bench_pdh [files|processes] [hz]. With "hz" one sample a second, 60 of them. */
#include "engine/pdh/pdh.h"
#include "engine/os/clock.h"
#include "engine/os/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <winternl.h>
#else
#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#endif

#define COUNTERS 1000
#define SAMPLES  60
#define ROUNDS   21
#define BUFFER   (1 << 20)

static char buffer[BUFFER];
static bool with_processes;
static volatile uint64_t sink;

/* The plain loop: kept handles, every number of the text. */
static size_t parse(const char *text, size_t size)
{
    uint64_t v = 0, sum = 0;
    size_t numbers = 0;
    bool in = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            v = v * 10 + (uint64_t)(text[i] - '0');
            in = true;
        } else if (in) {
            sum += v;
            v = 0;
            in = false;
            numbers++;
        }
    }
    sink = sum;
    return numbers;
}

#ifdef _WIN32
typedef HANDLE plain_file;
static plain_file plain_open(const char *path)
{
    WCHAR wide[64];
    swprintf(wide, 64, L"\\\\?\\unix%hs", path);
    for (WCHAR *c = wide; *c; c++) {
        *c = *c == '/' ? '\\' : *c;
    }
    return CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
}
static void plain_read(plain_file f)
{
    DWORD got, size = 0;
    SetFilePointer(f, 0, NULL, FILE_BEGIN);
    while (ReadFile(f, buffer + size, BUFFER - size, &got, NULL) && got) {
        size += got;
    }
    parse(buffer, size);
}
static void plain_processes(void)
{
    ULONG need;
    if (NtQuerySystemInformation(SystemProcessInformation, buffer, BUFFER, &need) == 0) {
        for (const BYTE *p = (const BYTE *)buffer; *(const ULONG *)p; p += *(const ULONG *)p) {
            sink += *(const ULONGLONG *)(p + 40) + *(const ULONGLONG *)(p + 48) + *(const ULONGLONG *)(p + 144);
        }
    }
}
#else
typedef int plain_file;
static plain_file plain_open(const char *path)
{
    return open(path, O_RDONLY);
}
static void plain_read(plain_file f)
{
    size_t size = 0;
    ssize_t got;
    while ((got = pread(f, buffer + size, BUFFER - size, (off_t)size)) > 0) {
        size += (size_t)got;
    }
    parse(buffer, size);
}
/* Descriptors kept by id; a process's end is not followed, there are few within a run. */
static void plain_processes(void)
{
    static int files[1 << 22];
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        unsigned id = (unsigned)strtoul(e->d_name, NULL, 10);
        char path[40];
        if (!id || id >= 1 << 22) {
            continue;
        }
        if (!files[id]) {
            snprintf(path, sizeof path, "/proc/%u/stat", id);
            files[id] = open(path, O_RDONLY) + 1;
        }
        if (files[id]) {
            plain_read(files[id] - 1);
        }
    }
    if (proc) {
        closedir(proc);
    }
}
#endif

static plain_file stat_file, memory_file;
static void plain_sample(void)
{
    plain_read(stat_file);
    plain_read(memory_file);
    if (with_processes) {
        plain_processes();
    }
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
        sink += (uint64_t)raw.FirstValue;
    }
}

/* Adds what the path expands to, up to COUNTERS in all. */
static void add_all(const WCHAR *path)
{
    static WCHAR list[1 << 20];
    DWORD units = sizeof list / sizeof *list;
    if (PdhExpandWildCardPathW(NULL, path, list, &units, 0) != ERROR_SUCCESS) {
        return;
    }
    for (const WCHAR *p = list; *p && count < COUNTERS;) {
        count += PdhAddCounterW(query, p, 0, &counters[count]) == ERROR_SUCCESS;
        while (*p++) {
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* us: processor time natively; time under Wine, whose processor times have a grain of 10 ms. */
static double now(void)
{
#ifdef _WIN32
    return (double)clock_ticks() * 1e6 / (double)clock_frequency();
#else
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
#endif
}

static void sleep_half_a_second(void)
{
#ifdef _WIN32
    Sleep(500);
#else
    usleep(500000);
#endif
}

static double time_of(void (*sample)(void), int times)
{
    double start = now();
    for (int i = 0; i < times; i++) {
        sample();
    }
    return (now() - start) / times;
}

/* Median times per sample in us, the two in turns so that other load and cold caches hit both. */
static void measure(bool hz, double *pdh, double *plain)
{
    double ours[SAMPLES], peer[SAMPLES];
    int n = hz ? SAMPLES : ROUNDS, times = hz ? 1 : SAMPLES;
    for (int i = 0; i < n; i++) {
        ours[i] = time_of(pdh_sample, times);
        if (hz) {
            sleep_half_a_second();
        }
        peer[i] = time_of(plain_sample, times);
        if (hz) {
            sleep_half_a_second();
        }
    }
    qsort(ours, (size_t)n, sizeof *ours, by_size);
    qsort(peer, (size_t)n, sizeof *peer, by_size);
    *pdh = ours[n / 2];
    *plain = peer[n / 2];
}

int main(int argc, char **argv)
{
    bool hz = false;
    for (int i = 1; i < argc; i++) {
        with_processes |= !strcmp(argv[i], "processes");
        hz |= !strcmp(argv[i], "hz");
    }
    stat_file = plain_open("/proc/stat");
    memory_file = plain_open("/proc/meminfo");
    if (PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS) {
        return 1;
    }
    while (count < COUNTERS) {
        size_t before = count;
        if (with_processes) {
            add_all(u"\\Process(*)\\*");
        }
        add_all(u"\\Processor(*)\\*");
        add_all(u"\\Memory\\*");
        add_all(u"\\System\\Processor Queue Length");
        add_all(u"\\System\\Context Switches/sec");
        add_all(u"\\System\\System Up Time");
        if (count == before) {
            return 1;
        }
    }
    double pdh, plain;
    measure(hz, &pdh, &plain);
    printf("%s%s: %u counters, %.1f us per sample; plain loop %.1f us; ratio %.2f\n",
           with_processes ? "processes" : "files", hz ? " at 1 Hz" : "", (unsigned)count, pdh, plain, pdh / plain);
    PdhCloseQuery(query);
    return 0;
}
