/* SPDX-License-Identifier: MIT */
/* The system handle of a process, for waits on it together with a signal. */
#ifndef OPENPLA_PROCESS_HANDLE_H
#define OPENPLA_PROCESS_HANDLE_H

#include <windows.h>

struct process;
HANDLE process_handle(const struct process *p); /* borrowed */
/* How many threads of this process have not ended, by the system's list of processes, which is slow. 0: unknown. */
uint32_t process_own_threads(void);

#endif
