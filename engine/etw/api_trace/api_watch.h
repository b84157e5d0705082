/* SPDX-License-Identifier: MIT */
/* Watches for new processes of a program, and injects openapitrace.dll into each. On request, also injects the DLL into
   processes that are already running. */
#ifndef OPENPLA_API_WATCH_H
#define OPENPLA_API_WATCH_H

#include "engine/etw/api_trace.h"

struct api_watch;
struct api_watch_numbers {
    uint64_t late, failed, attached; /* as in struct api_trace_numbers */
};
/* Starts watching. `program` is the full path. Processes that are already running are left alone unless `attach` is
   set. The native build returns HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED). */
HRESULT api_watch_start(const char *program, bool attach, struct api_watch **out);
void api_watch_stop(struct api_watch *w); /* NULL is allowed */
void api_watch_read(struct api_watch *w, struct api_watch_numbers *out);
/* Returns the error text of the latest failure, from memory_alloc; NULL if every process since the last call could be
   traced. */
char *api_watch_take_failure(struct api_watch *w);

/* Returns the frequency of the processor's time stamp counter in ticks per second. The measurement takes some
   milliseconds. */
uint64_t api_watch_cycles_per_second(void);

#endif
