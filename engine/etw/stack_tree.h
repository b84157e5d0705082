/* SPDX-License-Identifier: MIT */
/* Call stacks as paths of one tree. The stacks in a trace share most of their outer frames, so a million stacks take a
   few megabytes. A stack is identified by the number of its innermost node; 0 identifies the empty stack. */
#ifndef OPENPLA_STACK_TREE_H
#define OPENPLA_STACK_TREE_H

#include "engine/base/text.h"

/* Zero-initialise, and set `most`. A value is an address or any other number that identifies a frame. */
struct stack_tree {
    uint32_t most;     /* maximum nodes; further nodes are refused */
    uint32_t count;    /* number of nodes, without the root */
    uint64_t *values;  /* value of node n at n - 1 */
    uint32_t *parents; /* the next outer node of node n at n - 1; 0: no such node */
    uint64_t *slots;   /* hash table of nodes; a slot has the node in its low 32 bits and a part of the hash in its high
                          32 bits */
    size_t capacity, slot_count;
    uint32_t *latest; /* recently added stacks, by the hash of their values; NULL: out of memory, or not created yet */
    uint64_t refused; /* nodes that were not added because of `most` */
};
/* Finds or adds the frame `value` called by `parent`. Returns 0 if memory runs out or the limit was reached. */
uint32_t stack_tree_add(struct stack_tree *t, uint32_t parent, uint64_t value);
/* Prefetches the memory that adding this node will read; call it some nodes earlier. `parent` is the expected number of
   the node's parent. */
void stack_tree_prefetch(const struct stack_tree *t, uint32_t parent, uint64_t value);
/* Adds frames, given from the innermost to the outermost, below `parent`. Returns the innermost node; 0 in the same
   cases as stack_tree_add. */
uint32_t stack_tree_add_stack(struct stack_tree *t, uint32_t parent, const uint64_t *inner_first, size_t count);
static inline uint64_t stack_tree_value(const struct stack_tree *t, uint32_t node)
{
    return t->values[node - 1];
}
static inline uint32_t stack_tree_parent(const struct stack_tree *t, uint32_t node)
{
    return t->parents[node - 1];
}
void stack_tree_free(struct stack_tree *t);

#endif
