/* SPDX-License-Identifier: MIT */
/* bench_dcom HOST PORT USER CALLS CONNECTIONS PID...: a DCOM client of a running service OpenPLA, whose processes
   PID... run on this computer. The password is in BENCH_PASSWORD. Prints the time of a property get, the server's
   memory while CALLS are made, and the memory of an object and of an idle connection. tests/bench/dcom.py starts the
   service. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/rpc/channel.h"
#include "engine/rpc/orpc_client.h"
#include "tests/bench/measured.h"

#include <string.h>
#include <time.h>

enum { WARM_UP = 2000, OBJECTS = 1000, PARTS = 5, SERVER_ALIVE = 3, SETTLE_MS = 20000 };
/* ServerDataCollectorSet (MS-PLA 1.9). */
static const GUID set_class = {0x03837531, 0x098B, 0x11D8, {0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};

static char **pids;
static int pid_count;

/* Resident kilobytes of the server's processes. */
static long server_kilobytes(void)
{
    long all = 0;
    for (int i = 0; i < pid_count; i++) {
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/%s/status", pids[i]);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f))
            if (!strncmp(line, "VmRSS:", 6))
                all += strtol(line + 6, NULL, 10);
        if (f)
            fclose(f);
    }
    return all;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void get_duration(struct orpc_object *o)
{
    struct orpc_answer answer;
    struct ndr_variant value;
    must(orpc_invoke(o, "Duration", ORPC_GET, NULL, 0, &answer, &value), "Duration");
    orpc_answer_free(&answer);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_calls(struct orpc_object *o, size_t calls)
{
    double *times = memory_zero(calls, sizeof *times);
    must(times ? S_OK : E_OUTOFMEMORY, "memory");
    for (int i = 0; i < WARM_UP; i++)
        get_duration(o);
    printf("server before: %ld KB\n", server_kilobytes());
    for (size_t i = 0; i < calls; i++) {
        const double begin = now_ms();
        get_duration(o);
        times[i] = now_ms() - begin;
        if ((i + 1) % (calls / PARTS) == 0)
            printf("server after %zu calls: %ld KB\n", i + 1, server_kilobytes());
    }
    qsort(times, calls, sizeof *times, compare);
    printf("a property get: %.3f ms (median), %.3f (p10), %.3f (p99)\n", times[calls / 2], times[calls / 10],
           times[calls - calls / 100 - 1]);
    memory_free(times);
}

static void measure_objects(struct orpc_peer *p)
{
    static struct orpc_object *all[OBJECTS];
    const long before = server_kilobytes();
    const double begin = now_ms();
    for (size_t i = 0; i < OBJECTS; i++)
        must(orpc_activate(p, &set_class, &dispatch_iid, &all[i]), "activation");
    printf("%d objects: %.1f ms and %.1f KB each\n", OBJECTS, (now_ms() - begin) / OBJECTS,
           (double)(server_kilobytes() - before) / OBJECTS);
    for (size_t i = 0; i < OBJECTS; i++)
        orpc_object_release(all[i]);
}

static void measure_connections(const struct rpc_target *target, size_t count)
{
    struct rpc_channel **all = memory_zero(count, sizeof *all);
    const uint8_t *answer;
    size_t size;
    must(all ? S_OK : E_OUTOFMEMORY, "memory");
    thread_sleep(SETTLE_MS);
    const long before = server_kilobytes();
    for (size_t i = 0; i < count; i++) {
        must(rpc_channel_open(target, &all[i]), "connection");
        must(rpc_channel_call(all[i], &orpc_iid_object_exporter, 0, NULL, SERVER_ALIVE, NULL, 0, &answer, &size),
             "logon");
    }
    thread_sleep(SETTLE_MS); /* the threads that served the logons exit, later on a busy machine */
    printf("%zu idle connections: %.1f KB each\n", count, (double)(server_kilobytes() - before) / (double)count);
    for (size_t i = 0; i < count; i++)
        rpc_channel_close(all[i]);
    memory_free(all);
}

int main(int argc, char **argv)
{
    struct auth_credentials credentials = {.user = argc > 3 ? argv[3] : "", .domain = ""};
    const char *password = getenv("BENCH_PASSWORD");
    struct orpc_peer *p;
    struct orpc_object *o;
    if (argc < 7 || !password) {
        fprintf(stderr, "usage: BENCH_PASSWORD=... bench_dcom HOST PORT USER CALLS CONNECTIONS PID...\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    pids = argv + 6;
    pid_count = argc - 6;
    must(auth_hash_password(password, credentials.hash), "password");
    const struct orpc_target target = {.host = argv[1], .port = argv[2], .credentials = &credentials};
    must(orpc_peer_open(&target, &p), "peer");
    must(orpc_activate(p, &set_class, &dispatch_iid, &o), "activation");
    measure_calls(o, strtoul(argv[4], NULL, 10));
    measure_objects(p);
    orpc_object_release(o);
    orpc_peer_release(p);
    measure_connections(
        &(struct rpc_target){
            .host = argv[1], .port = argv[2], .credentials = &credentials, .level = AUTH_LEVEL_PRIVACY},
        strtoul(argv[5], NULL, 10));
    return 0;
}
