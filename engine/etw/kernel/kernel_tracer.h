/* SPDX-License-Identifier: MIT */
/* The NT Kernel Logger where the host is Linux: switches on what the flags ask for, and makes Windows' classic events
   of what comes. Where tracefs may not be used, processes and threads are looked for in /proc, and the rest is not told
   (DECISIONS 45). One thread at a time. */
#ifndef OPENPLA_KERNEL_TRACER_H
#define OPENPLA_KERNEL_TRACER_H

#include "engine/etw/kernel_event.h"

/* Processes and threads have the host's own numbers, natively and where the user wants them (host_processes_wanted).
   Else those of Wine have Windows' numbers, which tracefs alone can tell (windows_ids.c), and all others the host's
   number and this, which can be read, and meets none: Windows' numbers under Wine are small, and the host's are below
   4,194,304. The idle process is 0, and "System", of which the kernel's threads are, 4, or the host's kthreadd. */
#define KERNEL_HOST_OFFSET 10000000u

struct kernel_tracer_options {
    const char *name;   /* of the instance (trace_instance.h) */
    uint32_t flags;     /* enum kernel_flag; those without a source here have no effect */
    uint32_t buffer_kb; /* of each processor; 0: 4 MB, which 100,000 switches a second need */
    bool configuration; /* the rundown says what the computer is made of, too */
    /* For tests; NULL: what this host has. */
    const char *root, *proc; /* of tracefs; of /proc */
    const struct kernel_source *source;
};
/* "tracefs" or "polling": that source and no other. */
#define KERNEL_SOURCE_VARIABLE "OPENPLA_KERNEL_SOURCE"
struct kernel_tracer;
/* Of the flags those that this kernel, with its own events, has sources for. */
uint32_t kernel_tracer_sources(const struct kernel_tracer *k);
/* E_INVALIDARG with a text: KERNEL_SOURCE_VARIABLE says neither. Else the failure of the source. */
HRESULT kernel_tracer_begin(const struct kernel_tracer_options *options, struct kernel_tracer **out);
struct kernel_state {
    const char *source;   /* "tracefs", "polling" */
    const char *why;      /* it is not the best one, until the tracer ends; "" where it is */
    uint32_t missing;     /* flags that were asked for, for which it has nothing */
    bool hides_processes; /* /proc shows this user none of others */
    bool has_stacks;      /* of events (kernel_has_stacks) */
    uint64_t time;        /* ticks: what it tells next is not older */
};
void kernel_tracer_state(const struct kernel_tracer *k, struct kernel_state *out);
/* Processes and threads that are there now, as rundown events: of the beginning, before the first pass and with the
   time from before all others, or of the end, behind the last one. */
HRESULT kernel_tracer_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink);
/* From now on events of these hooks have stacks, as StackWalk events behind them, and no others. */
HRESULT kernel_tracer_stacks(struct kernel_tracer *k, const uint16_t *hooks, size_t count);
/* From one sample to the next, as it is asked for (kernel_profile_interval). */
void kernel_tracer_interval(struct kernel_tracer *k, uint32_t asked);
/* Whether events of this hook can have any. */
bool kernel_has_stacks(uint16_t hook);
/* What happened since the last time, in the order of time over all processors. Every 50 ms or more often.
   `last`: nothing is recorded from now on. */
HRESULT kernel_tracer_pass(struct kernel_tracer *k, bool last, const struct kernel_sink *sink);
/* Since the beginning: events that the kernel had no room for; of polling, the processes and threads that began and
   ended between two looks. */
uint64_t kernel_tracer_lost(const struct kernel_tracer *k);
/* Removes all that was made in the kernel. NULL is allowed. */
HRESULT kernel_tracer_end(struct kernel_tracer *k);

/* Events that were made in one pass, in the order of time, before they go on: what a process is called is known a while
   after it began, so its event waits here with its place kept. */
enum { KERNEL_MOST_DATA = 0xF000 }; /* of one event; a buffer's event has at most 64 KB */

/* The data of an event as they are put together. Zero-initialise. */
struct kernel_data {
    uint8_t *bytes;
    size_t capacity, size;
    bool failed; /* out of memory, or too long */
};
void kernel_data_clear(struct kernel_data *d); /* to be filled anew */
void kernel_data_u8(struct kernel_data *d, uint8_t value);
void kernel_data_u16(struct kernel_data *d, uint16_t value);
void kernel_data_u32(struct kernel_data *d, uint32_t value);
void kernel_data_u64(struct kernel_data *d, uint64_t value);
void kernel_data_bytes(struct kernel_data *d, const void *bytes, size_t size);
/* UTF-16 with its NUL, of at most `most` units; NULL counts as "". */
void kernel_data_text(struct kernel_data *d, const char *text, size_t most);
void kernel_data_ansi(struct kernel_data *d, const char *text); /* as it is, with its NUL */
void kernel_data_free(struct kernel_data *d);

/* Zero-initialise. */
struct kernel_queue {
    struct kernel_data data; /* of all, one behind the other */
    struct queued *entries;
    size_t count, capacity;
};
/* Copies e and its data. E_OUTOFMEMORY. */
HRESULT kernel_queue_add(struct kernel_queue *q, const struct kernel_event *e);
/* The same without data, which come later, with the hook: *entry is for kernel_queue_fill, until the queue is flushed.
 */
HRESULT kernel_queue_keep_place(struct kernel_queue *q, const struct kernel_event *e, size_t *entry);
HRESULT kernel_queue_fill(struct kernel_queue *q, size_t entry, enum kernel_hook hook, const struct kernel_data *data);
/* Hands all on and is empty. An entry that was not filled is left out. A failure ends it; the rest is dropped. */
HRESULT kernel_queue_flush(struct kernel_queue *q, const struct kernel_sink *sink);
void kernel_queue_free(struct kernel_queue *q);

#endif
