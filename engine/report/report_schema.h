/* SPDX-License-Identifier: MIT */
/* Reads report schemas, which are ReportSchema documents (MS-PLA 2.2.3.3), and merges several files. schema_grammar.def
   defines the elements and attributes; the XSD is generated from the same file. */
#ifndef OPENPLA_REPORT_SCHEMA_H
#define OPENPLA_REPORT_SCHEMA_H

#include "engine/base/text.h"

#define REPORT_SCHEMA_NAMESPACE "http://schemas.microsoft.com/diagnostics/2007/02/tracerpt"
enum {
    SCHEMA_MOST_FILES = 256,
    SCHEMA_DEEPEST = 32, /* maximum depth of nested imports */
    SCHEMA_MOST_TABLES = 1024,
    SCHEMA_MOST_SECTIONS = 1024,
    SCHEMA_MOST_STRINGS = 8192,
    SCHEMA_MOST_COLUMNS = 64, /* maximum columns per table */
    SCHEMA_SHOWN_ROWS = 25,   /* default of `threshold`: rows shown initially */
    SCHEMA_HIGHEST_LEVEL = 5,
    SCHEMA_LONGEST_SLICE = 86400, /* seconds */
};

/* The report_schema owns all strings; a string is NULL if the attribute is absent. "(ours)" marks OpenPLA's extensions
   of MS-PLA. */

enum schema_align { SCHEMA_RIGHT, SCHEMA_LEFT };
enum schema_sort { SCHEMA_UNSORTED, SCHEMA_PRIMARY, SCHEMA_SECONDARY };
enum schema_aggregate { SCHEMA_NO_AGGREGATE, SCHEMA_TOTAL, SCHEMA_AVERAGE, SCHEMA_RATE };
enum schema_summary { SCHEMA_NO_SUMMARY, SCHEMA_SUM, SCHEMA_MEAN };
/* The fields of an event's header, and values that are computed from these fields. SYS_NONE means a payload field. */
enum schema_system_field {
    SYS_NONE,
#define SYSTEM_FIELD(name, doc) SYS_##name,
#include "engine/report/make/schema_grammar.def"
};
/* The format of a column's values; OUT_NONE: as the event's schema specifies. */
enum schema_out_type {
    OUT_NONE,
#define OUT_TYPE(name, word) OUT_##name,
#include "engine/report/make/schema_grammar.def"
};

/* EventField, EventJoinField. */
struct schema_field {
    const char *name; /* name as the schema contains it; the name of a payload field if `system` is SYS_NONE */
    enum schema_system_field system;
    GUID guid;      /* GUID of an event class or event provider; all zeros: any */
    bool any_event; /* payloadId="*" (ours) */
    uint32_t id;    /* payloadId: the type of a classic event, otherwise the event ID */
    bool has_version;
    uint32_t version; /* default 0 */
    enum schema_aggregate aggregate;
    const char *note;
};
struct schema_column {
    const char *name, *note;
    enum schema_align align;
    const char *format; /* as in XSLT's format-number */
    enum schema_sort sort;
    bool ascending;
    const char *out_type_text;
    enum schema_out_type out_type;
    bool hidden; /* visible="false": the document contains the column, but pages do not show it */
    bool bars;   /* values are also shown as bars */
    enum schema_summary summary;
    bool group_by;
    struct schema_field field;
    unsigned line;
};
struct schema_columns {
    struct schema_column *items;
    size_t count, capacity;
};
struct schema_event_table {
    struct schema_columns columns, sub_columns; /* `sub_columns`: columns of SubTable; empty: none */
    bool joined;
    struct schema_field join[2]; /* EqualJoin, if `joined` */
    bool transaction;
};
/* The text is `[i]/pattern/` (i: ignore case) or only a pattern. * and ? are wildcards, \ escapes a character. */
struct schema_pattern {
    const char *text;
    bool include; /* Include; otherwise Exclude */
    bool counter; /* matches counters; otherwise instances */
};
enum schema_counter_column {
    COUNTER_COLUMN_MACHINE = 1,
    COUNTER_COLUMN_COUNTER = 2,
    COUNTER_COLUMN_INSTANCE = 4,
    COUNTER_COLUMN_MEAN = 8,
    COUNTER_COLUMN_MIN = 16,
    COUNTER_COLUMN_MAX = 32,
    /* OpenPLA's extensions, which `columns` of a CounterTable adds. */
    COUNTER_COLUMN_SUM = 64,
    COUNTER_COLUMN_COUNT = 128,
    COUNTER_COLUMN_P50 = 256,
    COUNTER_COLUMN_P95 = 512,
    COUNTER_COLUMN_P99 = 1024,
    COUNTER_COLUMN_LAST = 2048,
    COUNTER_COLUMN_TREND = 4096,
};
#define SCHEMA_MOST_LIMITS 4
struct schema_counter_table {
    const char *object; /* "*" (ours) stands for a table for each object of the logs that no other CounterTable
                           names */
    struct schema_pattern *patterns;
    size_t pattern_count, pattern_capacity;
    unsigned excluded; /* enum schema_counter_column */
    unsigned added;    /* bits of enum schema_counter_column, from the attribute `columns` (ours) */
    unsigned sort;     /* the column by which the rows are sorted (ours); 0 means that the rows are in the order of
                          the logs */
    bool ascending;
    const char *chart;  /* (ours) patterns; each pattern adds a chart of the counters that match it */
    const char *limit;  /* (ours) at most SCHEMA_MOST_LIMITS numbers; each number is a line in the charts */
    const char *watch;  /* (ours) patterns; each counter that matches gets a chart, which is shown only if a warning
                           refers to the counter */
    const char *slices; /* (ours) patterns; each row of a counter that matches has a table of slices of the time */
    uint32_t slice;     /* seconds of each slice; 0 means automatic */
};
struct schema_table {
    bool of_events; /* EventTable; otherwise CounterTable */
    const char *name, *topic, *note;
    unsigned level;     /* 1 to SCHEMA_HIGHEST_LEVEL */
    const char *key;    /* a number or a text; in the order of keys, texts follow numbers */
    uint32_t threshold; /* rows shown initially; 0 means as many as the report specifies */
    uint32_t row_count; /* maximum of rows; 0 means the document's limit */
    const char *file;   /* the schema file */
    unsigned line;
    struct schema_event_table events;
    struct schema_counter_table counters;
};
struct schema_section {
    const char *name, *note;
    bool has_key;
    uint64_t key;
    struct schema_table *tables; /* sorted by key after report_schema_order */
    size_t count, capacity;
};
struct schema_string {
    const char *id, *text, *language; /* `language` is from xml:lang (ours); "" means any language */
};
/* Zero-initialise. */
struct report_schema {
    const char *name, *version; /* attributes of the file that was added first */
    bool has_threshold;
    uint32_t threshold;
    struct schema_section *sections;
    size_t section_count, section_capacity;
    struct schema_string *strings;
    size_t string_count, string_capacity;
    struct texts files;    /* files read, each once */
    struct texts errors;   /* skipped parts: "FILE: line N: section S: table T: element: why" */
    struct texts warnings; /* messages, with positions, about problems that did not make the reader skip a part */
    struct texts owned;    /* all strings of the schema */
    size_t table_count;
};

struct schema_file;
/* A function that loads imported files, such as schema_file_load. If it is NULL, each import is an error. */
typedef HRESULT schema_loader(const char *name, const char *importer, struct schema_file *out);

/* Adds a schema with its imports. `text` is UTF-8 or has a byte order mark; `path` names it in errors and is the base
   of relative imports. Sections with the same name are merged. If several strings have the same ID and language, the
   first string is used. Name, version and threshold are those of the first Report. An error in an element skips only
   its table, string or import, and is added to `errors`. Fails with OPENPLA_E_MALFORMED_XML if the text is not a
   schema, or with E_OUTOFMEMORY. After a failure with E_OUTOFMEMORY, the schema can only be freed. */
HRESULT report_schema_add(struct report_schema *s, const char *path, const char *text, size_t size,
                          schema_loader *load);
/* Loads a file and adds it. `name` has the form of a name in an Import element. */
HRESULT report_schema_add_file(struct report_schema *s, const char *name, schema_loader *load);
/* Changes all counter tables for rules: requests slices for the counters that match `patterns`, and adds a column of
   trends. */
HRESULT report_schema_want_slices(struct report_schema *s, const char *patterns);
/* Sorts sections and tables by key, after the last schema was added. */
void report_schema_order(struct report_schema *s);
/* Returns the text of an ID in the best language: `language` (such as "de-AT"), or else `language` without its country,
   or else no language, or else English. `language` "" means no preference. If the ID has no text, returns the ID itself
   (MS-PLA 2.2.3.3). */
const char *report_schema_string(const struct report_schema *s, const char *id, const char *language);
void report_schema_free(struct report_schema *s);

/* Returns whether the text matches the pattern. Takes time at most proportional to the product of both lengths. */
bool schema_pattern_matches(const char *pattern, const char *text);
#define SCHEMA_LONGEST_PATTERN 1024 /* maximum bytes of one pattern in a list */
/* Copies the first of several patterns separated by '|' to `out`; an escaped '|' does not separate. A pattern that is
   too long becomes empty, because no counter has such a long name. Returns the patterns that follow the first one, or
   NULL. */
const char *schema_pattern_first(const char *patterns, char out[SCHEMA_LONGEST_PATTERN]);
/* Returns whether the text matches one of several patterns. */
bool schema_patterns_match(const char *patterns, const char *text);

/* ---- files ----

   A schema is in a file or is built into the program. Templates import files by the names of Windows' own files, for
   example %systemroot%\pla\reports\Report.System.CPU.xml. A file that a user has copied there takes precedence over the
   built-in file. MS-PLA 2.2.3.3 (Import). */
/* The schemas of engine/report/make/schemas, as a table that the build generates; ends with NULL. */
struct shipped_schema {
    const char *name, *xml;
};
extern const struct shipped_schema shipped_schemas[];
/* The schema for any set; it has one table for each counter object that the set may have collected. It is also used if
   a set has no schema. */
#define SCHEMA_GENERAL "Report.General.xml"

struct schema_file {
    char *path; /* path of the file, or name of a built-in file; used in messages, and as `importer` of its imports */
    char *text;
    size_t size;
    bool shipped;
};
/* A kind of file: its name in messages, the folder of such files, and the files that are built into the program. */
struct shipped_files {
    const char *sort;   /* name of this kind of file in messages, such as "schema" */
    const char *folder; /* folder of Windows' own files, below %systemroot%: "pla/reports" */
    const struct shipped_schema *rows;
};
/* Loads the file `name`, which an Import specifies; if `importer` is NULL, a user has specified it. Expands variables
   in `name`. Both '\' and '/' are separators. A user may name any file. An import must be in or below the folder of the
   path `importer`, or in Windows' folder: names and links that lead elsewhere fail with
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME). `importer` "" means that the importing text is not from a file. If no such
   file exists, loads the built-in file of that name, ignoring case, if the name has no folder or Windows' folder. Fails
   with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) and a message with the kind of file and its path, with
   HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) above 16 MB, or with an error of file_load. *out is empty after a
   failure. */
HRESULT shipped_file_load(const struct shipped_files *of, const char *name, const char *importer,
                          struct schema_file *out);
/* Loads a report schema with shipped_file_load. */
HRESULT schema_file_load(const char *name, const char *importer, struct schema_file *out);
/* Works like schema_file_load if the first schema is not a file, but a text in a set. In this case neither the first
   schema nor the built-in schemas have a folder for imports. */
HRESULT schema_file_load_of_set(const char *name, const char *importer, struct schema_file *out);
void schema_file_free(struct schema_file *f);

#endif
