/* SPDX-License-Identifier: MIT */
/* Writes a report document (report_form.def) under a temporary name until it is complete, so that readers never see an
   incomplete document. Characters that XML does not allow become U+FFFD. */
#ifndef OPENPLA_REPORT_DOCUMENT_H
#define OPENPLA_REPORT_DOCUMENT_H

#include "engine/base/file.h"
#include "engine/base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define REPORT_MOST_ROWS     20000  /* maximum rows of a table, unless its rowcount specifies fewer */
#define REPORT_MOST_ALL_ROWS 200000 /* maximum rows of a document */
#define REPORT_DEEPEST       4      /* maximum depth of nested tables */
/* Maximum size of the document; a document that is larger gets no further rows. Rules and a user's XSLT keep the whole
   document in memory. */
#define REPORT_MOST_BYTES    ((uint64_t)64 << 20)

struct report_document;

/* All texts in the structs below are borrowed; the texts of a table are borrowed until report_table_end. An absent text
   is NULL. */
struct report_head {
    const char *name, *version;
    const char *base; /* folder below which the file must be (file_open_below); NULL means anywhere */
    int bias_minutes; /* time zone of the document: UTC = local + bias */
};
struct report_column_head {
    const char *name; /* name of the Data elements of this column; also the title, or the ID of the title's string */
    bool left;        /* left-aligned; otherwise right-aligned */
    const char *units, *format, *note;
    const char *sort; /* "primary", "secondary" */
    bool hidden, bars;
    bool key, is_volatile; /* as in the Header of configuration documents */
};
struct report_table_head {
    const char *name, *topic, *key, *note, *source;
    const char *local;  /* the name of `source` in the log's language; NULL if both names are equal, or there is no
                           source */
    uint32_t threshold; /* rows shown initially; 0 if unspecified */
    unsigned level;
    uint32_t most_rows; /* 0 means REPORT_MOST_ROWS */
    const struct report_column_head *columns;
    size_t column_count;
};

/* Creates PATH.new, replacing an existing one. Fails like file_open, or with E_OUTOFMEMORY. After a failure of the disk
   or of memory, later additions are lost, and report_document_close returns the failure. */
HRESULT report_document_create(const char *path, const struct report_head *head, struct report_document **out);
/* Call the functions below in this order: facts; sections with their tables; strings. */
/* Writes a fact. `text` NULL means out of memory. */
void report_fact(struct report_document *d, const char *name, const char *text, const char *units);
/* Writes a time in the document's time zone as a fact. */
void report_time_fact(struct report_document *d, const char *name, int64_t utc);
/* Adds a time in the format of documents (ISO 8601): 2026-01-02T03:04:05.000+01:00, or "Z" for UTC. */
void report_add_time(struct text_buffer *b, int64_t utc, int bias_minutes);
/* A section without a table is omitted. */
void report_section_begin(struct report_document *d, const char *name, const char *key, const char *note);
void report_section_end(struct report_document *d);
/* Call it in a section, or in a row after its cells. */
void report_table_begin(struct report_document *d, const struct report_table_head *head);
/* Begins a row. Returns false if the table or the document has reached its limit of rows. In this case the row is only
   counted, and the caller must not write its cells. */
bool report_row_begin(struct report_document *d);
/* Writes the cell of the next column; NULL and "" mean an empty cell. */
void report_cell(struct report_document *d, const char *text);
void report_cell_number(struct report_document *d, double value); /* writes an empty cell for infinity and NaN */
void report_cell_time(struct report_document *d, int64_t utc);    /* writes the time in the document's time zone */
/* Works like report_cell, and also writes attributes of the cell, such as `img`, `units` or `local`. `attributes`
   consists of pairs of name and value, and ends with NULL. */
void report_cell_with(struct report_document *d, const char *text, const char *const *attributes);
void report_row_end(struct report_document *d);
/* Begins the footer of the table. Call it after the rows. Cells of the footer are written like cells of a row. */
void report_footer_begin(struct report_document *d);
void report_footer_end(struct report_document *d);
/* Ends the table. *omitted becomes the number of rows that were not written; `omitted` may be NULL. */
void report_table_end(struct report_document *d, uint64_t *omitted);
/* A chart of values over time. Call report_chart_begin in a section. chart_series_text (report_counters.h) creates the
   text of the points. */
struct report_chart_head {
    const char *name, *title;
    const char *source;  /* the counters' object */
    const char *limit;   /* numbers, separated by spaces, at which the chart has lines; NULL means no lines */
    bool watched;        /* the chart is shown only if a warning refers to its counter */
    bool elapsed;        /* times are relative to the start; the time of the start is not written */
    int64_t first, last; /* FILETIME */
};
void report_chart_begin(struct report_document *d, const struct report_chart_head *head);
/* Writes a series. `first` is the time in seconds from the chart's start to the middle of the first point. `step` is
   the time in seconds between two points. */
void report_chart_series(struct report_document *d, const char *name, double first, double step, const char *points);
void report_chart_end(struct report_document *d);
void report_string(struct report_document *d, const char *id, const char *text);
/* Returns S_OK, or the first failure so far. */
HRESULT report_document_status(const struct report_document *d);
/* Ends the document, renames it to `path` and frees it. After a failure `path` is unchanged. */
HRESULT report_document_close(struct report_document *d);
void report_document_drop(struct report_document *d); /* deletes the unfinished document; NULL is allowed */

/* Creates the temporary file for a report, or for another output of report_make. The file keeps its temporary name
   until it is complete. `base` is the folder below which the file must be, even if another user creates links there
   (file.h, "below a base folder"). NULL allows any folder. */
HRESULT report_draft_open(const char *base, const char *path, struct file **out);
void report_draft_drop(const char *base, const char *path); /* if deleting fails, the next draft overwrites it */

/* ---- numbers without exponents, because XPath 1.0, with which reports are read, does not support exponents ---- */
/* Adds the fewest digits, at least 6, that read back as the same number. The digits have no exponent and no thousands
   separators, and zero has no sign. If the number is not finite, adds nothing. */
void plain_number_add(struct text_buffer *out, double value);

/* ---- tags of a table, a row or a cell, by which warnings refer to it ----

   In MS-PLA 2.2.8, an element has one tag. In OpenPLA, if several warnings refer to an element, its tags are separated
   by line ends, because a tag may contain spaces, but no line end. */
#define REPORT_TAGS_MOST 4096 /* maximum bytes of all tags of an element */

/* Returns the next tag (borrowed), stores its length in *length, and advances *rest. Returns NULL after the last tag.
   Initially, *rest is the attribute's text, which may be NULL. */
const char *report_tags_next(const char **rest, size_t *length);
bool report_tags_have(const char *tags, const char *tag);

/* ---- the severity of a warning, or the state of a cell, from the word in its `img` ---- */
/* In the order of severity. */
enum report_severity { REPORT_OTHER, REPORT_GOOD, REPORT_INFORMATION, REPORT_WARNING, REPORT_ERROR };

/* Returns the severity that `img` names. `img` may be the name of a Windows icon, a word or an event level; case is
   ignored. For NULL and unknown words, returns REPORT_OTHER. */
enum report_severity report_severity_of(const char *img);

#endif
