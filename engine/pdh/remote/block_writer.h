/* SPDX-License-Identifier: MIT */
/* Blocks into a buffer whose size is found out first: what writes them is run twice, and only counts at first. */
#ifndef OPENPLA_PCQ_BLOCK_WRITER_H
#define OPENPLA_PCQ_BLOCK_WRITER_H

#include "engine/pdh/methods.h"

/* More than this no answer has, or a client could keep the server busy with one: a hundred times all threads of a busy
   host with all their counters. */
#define PCQ_MOST_ANSWER (64u << 20)

struct block_writer {
    uint8_t *bytes; /* NULL: only counts */
    size_t size;
};
/* Copies of `size` bytes. */
void block_put(struct block_writer *w, const void *bytes, size_t size);
/* The text as UTF-16 with its NUL. */
void block_put_text(struct block_writer *w, const char *text);
/* Zeros up to a multiple of 8 behind `from`. */
void block_pad(struct block_writer *w, size_t from);
/* A pcq_instance with its name and padding; NULL: the one of an object without instances. */
void block_put_instance(struct block_writer *w, const struct instance *instance);
/* Puts the number into what was written at `at`. */
void block_set_number(struct block_writer *w, size_t at, uint32_t number);
/* False: it is no use to write on. */
static inline bool block_goes_on(const struct block_writer *w)
{
    return w->size <= PCQ_MOST_ANSWER;
}

/* Runs `write` for the size, and where it fits for the bytes. The units are of `unit` bytes. ERROR_SUCCESS,
   PCQ_NOT_ENOUGH_MEMORY, PCQ_OUT_OF_MEMORY beyond PCQ_MOST_ANSWER. */
DWORD block_deliver(struct pcq_buffer *out, size_t unit, void (*write)(struct block_writer *w, const void *what),
                    const void *what);

#endif
