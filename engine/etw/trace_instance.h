/* SPDX-License-Identifier: MIT */
/* An instance of tracefs: buffers of our own in the kernel, with a ring for each processor, which disturb no other
   tracing. 100 ns of its clock are a tick of clock_ticks. An instance whose
   process was killed stays and records on: who begins one first removes those whose owners have gone. */
#ifndef OPENPLA_TRACE_INSTANCE_H
#define OPENPLA_TRACE_INSTANCE_H

#include "engine/base/text.h"
#include "engine/etw/kernel/ftrace_ring.h"

#define TRACEFS_ROOT          "/sys/kernel/tracing"
#define TRACE_INSTANCE_PREFIX "openpla-"
enum { TRACE_MOST_PROCESSORS = 1024, TRACE_MOST_BUFFER_KB = 1 << 20 };

struct trace_instance;
struct trace_options {
    const char *root;   /* of tracefs; NULL: TRACEFS_ROOT */
    const char *name;   /* behind the prefix and this process's id; letters, digits and '-' */
    uint32_t buffer_kb; /* of each processor */
};
/* Whether this host has tracefs and this user, which under Wine is that of its server, may make an instance there:
   S_OK; else ERROR_NOT_SUPPORTED's or ERROR_ACCESS_DENIED's HRESULT with a text that says what to do. */
HRESULT trace_instance_possible(const char *root);
/* Removes instances of processes that are no more, whatever program of ours made them. *left: how many could not be. */
HRESULT trace_instance_sweep(const char *root, size_t *left);
/* Makes it; it records nothing yet. */
HRESULT trace_instance_begin(const struct trace_options *options, struct trace_instance **out);
const char *trace_instance_path(const struct trace_instance *t); /* its folder, in Unix form */
const struct ring_layout *trace_instance_layout(const struct trace_instance *t);
uint32_t trace_instance_processors(const struct trace_instance *t);

/* The format file of an event, from memory_alloc. ERROR_FILE_NOT_FOUND's HRESULT: this kernel has no such event. */
HRESULT trace_instance_format(const struct trace_instance *t, const char *system, const char *event, char **out);
/* Switches an event on or off. `filter`: of the kernel's form, NULL: all of it. */
HRESULT trace_instance_enable(const struct trace_instance *t, const char *system, const char *event, const char *filter,
                              bool on);
/* Writes any other control file of the instance, as "tracing_on". */
HRESULT trace_instance_set(const struct trace_instance *t, const char *file, const char *text);

/* What a processor's ring holds now and has lost since the beginning. */
struct trace_state {
    uint64_t entries, lost;
};
HRESULT trace_instance_state(struct trace_instance *t, uint32_t processor, struct trace_state *out);
/* Takes the oldest page of a processor's ring, of layout->page_size bytes. S_FALSE: none is there. Only when `entries`
   says that there are events: under Wine the call waits for them. */
HRESULT trace_instance_page(struct trace_instance *t, uint32_t processor, uint8_t *page);
/* Switches all off and removes it. A failure: it is still there, and records nothing. NULL is allowed. */
HRESULT trace_instance_end(struct trace_instance *t);

#endif
