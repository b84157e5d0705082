/* SPDX-License-Identifier: MIT */
/* Threads of this process: starting and waking threads, one pointer per thread, the current processor, and work with a
   time limit. */
#ifndef OPENPLA_THREAD_H
#define OPENPLA_THREAD_H

#include "engine/base/os.h"
#include "engine/base/wintypes.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;
/* Runs body(user) on a new thread. The module that contains this code stays loaded until body has returned. Fails with
   E_OUTOFMEMORY, or with the system's error and an error text. */
HRESULT thread_start(void (*body)(void *user), void *user, struct thread **out);
/* Waits for the thread to end. False: it is still running after timeout_ms. */
bool thread_wait(struct thread *t, uint32_t timeout_ms);
void thread_close(struct thread *t); /* does not end the thread; NULL is allowed */
/* Yields this processor to another thread that is ready to run. */
void thread_yield(void);
uint64_t thread_own_user_time(void); /* the calling thread's time in user mode, in units of 100 ns; a system call, which
                                        is expensive under Wine */
uint32_t thread_own_id(void);        /* unique among the running threads of this host OS */

struct wakeup; /* an event that stays set until one wait consumes it */
HRESULT wakeup_create(struct wakeup **out);
void wakeup_set(struct wakeup *w);
bool wakeup_wait(struct wakeup *w, uint32_t timeout_ms); /* true: it was set; false: timeout */
void wakeup_free(struct wakeup *w);                      /* no thread may be waiting; NULL is allowed */

/* A condition variable for threads of this process, used together with a lock. Waking makes no system call if no thread
   is waiting. Zero-initialise. */
struct thread_condition {
    void *opaque[8];
};
/* Releases the lock, waits for thread_condition_wake, and acquires the lock again. False: timeout_ms has elapsed
   (UINT32_MAX: no limit). Can return true without a wake. */
bool thread_condition_wait(struct thread_condition *c, struct lock *lock, uint32_t timeout_ms);
void thread_condition_wake(struct thread_condition *c); /* wakes all waiting threads */

/* ---- the slot of a thread ----
   The slot is one pointer per thread, which the thread can read in about a nanosecond. There is only one slot, and the
   code that writes events uses it. Other properties of the calling thread follow. */

#ifdef _WIN32
enum { THREAD_SLOTS_INLINE = 64 }; /* TLS slots in the thread's environment block, at a documented offset */
extern uint32_t thread_slot_index; /* the slot's TLS index; THREAD_SLOTS_INLINE: not allocated, or not in the block */
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

/* Sets the calling thread's slot. When the thread ends, it calls `ended` with the slot's value; all calls must pass the
   same function. `ended` must not take a lock, because the process may be exiting. The module that contains this code
   stays loaded from the first call on. Fails with E_OUTOFMEMORY, or with the system's error. */
HRESULT thread_slot_set(void *value, void (*ended)(void *value));

enum { THREAD_MOST_SID = 68 };
/* Copies the SID of the account that the thread impersonates or, if it impersonates none, of the process's account.
   Returns its size in bytes; 0 if the SID is unknown, and always 0 in the native build. */
uint32_t thread_own_sid(uint8_t sid[THREAD_MOST_SID]);
/* Returns the terminal session of the process; 0 in the native build. */
uint32_t process_own_session(void);
/* Stores up to `most` return addresses of the calling thread's frames, the innermost first. Returns their number. */
uint32_t thread_own_stack(uint64_t *frames, uint32_t most);
/* Keeps the module that contains this code loaded for the life of the process. The first call waits for threads that
   load or unload a DLL, so the caller must not hold a lock that such a thread may need. */
void module_pin(void);
/* Whether the process is exiting and its other threads were terminated at arbitrary points, possibly while they held
   locks. Always false in the native build. */
bool process_is_ending(void);
void thread_sleep(uint32_t ms);
/* Like thread_sleep, but as precise as possible: within 0.1 ms on Linux (native build and Wine), and until the next
   tick on Windows. */
void thread_sleep_us(uint32_t us);
/* Sets the value of GetLastError; no effect in the native build. */
void thread_last_error(uint32_t code);

/* ---- the last thread ----
   Windows ends a process when its last thread ends, even if that thread calls ExitThread. A background thread of
   OpenPLA that runs until the process exits would therefore keep the process alive. Such a thread regularly checks
   whether all of the program's threads have ended. If all have ended, the background thread ends the process with the
   exit code that the process would have had without OpenPLA. In the native build, threads do not keep a process alive,
   so these functions do nothing. */

/* Called by a thread that is ending (DLL_THREAD_DETACH) or can end without notice. The thread's exit code becomes the
   process's exit code unless another thread calls this function later. */
void last_thread_leaves(void);
/* Whether all threads of this process have ended, except the calling thread and `others` more threads. */
bool last_thread_is_own(uint32_t others);
/* Ends the process. The exit code is that of the thread whose call of last_thread_leaves was the last one. */
void last_thread_end_process(void);

/* ---- work with a time limit ---- */

/* Work that the caller may stop waiting for. Zero-initialise except for `run` and `abandoned`. */
struct timed_work {
    void (*run)(struct timed_work *work);
    /* Called when the work ends after timed_work_release; in that case the result of the work is not used. */
    void (*abandoned)(struct timed_work *work);
    struct work_group *group;
    uint64_t started; /* clock_monotonic_ms() */
    bool running, released;
};
/* Runs the pieces of work one after another on another thread. Returns when each piece has ended or has run for
   `limit_ms`. A piece that exceeds the limit continues on its thread (timed_work_running) and does not delay the
   others. A piece from an earlier call that is still running is not started again. If no thread can be created for the
   remaining pieces, the calling thread runs these pieces. If `limit_ms` is 0, the calling thread runs all pieces
   without a time limit. */
void timed_work_run(struct timed_work *const *work, size_t count, uint32_t limit_ms);
bool timed_work_running(struct timed_work *work);
/* Releases the work. True: it has ended, and the caller frees it. False: it is still running, and `abandoned` will be
   called when it ends. */
bool timed_work_release(struct timed_work *work);
/* Between these calls, idle threads wait for more work. Each call of timed_work_enter needs a call of
   timed_work_leave. */
void timed_work_enter(void);
void timed_work_leave(void);
/* Called by a thread of this process that is ending (DLL_THREAD_DETACH). The thread's exit code can become the
   process's exit code. Takes no lock. */
void timed_work_thread_leaves(void);

/* ---- processors and cycle counters, without a system call ---- */

/* How a program can determine the number of the processor on which it runs. The number is only a hint, because the
   thread can move to another processor before it uses the number. */
enum processor_method {
    PROCESSOR_UNKNOWN, /* it cannot */
    PROCESSOR_RDTSCP,  /* also returns the cycle counter; takes 13 to 18 ns */
    PROCESSOR_RDPID,   /* takes 2 ns */
};
enum processor_method processor_method(void);
/* Whether the cycle counter runs at the same rate on all processors, and the system itself uses it for timekeeping. */
bool processor_cycles_are_time(void);
uint32_t processor_count(void); /* at least 1 */

enum { PROCESSOR_NUMBER_BITS = 12 }; /* width of the system's processor number, which both methods return */

#if defined(__x86_64__) || defined(__i386__)

static inline uint64_t processor_cycles(void)
{
    return __builtin_ia32_rdtsc();
}

/* Returns the number of the current processor. Requires PROCESSOR_RDPID. */
static inline uint32_t processor_here(void)
{
    uintptr_t number; /* rdpid writes a whole register */
    __asm__ volatile("rdpid %0" : "=r"(number));
    return (uint32_t)number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
}

/* Returns the cycle counter and the number of the current processor. Requires PROCESSOR_RDTSCP or PROCESSOR_RDPID. */
static inline uint64_t processor_cycles_here(uint32_t *processor)
{
    unsigned number;
    const uint64_t cycles = __builtin_ia32_rdtscp(&number);
    *processor = number & ((1u << PROCESSOR_NUMBER_BITS) - 1);
    return cycles;
}

/* Prefetches the cache line of an address that will be written soon, even if the line is in another processor's cache.
   The address may be invalid. */
static inline void processor_will_write(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

#elif defined(__aarch64__)

/* Reads ARM's generic timer, which has the same rate on all processors. A program on ARM cannot read the number of its
   processor. */
static inline uint64_t processor_cycles(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline uint32_t processor_here(void)
{
    return 0;
}

static inline uint64_t processor_cycles_here(uint32_t *processor)
{
    *processor = 0;
    return processor_cycles();
}

static inline void processor_will_write(const void *address)
{
    __builtin_prefetch(address, 1);
}

#else
#error "cycle counter of this processor"
#endif

#endif
