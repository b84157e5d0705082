/* SPDX-License-Identifier: MIT */
/* Which process and thread an id refers to at each time of a trace. */
#ifndef OPENPLA_EXPORT_THREADS_H
#define OPENPLA_EXPORT_THREADS_H

#include "engine/etw/id_map.h"
#include "engine/etw/trace_input.h"

struct live_process {
    char *name;
    uint32_t epoch; /* changes when images are loaded after others were unloaded */
    bool unloaded;
    bool seen;
};
struct live_thread {
    uint32_t process;
    uint32_t index; /* of the export's thread + 1; 0: none yet */
    char *name;
    int64_t out, ready; /* time + 1 since when it does not run; since when it waits for a processor; 0: unknown */
    uint8_t state, reason;
    bool seen;
};
/* Zero-initialise. Ids plus 1 are the keys. */
struct live_threads {
    struct id_map processes, threads;
};
/* The first pass: adds those that exist when the trace begins, even if only events at its end name them. E_OUTOFMEMORY.
 */
HRESULT live_threads_prepare(struct live_threads *l, const EVENT_RECORD *r);
/* The second pass. E_OUTOFMEMORY. */
HRESULT live_threads_take(struct live_threads *l, const EVENT_RECORD *r);
/* The existing thread or process, or a new one; NULL: out of memory. Valid until the next call. */
struct live_thread *live_thread(struct live_threads *l, uint32_t id);
struct live_process *live_process(struct live_threads *l, uint32_t id);
void live_threads_free(struct live_threads *l);

/* Whether the event is of the class; `type` is its opcode. */
bool is_process_event(const EVENT_RECORD *r);
bool is_thread_event(const EVENT_RECORD *r);
bool is_image_event(const EVENT_RECORD *r);

#endif
