/* SPDX-License-Identifier: MIT */
#include "engine/etw/provider/provider_thread.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"

static struct host_lock lock = HOST_LOCK_INIT;
static struct provider_thread *threads; /* never freed; those of threads that have ended are given again */
static uint32_t own_slot;

static void thread_ended(void *thread)
{
    struct provider_thread *t = thread;
    atomic_store_explicit(&t->ended, true, memory_order_release);
}

__attribute__((noinline)) struct provider_thread *provider_thread_make(void)
{
    if (process_is_ending())
        return NULL;
    module_pin();
    host_lock_enter(&lock);
    struct provider_thread *t = threads;
    while (t && !atomic_load_explicit(&t->ended, memory_order_acquire))
        t = t->next;
    const bool again = t != NULL;
    if (!again)
        t = memory_zero(1, sizeof *t);
    if (t) {
        t->writer = (struct session_writer){.owner = own_slot, .thread = thread_own_id()};
        t->ids = t->writer.thread | (uint64_t)process_own_id() << 32;
        t->activity = (GUID){0};
        t->time_read = t->time = 0;
        if (FAILED(thread_slot_set(t, thread_ended))) {
            if (!again)
                memory_free(t);
            t = NULL;
        } else if (again) {
            atomic_store(&t->inside, 0); /* it may have ended inside */
            atomic_store(&t->ended, false);
        } else {
            t->next = threads;
            threads = t;
        }
    }
    host_lock_leave(&lock);
    return t;
}

uint64_t provider_processor_time(struct provider_thread *t)
{
    enum { US = 10000, PARTS_OF_US = 10 };
    static _Atomic uint32_t rate; /* which the registry is asked for under Wine */
    if (atomic_load_explicit(&rate, memory_order_relaxed) == 0)
        atomic_store_explicit(&rate, clock_cpu_mhz(), memory_order_relaxed);
    const uint64_t now = processor_cycles(), mhz = atomic_load_explicit(&rate, memory_order_relaxed);
    if (t->time_read == 0 || now - t->time_read >= US * mhz) {
        t->time = thread_own_user_time() * mhz / PARTS_OF_US;
        t->time_read = now;
    }
    return t->time;
}

void provider_threads_own_slot(uint32_t slot)
{
    host_lock_enter(&lock);
    own_slot = slot;
    for (struct provider_thread *t = threads; t; t = t->next)
        t->writer.owner = slot;
    host_lock_leave(&lock);
}

bool provider_threads_outside(uint32_t round)
{
    bool all = true;
    host_lock_enter(&lock);
    for (struct provider_thread *t = threads; t; t = t->next) {
        if (atomic_load_explicit(&t->inside, memory_order_acquire) == 0 || atomic_load(&t->ended))
            t->seen = round;
        all = all && t->seen == round;
    }
    host_lock_leave(&lock);
    return all;
}
