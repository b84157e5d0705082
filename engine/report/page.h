/* SPDX-License-Identifier: MIT */
/* Creates one file from a report, for readers: a page (HTML), or a picture of the charts (SVG). The file loads nothing
   else, and can be read without running its script. */
#ifndef OPENPLA_PAGE_H
#define OPENPLA_PAGE_H

#include "engine/base/text.h"

#define PAGE_SECONDS    120
#define PAGE_MOST_BYTES ((size_t)8 << 20) /* maximum size of a page that OpenPLA's sheet creates */

struct page_make {
    const char *report, *output; /* paths of the files */
    const char *base;            /* folder below which the output must be, even if its path contains links; NULL
                                    means anywhere */
    const char *sheet; /* an XSLT file of the user, which transforms the report itself; NULL means the built-in
                          sheet */
    bool picture;      /* create a picture: the charts as SVG, with the built-in sheet */
    uint32_t seconds;  /* time limit of a transformation; 0 means PAGE_SECONDS */
    bool (*stop)(void *context); /* if it returns true, page_make stops with HRESULT_FROM_WIN32(ERROR_CANCELLED); may
                                    be NULL */
    void *context;
};
/* Creates the output completely or not at all: after a failure an existing file is unchanged. Problems of the report
   are added to `notes`. Fails with OPENPLA_E_MALFORMED_XML for an invalid report or style sheet, or with an error of
   the files. */
HRESULT page_make(const struct page_make *make, struct texts *notes);

/* ---- the document of a page ----

   The sheet transforms this XML document. It contains the part of a report that a page shows, in the report's format.
   However, it has titles instead of string IDs, formatted numbers, the paths of charts, and only the first rows of long
   tables. The size of the document is limited, even if the report is large. */
#define PAGE_MOST_CHARTS 12

struct page_bounds {
    size_t cells;                /* maximum cells of all tables */
    size_t waves;                /* maximum bytes of the values that the script draws; 0 means no values */
    bool (*stop)(void *context); /* if it returns true, the function stops with HRESULT_FROM_WIN32(ERROR_CANCELLED);
                                    may be NULL */
    void *context;
};
/* Reads the report twice: first its content, then the part to show. Each table gets a share of the cells, small tables
   first; warnings, and the rows to which warnings refer, are always shown. Charts of the counters in these rows precede
   other charts. Elements have the additional attribute `title`. A Table also has `rows`, the total number of rows. The
   Item of a warning also has `number`; the most severe warning has the number 1. A Data element also has `raw`, the
   number before formatting, if formatting changed it, and `id`, the target of a warning, if it has tags. Data and Table
   elements have a Tag element for each of their tags; the first Data of a row also has the tags of its row and of
   hidden cells. A Waves element has the values of all series for the script (page_waves.h). Each Damage element
   describes a problem of the report. Fails like report_read. Warnings of report_read are added to `notes`. */
HRESULT page_document_make(const char *report, const struct page_bounds *bounds, struct text_buffer *out,
                           struct texts *notes);

/* ---- charts ----

   The layout of a report's charts. Values are converted to paths with whole coordinates, and to a scale with round
   steps. The sheets draw the paths and the scale in a page or a picture. */
#define CHART_WIDTH       1000 /* units of a path */
#define CHART_HEIGHT      240
#define CHART_MOST_SERIES 8
#define CHART_MOST_POINTS 1024 /* maximum points of a series; further points are ignored */
#define CHART_MOST_LIMITS 4
#define CHART_TIMES       6    /* approximate maximum number of time labels */
#define CHART_GREATEST    3e37 /* near the largest float: no counter has greater values */

struct chart_value {
    float least, mean, greatest; /* if least > greatest, there is a gap at this point */
};
/* A series as the report contains it. */
struct chart_source {
    const char *name, *points;
    bool has_place;     /* true: `first` and `step` are known; false: the items divide the chart's duration evenly */
    double first, step; /* both in seconds; `first`: from the chart's start to the middle of the first item; `step`:
                           from one item to the next */
};
/* Reads at most CHART_MOST_POINTS of the items min:mean:max, min:max or value; anything else is a gap. */
size_t chart_values_read(const char *points, struct chart_value *out);

/* Reads a start time as in reports, 2026-01-02T03:04:05.000Z, as the FILETIME of its local time. */
bool chart_start_read(const char *text, int64_t *out);

struct chart_line {
    char *name;
    bool has_place;
    double first, step;
    size_t count;
    struct chart_value points[CHART_MOST_POINTS];
};
/* A horizontal line: the limit that a warning compared the counter with, or a limit that the user requested. */
struct chart_limit {
    size_t warning; /* number of the warning; 0 means no warning */
    bool has_value;
    double value;
};
/* Zero-initialise. */
struct chart_layout {
    char *name, *start, *duration; /* texts from the report; start and duration may be "" */
    struct chart_line *lines;      /* CHART_MOST_SERIES */
    size_t count, omitted;         /* number of drawn series, and of omitted series */
    size_t first;                  /* number of drawn series that were added with `must`; these series come first */
    struct chart_limit limits[CHART_MOST_LIMITS];
    size_t limit_count;
};
HRESULT chart_layout_begin(struct chart_layout *c, const char *name, const char *start, const char *duration);
/* If `must` is set, the series is drawn before series without `must`, and replaces one of those if the chart is
   full. */
HRESULT chart_layout_series(struct chart_layout *c, const struct chart_source *series, bool must);
/* Ignores the limit if the chart already has CHART_MOST_LIMITS lines. Also ignores a limit without a warning if another
   line has the same position. */
void chart_layout_limit(struct chart_layout *c, const struct chart_limit *limit);
/* Adds the Chart element. Its attributes are id, name, `title` and the common counter of all series. It contains Mark
   elements for the scale, from top to bottom; Time elements at round times, from left to right; Limit elements, with
   warning, y and value if these are known; and Series elements. A Series has path (the line through the means), band
   (the area from least to greatest values; absent if these are equal), least, greatest and last. Values have the unit
   that the counter's name implies (page_unit.h). */
void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title);
void chart_layout_free(struct chart_layout *c);

#endif
