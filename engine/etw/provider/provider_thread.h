/* SPDX-License-Identifier: MIT */
/* What each thread that writes events has of its own: who it is, its activity, and a word that says that it is inside
   what others may want to take away. What a thread finds published while it is inside stays until it has left. */
#ifndef OPENPLA_PROVIDER_THREAD_H
#define OPENPLA_PROVIDER_THREAD_H

#include "engine/base/thread_slot.h"
#include "engine/etw/session/session_reserve.h"

struct provider_thread {
    _Atomic uint32_t inside; /* how many calls deep; only the thread itself writes it */
    _Atomic bool ended;
    struct session_writer writer;
    uint64_t ids; /* thread and process, as headers of events have them */
    GUID activity;
    uint64_t time_read, time; /* cycles: when provider_processor_time asked last, and what it was told */
    bool never_waits;         /* others wait for it: it waits for no session */
    struct provider_thread *next;
    uint32_t seen; /* provider_threads_outside's */
};

/* Of the calling thread; made on its first call. NULL: out of memory. */
struct provider_thread *provider_thread_make(void);
static inline struct provider_thread *provider_thread_own(void)
{
    struct provider_thread *t = thread_slot();
    return __builtin_expect(t != NULL, 1) ? t : provider_thread_make();
}
/* What the calling thread has run in user mode, in cycles, as it was at most 10 ms ago: asking the system costs as much
   as a hundred events. */
uint64_t provider_processor_time(struct provider_thread *t);
/* The slot of this process, which events being written are marked with. */
void provider_threads_own_slot(uint32_t slot);

/* Two plain stores: others learn of it when these have left the processor, for which they wait PROVIDER_GRACE_MS. */
static inline void provider_enter(struct provider_thread *t)
{
    atomic_store_explicit(&t->inside, atomic_load_explicit(&t->inside, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void provider_leave(struct provider_thread *t)
{
    atomic_store_explicit(&t->inside, atomic_load_explicit(&t->inside, memory_order_relaxed) - 1, memory_order_release);
}

enum { PROVIDER_GRACE_MS = 10 };
/* Whether each thread has been outside at one of the calls with this round, the first of which was PROVIDER_GRACE_MS
   behind the moment from which on nobody could find any more what is to be taken away. Rounds rise from 1. One thread
   at a time. */
bool provider_threads_outside(uint32_t round);

#endif
