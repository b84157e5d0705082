/* SPDX-License-Identifier: MIT */
/* Tracks which process and thread an id refers to at each time of a trace. */
#ifndef OPENPLA_EXPORT_THREADS_H
#define OPENPLA_EXPORT_THREADS_H

#include "engine/etw/id_map.h"
#include "engine/etw/trace_input.h"

struct live_process {
    char *name;
    uint32_t epoch; /* number that increases when an image is loaded after another image was unloaded, and when the
                       id belongs to a new process */
    bool unloaded;
    bool seen;
};
struct live_thread {
    uint32_t process;
    uint32_t index; /* index of the exported thread + 1; 0 means no index yet */
    char *name;
    int64_t out, ready; /* `out`: time since which the thread is not running; `ready`: time since which the thread is
                           waiting for a processor. The members contain the time plus 1; 0 means that the time is
                           unknown */
    uint8_t state, reason;
    bool seen;
};
/* Zero-initialise. The keys are ids plus 1. */
struct live_threads {
    struct id_map processes, threads;
};
/* For the first pass: adds the processes and threads that exist when the trace begins, even if only events at the end
   of the trace name them. Fails with E_OUTOFMEMORY. */
HRESULT live_threads_prepare(struct live_threads *l, const EVENT_RECORD *r);
/* For the second pass: applies the event. Fails with E_OUTOFMEMORY. */
HRESULT live_threads_take(struct live_threads *l, const EVENT_RECORD *r);
/* Return the existing thread or process, or a new one; NULL if memory runs out. The result is valid until the next
   call. */
struct live_thread *live_thread(struct live_threads *l, uint32_t id);
struct live_process *live_process(struct live_threads *l, uint32_t id);
/* Returns the epoch of the process; 0 if it is unknown. */
uint32_t live_process_epoch(const struct live_threads *l, uint32_t id);
void live_threads_free(struct live_threads *l);

/* Return true if the event belongs to the kernel's class Process, Thread or Image. The event's opcode is its type. */
bool is_process_event(const EVENT_RECORD *r);
bool is_thread_event(const EVENT_RECORD *r);
bool is_image_event(const EVENT_RECORD *r);

#endif
