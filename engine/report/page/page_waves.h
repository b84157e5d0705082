/* SPDX-License-Identifier: MIT */
/* The values of a report's series for the script of a page, as JSON:

     {"waves":[{"o":object,"n":"counter (instance)","s":start,"f":first,"t":step,"u":unit,"k":factor,"r":1,"p":points}],
      "charts":[{"id":"c1","o":object,"n":[names of the drawn lines],
                 "l":[{"n":warning,"v":limit,"s":[names of the lines that the warning is about]}]}],"omitted":0}

   `start` is the text in the report. `first` and `step` are in seconds. `points` are the points in the report, with six
   digits. Each series of an object exists once, whether the page shows its chart initially or only on request. */
#ifndef OPENPLA_PAGE_WAVES_H
#define OPENPLA_PAGE_WAVES_H

#include "engine/report/page.h"
#include "engine/report/page/page_parts.h"

/* Zero-initialise, and set `most`. */
struct page_waves {
    size_t most; /* maximum bytes of all series; `omitted` counts the series that would exceed it */
    struct text_buffer waves, charts;
    struct texts charted;       /* names of objects and series that a chart without "watch" contains */
    struct chart_value *values; /* values of the current series */
    size_t omitted;
};
/* `watched` means that the series is from a chart with "watch"; such a series may be the same as a series of another
   chart. */
HRESULT page_waves_series(struct page_waves *w, const struct chart_layout *chart, const char *object,
                          const struct chart_source *series, bool watched);
/* Adds a chart of the page. `at` is the index of the chart in the findings. */
void page_waves_chart(struct page_waves *w, unsigned id, const char *object, const struct chart_layout *chart,
                      const struct page_findings *findings, size_t at);
/* Adds the Waves element. */
void page_waves_add(struct text_buffer *out, const struct page_waves *w);
void page_waves_free(struct page_waves *w);

#endif
