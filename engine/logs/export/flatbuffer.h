/* SPDX-License-Identifier: MIT */
/* Writes FlatBuffers, the encoding of Apache Arrow's metadata, without a schema compiler.

   A flatbuffer is written from its end to its beginning, since what refers to something stands in front of it: first
   the strings and vectors that a table contains, then the table. A place is the distance of something from the end of
   the buffer; it stays valid while more is put in front. */
#ifndef OPENPLA_FLATBUFFER_H
#define OPENPLA_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLAT_SLOTS = 8 };
/* Zero-initialise. After a failed allocation later calls do nothing. */
struct flatbuffer {
    uint8_t *bytes; /* the last `used` of `capacity` are in use */
    size_t capacity, used;
    bool failed;
    size_t table, slots[FLAT_SLOTS]; /* of the table that is being written: where it ends, and its fields */
};
typedef size_t flat_place;

flat_place flat_string(struct flatbuffer *f, const char *text);
/* References to things that were written before. */
flat_place flat_vector(struct flatbuffer *f, const flat_place *items, size_t count);
/* Structs of `count` rows with `words` 64-bit numbers each. */
flat_place flat_structs(struct flatbuffer *f, const uint64_t *numbers, size_t count, size_t words);

/* A table: begin, its fields in any order, end. Fields that are left out have their defaults. */
void flat_table(struct flatbuffer *f);
void flat_number(struct flatbuffer *f, unsigned slot, uint64_t value, size_t bytes);
void flat_reference(struct flatbuffer *f, unsigned slot, flat_place place);
flat_place flat_table_end(struct flatbuffer *f);

/* Completes the buffer, whose root is that table. Its length is a multiple of 8. Borrowed; NULL: out of memory. */
const uint8_t *flat_finish(struct flatbuffer *f, flat_place root, size_t *size);
void flat_clear(struct flatbuffer *f); /* for the next buffer; keeps the memory */
void flat_free(struct flatbuffer *f);

#endif
