/* SPDX-License-Identifier: MIT */
/* Joins the stacks in a trace to the events to which they belong.

   A stack is rarely part of its event. The kernel writes StackWalk events after the events to which they belong, and
   identifies these by their time stamp. The kernel part and the user part of a stack arrive separately. The user part
   is written only when the thread leaves the kernel, and then belongs to all events of the thread that still lack a
   user part. With stack caching, events refer to a stack by a key whose definition comes later, possibly only at the
   end of the trace. Therefore a trace is read twice: in the first pass every event is passed to stack_joiner_take, and
   in the second pass each event is looked up. */
#ifndef OPENPLA_STACK_JOIN_H
#define OPENPLA_STACK_JOIN_H

#include "engine/etw/stack_tree.h"
#include "engine/etw/trace_input.h"

enum { STACK_MOST_FRAMES = 1024 }; /* maximum frames of a stack; Windows records at most 192 in each mode */

struct event_stack {
    uint32_t process, thread; /* the process and thread of the stack; UINT32_MAX: those in the event's header */
    uint32_t kernel, user;    /* nodes of the tree; 0: no frames */
};
struct stack_counts {
    uint64_t parts;      /* stacks and parts of stacks in the trace */
    uint64_t joined;     /* events that have a stack */
    uint64_t unmatched;  /* parts whose event is not in the trace */
    uint64_t unresolved; /* references to a definition that is not in the trace */
    uint64_t refused;    /* parts that were dropped because the memory limits were reached */
};

struct stack_joiner;
/* `inputs`: number of traces that are read as one. Errors: E_OUTOFMEMORY. */
HRESULT stack_joiner_create(size_t inputs, struct stack_joiner **out);
/* Processes the next event of the first pass. Its time must be a raw time stamp (trace_inputs.raw). Errors:
   E_OUTOFMEMORY. */
HRESULT stack_joiner_take(struct stack_joiner *j, const struct trace_event *e);
/* Ends the first pass. */
void stack_joiner_finish(struct stack_joiner *j, struct stack_counts *counts);
/* Finds, in the second pass, the stack of the event with that number. Call it with ascending numbers. Returns false if
   the event has no stack. */
bool stack_joiner_find(struct stack_joiner *j, uint64_t number, struct event_stack *out);
/* The caller uses this function to prefetch memory. If stack_joiner_find last returned stack n of the trace, returns
   stack n + `ahead`. Returns false if there are no more stacks. */
bool stack_joiner_ahead(const struct stack_joiner *j, size_t ahead, struct event_stack *out);
const struct stack_tree *stack_joiner_tree(const struct stack_joiner *j);
void stack_joiner_free(struct stack_joiner *j); /* NULL is allowed */

/* Lists the frames of a stack, innermost first, and returns their number. */
size_t stack_frames(const struct stack_tree *t, const struct event_stack *stack, uint64_t frames[STACK_MOST_FRAMES]);

/* Returns whether the event only carries stacks of other events. */
bool stack_is_carrier(const EVENT_RECORD *r);
/* Returns whether an address belongs to the kernel, in a trace from a machine with this pointer size. */
static inline bool stack_in_kernel(uint64_t address, uint32_t pointer_size)
{
    return address >= (pointer_size == 4 ? UINT64_C(0x80000000) : UINT64_C(0x8000000000000000));
}

#endif
