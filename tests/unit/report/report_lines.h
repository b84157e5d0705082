/* SPDX-License-Identifier: MIT */
/* A replacement for report_document.c that stores tables as lines, and checks that callers follow its rules. */
#ifndef OPENPLA_TEST_REPORT_LINES_H
#define OPENPLA_TEST_REPORT_LINES_H

#include "engine/report/make/report_tables.h"

/* Zero-initialise it. One line per row, each cell followed by |; a sub-table inside its row in [ ], each of its rows
   followed by ;; the footer after =. Aborts if a row lacks a column's cell, or if an element is not ended. */
struct report_document {
    struct text_buffer lines;
    const struct report_table_head *heads[REPORT_DEEPEST];
    uint64_t rows[REPORT_DEEPEST];
    size_t depth, cells;
    bool in_row[REPORT_DEEPEST], in_footer;
    bool quiet; /* nothing is stored */
};

#endif
