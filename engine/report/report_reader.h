/* SPDX-License-Identifier: MIT */
/* Reads a report document (report_form.def) as a stream. Configuration collectors write such documents, too. Memory
   depends on the largest row, which has at most 64 MB, and not on the size of the file. Files are not trusted. A
   document must not have a document type or define entities. The attributes, names, columns and depth of a document are
   limited. */
#ifndef OPENPLA_REPORT_READER_H
#define OPENPLA_REPORT_READER_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define REPORT_MAX_COLUMNS 1024 /* maximum columns of a table, and maximum Data elements of a row */
#define REPORT_MAX_TABLES  8    /* maximum nesting depth */

struct report_attribute {
    const char *name, *value;
};
/* A Data element: a fact, a column, or a cell of a row. */
struct report_data {
    const char *name, *text;
    const struct report_attribute *attributes; /* all attributes except the name */
    size_t attribute_count;
};
struct report_section {
    const char *name;
    const struct report_attribute *attributes;
    size_t attribute_count;
};
struct report_table {
    const struct report_table *outer; /* the table whose row contains this table; NULL if this table is in a section */
    const char *section, *name;
    const struct report_attribute *attributes;
    size_t attribute_count;
    const struct report_data *columns; /* columns of the table's Header; the texts of these items are empty */
    size_t column_count;
    unsigned depth; /* 0 means that the table is in a section */
};
struct report_row {
    const struct report_data *cells;
    size_t cell_count;
    const struct report_attribute *attributes; /* attributes of the row itself */
    size_t attribute_count;
    unsigned line;
    bool footer;
};

/* Called in the order of the document; each may be NULL. The arguments are valid during the call; a table's arguments
   are valid until its end call. A failure ends the reading. If report_read succeeds, each begin call is followed by its
   end call, even if the file is corrupt. */
struct report_handlers {
    HRESULT (*begin)(void *about, const struct report_attribute *attributes, size_t count);
    HRESULT (*fact)(void *about, const struct report_data *fact);
    HRESULT (*section_begin)(void *about, const struct report_section *section);
    HRESULT (*table_begin)(void *about, const struct report_table *table);
    HRESULT (*row)(void *about, const struct report_table *table, const struct report_row *row);
    HRESULT (*row_end)(void *about, const struct report_table *table); /* called after the tables in the row */
    HRESULT (*table_end)(void *about, const struct report_table *table);
    HRESULT (*chart_begin)(void *about, const struct report_data *chart); /* the Chart element, which has no text */
    HRESULT (*series)(void *about, const struct report_data *series); /* a series of the open chart, with its points */
    HRESULT (*chart_end)(void *about);
    HRESULT (*section_end)(void *about);
    HRESULT (*string)(void *about, const char *id, const char *text);
};

/* Returns all complete rows, even if the file is truncated or corrupt after them. Adds a warning with the line number
   if the file is truncated or corrupt, if it has an unexpected element, or if the collection stopped early. Fails with
   OPENPLA_E_MALFORMED_XML if the file is not a report document, has an unknown form, or exceeds a limit; the message
   has the file, the line and the reason. */
HRESULT report_read(const char *path, const struct report_handlers *handlers, void *about, struct texts *warnings);

/* Returns the value of the attribute, or NULL if no attribute has this name. */
const char *report_attribute(const struct report_attribute *attributes, size_t count, const char *name);
/* Returns the Data element with that name, or NULL. The search starts at index `at`. */
const struct report_data *report_find(const struct report_data *items, size_t count, const char *name, size_t at);

/* ---- the format of report documents: the rows of report_form.def ---- */
enum form_type {
#define TYPE(Type, ...) FORM_##Type,
#include "engine/report/make/report_form.def"
    FORM_TYPE_COUNT
};

struct form_type_row {
    const char *name;
    bool holds_text;
    const char *doc;
};
extern const struct form_type_row form_types[FORM_TYPE_COUNT];

struct form_child {
    enum form_type parent;
    const char *element;
    enum form_type type;
    bool any_number; /* any number is allowed; otherwise at most one */
    const char *doc;
};
extern const struct form_child form_children[];
extern const size_t form_child_count;

struct form_attribute {
    enum form_type of;
    const char *name, *schema_type;
    bool required;
    const char *doc;
};
extern const struct form_attribute form_attributes[];
extern const size_t form_attribute_count;

#endif
