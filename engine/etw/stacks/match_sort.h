/* SPDX-License-Identifier: MIT */
/* Sorts the records of stacks by the number of their event. They arrive almost in that order. */
#ifndef OPENPLA_MATCH_SORT_H
#define OPENPLA_MATCH_SORT_H

#include <stddef.h>
#include <stdint.h>

struct match {
    uint64_t number; /* of the event */
    uint32_t process, thread;
    uint32_t kernel, user; /* nodes, or links while a part is missing */
};
/* Needs no memory. Stable while records are nearly in order. */
void match_sort(struct match *matches, size_t count);

#endif
