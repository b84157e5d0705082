/* SPDX-License-Identifier: MIT */
/* The NT Kernel Logger on Linux: enables the Linux events that the flags need and converts them to Windows' classic
   events. Without access to tracefs, the tracer finds processes and threads by polling /proc, and all other events are
   missing (DECISIONS 45). Only one thread at a time may use a tracer. */
#ifndef OPENPLA_KERNEL_TRACER_H
#define OPENPLA_KERNEL_TRACER_H

#include "engine/etw/kernel_event.h"

/* Process and thread numbers in events. In native builds, and if the user requests it (os_processes_wanted), events
   contain the host OS's numbers. Otherwise Wine's processes have their Windows numbers, which only tracefs reveals
   (windows_ids.c). All other processes have the host OS's number plus this offset. The numbers cannot collide, because
   Windows' numbers under Wine are small, and the host OS's are below 4,194,304. The idle process is 0. "System", which
   owns the kernel's threads, is 4 or the host OS's kthreadd. */
#define KERNEL_HOST_OFFSET 10000000u

struct kernel_tracer_options {
    const char *name;   /* name of the tracefs instance (trace_instance.h) */
    uint32_t flags;     /* enum kernel_flag; flags without a source on this host OS have no effect */
    uint32_t buffer_kb; /* KB per processor; 0: 4 MB, enough for 100,000 context switches per second */
    bool configuration; /* the rundown includes the computer's configuration */
    /* Tests set these paths; NULL: the paths of the host OS. */
    const char *root, *proc; /* root of tracefs; path of /proc */
    const struct kernel_source *source;
};
/* Environment variable; "tracefs" or "polling" allows only that source. */
#define KERNEL_SOURCE_VARIABLE "OPENPLA_KERNEL_SOURCE"
struct kernel_tracer;
/* Returns the flags for which this kernel has a source of events. */
uint32_t kernel_tracer_sources(const struct kernel_tracer *k);
/* Starts a tracer. Returns E_INVALIDARG, with an error text, if KERNEL_SOURCE_VARIABLE has an unknown value. Other
   errors are those of the source. */
HRESULT kernel_tracer_begin(const struct kernel_tracer_options *options, struct kernel_tracer **out);
struct kernel_state {
    const char *source; /* "tracefs" or "polling" */
    const char *why;  /* why a better source is not used; "" if this is the best source; valid until the tracer ends */
    uint32_t missing; /* requested flags without a source */
    bool hides_processes; /* /proc hides other users' processes from this user */
    bool has_stacks;      /* events can have stacks (kernel_has_stacks) */
    uint64_t time;        /* ticks; all events emitted from now on have this time or a later one */
};
void kernel_tracer_state(const struct kernel_tracer *k, struct kernel_state *out);
/* Emits the processes and threads that exist now as rundown events. Emit the begin rundown before the first pass; its
   time is before the times of all other events. Emit the end rundown after the last pass. */
HRESULT kernel_tracer_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink);
/* Selects the hooks whose events are followed by StackWalk events from now on. Other hooks have no stacks. */
HRESULT kernel_tracer_stacks(struct kernel_tracer *k, const uint16_t *hooks, size_t count);
/* Sets the requested interval between samples (kernel_profile_interval). */
void kernel_tracer_interval(struct kernel_tracer *k, uint32_t asked);
/* Returns whether events of this hook can have stacks. */
bool kernel_has_stacks(uint16_t hook);
/* Emits the events since the last pass, in time order over all processors. Call it at least every 50 ms. If `last` is
   true, the recording is stopped first. */
HRESULT kernel_tracer_pass(struct kernel_tracer *k, bool last, const struct kernel_sink *sink);
/* Returns the number of losses since the beginning: events that did not fit into the kernel's buffers or, with polling,
   processes and threads that started and exited between two polls. */
uint64_t kernel_tracer_lost(const struct kernel_tracer *k);
/* Stops the tracer and removes everything that it created in the kernel. NULL is allowed. */
HRESULT kernel_tracer_end(struct kernel_tracer *k);

/* Queue of the events of one pass, in time order, before they are emitted. A process gets its name some time after its
   start. Therefore its start event reserves a place in the queue and is filled in later. */
enum { KERNEL_MOST_DATA = 0xF000 }; /* bytes per event; an event in a buffer has at most 64 KB */

/* The data of an event under construction. Zero-initialise. */
struct kernel_data {
    uint8_t *bytes;
    size_t capacity, size;
    bool failed; /* out of memory, or the data are too long */
};
void kernel_data_clear(struct kernel_data *d); /* prepares *d for the next event */
void kernel_data_u8(struct kernel_data *d, uint8_t value);
void kernel_data_u16(struct kernel_data *d, uint16_t value);
void kernel_data_u32(struct kernel_data *d, uint32_t value);
void kernel_data_u64(struct kernel_data *d, uint64_t value);
void kernel_data_bytes(struct kernel_data *d, const void *bytes, size_t size);
/* Appends text as UTF-16 with a NUL, at most `most` units; NULL is treated as "". */
void kernel_data_text(struct kernel_data *d, const char *text, size_t most);
void kernel_data_ansi(struct kernel_data *d, const char *text); /* appends the bytes with their NUL */
void kernel_data_free(struct kernel_data *d);

/* Zero-initialise. */
struct kernel_queue {
    struct kernel_data data; /* data of all events, one after another */
    struct queued *entries;
    size_t count, capacity;
};
/* Adds a copy of e and its data. Errors: E_OUTOFMEMORY. */
HRESULT kernel_queue_add(struct kernel_queue *q, const struct kernel_event *e);
/* Reserves a place for an event. kernel_queue_fill supplies the data and the hook of the event later. *entry is valid
   until the queue is flushed. */
HRESULT kernel_queue_keep_place(struct kernel_queue *q, const struct kernel_event *e, size_t *entry);
HRESULT kernel_queue_fill(struct kernel_queue *q, size_t entry, enum kernel_hook hook, const struct kernel_data *data);
/* Emits all filled entries and empties the queue. Entries that were never filled are skipped. If the sink fails, all
   entries after the failed one are dropped. */
HRESULT kernel_queue_flush(struct kernel_queue *q, const struct kernel_sink *sink);
void kernel_queue_free(struct kernel_queue *q);

#endif
