/* SPDX-License-Identifier: MIT */
/* Events of two sorts that have one value in common (MS-PLA 2.2.3.3, EqualJoin): each of the one with each of the
   other. Both are sorted by that value, beyond what memory holds. */
#ifndef OPENPLA_EVENT_JOIN_H
#define OPENPLA_EVENT_JOIN_H

#include "engine/report/events/event_cell.h"

#define EVENT_JOIN_MOST_PAIRS 100000000u

struct event_join;
/* `memory`: bytes for the sort, and as many again for the events of one value. `most`: pairs that are given.
   E_OUTOFMEMORY. */
HRESULT event_join_create(size_t memory, uint64_t most, struct event_join **out);
void event_join_free(struct event_join *j); /* NULL is allowed */
/* `side`: 0 or 1. Without a value the event has no partner. Errors: E_OUTOFMEMORY, those of scratch files. */
HRESULT event_join_add(struct event_join *j, unsigned side, const struct event_cell *value, const char *body,
                       size_t size);

/* The bodies of a pair, in the order of the sides. */
typedef HRESULT event_join_take(void *context, const char *const bodies[2]);
/* Gives all pairs. `go_on` is asked for each event that is looked at for a partner, as there may be many without one.
   *left_out: events of one value that were too many for the memory, and pairs past the most. Errors: those of `take`
   and `go_on`, and as above. */
HRESULT event_join_pairs(struct event_join *j, event_join_take *take, HRESULT (*go_on)(void *context), void *context,
                         uint64_t *left_out);

#endif
