/* SPDX-License-Identifier: MIT */
/* The distances of neighbouring samples of a log, for the middle one of them: its interval. */
#ifndef OPENPLA_SAMPLE_DISTANCES_H
#define OPENPLA_SAMPLE_DISTANCES_H

#include "engine/base/text.h"

/* Zero-initialise. At most 65,536 distances are kept, evenly spread, enough to find the middle one. */
struct sample_distances {
    int64_t *items;
    size_t count, capacity;
    uint64_t seen, step; /* every step-th is kept */
};
HRESULT sample_distances_add(struct sample_distances *d, int64_t distance);
int64_t sample_distances_middle(struct sample_distances *d); /* 0: there is none */
void sample_distances_free(struct sample_distances *d);

#endif
