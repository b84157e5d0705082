/* SPDX-License-Identifier: MIT */
/* Numbers by 64-bit keys that are hashes already. Zero-initialise. */
#ifndef OPENPLA_COLLECT_NUMBER_TABLE_H
#define OPENPLA_COLLECT_NUMBER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct number_table {
    struct number_entry {
        uint64_t key; /* 0: free */
        uint32_t number;
    } * entries;
    size_t count, capacity; /* a power of two */
};
/* The key's number, 0 for a new key; valid until the next call. NULL: out of memory. */
uint32_t *number_table_find(struct number_table *t, uint64_t key);
void number_table_free(struct number_table *t);

#endif
