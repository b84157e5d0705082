/* SPDX-License-Identifier: MIT */
/* Stores samples by row and returns them by column, using a limited amount of memory. */
#ifndef OPENPLA_COLUMN_STORE_H
#define OPENPLA_COLUMN_STORE_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_store;
/* Creates a store. `words` contains, for each column, the number of 64-bit words of a value: 1 or 2. `memory` is the
   number of bytes of samples that stay in memory; the rest is written to a temporary file. */
HRESULT column_store_create(const uint8_t *words, size_t columns, size_t memory, struct column_store **out);
/* Sets a column's value in the current sample. A column that is not set has no value. `second` is only used for columns
   with two words. */
void column_store_set(struct column_store *s, size_t column, int64_t first, int64_t second);
/* Completes the sample. After a failure the sample is lost. */
HRESULT column_store_next(struct column_store *s);

/* A part of a column: the values of `rows` consecutive samples. */
struct column_part {
    const int64_t *first, *second; /* `second` is NULL if the column has one word */
    const uint8_t *present;        /* bitmap */
    size_t rows;
};
static inline bool column_part_has(const struct column_part *p, size_t row)
{
    return p->present[row / 8] >> row % 8 & 1;
}
uint64_t column_store_samples(const struct column_store *s);
/* Returns the number of samples in each part except the last one. */
size_t column_store_part_rows(const struct column_store *s);
/* Reads a part of a column; part 0 has the first samples. Several parts can be used at the same time with different
   reader numbers (0 to 3). A part is valid until the next call with the same reader. Call this only after the last
   column_store_next. */
enum { COLUMN_READERS = 4 };
HRESULT column_store_read(struct column_store *s, unsigned reader, size_t column, uint64_t part,
                          struct column_part *out);
void column_store_free(struct column_store *s); /* NULL is allowed */

#endif
