/* SPDX-License-Identifier: MIT */
/* An instance of tracefs: separate buffers in the kernel, one ring per processor, independent of other tracing. Its
   clock counts ns; a tick of clock_ticks is 100 ns. An instance whose process was killed remains and keeps recording,
   so a process that creates one first removes the instances of dead owners. */
#ifndef OPENPLA_TRACE_INSTANCE_H
#define OPENPLA_TRACE_INSTANCE_H

#include "engine/base/text.h"
#include "engine/etw/kernel/ftrace_ring.h"

#define TRACEFS_ROOT          "/sys/kernel/tracing"
#define TRACE_INSTANCE_PREFIX "openpla-"
enum { TRACE_MOST_PROCESSORS = 1024, TRACE_MOST_BUFFER_KB = 1 << 20 };

struct trace_instance;
struct trace_options {
    const char *root;   /* root of tracefs; NULL: TRACEFS_ROOT */
    const char *name;   /* end of the folder's name, after the prefix and the process ids; letters, digits and '-' */
    uint32_t buffer_kb; /* size of each processor's buffer */
};
/* Checks whether this host OS has tracefs and whether this user (under Wine: the user of its server) may create an
   instance there. Returns S_OK, or HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) or HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED)
   with an error text. */
HRESULT trace_instance_possible(const char *root);
/* Removes the instances of exited processes, no matter which of OpenPLA's programs created them. *left: the number of
   instances that could not be removed. */
HRESULT trace_instance_sweep(const char *root, size_t *left);
/* Creates an instance. It does not record yet. */
HRESULT trace_instance_begin(const struct trace_options *options, struct trace_instance **out);
const char *trace_instance_path(const struct trace_instance *t); /* Unix path of the instance's folder */
const struct ring_layout *trace_instance_layout(const struct trace_instance *t);
uint32_t trace_instance_processors(const struct trace_instance *t);

/* Returns the format file of an event, from memory_alloc. Returns HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the
   kernel lacks the event. */
HRESULT trace_instance_format(const struct trace_instance *t, const char *system, const char *event, char **out);
/* Enables or disables an event. `filter` uses the kernel's syntax; NULL means no filter. */
HRESULT trace_instance_enable(const struct trace_instance *t, const char *system, const char *event, const char *filter,
                              bool on);
/* Writes another control file of the instance, such as "tracing_on". */
HRESULT trace_instance_set(const struct trace_instance *t, const char *file, const char *text);

/* `entries` is the number of events in a processor's ring now, and `lost` is the number of events lost since the
   beginning. */
struct trace_state {
    uint64_t entries, lost;
};
HRESULT trace_instance_state(struct trace_instance *t, uint32_t processor, struct trace_state *out);
/* Removes the oldest page of layout->page_size bytes from a processor's ring. Returns S_FALSE if the ring is empty.
   Call it only if trace_state.entries is not 0, because under Wine the call blocks while the ring is empty. */
HRESULT trace_instance_page(struct trace_instance *t, uint32_t processor, uint8_t *page);
/* Stops recording and removes the instance. After a failure the instance can still exist. If the failure is that
   tracefs was unmounted, the instance still exists and keeps recording. NULL is allowed. */
HRESULT trace_instance_end(struct trace_instance *t);

#endif
