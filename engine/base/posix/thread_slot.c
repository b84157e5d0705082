/* SPDX-License-Identifier: MIT */
#include "engine/base/thread_slot.h"

#include "engine/base/posix/posix_call.h"

#include <execinfo.h>
#include <pthread.h>
#include <time.h>

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
        return posix_failed(error, "thread");
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
