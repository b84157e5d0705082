/* SPDX-License-Identifier: MIT */
/* A first look at a report: its texts, how large its tables are, and what its warnings are about. */
#ifndef OPENPLA_PAGE_SURVEY_H
#define OPENPLA_PAGE_SURVEY_H

#include "engine/report/page/page_findings.h"

#define SURVEY_MOST_TABLES  2000
#define SURVEY_MOST_STRINGS 4000

struct surveyed_table {
    uint64_t rows;
    size_t columns;
};
struct surveyed_string {
    char *id, *text;
    size_t order; /* in the document: the first of an ID counts */
};
/* Zero-initialise. */
struct page_survey {
    struct surveyed_table *tables; /* those that stand in sections, in the order of the document */
    size_t table_count;
    struct surveyed_string *strings; /* by ID */
    size_t string_count;
    struct page_findings findings;
    bool (*stop)(void *context); /* NULL: nobody asks */
    void *context;
};
/* Tables and strings beyond the bounds are passed over. report_read's errors; ERROR_CANCELLED's HRESULT. */
HRESULT page_survey_make(struct page_survey *s, const char *report, struct texts *remarks);
/* The text of an ID, or the ID itself. */
const char *page_survey_string(const struct page_survey *s, const char *id);
/* The most cells that each table may have, so that all together have no more than `cells`; small tables are whole. */
uint64_t page_survey_share(const struct page_survey *s, uint64_t cells);
void page_survey_free(struct page_survey *s);

#endif
