/* SPDX-License-Identifier: MIT */
/* Samples that are added by row and read by column, in limited memory. */
#ifndef OPENPLA_COLUMN_STORE_H
#define OPENPLA_COLUMN_STORE_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_store;
/* `words`: how many numbers a value of each column has, 1 or 2. `memory`: bytes that the samples may take; more go to a
   temporary file. */
HRESULT column_store_create(const uint8_t *words, size_t columns, size_t memory, struct column_store **out);
/* Sets a column's value in the current sample. Columns that are not set have none. `second`: of a column of two
   words. */
void column_store_set(struct column_store *s, size_t column, int64_t first, int64_t second);
/* Completes the sample. After a failure the sample is lost. */
HRESULT column_store_next(struct column_store *s);

/* A part of a column: `rows` values of consecutive samples. */
struct column_part {
    const int64_t *first, *second; /* NULL: the column has one word */
    const uint8_t *present;        /* bitmap */
    size_t rows;
};
static inline bool column_part_has(const struct column_part *p, size_t row)
{
    return p->present[row / 8] >> row % 8 & 1;
}
uint64_t column_store_samples(const struct column_store *s);
/* Samples in each part but the last one. */
size_t column_store_part_rows(const struct column_store *s);
/* Part 0 has the first samples. Columns are read in several places at a time, `reader` 0 to 3; the part is valid until
   its reader's next call. Only after the last column_store_next. */
enum { COLUMN_READERS = 4 };
HRESULT column_store_read(struct column_store *s, unsigned reader, size_t column, uint64_t part,
                          struct column_part *out);
void column_store_free(struct column_store *s); /* NULL is allowed */

#endif
