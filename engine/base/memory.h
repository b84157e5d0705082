/* SPDX-License-Identifier: MIT */
/* The one allocator of the engine. Out of memory is an ordinary result; tests can make the Nth call fail. */
#ifndef OPENPLA_MEMORY_H
#define OPENPLA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc and free. NULL when memory is out; size 0 gives a unique pointer. */
void *memory_alloc(size_t size);
void *memory_zero(size_t count, size_t size); /* overflow of count*size gives NULL */
void *memory_resize(void *p, size_t size);    /* p stays valid on NULL */
void memory_free(void *p);
/* Overwrites what must not be found in the memory afterwards, whatever the compiler thinks of a last write. */
void memory_wipe(void *p, size_t size);
void memory_free_secret(char *text); /* overwrites it first; NULL is allowed */
void *memory_copy(const void *p, size_t size);
/* Grows *items (elements of `size` bytes, *capacity of them) to hold at least `need`. False: out of memory, unchanged.
 */
int memory_grow(void **items, size_t *capacity, size_t need, size_t size);

/* Fault injection, called only by tests: the n-th allocation from now on this thread fails (1 = the next); 0 switches
   it off. memory_count() is the number of allocations of this thread since memory_fail_at was called. */
void memory_fail_at(uint64_t n);
uint64_t memory_count(void);

#endif
