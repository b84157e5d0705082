/* SPDX-License-Identifier: MIT */
/* Stores the latest value of each counter of time, because these counters must not decrease. */
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
/* Returns `value`, or the series' previous value if the value has decreased by less than `most`; a larger decrease
   counts as a restart, and the function returns `value`. `page` is the number of the current sample. A series that is
   missing in 16 successive samples can be removed. Returns `value` if out of memory. */
int64_t steady_keep(struct steady *s, uint64_t key, uint64_t page, int64_t most, int64_t value);
/* Returns the start time of a series. The start time is the time `now` of the first sample. If the value has decreased,
   the start time is set to `now` again. */
int64_t steady_since(struct steady *s, uint64_t key, uint64_t page, int64_t now, int64_t value);
void steady_free(struct steady *s);

#endif
