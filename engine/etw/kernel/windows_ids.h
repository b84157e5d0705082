/* SPDX-License-Identifier: MIT */
/* Which Linux threads the threads of Wine's processes are, exactly and by documented calls alone: to give a thread the
   processors that it has makes Wine's server call sched_setaffinity with the Linux number, and an instance of tracefs
   shows that call, whose time lies within ours. One thread at a time. */
#ifndef OPENPLA_WINDOWS_IDS_H
#define OPENPLA_WINDOWS_IDS_H

#include "engine/base/windows_task.h"
#include "engine/etw/id_map.h"

struct windows_ids;
/* `name` of the session's instance (trace_instance.h). S_FALSE, and NULL: there is no Wine here. */
HRESULT windows_ids_begin(const char *name, struct windows_ids **out);
/* Learns the threads that are new. With each of the tracer's passes: who lives for less than the time between two stays
   unknown. What fails is tried again by the next. */
HRESULT windows_ids_pass(struct windows_ids *w);
/* NULL: it is none of Wine's, or not known (yet). One that has ended is known until its number is another one's. */
const struct windows_thread *windows_ids_find(const struct windows_ids *w, uint32_t host_thread);
/* Of a time `now`, in ns of the instances' clock, up to when it is known what numbers those have who began by then: a
   process has none before it has come up, for which a second at most is waited. */
uint64_t windows_ids_known_until(const struct windows_ids *w, uint64_t now);
HRESULT windows_ids_end(struct windows_ids *w); /* NULL is allowed */

/* ---- for tests: what a pass makes of what it was told ---- */

/* A thread that was shown, and what the kernel told of it. */
struct windows_shown {
    struct windows_thread thread;
    uint64_t from, to; /* ticks */
    uint32_t host;     /* the Linux thread */
    unsigned times;    /* how often the server named one in that time; sure only when once */
};
/* The server set the processors of that Linux thread at that time. `shown` is in the order of time. */
void windows_shown_note(struct windows_shown *shown, size_t count, uint64_t time, uint32_t host);

#endif
