/* SPDX-License-Identifier: MIT */
/* One log set in a database: its row of DisplayToID, its counters in CounterDetails, and its samples in CounterData.
   Only one thread may use a log set. */
#ifndef OPENPLA_SQL_SET_H
#define OPENPLA_SQL_SET_H

#include "engine/base/os.h"
#include "engine/logs/log.h"
#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql_log.h"

/* A single counter, or an instance of a wildcard counter, that has or will get a row in CounterDetails. */
struct sql_slot {
    struct log_counters names; /* one counter: machine and object are never NULL, and every name fits its column */
    int32_t id;                /* CounterID; 0: not yet determined on the current connection */
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
    uint32_t number; /* number in the run, from 1; lost samples have numbers too */
    size_t count;
    struct sql_row rows[];
};

struct sql_set;
/* Creates a log set without connecting. `source` and the name in `zone` are borrowed. */
HRESULT sql_set_create(const struct sql_source *source, int64_t start_utc, const struct log_zone *zone,
                       struct sql_set **out);
/* Connects and creates missing tables. Finds the log set's row by its DisplayString, to continue it, or creates the
   row. */
HRESULT sql_set_connect(struct sql_set *s);
/* Disconnects. The caller then sets every slot's id to 0. */
void sql_set_disconnect(struct sql_set *s);
bool sql_set_connected(const struct sql_set *s);

/* Writes the samples from `first` on in one transaction, and adds rows to CounterDetails for slots that have none. If
   the commit itself fails, sets *committing, because the samples may be in the database. */
HRESULT sql_set_write(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first,
                      bool *committing);
/* Checks whether the samples are in the database. Call it on a new connection after sql_set_write has set
   `committing`. */
HRESULT sql_set_has(struct sql_set *s, struct sql_slot *const *slots, const struct sql_sample *first, bool *there);
void sql_set_free(struct sql_set *s); /* NULL is allowed */

/* ---- slots: one for each single counter, and one for each instance of a wildcard counter from its first sample on
   ---- */
struct sql_slots {
    const struct log_counters *counters; /* the log's counters, borrowed */
    /* Used only by the caller's thread, which searches for slots. */
    uint32_t *table; /* hash table with open addressing: index + 1 in `entries`, 0 = empty */
    size_t mask;
    /* Protected by the lock, because another thread lists the slots. */
    struct lock lock;
    struct sql_slot_entry **entries; /* the first slots are those of the single counters, in the order of the
                                        counters */
    size_t count, capacity;
};

/* Creates a slot for each single counter; *s must be zero. Fails with E_OUTOFMEMORY; call sql_slots_free even then. */
HRESULT sql_slots_init(struct sql_slots *s, const struct log_counters *counters);
void sql_slots_free(struct sql_slots *s);
/* Finds the slot for an instance of counter number `counter` in sample number `sample`, and creates it if it is new. A
   second instance with the same name in one sample gets a separate slot. */
HRESULT sql_slots_find(struct sql_slots *s, uint32_t counter, const char *instance, uint32_t sample, uint32_t *out);
/* Appends new slots to *list (from memory_alloc), which already contains the first *count slots. The slots live as long
   as `s`. Only one other thread may call this function. */
bool sql_slots_list(struct sql_slots *s, struct sql_slot ***list, size_t *count, size_t *capacity);

/* ---- the rows of CounterDetails that belong to the slots ---- */

#endif
