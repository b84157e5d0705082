/* SPDX-License-Identifier: MIT */
/* Processes the events of a table. Each event becomes a record, or two events are combined into one. Records are
   grouped, sorted, and written. */
#ifndef OPENPLA_EVENT_SINK_H
#define OPENPLA_EVENT_SINK_H

#include "engine/base/error.h"
#include "engine/report/events/event_cell.h"
#include "engine/report/make/row_sort.h"

/* ---- transactions ----

   Starts and ends of transactions, paired by their thread (MS-PLA 2.2.3.3, EventTable's transaction): an end closes the
   newest start of its kind that is open in its thread. */

struct event_transactions;
/* `memory` is the limit in bytes for open start events; further start events are dropped and counted. Fails with
   E_OUTOFMEMORY. */
HRESULT event_transactions_create(size_t memory, struct event_transactions **out);
void event_transactions_free(struct event_transactions *t); /* NULL is allowed */

/* The start or the end of a transaction. */
struct event_moment {
    uint32_t thread;
    uint64_t kind; /* hash of the values that a start and its end have in common */
    int64_t utc;
    bool has_processor_time;
    double processor_ms; /* processor time of the thread, in kernel and user mode */
};
/* Keeps a copy of `body`. Fails with E_OUTOFMEMORY. */
HRESULT event_transactions_begin(struct event_transactions *t, const struct event_moment *begin, const char *body,
                                 size_t size);
/* Ends a transaction. Returns S_OK if the transaction is open; *begin and *body are then its start event, and are valid
   until the next call. Returns S_FALSE, and counts the event, if no open transaction matches. */
HRESULT event_transactions_end(struct event_transactions *t, const struct event_moment *end, struct event_moment *begin,
                               const char **body, size_t *size);
/* Call it when the thread has ended, or a new thread has its ID: the open transactions of the thread will never be
   completed. */
void event_transactions_close(struct event_transactions *t, uint32_t thread);

struct event_transaction_counts {
    uint64_t unfinished; /* starts without an end, including the open ones */
    uint64_t unbegun;    /* ends without a start */
    uint64_t refused;    /* starts dropped for lack of memory */
};
struct event_transaction_counts event_transactions_counts(const struct event_transactions *t);

/* ---- joins ----

   Joins events of two kinds by a value (MS-PLA 2.2.3.3, EqualJoin): each event of one kind is paired with each event
   of the other kind that has the same value. The events of both kinds are sorted by that value, in a scratch file if
   they exceed the memory. */
#define EVENT_JOIN_MOST_PAIRS 100000000u

struct event_join;
/* `memory` is the limit in bytes for the sort; the events with one value may take the same amount in addition. `most`
   is the maximum number of pairs. Fails with E_OUTOFMEMORY. */
HRESULT event_join_create(size_t memory, uint64_t most, struct event_join **out);
void event_join_free(struct event_join *j); /* NULL is allowed */
/* `side` is 0 or 1. An event without a value has no partner. Fails with E_OUTOFMEMORY, or with an error of a scratch
   file. */
HRESULT event_join_add(struct event_join *j, unsigned side, const struct event_cell *value, const char *body,
                       size_t size);

/* The bodies of a pair, in the order of the sides. */
typedef HRESULT event_join_take(void *context, const char *const bodies[2]);
/* Passes all pairs to `take`. Many events may have no partner, and then `take` is not called for a long time; therefore
   `go_on` is called for each event. *omitted counts the events that did not fit into memory together with the other
   events of the same value, and the pairs beyond the limit. Fails like `take`, `go_on` or event_join_add. */
HRESULT event_join_pairs(struct event_join *j, event_join_take *take, HRESULT (*go_on)(void *context), void *context,
                         uint64_t *omitted);

/* ---- groups ----

   If a table groups its events, each row stands for a group. A group consists of a key and the sums over all events
   with this key. Groups that exceed the memory limit go to a scratch file and are merged at the end, so that sums are
   exact for any number of keys. */
enum { EVENT_GROUP_SUMS = 256 };

struct event_groups;
/* `memory` is the limit in bytes for keys, their data, and sorting. `sums` is the number of sums of a group, at most
   EVENT_GROUP_SUMS. Fails with E_OUTOFMEMORY. */
HRESULT event_groups_create(size_t memory, size_t sums, struct event_groups **out);
void event_groups_free(struct event_groups *g); /* NULL is allowed */
/* Counts one event for the key, and adds each of `cells` to the sum with the same index. `first` is stored only for the
   first event of the key. Fails with E_OUTOFMEMORY, or with an error of the scratch file (row_sort.h). */
HRESULT event_groups_add(struct event_groups *g, const char *key, size_t key_size, const char *first, size_t first_size,
                         const struct event_cell *cells);
/* Call it after the last event_groups_add. After this call, no event may be added. */
HRESULT event_groups_finish(struct event_groups *g);

struct event_group {
    const char *key, *first;
    size_t key_size, first_size;
    uint64_t order; /* position of the group's first event among all events added */
    uint64_t events;
    struct event_sum sums[EVENT_GROUP_SUMS];
};
/* Returns the next group, in any order; it is valid until the next call. Returns S_FALSE after the last group. */
HRESULT event_groups_next(struct event_groups *g, struct event_group *out);

/* ---- sorted rows ----

   Sorts the rows of a table by their keys. If all rows are requested, an external sort is used. If only the first few
   rows are requested, a heap keeps them in memory. */
struct event_rows;
/* `memory` is the limit in bytes. `most` is the maximum number of returned rows; 0 means all rows. Fails with
   E_OUTOFMEMORY. */
HRESULT event_rows_create(size_t memory, uint64_t most, struct event_rows **out);
void event_rows_free(struct event_rows *r); /* NULL is allowed */
/* Keys are compared byte by byte; rows with the same key stay in the order in which they were added. Fails with
   E_OUTOFMEMORY, or with an error of the scratch file (row_sort.h). */
HRESULT event_rows_add(struct event_rows *r, const char *key, size_t key_size, const char *body, size_t body_size);
HRESULT event_rows_finish(struct event_rows *r);
/* Returns the next row, which is valid until the next call. Returns S_FALSE after the last row. */
HRESULT event_rows_next(struct event_rows *r, struct sorted_row *out);
uint64_t event_rows_count(const struct event_rows *r); /* number of rows added */

/* ---- records ----

   A sink receives the records of an event table, each with a cell for every column. The sink groups the records if the
   table requires this, sorts them, and writes the rows with their sub-tables and the footer. A record is an event, two
   joined events, or a transaction. */
enum { EVENT_SUB_ROWS = 1000 }; /* maximum rows of one row's sub-table; the table reports the number of skipped rows */

struct event_sink;
/* `memory` is the number of bytes that the sink may use; the rest goes to scratch files. Both structs are borrowed.
   Fails with E_OUTOFMEMORY. */
HRESULT event_sink_create(const struct schema_table *table, const struct event_columns *columns, size_t memory,
                          struct event_sink **out);
void event_sink_free(struct event_sink *s); /* NULL is allowed */
/* Adds a record. Fails with E_OUTOFMEMORY, or with an error of a scratch file (row_sort.h). */
HRESULT event_sink_add(struct event_sink *s, const struct event_cell *cells);
/* Writes the table; rates use the totals' seconds. A warning reports rows that are omitted because the report is full;
   rows beyond the table's own rowcount are omitted silently. Fails with HRESULT_FROM_WIN32(ERROR_CANCELLED) if
   totals->stop returns true. */
HRESULT event_sink_write(struct event_sink *s, const struct report_totals *totals, struct report_document *to,
                         struct texts *warnings);

#endif
