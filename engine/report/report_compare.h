/* SPDX-License-Identifier: MIT */
/* What differs between two report documents: rows that came, went or changed, by their keys and not by their places.
   Rows of both are sorted (row_sort.h), so memory is bounded, about 100 MB, whatever the files' size; a scratch file
   takes what is more.

   Tables are one when section, name and source are, and for a table in a row the row's keys. The keys of a row are the
   columns that the Header marks (key="1"); without a mark the first of these that the table has: path; key and name;
   key; __PATH; __RELPATH; DeviceID; counter and instance; name. Keys are compared without case. A row of a table with
   none of them is its own key: it comes and goes, and never changes. Rows of one key are paired in the order of their
   keys' case, then of the document. */
#ifndef OPENPLA_REPORT_COMPARE_H
#define OPENPLA_REPORT_COMPARE_H

#include "engine/report/report_reader.h"

enum report_change_kind { REPORT_CAME, REPORT_WENT, REPORT_CHANGED };

struct report_cell {
    const char *column, *text, *type; /* type: the attribute, "" when it has none */
    bool key;
};
/* Other texts, or other types of one text; "": it had none. */
struct report_change {
    const char *column, *before, *after, *type_before, *type_after;
};
struct report_difference {
    enum report_change_kind kind;
    bool table; /* a whole table was added or removed; each of its rows follows as a separate difference */
    const char *section, *table_name, *source;
    const char *outer;               /* the row that the table stands in, by its keys; "" when it stands in a section */
    const struct report_cell *cells; /* of the row: of a changed one as it is now */
    size_t cell_count;
    const struct report_change *changes;
    size_t change_count;
};

struct report_compare {
    /* Patterns with * and ? of columns, or of table/column, that do not count. */
    const struct texts *ignore;
    /* Patterns of the sections' tables that are compared; NULL or none: all. */
    const struct texts *tables;
    bool volatile_too; /* columns count that the Header marks volatile="1" */
    /* Each may be NULL. A failure ends it. `side`: 0 the first file, 1 the second. */
    HRESULT (*fact)(void *about, unsigned side, const struct report_data *fact);
    HRESULT (*difference)(void *about, const struct report_difference *difference);
    void *about;
};
struct report_compared {
    uint64_t came, went, changed, same; /* rows */
    uint64_t tables_came, tables_went;
    struct texts warnings[2]; /* of each file, as report_read has them */
};
/* Differences come sorted by section, table and key. *out is to be freed in any case. */
HRESULT report_compare(const char *before, const char *after, const struct report_compare *how,
                       struct report_compared *out);
void report_compared_free(struct report_compared *c);

#endif
