/* SPDX-License-Identifier: MIT */
/* A queue of requests on the disk, which outlives the process: a folder with a file for each. */
#ifndef OPENPLA_PUSH_QUEUE_H
#define OPENPLA_PUSH_QUEUE_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUSH_BATCH_BYTES = 8 << 20 }; /* the largest body */

/* One request. */
struct push_batch {
    uint32_t kind, points;
    int64_t first; /* FILETIME of its earliest point */
    size_t size;
    char *bytes; /* from memory_alloc */
};
void push_batch_free(struct push_batch *b); /* clears it */
/* The bytes of a file, from memory_alloc; NULL: out of memory. */
char *push_batch_write(const struct push_batch *b, size_t *size);
/* Checks a file's bytes. ERROR_INVALID_DATA's HRESULT: they are not a batch, or a part of one. */
HRESULT push_batch_read(const char *bytes, size_t size, struct push_batch *out);

struct push_queue;
struct push_queue_state {
    size_t batches;
    uint64_t points, bytes;
    uint64_t dropped_points;  /* of requests that were dropped because the queue was full, since it was opened */
    uint64_t corrupt_batches; /* files that were not usable */
};
/* Opens the folder, which is created if it is missing, and its files of another time. ERROR_LOCK_VIOLATION's HRESULT
   with a message: another process uses it. The functions may be called by several threads. */
HRESULT push_queue_open(const char *folder, uint64_t most_bytes, struct push_queue **out);
/* Adds it behind all others, or with `front` before them, and drops the oldest while there are more bytes than
   `most_bytes`. */
HRESULT push_queue_add(struct push_queue *q, const struct push_batch *b, bool front);
/* Loads the oldest; corrupt ones are deleted and counted. Those of another kind are counted too, and stay in the
   folder. S_FALSE: the queue is empty. */
HRESULT push_queue_first(struct push_queue *q, uint32_t kind, struct push_batch *out);
/* Deletes the one that push_queue_first returned last, if it is still there. */
void push_queue_remove(struct push_queue *q);
struct push_queue_state push_queue_state(struct push_queue *q);
void push_queue_close(struct push_queue *q); /* NULL is allowed */

#endif
