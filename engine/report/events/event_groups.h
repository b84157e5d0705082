/* SPDX-License-Identifier: MIT */
/* Rows of a table that groups its events: one for each key, with sums. What passes a bound of memory goes to a scratch
   file and comes together again at the end, so that sums are exact for any number of keys. */
#ifndef OPENPLA_EVENT_GROUPS_H
#define OPENPLA_EVENT_GROUPS_H

#include "engine/report/events/event_cell.h"

enum { EVENT_GROUP_SUMS = 256 };

struct event_groups;
/* `memory`: bytes for keys, what goes with them, and sorting. `sums`: how many a group has, EVENT_GROUP_SUMS at most.
   E_OUTOFMEMORY. */
HRESULT event_groups_create(size_t memory, size_t sums, struct event_groups **out);
void event_groups_free(struct event_groups *g); /* NULL is allowed */
/* Counts one event for the key and adds its cells, one for each sum. `first` is kept of the key's first event. Errors:
   E_OUTOFMEMORY, those of the scratch file (row_sort.h). */
HRESULT event_groups_add(struct event_groups *g, const char *key, size_t key_size, const char *first, size_t first_size,
                         const struct event_cell *cells);
/* All are added: from now on they are taken out. */
HRESULT event_groups_finish(struct event_groups *g);

struct event_group {
    const char *key, *first;
    size_t key_size, first_size;
    uint64_t order; /* of the first event among all that were added */
    uint64_t events;
    struct event_sum sums[EVENT_GROUP_SUMS];
};
/* The next one, in any order, valid until the next call; S_FALSE: there is none. */
HRESULT event_groups_next(struct event_groups *g, struct event_group *out);

#endif
