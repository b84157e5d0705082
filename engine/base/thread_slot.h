/* SPDX-License-Identifier: MIT */
/* One pointer of each thread, read in about a nanosecond, and what is asked of the calling thread beside it. There is
   one such pointer in a process, and who writes events has it. */
#ifndef OPENPLA_THREAD_SLOT_H
#define OPENPLA_THREAD_SLOT_H

#include "engine/base/wintypes.h"

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
/* The SID of the account that the thread acts for, else of the process's; its bytes. 0: it cannot be told; natively. */
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

#endif
