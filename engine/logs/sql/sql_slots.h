/* SPDX-License-Identifier: MIT */
/* The slots of an SQL log: each single counter and each instance of a wildcard counter, as the samples bring them. */
#ifndef OPENPLA_SQL_SLOTS_H
#define OPENPLA_SQL_SLOTS_H

#include "engine/base/host.h"
#include "engine/logs/sql/sql_set.h"

struct sql_slots {
    const struct log_counters *counters; /* of the log, borrowed */
    /* Of who finds. */
    uint32_t *table; /* open addressing over entries: index + 1, 0 = empty */
    size_t mask;
    /* Under the lock when another thread lists. */
    struct host_lock lock;
    struct sql_slot_entry **entries; /* the first ones are those of the single counters, in order */
    size_t count, capacity;
};

/* Zeroed before. With a slot for each single counter. E_OUTOFMEMORY; sql_slots_free in any case. */
HRESULT sql_slots_init(struct sql_slots *s, const struct log_counters *counters);
void sql_slots_free(struct sql_slots *s);
/* The slot of an instance of counter number `counter` in the sample of that number, made if it is new; a second
   instance of the same name in one sample has another. */
HRESULT sql_slots_find(struct sql_slots *s, uint32_t counter, const char *instance, uint32_t sample, uint32_t *out);
/* Appends the slots that *list (from memory_alloc, its first *count are known) does not have yet. The slots live as
   long as `s`; for one other thread. */
bool sql_slots_list(struct sql_slots *s, struct sql_slot ***list, size_t *count, size_t *capacity);

#endif
