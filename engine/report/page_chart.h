/* SPDX-License-Identifier: MIT */
/* Charts of a report as they are drawn: points (report_chart.h) become paths of whole numbers and a scale with round
   steps. The sheet draws what stands here, whether into a page or a picture. */
#ifndef OPENPLA_PAGE_CHART_H
#define OPENPLA_PAGE_CHART_H

#include "engine/base/text.h"

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
