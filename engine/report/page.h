/* SPDX-License-Identifier: MIT */
/* A report as one file that people read: a page (HTML), or its charts as a picture (SVG). It loads nothing, and is
   readable without its script. */
#ifndef OPENPLA_PAGE_H
#define OPENPLA_PAGE_H

#include "engine/base/text.h"

#define PAGE_MOST_BYTES ((size_t)2 << 20) /* of a page by our own sheet, of any report */

struct page_make {
    const char *report, *output; /* files */
    const char *base;            /* the output lies below it, wherever links lead; NULL: anywhere */
    const char *sheet;           /* an XSLT file of the user's: it is given the report as it is; NULL: our own */
    bool picture;                /* of the charts, as SVG, by our own sheet */
    bool (*stop)(void *context); /* true ends it with ERROR_CANCELLED's HRESULT; NULL: nobody asks */
    void *context;
};
/* Makes the output whole or not at all: a failure leaves a file that is there as it was. `remarks`: what is not right
   with the report. OPENPLA_E_MALFORMED_XML: the report is none, or the sheet is not right; files' errors. */
HRESULT page_make(const struct page_make *make, struct texts *remarks);

#endif
