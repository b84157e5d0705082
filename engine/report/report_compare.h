/* SPDX-License-Identifier: MIT */
/* Compares two report documents and reports the rows that were added, removed or changed. Rows are identified by their
   keys, not by their positions. The rows of both documents are sorted (row_sort.h). Therefore memory is limited to
   about 100 MB for files of any size; the rest goes to a scratch file.

   Two tables are the same table if their sections, names and sources are equal; if the tables are within rows, the keys
   of these rows must be equal too. The keys of a row are the columns that the Header marks with key="1". If no column
   is marked, the keys are the first of these columns, or pairs of columns, that the table has: path; key and name; key;
   __PATH; __RELPATH; DeviceID; counter and instance; name. Keys are compared ignoring case. If a table has none of
   these columns, the whole row is its key; such a row can be added or removed, but never changed. If several rows of a
   document have equal keys, they are ordered by their keys with case, and then by position. Rows at the same place in
   this order are paired. */
#ifndef OPENPLA_REPORT_COMPARE_H
#define OPENPLA_REPORT_COMPARE_H

#include "engine/report/report_reader.h"

enum report_change_kind { REPORT_CAME, REPORT_WENT, REPORT_CHANGED };

struct report_cell {
    const char *column, *text, *type; /* `type` is the text of the attribute, or "" */
    bool key;
};
/* A column that differs between two rows: its texts are different, or only the types of the texts are different. ""
   means no text or no type. */
struct report_change {
    const char *column, *before, *after, *type_before, *type_after;
};
struct report_difference {
    enum report_change_kind kind;
    bool table; /* the whole table was added or removed; each row of the table follows as a separate difference */
    const char *section, *table_name, *source;
    const char *outer;               /* keys of the row that contains the table; "" in a section */
    const struct report_cell *cells; /* cells of the row; for a changed row, the new cells */
    size_t cell_count;
    const struct report_change *changes;
    size_t change_count;
};

struct report_compare {
    /* Patterns of columns to ignore, with * and ?. A pattern is a column or "table/column". */
    const struct texts *ignore;
    /* Patterns of the tables to compare; NULL or empty: all. */
    const struct texts *tables;
    bool volatile_too; /* compare columns that the Header marks volatile="1" */
    /* The handlers; each may be NULL. A failure stops the comparison. `side` is 0 for the first file and 1 for the
       second file. */
    HRESULT (*fact)(void *about, unsigned side, const struct report_data *fact);
    HRESULT (*difference)(void *about, const struct report_difference *difference);
    void *about;
};
struct report_compared {
    uint64_t came, went, changed, same; /* numbers of rows */
    uint64_t tables_came, tables_went;
    struct texts warnings[2]; /* warnings of report_read for each file */
};
/* Reports differences sorted by section, table and key. Free *out in any case. */
HRESULT report_compare(const char *before, const char *after, const struct report_compare *how,
                       struct report_compared *out);
void report_compared_free(struct report_compared *c);

#endif
