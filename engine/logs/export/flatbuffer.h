/* SPDX-License-Identifier: MIT */
/* Writes FlatBuffers, the encoding of Apache Arrow's metadata, without a schema compiler.

   A flatbuffer is written from its end to its beginning, because a reference must be in front of its target. The
   strings and vectors of a table are written first, and then the table. A place is a distance from the end of the
   buffer, so that it stays valid while data are added in front. */
#ifndef OPENPLA_FLATBUFFER_H
#define OPENPLA_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLAT_SLOTS = 8 };
/* A buffer that is being written. Zero-initialise. After a failed allocation, later calls do nothing. */
struct flatbuffer {
    uint8_t *bytes; /* the last `used` of `capacity` bytes are in use */
    size_t capacity, used;
    bool failed;
    size_t table, slots[FLAT_SLOTS]; /* the table that is being written: the place of its end, and its fields */
};
typedef size_t flat_place;

flat_place flat_string(struct flatbuffer *f, const char *text);
/* Adds a vector of references to data that were written before. */
flat_place flat_vector(struct flatbuffer *f, const flat_place *items, size_t count);
/* Adds a vector of `count` structures with `words` 64-bit numbers each. */
flat_place flat_structs(struct flatbuffer *f, const uint64_t *numbers, size_t count, size_t words);

/* To add a table: flat_table, its fields in any order, flat_table_end. Omitted fields have their default values. */
void flat_table(struct flatbuffer *f);
void flat_number(struct flatbuffer *f, unsigned slot, uint64_t value, size_t bytes);
void flat_reference(struct flatbuffer *f, unsigned slot, flat_place place);
flat_place flat_table_end(struct flatbuffer *f);

/* Completes the buffer; `root` is its root table. The length is a multiple of 8. Returns the bytes, borrowed; NULL: out
   of memory. */
const uint8_t *flat_finish(struct flatbuffer *f, flat_place root, size_t *size);
void flat_clear(struct flatbuffer *f); /* empties f for the next buffer; keeps the memory */
void flat_free(struct flatbuffer *f);

#endif
