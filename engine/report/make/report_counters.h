/* SPDX-License-Identifier: MIT */
/* Creates the counter tables of a report: series of values, rows and charts. All counter logs are read once for all
   tables. */
#ifndef OPENPLA_REPORT_COUNTERS_H
#define OPENPLA_REPORT_COUNTERS_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"
#include "engine/report/columns.h"
#include "engine/report/make/report_tables.h"

/* ---- statistics of values, computed in one pass and in limited memory ---- */

enum {
    STATISTICS_EXACT = 1024,    /* percentiles are exact up to this number of values, then within 1 % */
    STATISTICS_MOST_BINS = 2048 /* maximum number of bins (ranges of values) of a sketch; if there are more, the two
                                   lowest bins are merged */
};

/* Zero-initialise. */
struct value_statistics {
    uint64_t count;
    double least, greatest, last;
    double sum, lost; /* `lost`: the rounding error of `sum` so far (Kahan) */
    struct value_sketch *sketch;
};
/* Adds a finite value. If `percentiles` is set, also keeps the data for percentiles. `percentiles` must then be set for
   all values, from the first one on. Fails with E_OUTOFMEMORY. */
HRESULT value_statistics_add(struct value_statistics *s, double value, bool percentiles);
double value_statistics_sum(const struct value_statistics *s);
double value_statistics_mean(const struct value_statistics *s); /* NaN without values */
/* Returns a percentile by the nearest rank. `part` 0.95 means P95. Returns NaN if there are no values, or if
   percentiles were not requested. */
double value_statistics_percentile(struct value_statistics *s, double part);
/* number of bytes that the statistics use, without the struct itself */
size_t value_statistics_memory(const struct value_statistics *s);
/* Drops the percentiles. */
void value_statistics_forget_percentiles(struct value_statistics *s);
void value_statistics_free(struct value_statistics *s);

/* ---- charts ----

   A series of values over time in a limited number of points. Each point covers a part of the time, with the least,
   mean and greatest value in it. Therefore no peak is lost, regardless of the log's length. If all samples fit, each
   one is a point. */
#define CHART_POINTS       1024 /* per series; about the width of a chart in pixels */
#define CHART_LEAST_POINTS 32   /* maximum points per series if there are very many series */

struct chart_point {
    float least, mean, greatest;
    uint32_t count; /* number of values; 0 means no value */
};
/* Zero-initialise. */
struct chart_series {
    int64_t begin, width; /* FILETIME of the first value; length of a point in units of 100 ns */
    /* The first point begins this much (in units of 100 ns) before `begin`. This keeps late samples in the right
       point. */
    int64_t lead;
    int64_t last;     /* FILETIME of the last value */
    float latest;     /* the last value */
    int64_t interval; /* time between samples in units of 100 ns, as last reported; 0 if unknown */
    bool assumed;     /* the width is still an assumption */
    size_t most;      /* maximum number of points; 0 means CHART_POINTS */
    size_t count;     /* points up to the last one with a value */
    struct chart_point *points;
    size_t capacity;
};
/* Adds a value. Times may be in any order; a time before the first one is treated as the first one. `interval` is the
   log's sample interval, which is also the initial length of a point. 0 means that the interval is not known yet; in
   that case a point is one second long until a later call specifies the interval. If several logs have different
   intervals, the time between two samples of the log with the longer interval is not a gap. Fails with
   E_OUTOFMEMORY. */
HRESULT chart_series_add(struct chart_series *s, int64_t utc, double value, int64_t interval);
/* Limits the number of points from now on, to CHART_POINTS or less; existing points are merged. */
void chart_series_limit(struct chart_series *s, size_t most);
struct chart_series_place {
    double first, step; /* both in seconds; `first`: from the chart's start to the middle of the first point; `step`:
                           from one point to the next */
};
/* Adds the points as the text of a Series, separated by spaces. A point is written as min:mean:max, or as one number if
   all three are equal, or as "-" if it has no value. */
void chart_series_text(const struct chart_series *s, int64_t start, struct text_buffer *out,
                       struct chart_series_place *place);
void chart_series_free(struct chart_series *s);

/* ---- slices ----

   A series divided into slices of equal length. Slices begin at multiples of their length in UTC, so that the slices of
   all counters, and of two runs, line up. Rules use slices to detect a lasting load that the mean of the whole log does
   not show. */
#define SLICES_TABLE      "slices" /* name of the table in a counter's row */
#define SLICES_MOST       98       /* maximum slices of a series: 96, plus a partial slice at each end */
#define SLICES_MOST_FIXED 1000     /* maximum slices of a series if their length is specified */

struct time_slice {
    uint64_t count; /* number of values; if it is 0, the other members have no meaning */
    double mean, least, greatest;
};
/* Zero-initialise. */
struct slice_series {
    int64_t width; /* in units of 100 ns; 0 means no value yet */
    int64_t fixed; /* specified width, set before the first value; 0 means automatic, starting at 10 s */
    int64_t first; /* the first slice begins at this multiple of the width */
    struct time_slice *items;
    size_t count, capacity;
};
/* Adds a value. A value before the first slice is counted in the first slice. When there are too many slices, they are
   merged into longer slices. Fails with E_OUTOFMEMORY. */
HRESULT slice_series_add(struct slice_series *s, int64_t utc, double value);
/* Makes each slice at least `width` long. */
void slice_series_widen(struct slice_series *s, int64_t width);
/* Returns the growth per hour by linear regression over the means. Returns NaN if fewer than 12 slices have values, or
   if all slices together, with or without values, cover less than an hour. */
double slice_series_trend(const struct slice_series *s);
/* Writes the slices as a table of the counter's row. The columns are start, end, n, mean, min and max; the table's note
   is the length of a slice in seconds. */
void slice_series_write(const struct slice_series *s, struct report_document *to);
void slice_series_free(struct slice_series *s);

/* ---- the reading ---- */
struct report_counters;

struct report_counters_make {
    const struct report_schema *schema; /* borrowed until the end */
    unsigned level;                     /* tables of higher levels are not created */
    size_t memory;                      /* bytes that may be kept in memory */
    uint32_t slice;                     /* seconds of a slice, for all tables; 0 means the length in the schema */
};
HRESULT report_counters_create(const struct report_counters_make *make, struct report_counters **out);
/* Reads the logs from their beginning. All samples of a counter form one series, even if they are from several logs.
   Calls `seen` after each sample. If `seen` returns false, stops and fails with HRESULT_FROM_WIN32(ERROR_CANCELLED). */
HRESULT report_counters_read(struct report_counters *c, struct inputs *logs, bool (*seen)(void *context),
                             void *context);
/* Fills in the number of samples, their times, and the gaps. Adds messages to `warnings` about gaps of logs, about the
   number of counter resets, and about parts that were omitted for lack of memory. */
HRESULT report_counters_totals(struct report_counters *c, struct report_totals *totals, struct texts *warnings);
/* Writes a table. A table of the object "*" becomes several tables; a table without rows is not written. */
HRESULT report_counters_write(struct report_counters *c, const struct schema_table *table, struct report_document *to,
                              struct texts *warnings);
/* Writes the charts for the tables of a section. */
HRESULT report_counters_write_charts(struct report_counters *c, const struct schema_section *section,
                                     struct report_document *to);
void report_counters_free(struct report_counters *c); /* NULL is allowed */

/* Returns whether a counter belongs to a table, because the table's object and patterns match. `instance` "" means that
   the counter has no instance. */
bool counter_table_takes(const struct report_schema *schema, const struct schema_table *table,
                         const struct log_counter *counter, const char *instance);

/* Returns the counter's name in the table: the English name, unless the table belongs to a user's schema in the log's
   language. */
const char *counter_table_name(const struct schema_table *table, const struct log_counter *counter);

/* ---- the rows of a table, and their charts ---- */
#define COUNTER_PERCENTILES (COUNTER_COLUMN_P50 | COUNTER_COLUMN_P95 | COUNTER_COLUMN_P99)

struct counter_series {
    struct value_statistics statistics;
    char *instance; /* "parent/instance#index"; NULL means no instance */
    bool wanted;    /* at least one table needs the series */
    bool percentiles, charted, watched;
    /* `sliced`: the row may have a table of slices. `in_slices`: slices are computed, for the row's table of slices or
       for its trend */
    bool sliced, in_slices;
    struct chart_series *chart; /* NULL if no chart was requested, or there are too many charts */
    struct slice_series slices; /* width 0: no slices were requested, or too many series have slices */
};

/* The inputs of one table; all borrowed. */
struct counter_rows {
    const struct report_schema *schema;
    const struct schema_table *table;
    const char *object; /* object whose counters are written, if the table is for any object ("*"); NULL if the table
                           names its object */
    const struct log_counter *counters;
    struct counter_series *series;
    size_t count;
    size_t *slices_left; /* rows of slices that the document may still contain; NULL means that no slices are
                            written */
};
/* Writes nothing if no series had a value. */
HRESULT counter_rows_write(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);
/* Writes one chart for each of the table's chart patterns. A chart has at most 8 series: _Total, and those with the
   greatest means. */
HRESULT counter_rows_chart(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);
#define COUNTER_MOST_WATCHED 512 /* maximum number of series in the chart of a watched counter */
/* Writes a chart of each counter that the table watches, if the table's own charts do not contain all series of the
   counter. These series come first: _Total, and the 8 series each with the greatest means, the least means, the highest
   peaks and the greatest growths. The other series follow. */
HRESULT counter_rows_watched(const struct counter_rows *rows, struct report_document *to, struct texts *warnings);

#endif
