/* SPDX-License-Identifier: MIT */
/* The rows of one report document as records that sort by table and key. */
#ifndef OPENPLA_REPORT_KEYED_ROWS_H
#define OPENPLA_REPORT_KEYED_ROWS_H

#include "engine/report/make/row_sort.h"
#include "engine/report/report_compare.h"

/* Reads the file and adds a record for each table and each row. */
HRESULT keyed_rows_read(const char *path, unsigned side, const struct report_compare *how, struct row_sort *to,
                        struct texts *remarks);

/* One of those records. */
struct keyed_row {
    struct sorted_row record; /* its key_size is that of what pairs it with one of the other document */
    bool is_table;
    const char *section, *table, *source, *outer; /* of a table */
    struct keyed_cell {
        struct report_cell cell;
        bool is_volatile;
    } cells[REPORT_MAX_COLUMNS]; /* of a row */
    size_t cell_count;
};
/* Takes a record apart; what it points to is the record's. */
void keyed_row_open(const struct sorted_row *record, struct keyed_row *out);

#endif
