/* SPDX-License-Identifier: MIT */
/* Replaces report_document.c. Stores tables as lines, and checks that callers follow the rules of report_document.h. */
#ifndef OPENPLA_TEST_REPORT_LINES_H
#define OPENPLA_TEST_REPORT_LINES_H

#include "engine/report/make/report_tables.h"

/* Must be initialized with zeros. Each row is a line, and '|' follows each cell. A sub-table is inside its row, between
   '[' and ']', and ';' follows each of its rows. '=' precedes the footer. Aborts if a row does not have a cell for each
   column, or if an element is not ended. */
struct report_document {
    struct text_buffer lines;
    const struct report_table_head *heads[REPORT_DEEPEST];
    uint64_t rows[REPORT_DEEPEST];
    size_t depth, cells;
    bool in_row[REPORT_DEEPEST], in_footer;
    bool quiet; /* nothing is stored */
};

#endif
