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
/* Makes the output whole or not at all: a failure leaves a file that is there as it was. `notes`: what is not right
   with the report. OPENPLA_E_MALFORMED_XML: the report is none, or the sheet is not right; files' errors. */
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
/* Reads the report twice: what is in it, then what of it is shown. Each table has its share of the cells, the small
   ones first; the rows of warnings and those that they point at are always there, and charts of what they are about
   come before others. Attributes beside the report's own: title; of a Table rows (all there are); of a warning's Item
   number, from the worst on; of a Data number, raw (the number as it was) and id (where a warning points). In a Data
   and a Table an element Tag for each of its tags, in the first Data also its row's and those of cells that are not
   shown. Damage says what is wrong with the report. report_read's errors and remarks. */
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
/* What a warning compared the counter with, or somebody wants to see a line at. */
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
/* A series by the text of its points. What is no number counts as a gap. `must`: it comes before others, and takes the
   place of one of them where there is no room. */
HRESULT chart_layout_series(struct chart_layout *c, const char *name, const char *points, bool must);
/* Those beyond CHART_MOST_LIMITS are passed over, and such of no warning where there is a line already. */
void chart_layout_limit(struct chart_layout *c, const struct chart_limit *limit);
/* Adds the element Chart, ended by "</Chart>": attributes id, name, `title` and what all series are of (counter), Mark
   elements from the top of the scale down, Time ones from left to right, Limit with warning, y and value, each where
   there is one, and Series with path, least, greatest, last. */
void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title);
void chart_layout_free(struct chart_layout *c);

#endif
