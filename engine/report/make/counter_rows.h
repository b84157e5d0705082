/* SPDX-License-Identifier: MIT */
/* Series of counters as the rows of a table, and as a chart. */
#ifndef OPENPLA_COUNTER_ROWS_H
#define OPENPLA_COUNTER_ROWS_H

#include "engine/report/columns.h"
#include "engine/report/make/report_chart.h"
#include "engine/report/make/report_counters.h"
#include "engine/report/make/value_statistics.h"

#define COUNTER_PERCENTILES (COUNTER_COLUMN_P50 | COUNTER_COLUMN_P95 | COUNTER_COLUMN_P99)

struct counter_series {
    struct value_statistics statistics;
    char *instance; /* "parent/instance#index"; NULL: it has none */
    bool wanted;    /* by some table */
    bool percentiles, charted, watched;
    struct chart_series *chart; /* NULL: there are too many, or none is wanted */
};

/* What one table is made of; all borrowed. */
struct counter_rows {
    const struct report_schema *schema;
    const struct schema_table *table;
    const char *object; /* of a table of any object: this one; NULL: the table's */
    const struct log_counter *counters;
    struct counter_series *series;
    size_t count;
};
/* Nothing is written where no series had a value. */
HRESULT counter_rows_write(const struct counter_rows *rows, struct report_document *to, struct texts *remarks);
/* For each of the table's patterns the series with the greatest means, at most 8; _Total is one of them. */
HRESULT counter_rows_chart(const struct counter_rows *rows, struct report_document *to, struct texts *remarks);
#define COUNTER_MOST_WATCHED 40 /* series of a watched counter's chart */
/* A chart of each counter that the table watches, where its own charts have not all series of it: of the means the 8
   greatest and the 8 least, the 8 highest peaks, the 8 greatest growths, and _Total. */
HRESULT counter_rows_watched(const struct counter_rows *rows, struct report_document *to, struct texts *remarks);

#endif
