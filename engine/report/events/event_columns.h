/* SPDX-License-Identifier: MIT */
/* The columns of an event table as it is made: which events they are of, what is done with their cells. */
#ifndef OPENPLA_EVENT_COLUMNS_H
#define OPENPLA_EVENT_COLUMNS_H

#include "engine/report/events/event_field.h"
#include "engine/report/make/report_tables.h"

enum {
    EVENT_COLUMNS = 2 * SCHEMA_MOST_COLUMNS, /* of the table, and of its sub-table */
    EVENT_SOURCES = 16,                      /* sorts of events that one table is made of */
    NO_SUM = -1,
};

/* Which events a column is of. */
struct event_source {
    const struct schema_field *said; /* guid, number and version */
    uint64_t met, of_another_version;
    unsigned other_version; /* the last one that was met */
};
/* By the event's header alone: the class and type of a classic event, the provider and number of another one. Any
   provider is not the log itself. */
bool event_source_has(const struct event_source *s, const EVENT_RECORD *record);

struct event_column {
    const struct schema_column *said;
    struct event_field field;
    size_t source;
    int sum; /* which of the row's sums it shows, NO_SUM: it shows a value */
};
struct event_columns {
    struct event_column items[EVENT_COLUMNS]; /* the table's, then the sub-table's */
    size_t count, own;                        /* all of them, and the table's */
    size_t sums;
    bool grouped; /* rows are groups of events */
    struct event_source sources[EVENT_SOURCES];
    size_t source_count;
};
/* E_INVALIDARG with a text that names column, field and value: what the table says cannot be made. Adds to `remarks`
   what is passed over. */
HRESULT event_columns_make(const struct schema_table *table, struct event_columns *out, struct texts *remarks);
/* How a table and what is wrong in it are called: "FILE: line N: table T". From memory_alloc. */
char *event_table_place(const struct schema_table *table);

#endif
