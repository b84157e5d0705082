/* SPDX-License-Identifier: MIT */
/* The last values of times that must not fall. */
#ifndef OPENPLA_STEADY_H
#define OPENPLA_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steady_slot {
    uint64_t key, page; /* key 0: free */
    int64_t last, since;
};
/* Zero-initialise. */
struct steady {
    struct steady_slot *slots;
    size_t count, used;
};
/* Returns the value of a series on this page, or the last one if it has fallen by less than `most`; more is a restart.
   Series that are missing on 16 pages are forgotten. Out of memory: the value. */
int64_t steady_keep(struct steady *s, uint64_t key, uint64_t page, int64_t most, int64_t value);
/* Returns the time when the values of a series began: `now` at its first page, and when the value has fallen. */
int64_t steady_since(struct steady *s, uint64_t key, uint64_t page, int64_t now, int64_t value);
void steady_free(struct steady *s);

#endif
