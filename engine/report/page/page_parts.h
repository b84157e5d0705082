/* SPDX-License-Identifier: MIT */
/* The parts of the code that creates pages: formatting of strings and numbers, the first reading of the report, and the
   transformation. */
#ifndef OPENPLA_PAGE_PARTS_H
#define OPENPLA_PAGE_PARTS_H

#include "engine/base/text.h"
#include "engine/report/make/report_document.h"
#include "engine/report/report_reader.h"

/* ---- strings: cut to a length, without characters that change the writing direction of adjacent text ---- */

#define PAGE_LONGEST_NAME 200  /* maximum bytes of a title, or of the name of a column or series */
#define PAGE_LONGEST_CELL 1000 /* maximum bytes of a cell */

/* Adds the text as XML; a cut text ends with an ellipsis character. Direction marks (U+202A to U+202E, U+2066 to
   U+2069) and characters that XML does not allow become U+FFFD. NULL means "". */
void page_text(struct text_buffer *out, const char *text, size_t longest, bool attribute);
/* Adds a space and name="text"; nothing for NULL and "". */
void page_attribute(struct text_buffer *out, const char *name, const char *text, size_t longest);

/* ---- formatted numbers: by a column's mask, or with their significant digits ---- */

/* Returns whether the text is a number as in reports, with digits and at most one point: "12", "-0.5". */
bool page_is_number(const char *text);
/* Adds the number in an XSLT format ("#,##0.0", "0.0 %", "0;(0)"). Works on the decimal digits, so no number is too
   long; halves are rounded away from zero, and a number that rounds to zero has no sign. Without a mask (NULL or ""), a
   fraction gets about three significant digits, in groups of three; a whole number keeps all digits, in groups of three
   if `grouped` is set. A text that is not a number is added unchanged. */
void page_number_add(struct text_buffer *out, const char *text, const char *mask, bool grouped);

/* ---- the subjects of a report's warnings ----

   The first reading collects the following for each warning, and the second reading uses it: the warning's number (1 is
   the worst), the counters in the rows to which the warning refers, and the charts and limits of these counters. */
#define FINDINGS_MOST_WARNINGS 500
#define FINDINGS_MOST_ROWS     200 /* maximum rows that warnings refer to */
#define FINDINGS_MOST_CHARTS   200
#define FINDINGS_MOST_SERIES   48 /* maximum series per chart; further series are ignored */
#define FINDINGS_MOST_LIMITS   4  /* maximum limits per chart */

struct found_warning {
    char *link;
    enum report_severity severity;
    size_t order, number;
    bool has_limit;
    double limit; /* in the counter's unit */
};
/* A row that has a tag and is in a table of counters. */
struct found_row {
    char *tags;            /* tags of the row and its cells (report_document.h) */
    char *source, *series; /* `source`: the object; `series`: its name in charts, "counter (instance)" */
    size_t counter;        /* length in bytes of the counter's part of `series` */
    const struct found_warning *worst[FINDINGS_MOST_LIMITS]; /* warnings that refer to the row, the worst first */
    size_t worst_count;
};
struct found_chart {
    char *source;
    struct texts series;
    bool watched; /* the chart is shown only if a warning refers to its counter */
    bool shown;
};
/* Zero-initialise. */
struct page_findings {
    struct found_warning *warnings; /* in the order of the document */
    struct found_row *rows;
    struct found_chart *charts; /* in the order of the document */
    size_t warning_count, row_count, chart_count;
    bool chart_open; /* series that follow belong to the last chart */
};
/* Adds a row of a table in a section; the table's name shows whether it is the table of warnings. Ignores rows beyond
   the limits. Fails with E_OUTOFMEMORY. */
HRESULT page_findings_row(struct page_findings *f, const struct report_table *table, const struct report_row *row);
HRESULT page_findings_chart(struct page_findings *f, const struct report_data *chart);
HRESULT page_findings_series(struct page_findings *f, const struct report_data *series);
/* Call it after the first reading. Numbers the warnings and chooses at most `most` charts. Charts of counters that a
   warning refers to come first; a watched chart is shown only if no other chart has the series. *omitted becomes the
   number of charts that are missing only because of the limit `most`. */
void page_findings_settle(struct page_findings *f, size_t most, unsigned *omitted);
/* Returns the severity of a row of the table of warnings, from its `img`. A row without `img` is an ordinary warning;
   rules treat such a row in the same way. */
enum report_severity page_findings_severity(const struct report_row *warning);
/* Returns the number, from 1, of the document's warning with the index `at`. */
size_t page_findings_number(const struct page_findings *f, size_t at);
/* Returns the warnings about counters in this chart, the worst first; at most FINDINGS_MOST_LIMITS. */
size_t page_findings_about(const struct page_findings *f, size_t chart, const struct found_warning **out);
/* Returns whether a warning is about this very line of the chart. */
bool page_findings_names(const struct page_findings *f, size_t chart, const char *series);
void page_findings_free(struct page_findings *f);

/* ---- the first reading: strings, sizes of tables, warnings ---- */
#define SURVEY_MOST_TABLES  2000
#define SURVEY_MOST_STRINGS 4000

struct surveyed_table {
    uint64_t rows;
    size_t columns;
};
struct surveyed_string {
    char *id, *text;
    size_t order; /* position in the document; if an ID occurs twice, the first string is used */
};
/* Zero-initialise. */
struct page_survey {
    struct surveyed_table *tables; /* tables in sections, in the order of the document */
    size_t table_count;
    struct surveyed_string *strings; /* sorted by ID */
    size_t string_count;
    struct page_findings findings;
    bool (*stop)(void *context); /* may be NULL */
    void *context;
};
/* Skips tables and strings beyond the limits. Fails like report_read, or with HRESULT_FROM_WIN32(ERROR_CANCELLED). */
HRESULT page_survey_make(struct page_survey *s, const char *report, struct texts *notes);
/* Returns the text of an ID, or the ID itself. */
const char *page_survey_string(const struct page_survey *s, const char *id);
/* Returns the maximum number of cells per table, so that all tables together have at most `cells`; small tables are
   complete. */
uint64_t page_survey_share(const struct page_survey *s, uint64_t cells);
void page_survey_free(struct page_survey *s);

/* ---- XSLT 1.0 by libxslt, sandboxed ----

   A sheet reads only its input, writes only its result, and terminates. Sheets and documents are
   not trusted. */
#define SHEET_MOST_BYTES ((size_t)1 << 20)  /* maximum bytes of a sheet */
#define PAGE_MOST_INPUT  ((size_t)16 << 20) /* maximum bytes of the input document */
#define PAGE_MOST_OUTPUT ((size_t)64 << 20) /* maximum bytes of a result */

/* sheets/page.xsl and sheets/plot.xsl with their style, script and common templates, made by the build. */
extern const char page_sheet_html[], page_sheet_svg[];

struct page_part {
    const char *name; /* name in messages */
    const char *xml;  /* UTF-8 */
    size_t size;
};
/* Applies the sheet to the document. *out, from memory_alloc, is the result with a NUL. Fails with E_OUTOFMEMORY, or
   with OPENPLA_E_MALFORMED_XML if a part (the sheet or the document) is rejected; the message contains the name of the
   part and the reason. A part is rejected if it is not well-formed, or has a document type declaration. The sheet is
   also rejected if it is not XSLT; if it contains an import, an include, document(), xsl:document or an extension; or
   if it needs too deep a recursion, too many steps, too much memory or too much output. */
struct page_make;
HRESULT page_transform(const struct page_part *sheet, const struct page_part *document, const struct page_make *make,
                       char **out, size_t *size);

#endif
