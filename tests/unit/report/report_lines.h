/* SPDX-License-Identifier: MIT */
/* A report document that keeps its tables as lines, in the place of report_document.c's file, and holds those who write
   to its rules. */
#ifndef OPENPLA_TEST_REPORT_LINES_H
#define OPENPLA_TEST_REPORT_LINES_H

#include "engine/report/make/report_tables.h"

/* Zero-initialise. A line a row, its cells with | behind them; a sub-table in its row in [ ], with ; behind its rows;
   the footer behind =. Aborts if a row lacks the cell of a column, or an element that was begun is not ended. */
struct report_document {
    struct text_buffer lines;
    const struct report_table_head *heads[REPORT_DEEPEST];
    uint64_t rows[REPORT_DEEPEST];
    size_t depth, cells;
    bool in_row[REPORT_DEEPEST], in_footer;
    bool quiet; /* nothing is kept */
};

#endif
