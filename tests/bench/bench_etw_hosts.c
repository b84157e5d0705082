/* SPDX-License-Identifier: MIT */
/* bench_etw_hosts [SESSIONS [SECONDS]]: measures the cost of sessions: starting, querying and stopping them, and their
   processor time while nothing happens. */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = DIRECTORY_SESSIONS, ROOM = 1024 };

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[64];
};

static struct block block_of(void)
{
    struct block b;
    memset(&b, 0, sizeof b);
    b.p.Wnode.BufferSize = sizeof b;
    b.p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b.p.LogFileMode = TRACE_MODE_REAL_TIME;
    b.p.LoggerNameOffset = offsetof(struct block, name);
    return b;
}

static double now_ms(void)
{
    return (double)clock_ticks() * 1000 / (double)clock_frequency();
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_times(const char *what, double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, by_value);
    printf("%-6s %3d: least %.2f, median %.2f, most %.2f ms\n", what, count, ms[0], ms[count / 2], ms[count - 1]);
}

/* The processor time of each process whose name begins with the prefix, from the kernel's lists. */
struct used {
    uint32_t id;
    unsigned long long ticks; /* of 10 ms */
};
static size_t list_used(const char *name, struct used *out, size_t room)
{
    uint32_t *ids;
    size_t count, found = 0;
    if (FAILED(kernel_folder_numbers("/proc", &ids, &count)))
        return 0;
    for (size_t i = 0; i < count && found < room; i++) {
        char path[64];
        const char *text, *end;
        struct kernel_file *f;
        size_t size;
        snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)ids[i]);
        if (FAILED(kernel_file_open(path, &f)))
            continue;
        unsigned long long user = 0, system = 0;
        if (SUCCEEDED(kernel_file_read(f, &text, &size)) && strstr(text, name) && (end = strrchr(text, ')')) &&
            sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) == 2)
            out[found++] = (struct used){ids[i], user + system};
        kernel_file_close(f);
    }
    memory_free(ids);
    return found;
}

static bool has(const struct used *list, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id == id)
            return true;
    return false;
}

/* Processor time in ms between two lists, of the processes that are in both and not in `others`. */
static double used_between(const struct used *a, size_t count_a, const struct used *b, size_t count_b,
                           const struct used *others, size_t count_others, int *found)
{
    double ms = 0;
    *found = 0;
    for (size_t i = 0; i < count_a; i++)
        for (size_t k = 0; k < count_b; k++)
            if (a[i].id == b[k].id && !has(others, count_others, a[i].id)) {
                ms += (double)(b[k].ticks - a[i].ticks) * 10;
                ++*found;
            }
    return ms;
}

int main(int count, char **arguments)
{
    const int sessions = count > 1 ? atoi(arguments[1]) : MOST, seconds = count > 2 ? atoi(arguments[2]) : 20;
    static TRACEHANDLE handles[MOST];
    static double start[MOST], query[MOST], stop[MOST];
    static struct used before[ROOM], first[ROOM], last[ROOM];
    const size_t before_count = list_used("(openetwhost", before, ROOM);
    struct wakeup *never;
    if (sessions < 1 || sessions > MOST || FAILED(wakeup_create(&never)))
        return 1;
    for (int i = 0; i < sessions; i++) {
        struct block b = block_of();
        const WCHAR name[] = {'b', 'e', 'n', 'c', 'h', (WCHAR)('0' + i / 10), (WCHAR)('0' + i % 10), 0};
        const double from = now_ms();
        const ULONG code = StartTraceW(&handles[i], name, &b.p);
        start[i] = now_ms() - from;
        if (code != ERROR_SUCCESS) {
            printf("session %d: error %u\n", i, (unsigned)code);
            return 1;
        }
    }
    for (int i = 0; i < sessions; i++) {
        struct block b = block_of();
        const double from = now_ms();
        (void)ControlTraceW(handles[i], NULL, &b.p, EVENT_TRACE_CONTROL_QUERY);
        query[i] = now_ms() - from;
    }
    int hosts;
    (void)wakeup_wait(never, 2000);
    const size_t at_first = list_used("(openetwhost", first, ROOM);
    (void)wakeup_wait(never, (uint32_t)seconds * 1000);
    const size_t at_last = list_used("(openetwhost", last, ROOM);
    const double used = used_between(first, at_first, last, at_last, before, before_count, &hosts);
    printf("idle   %3d: %.2f ms of processor time a second, in all\n", hosts, used / seconds);
    for (int i = 0; i < sessions; i++) {
        struct block b = block_of();
        const double from = now_ms();
        (void)ControlTraceW(handles[i], NULL, &b.p, EVENT_TRACE_CONTROL_STOP);
        stop[i] = now_ms() - from;
    }
    print_times("start", start, sessions);
    print_times("query", query, sessions);
    print_times("stop", stop, sessions);
    wakeup_free(never);
    return 0;
}
