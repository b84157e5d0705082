/* SPDX-License-Identifier: MIT */
/* What of a report goes onto a page, as the XML that the sheet turns into one: the report's own form with titles in
   place of the IDs of strings, numbers as they are read, charts as they are drawn (page_chart.h), and of long tables
   the first rows. However large the report is, this has a bounded size. */
#ifndef OPENPLA_PAGE_DOCUMENT_H
#define OPENPLA_PAGE_DOCUMENT_H

#include "engine/base/text.h"

#define PAGE_MOST_CHARTS 12

struct page_bounds {
    size_t cells;                /* of all tables */
    bool (*stop)(void *context); /* true ends it with ERROR_CANCELLED's HRESULT; NULL: nobody asks */
    void *context;
};
/* Reads the report twice: what is in it, then what of it is shown. Each table has its share of the cells, the small
   ones first; the rows of warnings and those that they point at are always there, and charts of what they are about
   come before others. Attributes beside the report's own: title; of a Table rows (all there are); of a warning's Item
   number, from the worst on; of a Data number, raw (the number as it was) and id (where a warning points). In a Data
   and a Table an element Tag for each of its tags, in the first Data also its row's and those of cells that are not
   shown. Damage says what is wrong with the report. report_read's errors and remarks. */
HRESULT page_document_make(const char *report, const struct page_bounds *bounds, struct text_buffer *out,
                           struct texts *remarks);

#endif
