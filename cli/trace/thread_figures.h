/* SPDX-License-Identifier: MIT */
/* Thread statistics: sums of running time, ready time and I/O from kernel events, by thread and process. */
#ifndef OPENPLA_CLI_THREAD_FIGURES_H
#define OPENPLA_CLI_THREAD_FIGURES_H

#include "engine/etw/event_dump.h"
#include "engine/etw/id_map.h"

/* Sums since the last reset. Times are in units of 100 ns. */
struct figures {
    uint64_t ran, ready;                    /* `ran`: time for which the thread ran; `ready`: time for which it was
                                               ready but had no processor */
    uint64_t switches;                      /* number of times that the thread got a processor */
    uint64_t read, written, received, sent; /* bytes read from and written to disks, received and sent by TCP and UDP */
};
struct figures_row {
    uint32_t process, thread; /* thread 0: the row is the whole process */
    const char *name;         /* name of the process; NULL if unknown */
    struct figures of;
};

/* Zero-initialise. */
struct thread_figures {
    struct id_map threads, processes, processors;
    int64_t begin;     /* FILETIME of the first counted event, or of the last reset; 0 means no event yet */
    uint64_t switches; /* switches on all processors, including those to and from idle threads */
    uint64_t lost;     /* number of events that the session lost */
};
/* Returns true if the event must be decoded with its class; other events need no schema. */
bool thread_figures_want_class(const EVENT_RECORD *r);
/* Counts an event. Ignores events that are not from the kernel. Fails with E_OUTOFMEMORY. */
HRESULT thread_figures_take(struct thread_figures *f, const struct dumped_event *e);
/* Returns the sums up to `now` (a FILETIME) for each thread or process with activity. *rows is from memory_alloc; its
   contents are valid until the next call. */
HRESULT thread_figures_rows(struct thread_figures *f, int64_t now, bool of_threads, struct figures_row **rows,
                            size_t *count);
/* Resets all sums at the time `now` and removes threads and processes that have exited. */
void thread_figures_reset(struct thread_figures *f, int64_t now);
void thread_figures_free(struct thread_figures *f);

#endif
