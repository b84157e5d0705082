/* SPDX-License-Identifier: MIT */
/* A process ends with its last thread, also when that leaves by ExitThread. So a thread of ours that waits for as long
   as the process lives must not be what keeps it alive: it asks now and then whether the program's own threads have all
   left, and ends the process in their place, with the exit code that the process would have had. Natively threads do
   not keep a process, so nothing of this does anything. */
#ifndef OPENPLA_LAST_THREAD_H
#define OPENPLA_LAST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread is ending (DLL_THREAD_DETACH), or may end without saying so: unless another one says the same
   later, its exit code is the process's. */
void last_thread_leaves(void);
/* All threads of this process but the calling one and `others` more have ended. */
bool last_thread_is_own(uint32_t others);
/* Ends the process. */
void last_thread_end_process(void);

#endif
