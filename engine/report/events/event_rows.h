/* SPDX-License-Identifier: MIT */
/* Rows of a table in the order of their keys: all of them by a sort beyond memory, or only the first so many, which are
   kept in a heap as long as they are few. */
#ifndef OPENPLA_EVENT_ROWS_H
#define OPENPLA_EVENT_ROWS_H

#include "engine/report/make/row_sort.h"

struct event_rows;
/* `memory`: bytes. `most`: how many come out at most; 0: all. E_OUTOFMEMORY. */
HRESULT event_rows_create(size_t memory, uint64_t most, struct event_rows **out);
void event_rows_free(struct event_rows *r); /* NULL is allowed */
/* Keys compare byte by byte; rows of one key stay in the order in which they came. Errors: E_OUTOFMEMORY, those of the
   scratch file (row_sort.h). */
HRESULT event_rows_add(struct event_rows *r, const char *key, size_t key_size, const char *body, size_t body_size);
HRESULT event_rows_finish(struct event_rows *r);
/* The next one, valid until the next call; S_FALSE: there is none. */
HRESULT event_rows_next(struct event_rows *r, struct sorted_row *out);
uint64_t event_rows_count(const struct event_rows *r); /* that were added */

#endif
