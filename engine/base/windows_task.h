/* SPDX-License-Identifier: MIT */
/* The Windows processes of this Wine prefix and their threads, as who knows only Linux' numbers must ask for them.
   Natively there are none. */
#ifndef OPENPLA_WINDOWS_TASK_H
#define OPENPLA_WINDOWS_TASK_H

#include "engine/base/wintypes.h"

/* A thread by Windows' numbers. */
struct windows_thread {
    uint32_t process, id;
};
/* Those that run now. *out from memory_alloc. */
HRESULT windows_threads(struct windows_thread **out, size_t *count);
/* A number that is another one when processes or threads have come or gone, unless as many came as went; it costs
   microseconds. */
uint32_t windows_threads_mark(void);
/* The thread gets the processors that it has, for which Wine's server calls sched_setaffinity with its Linux number,
   between the two times in ticks of clock_ticks. S_FALSE: it has gone, or is closed to us. */
HRESULT windows_thread_show(const struct windows_thread *thread, uint64_t *from, uint64_t *to);

enum { WINDOWS_MOST_SID = 68 };
struct windows_process {
    uint8_t sid[WINDOWS_MOST_SID]; /* of its user */
    size_t sid_size;               /* 0: it is not told */
    uint32_t session;
    bool is_wow64; /* a program of 32 bits */
};
/* S_FALSE: it has gone, or is closed to us. */
HRESULT windows_process_read(uint32_t id, struct windows_process *out);

#endif
