/* SPDX-License-Identifier: MIT */
/* What the cells of text logs say: the header's tag and zone, times in the forms that logs and spreadsheets give them.
 */
#ifndef OPENPLA_TEXT_CELLS_H
#define OPENPLA_TEXT_CELLS_H

#include "engine/base/text.h"

/* One cell of a row, borrowed from it. */
struct text_cell {
    const char *text; /* without its quotes */
    size_t length;
    bool quoted, closed; /* closed: not quoted, or the second quote is there */
    bool doubled;        /* holds quotes, each twice */
};
/* The cell at *at, and *at moved behind its separator. False: the row has ended. A row that ends with a separator has
   an empty cell behind it. Start with *at at the row's beginning; *at becomes NULL behind the last cell. */
bool text_cell_next(const char **at, const char *end, char separator, struct text_cell *cell);

/* The header row's first cell. */
struct text_header {
    bool tabs;        /* "PDH-TSV" */
    char separator;   /* of the cells, as it is there; the tag's when there is one cell only */
    bool has_zone;    /* it is whole: "(name)(bias)" */
    const char *zone; /* borrowed from the row */
    size_t zone_length;
    int bias_minutes;
    const char *names; /* the second cell; NULL when there is none */
};
/* False: the row does not begin with PDH's tag. */
bool text_header_read(const char *row, size_t length, struct text_header *out);
/* Is it the beginning of a header row that ends within the tag? */
bool text_header_is_begun(const char *text, size_t length);

enum text_time_order { TIME_MONTH_FIRST, TIME_DAY_FIRST }; /* of dates with slashes */
/* "MM/DD/YYYY hh:mm:ss.mmm" and what spreadsheets make of it: fewer digits, no seconds, AM and PM, "DD.MM.YYYY",
   "YYYY-MM-DD". *local: a FILETIME value. False: it is no time. */
bool text_time_read(const char *text, size_t length, enum text_time_order order, int64_t *local);

#endif
