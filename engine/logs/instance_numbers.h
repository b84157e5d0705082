/* SPDX-License-Identifier: MIT */
/* The numbers of instances that have one name, as PDH shows them: the first has none, the others are "name#1", "name#2"
   in their order. */
#ifndef OPENPLA_INSTANCE_NUMBERS_H
#define OPENPLA_INSTANCE_NUMBERS_H

#include "engine/base/text.h"

struct instance_number;
/* The names of one list. Zero-initialise. */
struct instance_numbers {
    struct instance_number *slots; /* a hash table */
    size_t slot_count, used;
};

/* *number: how many names of the list before this one are the same, without case. The name is borrowed until
   instance_numbers_clear. */
HRESULT instance_numbers_next(struct instance_numbers *n, const char *name, size_t *number);
/* The name with its number; from memory_alloc, NULL when out of memory. */
char *instance_numbers_text(const char *name, size_t number);
void instance_numbers_clear(struct instance_numbers *n); /* for another list */
void instance_numbers_free(struct instance_numbers *n);

#endif
