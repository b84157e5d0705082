/* SPDX-License-Identifier: MIT */
/* Thread statistics: running, ready and I/O sums of kernel events, by thread and process. */
#ifndef OPENPLA_CLI_THREAD_FIGURES_H
#define OPENPLA_CLI_THREAD_FIGURES_H

#include "engine/etw/event_dump.h"
#include "engine/etw/id_map.h"

/* Since the last reset; times in 100 ns. */
struct figures {
    uint64_t ran, ready;                    /* running; ready without a processor */
    uint64_t switches;                      /* number of times it got a processor */
    uint64_t read, written, received, sent; /* bytes, of disks and of TCP and UDP */
};
struct figures_row {
    uint32_t process, thread; /* thread 0: the whole process */
    const char *name;         /* of the process; NULL: unknown */
    struct figures of;
};

/* Zero-initialise. */
struct thread_figures {
    struct id_map threads, processes, processors;
    int64_t begin;     /* FILETIME of the first counted event, or of the last reset; 0: no event yet */
    uint64_t switches; /* of all processors, including idle threads */
    uint64_t lost;     /* events that the session lost */
};
/* Whether the event must be decoded by its class; if not, it may lack a schema. */
bool thread_figures_want_class(const EVENT_RECORD *r);
/* Counts an event; events of providers other than the kernel are skipped. E_OUTOFMEMORY. */
HRESULT thread_figures_take(struct thread_figures *f, const struct dumped_event *e);
/* The sums until `now` (a FILETIME), for each thread or process with activity. *rows from memory_alloc; valid until the
   next call. */
HRESULT thread_figures_rows(struct thread_figures *f, int64_t now, bool of_threads, struct figures_row **rows,
                            size_t *count);
/* Resets all sums at that time and forgets threads and processes that have exited. */
void thread_figures_reset(struct thread_figures *f, int64_t now);
void thread_figures_free(struct thread_figures *f);

#endif
