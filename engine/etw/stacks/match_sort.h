/* SPDX-License-Identifier: MIT */
/* Sorts records of stacks by the number of their event. The records arrive almost in that order. */
#ifndef OPENPLA_MATCH_SORT_H
#define OPENPLA_MATCH_SORT_H

#include <stddef.h>
#include <stdint.h>

struct match {
    uint64_t number; /* number of the event */
    uint32_t process, thread;
    uint32_t kernel, user; /* nodes of the tree; while a part is missing, its field is a link (stack_join.c) */
};
/* Sorts in place without allocating memory. The sort is stable if the records are nearly in order. */
void match_sort(struct match *matches, size_t count);

#endif
