/* SPDX-License-Identifier: MIT */
/* A report as one file for readers: a page (HTML), or its charts as a picture (SVG). The file loads nothing else, and
   can be read without running its script. */
#ifndef OPENPLA_PAGE_H
#define OPENPLA_PAGE_H

#include "engine/base/text.h"

#define PAGE_SECONDS    120
#define PAGE_MOST_BYTES ((size_t)8 << 20) /* maximum size of a page that OpenPLA's sheet creates */

struct page_make {
    const char *report, *output; /* paths of the files */
    const char *base;            /* folder below which the output must be after following links; NULL: anywhere */
    const char *sheet; /* an XSLT file of the user, which transforms the report itself; NULL: the built-in sheet */
    bool picture;      /* create a picture: the charts as SVG, with the built-in sheet */
    uint32_t seconds;  /* time limit of a transformation; 0: PAGE_SECONDS */
    bool (*stop)(void *context); /* true stops with HRESULT_FROM_WIN32(ERROR_CANCELLED); may be NULL */
    void *context;
};
/* Creates the output completely or not at all: after a failure an existing file is unchanged. `notes`: problems of the
   report. Fails with OPENPLA_E_MALFORMED_XML for an invalid report or style sheet, or with an error of the files. */
HRESULT page_make(const struct page_make *make, struct texts *notes);

/* ---- the document of a page ----

   The part of a report that a page shows, as the XML that the sheet transforms: the report's format with titles instead
   of string IDs, formatted numbers, drawn charts, and only the first rows of long tables. Its size is limited for
   reports of any size. */
#define PAGE_MOST_CHARTS 12

struct page_bounds {
    size_t cells;                /* maximum cells of all tables */
    size_t waves;                /* maximum bytes of the values that the script draws; 0: none */
    bool (*stop)(void *context); /* true stops with HRESULT_FROM_WIN32(ERROR_CANCELLED); may be NULL */
    void *context;
};
/* Reads the report twice: first its content, then the part to show. Each table gets a share of the cells, small tables
   first; rows of warnings and the rows that they refer to are always shown, and charts of the rows' counters precede
   other charts. The elements have these additional attributes: `title`; on a Table, `rows` (the total number of rows);
   on the Item of a warning, `number` (the most severe warning has 1); on a Data element with a number, `raw` (the
   number before formatting) and `id` (the target of a warning). Data and Table elements have a Tag element for each of
   their tags; the first Data of a row also has the tags of its row and of hidden cells. A Waves element has the values
   of all series for the script (page_waves.h). Each Damage element describes a problem of the report. Fails like
   report_read, whose warnings become notes. */
HRESULT page_document_make(const char *report, const struct page_bounds *bounds, struct text_buffer *out,
                           struct texts *notes);

/* ---- charts ----

   The layout of a report's charts. Values are converted to paths with whole coordinates, and to a scale with round
   steps. The sheets draw these in a page or a picture. */
#define CHART_WIDTH       1000 /* units of a path */
#define CHART_HEIGHT      240
#define CHART_MOST_SERIES 8
#define CHART_MOST_POINTS 1024 /* maximum points of a series; further points are ignored */
#define CHART_MOST_LIMITS 4
#define CHART_TIMES       6    /* approximate maximum number of time labels */
#define CHART_GREATEST    3e37 /* near the largest float: no counter has greater values */

struct chart_value {
    float least, mean, greatest; /* least > greatest: a gap */
};
/* A series as in the report. */
struct chart_source {
    const char *name, *points;
    bool has_place;     /* `first` and `step` are known; otherwise the items divide the chart's duration evenly */
    double first, step; /* seconds: from the chart's start to the middle of the first item; between items */
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
    size_t warning; /* number of the warning; 0: no warning */
    bool has_value;
    double value;
};
/* Zero-initialise. */
struct chart_layout {
    char *name, *start, *duration; /* from the report; start and duration may be "" */
    struct chart_line *lines;      /* CHART_MOST_SERIES */
    size_t count, omitted;         /* number of drawn series, and of omitted series */
    size_t first;                  /* number of drawn series with `must`, which come first */
    struct chart_limit limits[CHART_MOST_LIMITS];
    size_t limit_count;
};
HRESULT chart_layout_begin(struct chart_layout *c, const char *name, const char *start, const char *duration);
/* `must`: the series precedes others, and replaces one of them if the chart is full. */
HRESULT chart_layout_series(struct chart_layout *c, const struct chart_source *series, bool must);
/* Ignores lines beyond CHART_MOST_LIMITS, and lines without a warning at the position of another line. */
void chart_layout_limit(struct chart_layout *c, const struct chart_limit *limit);
/* Adds the Chart element: attributes id, name, `title` and the common counter of all series, Mark elements from the top
   of the scale down, Time elements at round times from left to right, Limit elements with warning, y and value if they
   are known, and Series elements with path (the means), band (from least to greatest; absent if they are equal), least,
   greatest and last. Values have the unit that the counter's name implies (page_unit.h). */
void chart_layout_add(struct text_buffer *out, const struct chart_layout *c, unsigned id, const char *title);
void chart_layout_free(struct chart_layout *c);

#endif
