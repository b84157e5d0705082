/* SPDX-License-Identifier: MIT */
/* The counter tables of a report, all of them from one reading of all counter logs: series of values, rows, charts. */
#ifndef OPENPLA_REPORT_COUNTERS_H
#define OPENPLA_REPORT_COUNTERS_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"
#include "engine/report/columns.h"
#include "engine/report/make/report_tables.h"

/* ---- statistics of values: in one pass, in limited memory ---- */

enum {
    STATISTICS_EXACT = 1024,    /* values up to which percentiles are exact; above they are within 1 % */
    STATISTICS_MOST_BINS = 2048 /* of a sketch: ranges of values; the lowest of them become one when there are more */
};

/* Zero-initialise. */
struct value_statistics {
    uint64_t count;
    double least, greatest, last;
    double sum, lost; /* Kahan's sum: what `sum` lost so far */
    struct value_sketch *sketch;
};
/* Adds a finite value. `percentiles`: keep percentiles, from the first value on. E_OUTOFMEMORY. */
HRESULT value_statistics_add(struct value_statistics *s, double value, bool percentiles);
double value_statistics_sum(const struct value_statistics *s);
double value_statistics_mean(const struct value_statistics *s); /* of no value: NaN */
/* The value of the nearest rank, `part` of 0 to 1; NaN without values, or where percentiles were not wanted. */
double value_statistics_percentile(struct value_statistics *s, double part);
size_t value_statistics_memory(const struct value_statistics *s); /* bytes beside the struct */
/* Drops the percentiles. */
void value_statistics_forget_percentiles(struct value_statistics *s);
void value_statistics_free(struct value_statistics *s);

/* ---- charts ----

   A series of values over time in a limited number of points: each is a part of the time with its least, mean and
   greatest value. Therefore no peak is lost, regardless of the log's length. If all samples fit, each one is a point.
   */
#define CHART_POINTS       1024 /* of a series, about the pixels of a chart's width */
#define CHART_LEAST_POINTS 32   /* of one series among very many */

struct chart_point {
    float least, mean, greatest;
    uint32_t count; /* of values; 0: no value */
};
/* Zero-initialise. */
struct chart_series {
    int64_t begin, width; /* FILETIME of the first value; 100 ns of each point */
    int64_t lead;     /* 100 ns by which the first point begins before it: samples that are late stay in their point */
    int64_t last;     /* FILETIME of the last value */
    float latest;     /* that value */
    int64_t interval; /* 100 ns between samples, as last reported; 0: unknown */
    bool assumed;     /* the width is still an assumption */
    size_t most;      /* points at most; 0: CHART_POINTS */
    size_t count;     /* points up to the last one with a value */
    struct chart_point *points;
    size_t capacity;
};
/* Times may come in any order after the first one; an earlier one counts as the first. `interval` is the log's, and the
   initial length of a point; 0: not known yet, then a point is one second until a later call gives it. If another log
   has a longer interval, the time between its samples is not a gap. E_OUTOFMEMORY. */
HRESULT chart_series_add(struct chart_series *s, int64_t utc, double value, int64_t interval);
/* At most that many points from now on, CHART_POINTS or less; existing ones are merged. */
void chart_series_limit(struct chart_series *s, size_t most);
struct chart_series_place {
    double first, step; /* seconds: from the chart's start to the middle of the first point, and between points */
};
/* The points as the text of a Series: min:mean:max, one number if they are equal, - for none, with blanks between. */
void chart_series_text(const struct chart_series *s, int64_t start, struct text_buffer *out,
                       struct chart_series_place *place);
void chart_series_free(struct chart_series *s);

/* ---- slices ----

   A series in equal parts of the time, which begin at multiples of their length in UTC, so that the parts of all
   counters and of two runs line up. Rules find in them when a load lasted that means over the whole log do not show. */
#define SLICES_TABLE      "slices" /* the table in a row */
#define SLICES_MOST       98       /* of a series: 96, and the parts of slices at both ends */
#define SLICES_MOST_FIXED 1000     /* if the length is given */

struct time_slice {
    uint64_t count; /* of values; 0: the others mean nothing */
    double mean, least, greatest;
};
/* Zero-initialise. */
struct slice_series {
    int64_t width; /* 100 ns; 0: no value yet */
    int64_t fixed; /* the first width, before any value; 0: automatic, from 10 s on */
    int64_t first; /* the first slice begins at this multiple of the width */
    struct time_slice *items;
    size_t count, capacity;
};
/* A value; one earlier than the first slice counts in that. Slices become longer when there are too many.
   E_OUTOFMEMORY. */
HRESULT slice_series_add(struct slice_series *s, int64_t utc, double value);
/* The slices become at least that long. */
void slice_series_widen(struct slice_series *s, int64_t width);
/* The growth per hour by linear regression over the means; NaN below 12 slices with values, or an hour. */
double slice_series_trend(const struct slice_series *s);
/* The table of a row: start, end, n, mean, min, max; its note is the length in seconds. */
void slice_series_write(const struct slice_series *s, struct report_document *to);
void slice_series_free(struct slice_series *s);

/* ---- the reading ---- */
struct report_counters;

struct report_counters_make {
    const struct report_schema *schema; /* borrowed until the end */
    unsigned level;                     /* tables of higher levels are not created */
    size_t memory;                      /* bytes that may be kept */
    uint32_t slice;                     /* seconds of a slice, for all tables; 0: as the schema has it */
};
HRESULT report_counters_create(const struct report_counters_make *make, struct report_counters **out);
/* Reads the logs from their beginning. Samples of a counter form one series, also across logs.
   Calls `seen` after each sample; false ends the reading with ERROR_CANCELLED's HRESULT. */
HRESULT report_counters_read(struct report_counters *c, struct inputs *logs, bool (*seen)(void *context),
                             void *context);
/* Samples, their times, and gaps. Adds to `warnings`: gaps of logs, the number of counter resets, and parts omitted for
   lack of memory. */
HRESULT report_counters_totals(struct report_counters *c, struct report_totals *totals, struct texts *warnings);
/* Writes a table. A table of the object "*" becomes several; a table without rows is not written. */
HRESULT report_counters_write(struct report_counters *c, const struct schema_table *table, struct report_document *to,
                              struct texts *warnings);
/* The charts that go with the tables of a section. */
HRESULT report_counters_write_charts(struct report_counters *c, const struct schema_section *section,
                                     struct report_document *to);
void report_counters_free(struct report_counters *c); /* NULL is allowed */

/* Whether a counter is in a table, by object and patterns. `instance` "": it has none. */
bool counter_table_takes(const struct report_schema *schema, const struct schema_table *table,
                         const struct log_counter *counter, const char *instance);

/* The counter's name in the table: the English one, unless the table is of a user's own schema in the log's language.
 */
const char *counter_table_name(const struct schema_table *table, const struct log_counter *counter);

/* ---- the rows of a table, and their charts ---- */
#define COUNTER_PERCENTILES (COUNTER_COLUMN_P50 | COUNTER_COLUMN_P95 | COUNTER_COLUMN_P99)

struct counter_series {
    struct value_statistics statistics;
    char *instance; /* "parent/instance#index"; NULL: it has none */
    bool wanted;    /* by some table */
    bool percentiles, charted, watched;
    bool sliced, in_slices;     /* the row may have a table of slices; there are slices, for it or for the trend */
    struct chart_series *chart; /* NULL: not requested, or too many charts */
    struct slice_series slices; /* without width: not requested, or too many */
};

/* The inputs of one table; all borrowed. */
struct counter_rows {
    const struct report_schema *schema;
    const struct schema_table *table;
    const char *object; /* of a table of any object: this one; NULL: the table's */
    const struct log_counter *counters;
    struct counter_series *series;
    size_t count;
    size_t *slices_left; /* rows of slices that the document may still have; NULL: none */
};
/* Nothing is written at times when no series had a value. */
HRESULT counter_rows_write(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);
/* For each of the table's patterns the series with the greatest means, at most 8; _Total is one of them. */
HRESULT counter_rows_chart(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);
#define COUNTER_MOST_WATCHED 512 /* series of a watched counter's chart */
/* A chart of each counter that the table watches, where its own charts have not all series of it: first, of the means,
   the 8 greatest and the 8 least, the 8 highest peaks, the 8 greatest growths, and _Total; then the others. */
HRESULT counter_rows_watched(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);

#endif
