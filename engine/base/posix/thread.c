/* SPDX-License-Identifier: MIT */
/* Threads on POSIX systems: starting and waking threads, and each thread's slot. */
#include "engine/base/thread.h"

#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct thread {
    pthread_t id;
    bool ended; /* joined */
};

struct body {
    void (*call)(void *user);
    void *user;
};

struct wakeup {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool set;
};

static struct timespec time_after(uint32_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void *thread_run_body(void *user)
{
    struct body body = *(struct body *)user;
    memory_free(user);
    body.call(body.user);
    return NULL;
}

HRESULT thread_start(void (*body)(void *user), void *user, struct thread **out)
{
    struct thread *t = memory_zero(1, sizeof *t);
    struct body *b = memory_alloc(sizeof *b);
    *out = NULL;
    if (!t || !b) {
        memory_free(t);
        memory_free(b);
        return E_OUTOFMEMORY;
    }
    *b = (struct body){body, user};
    int error = pthread_create(&t->id, NULL, thread_run_body, b);
    if (error) {
        memory_free(t);
        memory_free(b);
        return posix_failed(error, "new thread");
    }
    *out = t;
    return S_OK;
}

bool thread_wait(struct thread *t, uint32_t timeout_ms)
{
    struct timespec until = time_after(timeout_ms);
    if (!t->ended)
        t->ended = !pthread_clockjoin_np(t->id, NULL, CLOCK_MONOTONIC, &until);
    return t->ended;
}

void thread_close(struct thread *t)
{
    if (t && !t->ended)
        pthread_detach(t->id);
    memory_free(t);
}

void thread_yield(void)
{
    sched_yield();
}

uint64_t thread_own_user_time(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) != 0)
        return 0;
    return (uint64_t)used.ru_utime.tv_sec * 10000000 + (uint64_t)used.ru_utime.tv_usec * 10;
}

uint32_t thread_own_id(void)
{
    return (uint32_t)gettid();
}

uint32_t processor_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    return count > 0 ? (uint32_t)count : 1;
}

HRESULT wakeup_create(struct wakeup **out)
{
    struct wakeup *w = memory_zero(1, sizeof *w);
    pthread_condattr_t clock;
    *out = w;
    if (!w)
        return E_OUTOFMEMORY;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &clock);
    pthread_condattr_destroy(&clock);
    return S_OK;
}

void wakeup_set(struct wakeup *w)
{
    pthread_mutex_lock(&w->lock);
    w->set = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool wakeup_wait(struct wakeup *w, uint32_t timeout_ms)
{
    struct timespec until = time_after(timeout_ms);
    pthread_mutex_lock(&w->lock);
    while (!w->set && pthread_cond_timedwait(&w->changed, &w->lock, &until) != ETIMEDOUT)
        ;
    bool set = w->set;
    w->set = false;
    pthread_mutex_unlock(&w->lock);
    return set;
}

void wakeup_free(struct wakeup *w)
{
    if (!w)
        return;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    memory_free(w);
}

_Static_assert(sizeof(pthread_cond_t) <= sizeof(struct thread_condition),
               "struct thread_condition has room for a pthread_cond_t");

/* All zero is PTHREAD_COND_INITIALIZER in glibc and musl. */
bool thread_condition_wait(struct thread_condition *c, struct lock *lock, uint32_t timeout_ms)
{
    pthread_cond_t *condition = (pthread_cond_t *)(void *)c->opaque;
    pthread_mutex_t *mutex = (pthread_mutex_t *)(void *)lock->opaque;
    struct timespec until = time_after(timeout_ms);
    if (timeout_ms == UINT32_MAX)
        return pthread_cond_wait(condition, mutex) == 0;
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until) == 0;
}

void thread_condition_wake(struct thread_condition *c)
{
    pthread_cond_broadcast((pthread_cond_t *)(void *)c->opaque);
}

_Thread_local void *thread_slot_value;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_error;
static void (*at_end)(void *value);

static void end(void *value)
{
    thread_slot_value = NULL;
    at_end(value);
}

static void make_key(void)
{
    key_error = pthread_key_create(&key, end);
}

HRESULT thread_slot_set(void *value, void (*ended)(void *value))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!at_end)
        at_end = ended;
    pthread_mutex_unlock(&lock);
    pthread_once(&once, make_key);
    const int error = key_error ? key_error : pthread_setspecific(key, value);
    if (error)
        return posix_failed(error, "thread-local data");
    thread_slot_value = value;
    return S_OK;
}

uint32_t thread_own_sid(uint8_t sid[THREAD_MOST_SID])
{
    (void)sid;
    return 0;
}

uint32_t process_own_session(void)
{
    return 0;
}

uint32_t thread_own_stack(uint64_t *frames, uint32_t most)
{
    enum { MOST = 256 };
    void *found[MOST];
    const int count = backtrace(found, most < MOST ? (int)most : MOST);
    for (int i = 0; i < count; i++)
        frames[i] = (uintptr_t)found[i];
    return count > 0 ? (uint32_t)count : 0;
}

void module_pin(void)
{
}

bool process_is_ending(void)
{
    return false;
}

void thread_sleep_us(uint32_t us)
{
    const struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&time, NULL);
}

void thread_sleep(uint32_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

void thread_last_error(uint32_t code)
{
    (void)code;
}
