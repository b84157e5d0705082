/* SPDX-License-Identifier: MIT */
/* The cells of event tables. A cell contains a value of one event; a field of the event provides the value, and a
   column shows it. */
#ifndef OPENPLA_EVENT_CELL_H
#define OPENPLA_EVENT_CELL_H

#include "engine/base/text.h"
#include "engine/etw/event_dump.h"
#include "engine/report/make/report_tables.h"
#include "engine/report/report_schema.h"

/* ---- cells ----

   The value of one column for one event: a number, a string, or a number that is shown as a string (a time, an address,
   a map's name). The functions below convert a cell to bytes for storage, to bytes for sorting, and to text. Other
   functions add up the values of cells. */

enum event_cell_kind { CELL_EMPTY, CELL_UNSIGNED, CELL_SIGNED /* below zero */, CELL_REAL, CELL_TEXT };

/* Zero-initialised: empty. The text is borrowed. */
struct event_cell {
    enum event_cell_kind kind;
    uint64_t number; /* for CELL_SIGNED, the bits of the int64_t value */
    double real;
    const char *text; /* the displayed form of the value; NULL if the digits of the number are displayed. Never NULL
                         for CELL_TEXT */
    size_t length;    /* length of the text, which contains no NUL */
};

struct event_cell event_cell_unsigned(uint64_t number);
struct event_cell event_cell_signed(int64_t number);
struct event_cell event_cell_real(double value); /* NaN and infinity become an empty cell */
bool event_cell_is_number(const struct event_cell *cell);
double event_cell_value(const struct event_cell *cell); /* 0 if the cell is not a number */

/* Adds the displayed text: digits without separators; for a real number, the fewest digits that read back as the same
   number. */
void event_cell_show(const struct event_cell *cell, struct text_buffer *out);

/* Adds the packed form of the cell. Packed forms are equal if and only if the cells are equal. event_cell_unpack
   restores the cell. */
void event_cell_pack(const struct event_cell *cell, struct text_buffer *out);
/* Reads a cell whose packed form is at `at`. The cell's text points into the packed form. Returns the position after
   the packed form. */
const char *event_cell_unpack(const char *at, struct event_cell *out);

/* Adds bytes that compare in the order of the cells. Numbers come first, by value. Texts follow, in an order that
   ignores case; texts that differ only in case are ordered by case. Empty cells are last in both directions. Fails with
   E_OUTOFMEMORY. */
HRESULT event_cell_sort(const struct event_cell *cell, bool descending, struct text_buffer *out);

/* Sums numbers. Whole numbers are added exactly, as long as their sum fits into 63 bits. For all other numbers,
   Neumaier's compensated summation keeps the rounding error, so that the order of the events does not affect the
   result. Zero-initialise. */
struct event_sum {
    uint64_t count; /* numbers added */
    int64_t whole;
    double real, lost; /* the sum of the other numbers, and its rounding error */
    bool is_real;
};
void event_sum_add(struct event_sum *sum, const struct event_cell *cell); /* ignores anything but numbers */
void event_sum_merge(struct event_sum *sum, const struct event_sum *other);
double event_sum_value(const struct event_sum *sum);
struct event_cell event_sum_total(const struct event_sum *sum);   /* empty if no number was added */
struct event_cell event_sum_average(const struct event_sum *sum); /* empty if no number was added */

/* ---- fields: a property of the event, or a field of its header ---- */
struct event_field {
    enum schema_system_field system; /* SYS_NONE: a property of the event's data */
    const char *name;                /* name of the property, or "Struct.Member" for one in a structure; borrowed */
    bool has_out;
    uint16_t out; /* enum value_out_type */
};
/* `said` is borrowed while the field is used. */
struct event_field event_field_of(const struct schema_field *said, enum schema_out_type out);

enum { EVENT_FIELDS = 256 }; /* maximum fields of one event */
/* The requested fields of one kind of event, and the indexes of their properties in its schema. Zero-initialise; set
   `items`, borrowed, and `count`. */
struct event_fields {
    const struct event_field *items;
    size_t count;
    const struct event_schema *schema; /* schema of the previous event, for comparison only; never dereference it */
    uint16_t places[EVENT_FIELDS];
    uint16_t last_place;
    size_t wanted; /* number of requested properties */
    struct text_buffer texts;
    struct {
        size_t at, length;
        bool has;
    } spans[EVENT_FIELDS]; /* positions of the cells' texts */
    size_t missing;        /* index of a requested field that the event's schema lacks; `count` if the schema has all
                              requested fields */
};
void event_field_set_free(struct event_fields *f);
/* Fills a cell for each field; the cells' texts are valid until the next call. A field that the event does not have is
   an empty cell. Returns EVENT_DATA_INVALID if the data does not match the schema. Returns S_FALSE if properties are
   requested, but the schema of the event is unknown. Fails with E_OUTOFMEMORY. */
HRESULT event_fields_take(struct event_fields *f, const struct dumped_event *e, struct event_cell *cells);

/* Sets *kernel and *user to the processor time, in ms, that the thread had used in each mode at the time of the event.
   Returns false if the event does not contain it. */
bool event_processor_ms(const struct dumped_event *e, double *kernel, double *user);

/* ---- columns: the events that fill them, and how ---- */
enum {
    EVENT_COLUMNS = 2 * SCHEMA_MOST_COLUMNS, /* maximum number of columns of a table, including the columns of its
                                                sub-table */
    EVENT_SOURCES = 16,                      /* maximum event sources of a table */
    NO_SUM = -1,
};

/* The events that a column shows. */
struct event_source {
    const struct schema_field *said; /* the schema's description of the events: GUID, ID and version */
    uint64_t met, of_another_version;
    unsigned other_version; /* version of the latest event whose version is not the one in `said` */
};
/* Compares only the event's header: the class and type of a classic event, the provider and id of other events. If the
   schema allows any provider, this does not include the log's own events, such as its header. */
bool event_source_has(const struct event_source *s, const EVENT_RECORD *record);

struct event_column {
    const struct schema_column *said;
    struct event_field field;
    size_t source;
    int sum; /* index of the sum that the column shows; NO_SUM if the column shows a value */
};
struct event_columns {
    struct event_column items[EVENT_COLUMNS]; /* the table's columns, then the sub-table's */
    size_t count, own;                        /* `count`: number of all columns; `own`: number of the table's
                                                 columns, without the sub-table's */
    size_t sums;
    bool grouped; /* rows are groups of events */
    struct event_source sources[EVENT_SOURCES];
    size_t source_count;
};
/* Fails with E_INVALIDARG and a message that names column, field and value if the table's definition is invalid. Adds
   warnings about skipped parts to `warnings`. */
HRESULT event_columns_make(const struct schema_table *table, struct event_columns *out, struct texts *warnings);
/* Returns the place of a table as "FILE: line N: table T", for messages. The result is from memory_alloc. */
char *event_table_place(const struct schema_table *table);

#endif
