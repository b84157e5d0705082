/* SPDX-License-Identifier: MIT */
/* Joins the stacks of a trace to the events that they belong to.

   A stack is rarely in its event. The kernel writes StackWalk events behind the events they belong to, and names these
   by their time stamp. The part in the kernel and the part in the program come apart, and the second one only when the
   thread leaves the kernel; it then belongs to all events of the thread that still lack it. With stack caching, events
   refer to a stack by a key whose definition comes later, at the end of the trace at the latest. So a trace is read
   twice: the first time all of it is given to stack_joiner_take, and the second time each event is asked for. */
#ifndef OPENPLA_STACK_JOIN_H
#define OPENPLA_STACK_JOIN_H

#include "engine/etw/stack_tree.h"
#include "engine/etw/trace_input.h"

enum { STACK_MOST_FRAMES = 1024 }; /* of a stack; Windows records at most 192 in each mode */

struct event_stack {
    uint32_t process, thread; /* whose stack it is; UINT32_MAX: as in the event's header */
    uint32_t kernel, user;    /* nodes of the tree; 0: none */
};
struct stack_counts {
    uint64_t parts;      /* stacks and parts of stacks in the trace */
    uint64_t joined;     /* events that have a stack */
    uint64_t unmatched;  /* parts whose event is not in the trace */
    uint64_t unresolved; /* references to a definition that is not in the trace */
    uint64_t refused;    /* parts that were dropped because the memory limits were reached */
};

struct stack_joiner;
/* `inputs`: number of traces that are read as one. E_OUTOFMEMORY. */
HRESULT stack_joiner_create(size_t inputs, struct stack_joiner **out);
/* Takes the next event of the first reading. Its time must be a raw time stamp (trace_inputs.raw). E_OUTOFMEMORY. */
HRESULT stack_joiner_take(struct stack_joiner *j, const struct trace_event *e);
/* Ends the first reading. */
void stack_joiner_finish(struct stack_joiner *j, struct stack_counts *counts);
/* In the second reading: the stack of the event of that number. Call it with rising numbers. False: it has none. */
bool stack_joiner_find(struct stack_joiner *j, uint64_t number, struct event_stack *out);
const struct stack_tree *stack_joiner_tree(const struct stack_joiner *j);
void stack_joiner_free(struct stack_joiner *j); /* NULL is allowed */

/* The frames of a stack, innermost first, at most STACK_MOST_FRAMES. */
size_t stack_frames(const struct stack_tree *t, const struct event_stack *stack, uint64_t frames[STACK_MOST_FRAMES]);

/* Whether the event only carries stacks of other events. */
bool stack_is_carrier(const EVENT_RECORD *r);
/* Whether an address is of the kernel, in a trace of a machine with these pointers. */
static inline bool stack_in_kernel(uint64_t address, uint32_t pointer_size)
{
    return address >= (pointer_size == 4 ? UINT64_C(0x80000000) : UINT64_C(0x8000000000000000));
}

#endif
