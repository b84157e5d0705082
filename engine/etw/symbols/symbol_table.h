/* SPDX-License-Identifier: MIT */
/* A table of the functions in one image, by offset. */
#ifndef OPENPLA_SYMBOL_TABLE_H
#define OPENPLA_SYMBOL_TABLE_H

#include "engine/base/text.h"

struct symbol_row {
    uint32_t at, size; /* offset in the image; size 0: unknown, so the function reaches to the next one or to the end of
                          the extent */
    uint32_t name;     /* offset in `names` */
};
/* A contiguous range of code, such as a function whose name is not known. */
struct symbol_extent {
    uint32_t at, size;
};
/* Zero-initialise. */
struct symbol_table {
    struct symbol_row *rows;
    size_t count, capacity;
    struct symbol_extent *extents;
    size_t extent_count, extent_capacity;
    struct text_buffer names; /* the names, each with its NUL */
};
/* Adds a function. The name ends at the first NUL or after `size` bytes; functions with empty names are ignored.
   Returns S_FALSE if the table is full, and E_OUTOFMEMORY if memory runs out. */
HRESULT symbol_table_add(struct symbol_table *t, uint64_t at, uint64_t bytes, const char *name, size_t size);
HRESULT symbol_table_add_extent(struct symbol_table *t, uint64_t at, uint64_t bytes);
/* Sorts the table. Call it after adding the last row. If several rows have the same offset, keeps only one of them, and
   prefers a row with a size. */
void symbol_table_sort(struct symbol_table *t);
/* Finds the function that contains the offset. *from is the offset's distance from the function's beginning. Returns
   false if the function is unknown. */
bool symbol_table_find(const struct symbol_table *t, uint64_t offset, const char **name, uint64_t *from);
size_t symbol_table_bytes(const struct symbol_table *t);
void symbol_table_free(struct symbol_table *t);

#endif
