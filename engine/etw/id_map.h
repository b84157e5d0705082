/* SPDX-License-Identifier: MIT */
/* What is known by a number that is not 0: an id, an address, a place on a disk. Items are of one size, zero when they
   are new, and stay where they are until one is put or removed. Zero-initialise with the size. */
#ifndef OPENPLA_ID_MAP_H
#define OPENPLA_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
    size_t item_size;
    size_t most; /* items; 0: as many as memory holds. What comes beyond takes the place of another one */
    uint64_t *keys;
    uint8_t *items;
    size_t count, capacity; /* a power of two */
};
/* NULL: it is not there. */
void *id_map_find(const struct id_map *m, uint64_t key);
/* What is there, or a new one. NULL: out of memory. */
void *id_map_put(struct id_map *m, uint64_t key);
void id_map_remove(struct id_map *m, uint64_t key);
/* The next item from *at on, which begins with 0; NULL: no more. *key may be NULL. Nothing is put or removed meanwhile.
 */
void *id_map_next(const struct id_map *m, size_t *at, uint64_t *key);
/* Without freeing what items point to. */
void id_map_free(struct id_map *m);

#endif
