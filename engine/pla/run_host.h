/* SPDX-License-Identifier: MIT */
/* Which process hosts a set's run. It counts if it has written itself down in the store, lives, and the run lock is
   held, which the system frees when its holder dies. What stands in shared memory is never asked who the host is. */
#ifndef OPENPLA_RUN_HOST_H
#define OPENPLA_RUN_HOST_H

#include "engine/pla/store.h"

/* S_FALSE: the set has none. */
HRESULT run_host_find(const char *space, const char *name, struct run_host *out);
/* Whether the process that was found lives still; the id alone may be another's by then. */
bool run_host_lives(const struct run_host *host);
/* Ends the process, if it still is the set's host and runs our host program. S_FALSE: it is not the host, or any more.
   E_ACCESSDENIED, naming both: it runs another program. */
HRESULT run_host_end(const char *space, const char *name, const struct run_host *host);
/* The program beside our module that runs sets; the environment variable OPENPLA_HOST names another one. From
   memory_alloc, NULL when out of memory. */
char *run_host_program(void);

#endif
