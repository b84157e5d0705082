/* SPDX-License-Identifier: MIT */
/* Where memory.c has its memory from: small blocks of a few sizes, cut out of larger pieces, in place of the system's
   heap, which is slow under Wine. In sanitizer builds it is malloc itself, so that misuse is seen. */
#ifndef OPENPLA_MEMORY_POOL_H
#define OPENPLA_MEMORY_POOL_H

#include <stddef.h>

/* As malloc, realloc and free for sizes above 0, from any thread; blocks are aligned for every type. */
void *pool_alloc(size_t size);
void *pool_resize(void *p, size_t size); /* p may be NULL, and stays valid on NULL */
void pool_free(void *p);                 /* NULL is allowed */

#endif
