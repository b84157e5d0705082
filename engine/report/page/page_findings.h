/* SPDX-License-Identifier: MIT */
/* What the warnings of a report are about: their numbers, worst first, the counters of the rows that they point at, and
   the charts and limits that go with these. Filled by the first reading, asked by the second. */
#ifndef OPENPLA_PAGE_FINDINGS_H
#define OPENPLA_PAGE_FINDINGS_H

#include "engine/report/make/report_severity.h"
#include "engine/report/report_reader.h"

#define FINDINGS_MOST_WARNINGS 500
#define FINDINGS_MOST_ROWS     200 /* that warnings point at */
#define FINDINGS_MOST_CHARTS   200
#define FINDINGS_MOST_SERIES   48 /* of a chart, from the first on */
#define FINDINGS_MOST_LIMITS   4  /* of a chart */

struct found_warning {
    char *link;
    enum report_severity severity;
    size_t order, number;
    bool has_limit;
    double limit; /* in the counter's unit */
};
/* A row of a table of counters that has a tag. */
struct found_row {
    char *tags;            /* its own and its cells' (report_tags.h) */
    char *source, *series; /* of which object; as charts name their lines: "counter (instance)" */
    size_t counter;        /* bytes of the counter in it */
    const struct found_warning *worst[FINDINGS_MOST_LIMITS]; /* that point at it, the worst first */
    size_t worst_count;
};
struct found_chart {
    char *source;
    struct texts series;
    bool watched; /* it is there for warnings alone */
    bool shown;
};
/* Zero-initialise. */
struct page_findings {
    struct found_warning *warnings; /* in the order of the document */
    struct found_row *rows;
    struct found_chart *charts; /* in the order of the document */
    size_t warning_count, row_count, chart_count;
    bool chart_open; /* series are the last chart's */
};
/* A row of any table that stands in a section; a table of warnings is told by its name. What is beyond the bounds is
   passed over. E_OUTOFMEMORY. */
HRESULT page_findings_row(struct page_findings *f, const struct report_table *table, const struct report_row *row);
HRESULT page_findings_chart(struct page_findings *f, const struct report_data *chart);
HRESULT page_findings_series(struct page_findings *f, const struct report_data *series);
/* Behind the reading: numbers the warnings and chooses `most` charts. Those with a counter that a warning is about come
   first; a watched one is there where no other has the series. *omitted: charts that are not shown, but would be where
   there was room. */
void page_findings_settle(struct page_findings *f, size_t most, unsigned *omitted);
/* How bad a row of the table of warnings is: as its `img` says, else a warning as any other, as rules see it too. */
enum report_severity page_findings_severity(const struct report_row *warning);
/* Of the at-th warning of the document, from 1 on. */
size_t page_findings_number(const struct page_findings *f, size_t at);
/* The warnings that are about a counter in this chart, the worst first; FINDINGS_MOST_LIMITS at most. */
size_t page_findings_about(const struct page_findings *f, size_t chart, const struct found_warning **out);
/* Whether a warning is about this very line of the chart. */
bool page_findings_names(const struct page_findings *f, size_t chart, const char *series);
void page_findings_free(struct page_findings *f);

#endif
