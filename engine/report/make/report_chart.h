/* SPDX-License-Identifier: MIT */
/* A series of values over time in a bounded number of points: each is a part of the time with its least and its
   greatest value, so no peak is lost, however long the log is. */
#ifndef OPENPLA_REPORT_CHART_H
#define OPENPLA_REPORT_CHART_H

#include "engine/base/text.h"

#define CHART_POINTS 256

/* Zero-initialise. */
struct chart_series {
    int64_t begin, width; /* FILETIME of the first value; 100 ns of each point */
    int64_t lead;     /* 100 ns by which the first point begins before it: samples that are late stay in their point */
    int64_t last;     /* FILETIME of the last value */
    float latest;     /* that value */
    int64_t interval; /* 100 ns between samples, as it was told last; 0: not yet */
    bool assumed;     /* nobody has told the width yet */
    size_t count;     /* points up to the last one with a value */
    struct chart_point {
        float least, greatest; /* least > greatest: no value */
    } points[CHART_POINTS];
};
/* Times may come in any order from the first one on; an earlier one counts as that. `interval`: the log's, which a
   point is long at first; 0: it is not known yet, as of a first value, and a point is one second unless a later call
   tells it while there is one. Another log's may be longer: between its samples there is no gap. */
void chart_series_add(struct chart_series *s, int64_t utc, double value, int64_t interval);
/* The points between two times, as the text of a Series: min:max, one number where both are the same, - for none, with
   blanks between. */
void chart_series_text(const struct chart_series *s, int64_t first, int64_t last, struct text_buffer *out);

#endif
