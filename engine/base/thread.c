/* SPDX-License-Identifier: MIT */
/* Runs timed work and determines the processor's properties.

   Threads of this file run the pieces of a caller's work. If a piece takes too long, the caller returns and the thread
   continues. One lock protects all data of timed work and is held only for a few comparisons. */
#include "engine/base/thread.h"

#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"

#include <stdatomic.h>
#include <string.h>

/* If a piece has run this long, another thread runs the next pieces. */
#define PATIENCE_MS 100

/* The state of one waiting caller, on its stack. */
struct work_group {
    struct timed_work *const *work;
    size_t count, next; /* the pieces before `next` were taken by threads */
    size_t open;        /* pieces that were taken and have not ended */
    bool queued;        /* the group needs a thread */
    struct work_group *behind;
    struct thread_condition ended;
};

static struct lock lock = LOCK_INIT;
static struct thread_condition wanted;
static struct work_group *queue; /* groups that need a thread */
static size_t idle, users;
static _Atomic size_t threads; /* threads that run work_thread_serve */

/* The threads that run pieces of work. timed_work_leave waits until the idle ones have ended. If this many pieces take
   too long, further threads run without an entry in `servers`. */
enum { MOST_SERVERS = 32 };
struct server {
    bool used, is_idle;
    struct thread *thread; /* NULL: timed_work_leave has taken it and waits for its end */
};
static struct server servers[MOST_SERVERS];

/* Takes the group's next piece that is not already running. NULL: none is left. */
static struct timed_work *work_group_take_next(struct work_group *g)
{
    while (g->next < g->count) {
        struct timed_work *w = g->work[g->next++];
        if (!w->running) {
            w->running = true;
            w->started = clock_monotonic_ms();
            w->group = g;
            g->open++;
            return w;
        }
    }
    return NULL;
}

static void run_group(struct work_group *g)
{
    struct timed_work *w;
    while (g && (w = work_group_take_next(g))) {
        lock_leave(&lock);
        w->run(w);
        lock_enter(&lock);
        g = w->group; /* NULL if the caller has stopped waiting for this piece */
        if (g)
            g->open--;
        w->group = NULL;
        w->running = false;
        if (w->released) {
            lock_leave(&lock);
            w->abandoned(w);
            lock_enter(&lock);
        }
    }
    if (g && g->open == 0)
        thread_condition_wake(&g->ended);
}

static void work_group_unqueue(struct work_group *g)
{
    struct work_group **at = &queue;
    while (*at && *at != g)
        at = &(*at)->behind;
    if (*at)
        *at = g->behind;
    g->queued = false;
}

/* The caller must hold the lock. The function releases the lock for a moment. */
static void end_process_if_last(void)
{
    lock_leave(&lock);
    if (last_thread_is_own(0))
        last_thread_end_process();
    lock_enter(&lock);
}

/* An idle thread must not keep a process alive after all other threads have ended (thread.h). Each check costs a call
   to Wine's server. An idle thread therefore checks every second only for some time after a thread has ended. At other
   times it checks rarely, only to detect threads that were terminated, because it is not notified of these. */
enum { LOOK_MS = 1000, LOOK_RARELY_MS = 10000, LOOKS = 10 };
static atomic_uint looks; /* number of remaining checks that are LOOK_MS apart */

static uint32_t next_look(void)
{
    const unsigned left = atomic_load(&looks);
    if (!left)
        return LOOK_RARELY_MS;
    atomic_store(&looks, left - 1);
    return LOOK_MS;
}

/* Runs queued groups. An idle thread ends when no caller uses timed work any more, or if it was not woken in time and
   another thread is idle, too. Thus one idle thread is kept for the next group. */
static void work_thread_serve(void *context)
{
    struct server *server = context;
    lock_enter(&lock);
    for (;;) {
        bool spare = false;
        if (server)
            server->is_idle = true;
        while (!queue && users > 0 && !spare) {
            idle++;
            const bool woken = thread_condition_wait(&wanted, &lock, next_look());
            idle--;
            spare = !woken && !queue && idle > 0;
            if (!woken && !queue && !spare)
                end_process_if_last();
        }
        struct work_group *g = queue;
        if (!g)
            break;
        if (server)
            server->is_idle = false;
        work_group_unqueue(g);
        run_group(g);
    }
    if (server) {
        thread_close(server->thread);
        *server = (struct server){0};
    }
    atomic_fetch_sub(&threads, 1);
    lock_leave(&lock);
}

static struct server *server_find_free(void)
{
    for (size_t i = 0; i < MOST_SERVERS; i++)
        if (!servers[i].used)
            return &servers[i];
    return NULL;
}

void timed_work_thread_leaves(void)
{
    if (atomic_load(&threads) == 0)
        return;
    last_thread_leaves();
    atomic_store(&looks, LOOKS);
    thread_condition_wake(&wanted); /* from now on, each idle thread waits only LOOK_MS */
}

/* Queues the group, and wakes or creates a thread for it. The caller must hold the lock. False: no thread can be
   created. */
static bool work_group_engage_thread(struct work_group *g)
{
    bool others = queue != NULL;
    g->behind = queue;
    g->queued = true;
    queue = g;
    /* If other groups are in the queue, they may need all idle threads. */
    if (idle > 0 && !others) {
        thread_condition_wake(&wanted);
        return true;
    }
    struct thread *thread;
    struct server *server = server_find_free();
    atomic_fetch_add(&threads, 1);
    if (SUCCEEDED(thread_start(work_thread_serve, server, &thread))) {
        if (server)
            *server = (struct server){.used = true, .thread = thread};
        else
            thread_close(thread);
        return true;
    }
    atomic_fetch_sub(&threads, 1);
    work_group_unqueue(g);
    return false;
}

/* Returns the milliseconds until the piece that began last has run for `limit_ms`; 0 if all pieces have run that
   long. */
static uint32_t time_left(const struct work_group *g, uint32_t limit_ms)
{
    uint64_t now = clock_monotonic_ms(), left = 0;
    for (size_t i = 0; i < g->next; i++) {
        const struct timed_work *w = g->work[i];
        uint64_t used = w->running && w->group == g ? now - w->started : limit_ms;
        if (used < limit_ms && limit_ms - used > left)
            left = limit_ms - used;
    }
    return (uint32_t)left;
}

static void wait_for(struct work_group *g, uint32_t limit_ms)
{
    bool engaged = work_group_engage_thread(g);
    while (engaged && (g->next < g->count || g->open > 0)) {
        size_t next = g->next;
        uint32_t left = next == g->count ? time_left(g, limit_ms) : PATIENCE_MS;
        if (left == 0)
            break;
        if (!thread_condition_wait(&g->ended, &lock, left) && next < g->count && next == g->next && !g->queued)
            engaged = work_group_engage_thread(g);
    }
    work_group_unqueue(g);
    if (!engaged)
        run_group(g);
}

void timed_work_run(struct timed_work *const *work, size_t count, uint32_t limit_ms)
{
    struct work_group g = {.work = work, .count = count};
    lock_enter(&lock);
    if (limit_ms == 0)
        run_group(&g);
    else if (count > 0)
        wait_for(&g, limit_ms);
    for (size_t i = 0; i < count; i++)
        if (work[i]->group == &g)
            work[i]->group = NULL;
    lock_leave(&lock);
}

bool timed_work_running(struct timed_work *work)
{
    lock_enter(&lock);
    bool running = work->running;
    lock_leave(&lock);
    return running;
}

bool timed_work_release(struct timed_work *work)
{
    lock_enter(&lock);
    work->released = true;
    bool running = work->running;
    lock_leave(&lock);
    return !running;
}

void timed_work_enter(void)
{
    lock_enter(&lock);
    users++;
    lock_leave(&lock);
}

/* Waits for the idle threads when the last caller leaves, for example when a program closes its last query. Under Wine,
   a process would exit with 0 instead of its exit code if one of its threads were ending at that time. The time limit
   is for callers in DllMain, because threads cannot end while the caller holds the loader lock. */
void timed_work_leave(void)
{
    enum { ENDING_MS = 250 };
    struct thread *ending[MOST_SERVERS];
    size_t count = 0;
    lock_enter(&lock);
    const bool is_last = --users == 0;
    for (size_t i = 0; i < MOST_SERVERS && is_last; i++)
        if (servers[i].thread && servers[i].is_idle) {
            ending[count++] = servers[i].thread;
            servers[i].thread = NULL;
        }
    if (is_last)
        thread_condition_wake(&wanted);
    lock_leave(&lock);
    const uint64_t begun = clock_monotonic_ms();
    for (size_t i = 0; i < count; i++) {
        const uint64_t used = clock_monotonic_ms() - begun;
        (void)thread_wait(ending[i], used < ENDING_MS ? (uint32_t)(ENDING_MS - used) : 0);
        thread_close(ending[i]);
    }
}

/* ---- processors: CPUID (AMD and Intel document the same leaves), and whether Linux trusts its cycle counter ---- */

#if defined(__x86_64__) || defined(__i386__)

struct cpuid {
    uint32_t a, b, c, d;
};

/* Returns zeros for a leaf that this processor lacks. */
static struct cpuid processor_read_cpuid(uint32_t leaf)
{
    struct cpuid most, r = {0};
    __asm__ volatile("cpuid"
                     : "=a"(most.a), "=b"(most.b), "=c"(most.c), "=d"(most.d)
                     : "a"(leaf & 0x80000000u), "c"(0));
    if (leaf <= most.a)
        __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0));
    return r;
}

enum processor_method processor_method(void)
{
    enum { RDPID = 1 << 22, RDTSCP = 1 << 27 };
    if ((processor_read_cpuid(7).c & RDPID) != 0)
        return PROCESSOR_RDPID;
    return (processor_read_cpuid(0x80000001u).d & RDTSCP) != 0 ? PROCESSOR_RDTSCP : PROCESSOR_UNKNOWN;
}

/* Whether the host OS uses the cycle counter. The Linux kernel compares its clocks and stops using the counter if it
   drifts. If the file does not exist, the host OS is Windows. Windows' performance counter uses the cycle counter if
   the cycle counter is invariant. */
static bool is_trusted(void)
{
    struct kernel_file *f;
    const char *text;
    size_t size;
    if (FAILED(kernel_file_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", &f)))
        return true;
    const bool tsc = SUCCEEDED(kernel_file_read(f, &text, &size)) && !strcmp(text, "tsc\n");
    kernel_file_close(f);
    return tsc;
}

bool processor_cycles_are_time(void)
{
    enum { INVARIANT = 1 << 8 };
    return (processor_read_cpuid(0x80000007u).d & INVARIANT) != 0 && is_trusted();
}

#else

enum processor_method processor_method(void)
{
    return PROCESSOR_UNKNOWN;
}

/* Always false: on these processors, ETW sessions and counters use the system's clock. */
bool processor_cycles_are_time(void)
{
    return false;
}

#endif
