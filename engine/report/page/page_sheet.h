/* SPDX-License-Identifier: MIT */
/* XSLT 1.0 by libxslt, fenced in: a sheet reads what it is given and nothing else, writes nothing but its result, and
   ends. Sheets and documents are not trusted. */
#ifndef OPENPLA_PAGE_SHEET_H
#define OPENPLA_PAGE_SHEET_H

#include "engine/base/text.h"

#define SHEET_MOST_BYTES ((size_t)1 << 20)  /* of a sheet */
#define PAGE_MOST_INPUT  ((size_t)16 << 20) /* bytes of what is transformed */
#define PAGE_MOST_OUTPUT ((size_t)64 << 20) /* bytes of a result */

/* sheets/page.xsl and sheets/plot.xsl with their style, script and common templates, made by the build. */
extern const char page_sheet_html[], page_sheet_svg[];

struct page_part {
    const char *name; /* for messages */
    const char *xml;  /* UTF-8 */
    size_t size;
};
/* *out (memory_alloc, NUL behind it) is what the sheet makes of the document. OPENPLA_E_MALFORMED_XML, with the name of
   the part and the reason: not well-formed, a document type declaration, no XSLT; an import, an include, document(),
   xsl:document, an extension; too deep a recursion, too many steps, too much memory or output. E_OUTOFMEMORY. */
HRESULT page_transform(const struct page_part *sheet, const struct page_part *document, char **out, size_t *size);

#endif
