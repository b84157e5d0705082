/* SPDX-License-Identifier: MIT */
/* Events that were made in one pass, in the order of time, before they go on: what a process is called is known a while
   after it began, so its event waits here with its place kept. */
#ifndef OPENPLA_KERNEL_QUEUE_H
#define OPENPLA_KERNEL_QUEUE_H

#include "engine/etw/kernel_event.h"

enum { KERNEL_MOST_DATA = 0xF000 }; /* of one event; a buffer's event has at most 64 KB */

/* The data of an event as they are put together. Zero-initialise. */
struct kernel_data {
    uint8_t *bytes;
    size_t capacity, size;
    bool failed; /* out of memory, or too long */
};
void kernel_data_clear(struct kernel_data *d); /* to be filled anew */
void kernel_data_u8(struct kernel_data *d, uint8_t value);
void kernel_data_u16(struct kernel_data *d, uint16_t value);
void kernel_data_u32(struct kernel_data *d, uint32_t value);
void kernel_data_u64(struct kernel_data *d, uint64_t value);
void kernel_data_bytes(struct kernel_data *d, const void *bytes, size_t size);
/* UTF-16 with its NUL, of at most `most` units; NULL counts as "". */
void kernel_data_text(struct kernel_data *d, const char *text, size_t most);
void kernel_data_ansi(struct kernel_data *d, const char *text); /* as it is, with its NUL */
void kernel_data_free(struct kernel_data *d);

/* Zero-initialise. */
struct kernel_queue {
    struct kernel_data data; /* of all, one behind the other */
    struct queued *entries;
    size_t count, capacity;
};
/* Copies e and its data. E_OUTOFMEMORY. */
HRESULT kernel_queue_add(struct kernel_queue *q, const struct kernel_event *e);
/* The same without data, which come later, with the hook: *entry is for kernel_queue_fill, until the queue is flushed.
 */
HRESULT kernel_queue_keep_place(struct kernel_queue *q, const struct kernel_event *e, size_t *entry);
HRESULT kernel_queue_fill(struct kernel_queue *q, size_t entry, enum kernel_hook hook, const struct kernel_data *data);
/* Hands all on and is empty. An entry that was not filled is left out. A failure ends it; the rest is dropped. */
HRESULT kernel_queue_flush(struct kernel_queue *q, const struct kernel_sink *sink);
void kernel_queue_free(struct kernel_queue *q);

#endif
