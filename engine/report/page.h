/* SPDX-License-Identifier: MIT */
/* A report as one file that people read: a page (HTML), or its charts as a picture (SVG). It loads nothing, and is
   readable without its script. */
#ifndef OPENPLA_PAGE_H
#define OPENPLA_PAGE_H

#include "engine/base/text.h"

#define PAGE_MOST_BYTES ((size_t)2 << 20) /* of a page by our own sheet, of any report */

struct page_make {
    const char *report, *output; /* files */
    const char *base;            /* the output lies below it, wherever links lead; NULL: anywhere */
    const char *sheet;           /* an XSLT file of the user's: it is given the report as it is; NULL: our own */
    bool picture;                /* of the charts, as SVG, by our own sheet */
    bool (*stop)(void *context); /* true ends it with ERROR_CANCELLED's HRESULT; NULL: nobody asks */
    void *context;
};
/* Creates the output completely or not at all: after a failure an existing file is unchanged. `notes`: problems of the
   report. OPENPLA_E_MALFORMED_XML: not a report, or an invalid style sheet; errors of files. */
HRESULT page_make(const struct page_make *make, struct texts *notes);

/* ---- the document of a page ----

   What of a report goes onto a page, as the XML that the sheet transforms: the report's own form with titles in place
   of the IDs of strings, numbers as they are read, charts as they are drawn, and of long tables the first rows. Its
   size is limited, however large the report is. */
#define PAGE_MOST_CHARTS 12

struct page_bounds {
    size_t cells;                /* of all tables */
    bool (*stop)(void *context); /* true ends it with ERROR_CANCELLED's HRESULT; NULL: nobody asks */
    void *context;
};
/* Reads the report twice: first its content, then the part to show. Each table gets a share of the cells, small tables
   first; rows of warnings and the rows that they refer to are always shown, and charts of those counters precede other
   charts. Attributes beside the report's own: title; on a Table rows (their total number); on a warning's Item number,
   from the most severe on; on a Data number, raw (the number before formatting) and id (the target of a warning). A
   Data and a Table have an element Tag for each of their tags; the first Data of a row also has those of its row and of
   cells that are not shown. An element Damage describes problems of the report. Errors and notes of report_read. */
HRESULT page_document_make(const char *report, const struct page_bounds *bounds, struct text_buffer *out,
                           struct texts *notes);

/* ---- charts ----

   Charts of a report as they are drawn: points become paths of whole numbers and a scale with round steps. The sheet
   draws what stands here, whether into a page or a picture. */
#define CHART_WIDTH       1000 /* units of a path */
#define CHART_HEIGHT      240
#define CHART_MOST_SERIES 8
#define CHART_MOST_POINTS 512
#define CHART_MOST_LIMITS 4
#define CHART_TIMES       5    /* labels of the time */
#define CHART_GREATEST    3e37 /* beyond that floats end: no value of a counter */

struct chart_line {
    char *name;
    size_t count;
    struct {
        float least, greatest; /* least > greatest: a gap */
    } points[CHART_MOST_POINTS];
};
/* A horizontal line: the limit that a warning compared the counter with, or one that the user asked for. */
struct chart_limit {
    size_t warning; /* its number; 0: it is no warning's */
    bool has_value;
    double value;
};
/* Zero-initialise. */
struct chart_layout {
    char *name, *start, *duration; /* as the report has them; start and duration may be "" */
    struct chart_line *lines;      /* CHART_MOST_SERIES */
    size_t count, omitted;         /* series that are drawn, and those that are not */
    size_t first;                  /* of the drawn ones, so many are such as must be */
    struct chart_limit limits[CHART_MOST_LIMITS];
    size_t limit_count;
};
HRESULT chart_layout_begin(struct chart_layout *c, const char *name, const char *start, const char *duration);
/* A series from the text of its points. Anything but a number is a gap. `must`: the series precedes others, and
   replaces one of them if the chart is full. */
HRESULT chart_layout_series(struct chart_layout *c, const char *name, const char *points, bool must);
/* Ignores lines beyond CHART_MOST_LIMITS, and lines without a warning at the place of another line. */
void chart_layout_limit(struct chart_layout *c, const struct chart_limit *limit);
/* Adds the element Chart, ended by "</Chart>": attributes id, name, `title` and what all series are of (counter), Mark
   elements from the top of the scale down, Time ones from left to right, Limit with warning, y and value, each where
   there is one, and Series with path, least, greatest, last. */
void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title);
void chart_layout_free(struct chart_layout *c);

#endif
