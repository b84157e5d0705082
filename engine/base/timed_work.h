/* SPDX-License-Identifier: MIT */
/* Work that may take longer than its caller can wait. */
#ifndef OPENPLA_TIMED_WORK_H
#define OPENPLA_TIMED_WORK_H

#include "engine/base/thread.h"

/* Work of which the caller may not wait for the end. Zero-initialise but for `run` and `abandoned`. */
struct timed_work {
    void (*run)(struct timed_work *work);
    /* Called when the work ends after timed_work_release, in place of its result being used. */
    void (*abandoned)(struct timed_work *work);
    struct work_group *group;
    uint64_t started; /* clock_monotonic_ms() */
    bool running, released;
};
/* Runs the pieces of work one after another on another thread. Returns when all have ended or each that has not has had
   `limit_ms`: that one is then still `running` by timed_work_running, on its thread, and does not hold up the others.
   One that still runs from an earlier call is left alone. Work that must run and finds neither thread nor memory for
   one is run by the caller. `limit_ms` 0: the caller runs all, however long it takes. */
void timed_work_run(struct timed_work *const *work, size_t count, uint32_t limit_ms);
bool timed_work_running(struct timed_work *work);
/* Gives the work up. True: it has ended, the caller frees it. False: it runs; `abandoned` will be called at its end. */
bool timed_work_release(struct timed_work *work);
/* Threads wait for more work while somebody uses it. */
void timed_work_enter(void);
void timed_work_leave(void);
/* A thread of the process is ending (DLL_THREAD_DETACH): its exit code may become the process's. Enters no lock. */
void timed_work_thread_leaves(void);

#endif
