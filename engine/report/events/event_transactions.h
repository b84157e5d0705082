/* SPDX-License-Identifier: MIT */
/* Begins and ends of transactions paired by their thread (MS-PLA 2.2.3.3, EventTable's transaction): an end closes the
   newest begin of its kind that is open in its thread. */
#ifndef OPENPLA_EVENT_TRANSACTIONS_H
#define OPENPLA_EVENT_TRANSACTIONS_H

#include "engine/base/error.h"

struct event_transactions;
/* `memory`: bytes of begins that are open; what passes it is not taken, and counted. E_OUTOFMEMORY. */
HRESULT event_transactions_create(size_t memory, struct event_transactions **out);
void event_transactions_free(struct event_transactions *t); /* NULL is allowed */

/* One side of a transaction. */
struct event_moment {
    uint32_t thread;
    uint64_t kind; /* what an end has in common with its begin */
    int64_t utc;
    bool has_processor_time;
    double processor_ms; /* of the thread, in both modes */
};
/* Keeps a copy of `body`. E_OUTOFMEMORY. */
HRESULT event_transactions_begin(struct event_transactions *t, const struct event_moment *begin, const char *body,
                                 size_t size);
/* S_OK: *begin and *body are those of the transaction that it ends, valid until the next call. S_FALSE: it ends none,
   which is counted. */
HRESULT event_transactions_end(struct event_transactions *t, const struct event_moment *end, struct event_moment *begin,
                               const char **body, size_t *size);
/* The thread has ended, or one of its number begins: what is open in it never ends. */
void event_transactions_close(struct event_transactions *t, uint32_t thread);

struct event_transaction_counts {
    uint64_t unfinished; /* begins that were not ended, those that are open among them */
    uint64_t unbegun;    /* ends without a begin */
    uint64_t refused;    /* begins for which there was no room */
};
struct event_transaction_counts event_transactions_counts(const struct event_transactions *t);

#endif
