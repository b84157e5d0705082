/* SPDX-License-Identifier: MIT */
/* Sorts records, even if they do not fit into memory. Beyond a limit, records go to a scratch file in sorted runs,
   which are merged when the records are read. Records with the same key are returned in the order in which they were
   added. */
#ifndef OPENPLA_ROW_SORT_H
#define OPENPLA_ROW_SORT_H

#include "engine/base/text.h"

struct row_sort;

/* `memory` is the limit in bytes for the records in memory, and later for the buffers from which the runs are read. A
   buffer has at least 4 KB, and a single record may exceed the limit. Returns NULL if memory runs out. */
struct row_sort *row_sort_create(size_t memory);
void row_sort_free(struct row_sort *s); /* NULL is allowed */
/* Adds a record. A record consists of a key, which is compared byte by byte, and a body; both together have at most 2
   GB. Fails with HRESULT_FROM_WIN32(ERROR_DISK_FULL) or a similar error if the scratch file cannot store the record,
   and with HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) for a longer record or more than 4,096 runs. */
HRESULT row_sort_add(struct row_sort *s, const void *key, size_t key_size, const void *body, size_t body_size);
/* Call it after the last row_sort_add. After this call, no record may be added. */
HRESULT row_sort_finish(struct row_sort *s);

struct sorted_row {
    const char *key, *body;
    size_t key_size, body_size;
};
/* Returns the next row, which is valid until the next call. Returns S_FALSE after the last row. */
HRESULT row_sort_next(struct row_sort *s, struct sorted_row *out);
/* Compares two rows by their keys. */
int sorted_row_compare(const struct sorted_row *a, const struct sorted_row *b);

#endif
