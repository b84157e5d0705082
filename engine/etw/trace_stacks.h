/* SPDX-License-Identifier: MIT */
/* The first reading of traces whose events will be shown with stacks: joins the stacks, and collects the images and
   methods that contain their addresses. */
#ifndef OPENPLA_TRACE_STACKS_H
#define OPENPLA_TRACE_STACKS_H

#include "engine/etw/code_places.h"
#include "engine/etw/stack_join.h"

/* Zero-initialise. */
struct trace_stacks {
    struct stack_joiner *joiner;
    struct code_places *places;
    struct stack_counts counts;
};
/* Reads the traces completely. Each event is also passed to `also` (may be NULL); its time is a raw time stamp.
   Afterwards, events in a second reading of the same traces can be looked up by their number. Fails if a trace cannot
   be read or memory runs out. Free *out even on failure. */
HRESULT trace_stacks_read(const struct texts *paths, trace_take *also, void *context, trace_progress *progress,
                          void *progress_context, struct trace_stacks *out);
/* Finds the code of a stack frame at the time of event `number`. A frame other than the innermost is a return address,
   so the instruction before it is looked up; the offset in *out is that of the return address. */
bool trace_stacks_place(const struct trace_stacks *s, uint32_t process, uint64_t address, bool innermost,
                        uint64_t number, struct code_place *out);
void trace_stacks_free(struct trace_stacks *s);

#endif
