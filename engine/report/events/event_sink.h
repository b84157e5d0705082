/* SPDX-License-Identifier: MIT */
/* Where the records of an event table go, each with a cell for every column: grouped or as they are, sorted, and
   written with their sub-tables and their footer. A record is an event, two that were joined, or a transaction. */
#ifndef OPENPLA_EVENT_SINK_H
#define OPENPLA_EVENT_SINK_H

#include "engine/report/events/event_columns.h"

enum { EVENT_SUB_ROWS = 1000 }; /* of one row's sub-table at most; the table says how many it left out */

struct event_sink;
/* `memory`: bytes that it may keep; what is more goes to scratch files. Both structs are borrowed. E_OUTOFMEMORY. */
HRESULT event_sink_create(const struct schema_table *table, const struct event_columns *columns, size_t memory,
                          struct event_sink **out);
void event_sink_free(struct event_sink *s); /* NULL is allowed */
/* Errors: E_OUTOFMEMORY, those of scratch files (row_sort.h). */
HRESULT event_sink_add(struct event_sink *s, const struct event_cell *cells);
/* Writes the table; rates are by the totals' seconds. Rows that are left out for want of room, and not by the table's
   own rowcount, are told in `remarks`. ERROR_CANCELLED's HRESULT when it is stopped. */
HRESULT event_sink_write(struct event_sink *s, const struct report_totals *totals, struct report_document *to,
                         struct texts *remarks);

#endif
