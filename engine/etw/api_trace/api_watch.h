/* SPDX-License-Identifier: MIT */
/* Watches for new processes of a program, and injects openapitrace.dll into each; on request also into those that run.
 */
#ifndef OPENPLA_API_WATCH_H
#define OPENPLA_API_WATCH_H

#include "engine/etw/api_trace.h"

struct api_watch;
struct api_watch_numbers {
    uint64_t late, failed, attached; /* struct api_trace_numbers */
};
/* `program` is the full path. Processes that run already are not touched unless `attach`. ERROR_NOT_SUPPORTED's HRESULT
   natively. */
HRESULT api_watch_start(const char *program, bool attach, struct api_watch **out);
void api_watch_stop(struct api_watch *w); /* NULL is allowed */
void api_watch_read(struct api_watch *w, struct api_watch_numbers *out);
/* From memory_alloc; NULL: none since the last call. */
char *api_watch_take_failure(struct api_watch *w);

/* Ticks of the processor's counter in a second, measured for some milliseconds. */
uint64_t api_watch_cycles_per_second(void);

#endif
