/* SPDX-License-Identifier: MIT */
/* A queue of requests that outlives the process: a folder on the disk with one file per request. */
#ifndef OPENPLA_PUSH_QUEUE_H
#define OPENPLA_PUSH_QUEUE_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUSH_BATCH_BYTES = 8 << 20 }; /* maximum size of a body */

/* One request. */
struct push_batch {
    uint32_t kind, points;
    int64_t first; /* FILETIME of its earliest point */
    size_t size;
    char *bytes; /* from memory_alloc */
};
void push_batch_free(struct push_batch *b); /* frees the bytes and clears the struct */
/* Returns the bytes of a batch's file, from memory_alloc; NULL: out of memory. */
char *push_batch_write(const struct push_batch *b, size_t *size);
/* Checks and reads a file's bytes. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the bytes are not a complete
   batch. */
HRESULT push_batch_read(const char *bytes, size_t size, struct push_batch *out);

struct push_queue;
struct push_queue_state {
    size_t batches;
    uint64_t points, bytes;
    uint64_t dropped_points;  /* points of requests that were dropped since the queue was opened, because it was full */
    uint64_t corrupt_batches; /* unusable files */
};
/* Opens the folder, creates it if it is missing, and loads the list of its files. Fails with
   HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION) and a message if another process uses the folder. Several threads may call
   these functions. */
HRESULT push_queue_open(const char *folder, uint64_t most_bytes, struct push_queue **out);
/* Adds the batch at the end of the queue, or with `front` at its beginning. Drops the oldest batches while the queue
   has more than `most_bytes` bytes. */
HRESULT push_queue_add(struct push_queue *q, const struct push_batch *b, bool front);
/* Loads the oldest batch. Corrupt files are deleted and counted. Files that cannot be read, and batches whose kind is
   not `kind`, are also counted, but stay in the folder. S_FALSE: the queue is empty. */
HRESULT push_queue_first(struct push_queue *q, uint32_t kind, struct push_batch *out);
/* Deletes the batch that push_queue_first returned last, if it still exists. */
void push_queue_remove(struct push_queue *q);
struct push_queue_state push_queue_state(struct push_queue *q);
void push_queue_close(struct push_queue *q); /* NULL is allowed */

#endif
