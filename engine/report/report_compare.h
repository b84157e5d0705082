/* SPDX-License-Identifier: MIT */
/* Compares two report documents: rows added, removed or changed, identified by their keys, not by their positions.
   Sorts the rows of both (row_sort.h), so memory is limited to about 100 MB for files of any size; the rest goes to a
   scratch file.

   Tables are the same if their sections, names and sources are equal and, for tables within rows, also the keys of
   these rows. The keys of a row are the columns that the Header marks (key="1"); without marks, the first of the
   following that the table has: path; key and name; key; __PATH; __RELPATH; DeviceID; counter and instance; name.
   Keys are compared ignoring case. Without any of them the whole row is its key: it is added or removed, but never
   changed. If several rows of a document have equal keys, they are ordered by their keys with case, and then by
   position. Rows at the same place in this order are paired. */
#ifndef OPENPLA_REPORT_COMPARE_H
#define OPENPLA_REPORT_COMPARE_H

#include "engine/report/report_reader.h"

enum report_change_kind { REPORT_CAME, REPORT_WENT, REPORT_CHANGED };

struct report_cell {
    const char *column, *text, *type; /* type: the attribute, or "" */
    bool key;
};
/* A column whose texts differ, or whose texts are equal but have different types. "": no text or no type. */
struct report_change {
    const char *column, *before, *after, *type_before, *type_after;
};
struct report_difference {
    enum report_change_kind kind;
    bool table; /* a whole table was added or removed; each of its rows follows as a separate difference */
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
    /* The handlers; each may be NULL. A failure stops the comparison. `side`: 0 the first file, 1 the second. */
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
