/* SPDX-License-Identifier: MIT */
/* A hash map from numbers other than 0 (ids, addresses, disk positions) to items of one size. New items are zeroed.
   Pointers to items are valid until the next put or remove. Zero-initialise and set the item size. */
#ifndef OPENPLA_ID_MAP_H
#define OPENPLA_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map {
    size_t item_size;
    size_t most; /* maximum number of items (0: no limit); in a full map, a new item replaces an old one */
    uint64_t *keys;
    uint8_t *items;
    size_t count, capacity; /* `capacity` is a power of two, or 0 */
};
/* Returns NULL if the key is missing. */
void *id_map_find(const struct id_map *m, uint64_t key);
/* Prefetches the memory that finding the key will read. */
void id_map_prefetch(const struct id_map *m, uint64_t key);
/* Returns the key's item, and adds it if it is missing. Returns NULL if memory runs out or the key is 0. */
void *id_map_put(struct id_map *m, uint64_t key);
void id_map_remove(struct id_map *m, uint64_t key);
/* Returns the next item. Start with *at = 0; NULL at the end. *key may be NULL. Do not put or remove items during the
   iteration. */
void *id_map_next(const struct id_map *m, size_t *at, uint64_t *key);
/* Does not free the memory to which the items point. */
void id_map_free(struct id_map *m);

#endif
