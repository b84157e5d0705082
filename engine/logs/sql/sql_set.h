/* SPDX-License-Identifier: MIT */
/* One log set in a database: its row of DisplayToID, its counters in CounterDetails, its samples into CounterData.
   All of it is for one thread. */
#ifndef OPENPLA_SQL_SET_H
#define OPENPLA_SQL_SET_H

#include "engine/base/os.h"
#include "engine/logs/log.h"
#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql_log.h"

/* A counter, one instance of one, that has or gets a row in CounterDetails. */
struct sql_slot {
    struct log_counters names; /* one: machine and object are never NULL, no name is too long for its column */
    int32_t id;                /* CounterID; 0: not looked up since the last connection */
};

struct sql_row {
    uint32_t slot;
    uint32_t multi_count;
    bool has_raw;
    double value;
    int64_t first, second;
};

struct sql_sample {
    struct sql_sample *next;
    int64_t utc;
    uint32_t number; /* of the run, from 1; also samples that were lost have one */
    size_t count;
    struct sql_row rows[];
};

struct sql_set;
/* Nothing is connected yet. `source` and `zone`'s name are borrowed. */
HRESULT sql_set_create(const struct sql_source *source, int64_t start_utc, const struct log_zone *zone,
                       struct sql_set **out);
/* Connects, makes sure of the tables and of the set's row: found by its DisplayString, whose runs it continues, or
   made. */
HRESULT sql_set_connect(struct sql_set *s);
/* Every slot's id is to be set to 0 then. */
void sql_set_disconnect(struct sql_set *s);
bool sql_set_connected(const struct sql_set *s);

/* Writes the samples from `first` on in one transaction, with rows of CounterDetails for the slots that have none yet.
 *committing, when the commit itself fails: it may have happened. */
HRESULT sql_set_write(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first,
                      bool *committing);
/* After sql_set_write said `committing` and a new connection: are the samples there? */
HRESULT sql_set_has(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first, bool *there);
void sql_set_free(struct sql_set *s); /* NULL is allowed */

/* ---- slots: each single counter and each instance of a wildcard counter, as the samples bring them ---- */
struct sql_slots {
    const struct log_counters *counters; /* of the log, borrowed */
    /* Used by the caller that searches. */
    uint32_t *table; /* open addressing over entries: index + 1, 0 = empty */
    size_t mask;
    /* Under the lock when another thread lists. */
    struct lock lock;
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

/* ---- the rows of CounterDetails that belong to the slots ---- */

#endif
