/* SPDX-License-Identifier: MIT */
/* The engine's only allocator. Out of memory is a normal result; tests can make the Nth call fail. */
#ifndef OPENPLA_MEMORY_H
#define OPENPLA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Like malloc, calloc, realloc and free. NULL if out of memory; for size 0 a unique pointer is returned. */
void *memory_alloc(size_t size);
void *memory_zero(size_t count, size_t size); /* an overflow of count*size returns NULL */
void *memory_resize(void *p, size_t size);    /* p stays valid if NULL is returned */
void memory_free(void *p);
/* Overwrites bytes that must not be found in memory afterwards. The compiler cannot remove this write. */
void memory_wipe(void *p, size_t size);
void memory_free_secret(char *text); /* overwrites the text before freeing it; NULL is allowed */
void *memory_copy(const void *p, size_t size);
/* Grows the array *items, which has *capacity elements of `size` bytes each, to at least `need` elements. False: out of
   memory, and nothing is changed. */
int memory_grow(void **items, size_t *capacity, size_t need, size_t size);

/* Fault injection, called only by tests: the n-th allocation of this thread from now on fails (1 = the next); 0
   switches it off. memory_count() is the number of allocations of this thread since memory_fail_at was called. */
void memory_fail_at(uint64_t n);
uint64_t memory_count(void);

#endif
