/* SPDX-License-Identifier: MIT */
/* Threads of this process: start, wake, wait, their slot and processor, and work with a time limit. */
#ifndef OPENPLA_THREAD_H
#define OPENPLA_THREAD_H

#include "engine/base/os.h"
#include "engine/base/wintypes.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;
/* Runs body(user) on a new thread. The module this code is in stays loaded until body has returned.
   E_OUTOFMEMORY, or the system's reason with a text. */
HRESULT thread_start(void (*body)(void *user), void *user, struct thread **out);
/* True: it has ended. False: it runs on after timeout_ms. */
bool thread_wait(struct thread *t, uint32_t timeout_ms);
void thread_close(struct thread *t); /* does not end it; NULL is allowed */
/* Lets another thread run on this processor, if one waits for it. */
void thread_yield(void);
uint64_t thread_own_user_time(void); /* in user mode, 100 ns; asks the system, which is dear under Wine */
uint32_t thread_own_id(void);        /* unlike that of any other thread on this host that runs */

struct wakeup; /* set until one wait takes it */
HRESULT wakeup_create(struct wakeup **out);
void wakeup_set(struct wakeup *w);
bool wakeup_wait(struct wakeup *w, uint32_t timeout_ms); /* true: it was set; false: timeout */
void wakeup_free(struct wakeup *w);                      /* nobody may wait; NULL is allowed */

/* What threads that hold a lock wait for, within this process and without a call of the system when nobody waits.
   Zero-initialise. */
struct thread_condition {
    void *opaque[8];
};
/* Leaves the lock, waits and enters it again. False: the time has passed. May return true for no reason. `timeout_ms`
   UINT32_MAX: for ever. */
bool thread_condition_wait(struct thread_condition *c, struct lock *lock, uint32_t timeout_ms);
void thread_condition_wake(struct thread_condition *c); /* all that wait */

/* ---- the slot of a thread ----
   One pointer of each thread, read in about a nanosecond, and what is asked of the calling thread beside it. There is
   one such pointer in a process, and who writes events has it. */

#ifdef _WIN32
enum { THREAD_SLOTS_INLINE = 64 }; /* that the block of a thread has room for, at a published place */
extern uint32_t thread_slot_index; /* THREAD_SLOTS_INLINE: none yet, or one that lies elsewhere */
void *thread_slot_elsewhere(void);

static inline void *thread_slot(void)
{
#ifdef _WIN64
    const uint32_t index = thread_slot_index;
    if (__builtin_expect(index < THREAD_SLOTS_INLINE, 1)) {
        void *value;
        __asm__("movq %%gs:0x1480(,%1,8), %0" : "=r"(value) : "r"((uint64_t)index));
        return value;
    }
#endif
    return thread_slot_elsewhere();
}
#else
extern _Thread_local void *thread_slot_value;

static inline void *thread_slot(void)
{
    return thread_slot_value;
}
#endif

/* Sets it; `ended`, the same at each call, is called with it on the thread as that ends, and must not enter a lock: the
   process may be ending. The module this code is in stays loaded from then on. E_OUTOFMEMORY, or the system's reason.
 */
HRESULT thread_slot_set(void *value, void (*ended)(void *value));

enum { THREAD_MOST_SID = 68 };
/* The SID of the account that the thread acts for, else of the process's; its bytes. 0: unknown; natively. */
uint32_t thread_own_sid(uint8_t sid[THREAD_MOST_SID]);
/* The terminal session of the process; natively 0. */
uint32_t process_own_session(void);
/* Return addresses of the thread's frames, the innermost first; how many. */
uint32_t thread_own_stack(uint64_t *frames, uint32_t most);
/* Keeps the module this code is in loaded for the life of the process. The first call waits for who loads or unloads a
   DLL, so it is made without a lock that such a one may want. */
void module_pin(void);
/* The process ends: other threads have been ended wherever they were, with the locks that they had. Natively never. */
bool process_is_ending(void);
void thread_sleep(uint32_t ms);
/* As thread_sleep, as near as the host can: under Wine and natively within 0.1 ms, on Windows up to its next tick. */
void thread_sleep_us(uint32_t us);
/* What GetLastError tells; natively nothing does. */
void thread_last_error(uint32_t code);

/* ---- the last thread ----
   A process ends with its last thread, also when that leaves by ExitThread. So a thread of ours that waits for as long
   as the process lives must not be what keeps it alive: it asks now and then whether the program's own threads have all
   left, and ends the process in their place, with the exit code that the process would have had. Natively threads do
   not keep a process, so nothing of this does anything. */

/* The calling thread is ending (DLL_THREAD_DETACH), or may end without saying so: unless another one says the same
   later, its exit code is the process's. */
void last_thread_leaves(void);
/* All threads of this process but the calling one and `others` more have ended. */
bool last_thread_is_own(uint32_t others);
/* Ends the process. */
void last_thread_end_process(void);

/* ---- work with a time limit ---- */

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
/* Threads wait for more work between these calls. */
void timed_work_enter(void);
void timed_work_leave(void);
/* A thread of the process is ending (DLL_THREAD_DETACH): its exit code may become the process's. Enters no lock. */
void timed_work_thread_leaves(void);

/* ---- processors and cycle counters, without a system call ---- */

/* How this machine tells a program which processor it runs on. The number is a hint: the thread may be elsewhere by the
   time it is used. */
enum processor_method {
    PROCESSOR_UNKNOWN, /* it does not */
    PROCESSOR_RDTSCP,  /* with the cycles, 13 to 18 ns */
    PROCESSOR_RDPID,   /* 2 ns */
};
enum processor_method processor_method(void);
/* Whether the cycle counter runs at one rate on all processors, and the system itself keeps time by it. */
bool processor_cycles_are_time(void);
uint32_t processor_count(void); /* at least 1 */

enum { PROCESSOR_NUMBER_BITS = 12 }; /* of what both ways give, which is the system's own number of the processor */

static inline uint64_t processor_cycles(void)
{
    return __builtin_ia32_rdtsc();
}

/* By PROCESSOR_RDPID alone. */
static inline uint32_t processor_here(void)
{
    uintptr_t number; /* of the width of a register */
    __asm__ volatile("rdpid %0" : "=r"(number));
    return (uint32_t)number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
}

/* By PROCESSOR_RDTSCP or PROCESSOR_RDPID. */
static inline uint64_t processor_cycles_here(uint32_t *processor)
{
    unsigned number;
    const uint64_t cycles = __builtin_ia32_rdtscp(&number);
    *processor = number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
    return cycles;
}

/* The line of this address will be written soon: it is fetched for that, from another processor that had it. A hint:
   the address need not be any. */
static inline void processor_will_write(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

#endif
