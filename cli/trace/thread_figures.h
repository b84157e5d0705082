/* SPDX-License-Identifier: MIT */
/* Who ran, waited for a processor, read and wrote: sums over the kernel's events, by thread and by process. */
#ifndef OPENPLA_CLI_THREAD_FIGURES_H
#define OPENPLA_CLI_THREAD_FIGURES_H

#include "engine/etw/event_dump.h"
#include "engine/etw/id_map.h"

/* Since the figures were last begun anew; times in 100 ns. */
struct figures {
    uint64_t ran, ready;                    /* on a processor; ready to, and on none */
    uint64_t switches;                      /* times that it got a processor */
    uint64_t read, written, received, sent; /* bytes, of disks and of TCP and UDP */
};
struct figures_row {
    uint32_t process, thread; /* thread 0: the whole process */
    const char *name;         /* of the process; NULL: it was not told */
    struct figures of;
};

/* Zero-initialise. */
struct thread_figures {
    struct id_map threads, processes, processors;
    int64_t begin;     /* FILETIME of the first event that counts, then of each new beginning; 0: none has come */
    uint64_t switches; /* of all processors, of idle threads too */
    uint64_t lost;     /* events that the session could not give */
};
/* Whether what the event's class says of it is needed; else it may have no schema. */
bool thread_figures_want_class(const EVENT_RECORD *r);
/* Takes an event into account; others than the kernel's are passed over. E_OUTOFMEMORY. */
HRESULT thread_figures_take(struct thread_figures *f, const struct dumped_event *e);
/* What was until now (a FILETIME), for each thread, or for each process, that has done anything. *rows from
   memory_alloc, to be used before the next call. */
HRESULT thread_figures_rows(struct thread_figures *f, int64_t now, bool of_threads, struct figures_row **rows,
                            size_t *count);
/* All begins with 0 again, at that time; who has ended is forgotten. */
void thread_figures_reset(struct thread_figures *f, int64_t now);
void thread_figures_free(struct thread_figures *f);

#endif
