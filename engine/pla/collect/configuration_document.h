/* SPDX-License-Identifier: MIT */
/* The XML that a configuration collector writes, streamed: Report, Section, Table, Item, Data. One thread uses it.
   What has been written is one whole well-formed document at each moment (whole_document.h), also when the process
   is killed or the disk is full; it lacks at most the Items of the last quarter of a second. Report/@complete is 1 when
   all was written. Memory is bounded by the largest Item.
   Failures stick: calls after one do nothing, and each call that gives a result gives that failure. */
#ifndef OPENPLA_COLLECT_CONFIGURATION_DOCUMENT_H
#define OPENPLA_COLLECT_CONFIGURATION_DOCUMENT_H

#include "engine/base/text.h"

struct configuration_document;

/* ---- for the sources ---- */

/* A column of a table, an entry of its Header. */
struct configuration_column {
    const char *name;
    enum {
        COLUMN_PLAIN,
        COLUMN_KEY,     /* with the table's other keys it says which row this is: documents are compared by them */
        COLUMN_VOLATILE /* other each time it is collected, though nothing changed: documents are compared without */
    } use;
};
/* The last columns of every table: what could not be collected of an Item, empty when all could. */
#define COLUMN_ERROR  "error"  /* a text for people */
#define COLUMN_RESULT "result" /* an HRESULT, 0x%08X */

void configuration_begin_section(struct configuration_document *d, const char *name);
/* `source`: what the table was made from, its attribute of that name, such as the text of a query; NULL: none.
   The columns are copied; `error` and `result` come behind them. In a section, or in an Item behind its Data. */
void configuration_begin_table(struct configuration_document *d, const char *name, const char *source,
                               const struct configuration_column *columns, size_t count);
void configuration_begin_item(struct configuration_document *d);
/* In the order of the columns; those that are left out become empty. `type`: the attribute, such as REG_SZ or uint32;
   NULL: none. Of the text, what is no UTF-8 or no character of XML becomes U+FFFD. */
void configuration_data(struct configuration_document *d, const char *column, const char *type, const char *text);
void configuration_data_n(struct configuration_document *d, const char *column, const char *type, const char *text,
                          size_t bytes);
void configuration_data_number(struct configuration_document *d, const char *column, const char *type, uint64_t n);
/* A FILETIME as 2026-01-02T03:04:05.678Z. */
void configuration_data_time(struct configuration_document *d, const char *column, int64_t utc);
/* As hexadecimal digits, two each byte. */
void configuration_data_bytes(struct configuration_document *d, const char *column, const char *type, const void *bytes,
                              size_t count);
/* `result` and its text, error_text(result), into the Item's last columns. */
void configuration_data_error(struct configuration_document *d, HRESULT result);
HRESULT configuration_end_item(struct configuration_document *d);
HRESULT configuration_end_table(struct configuration_document *d);
HRESULT configuration_end_section(struct configuration_document *d);
uint64_t configuration_errors(const struct configuration_document *d); /* entries of configuration_data_error */
/* The failure that sticks, with its text; S_OK. */
HRESULT configuration_status(const struct configuration_document *d);
/* All whole Items go to the file now: before something that may take long. */
HRESULT configuration_put_out(struct configuration_document *d);

/* ---- for the collector ---- */

/* The file, which is borrowed, must be empty; it is a whole document on success. */
struct file;
HRESULT configuration_document_begin(struct file *file, struct configuration_document **out);
void configuration_time(int64_t utc, char text[64]); /* as configuration_data_time writes it */
/* An entry of Report's own Header, before the first section. */
void configuration_fact(struct configuration_document *d, const char *name, const char *text);
/* Ends what has begun; `complete`: nothing was left out because somebody stopped it. Frees, in any case, but not the
   file. */
HRESULT configuration_document_end(struct configuration_document *d, bool complete);

#endif
