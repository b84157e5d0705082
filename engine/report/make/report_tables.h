/* SPDX-License-Identifier: MIT */
/* Creates the tables of a report. Each table of the report is created from a table of the schema. All traces are read
   once, in time order, and the events go to all tables; then each table writes itself. */
#ifndef OPENPLA_REPORT_TABLES_H
#define OPENPLA_REPORT_TABLES_H

#include "engine/etw/trace_input.h"
#include "engine/report/make/report_document.h"
#include "engine/report/report_schema.h"

/* Totals of all inputs. The totals are complete after all inputs have been read. */
struct report_totals {
    int64_t first, last; /* FILETIMEs of the first and the last event of all traces; 0 means no event */
    double seconds;      /* seconds from `first` to `last`: the duration by which rates are divided (MS-PLA 2.2.3.3) */
    uint64_t events, events_lost, buffers_lost, undecoded;
    uint64_t samples;                  /* samples of all counter logs */
    int64_t sample_first, sample_last; /* FILETIMEs of the first and the last sample; 0 means no sample */
    bool valueless;                    /* there are samples, but none of them contains a value of a requested counter */
    uint64_t gaps;                     /* periods without samples that are at least twice the log's interval */
    /* Called often while tables are written; true stops with HRESULT_FROM_WIN32(ERROR_CANCELLED). May be NULL. */
    bool (*stop)(void *context);
    void *stop_context;
};
/* Returns whether to stop. Calls totals->stop only once in 256 calls, to save time. *calls counts the calls of this
   function. */
static inline bool report_is_stopped(const struct report_totals *totals, unsigned *calls)
{
    return totals->stop && ++*calls % 256 == 0 && totals->stop(totals->stop_context);
}

/* The definition and outputs of a table; all borrowed, and valid until the table is freed. */
struct report_table_make {
    const struct report_schema *schema;
    const struct schema_section *section;
    const struct schema_table *table;
    size_t memory;          /* bytes that the table may use; the rest goes to a scratch file */
    struct texts *warnings; /* the report's warnings: errors of the table, and omitted parts */
    struct texts *notes;    /* the report's notes: events that the traces lack, not errors of the schema */
};

/* The current event. The event is decoded when the first table needs its details. */
struct report_event {
    const struct trace_event *event;
    int64_t utc;
    struct trace_schemas *schemas;
    bool looked;
    struct dumped_event dumped;
    const struct found_schema *found;
};
/* Decodes the event, if no table has done so. *out is valid until the next event; (*out)->schema is NULL for an unknown
   event. Fails with E_OUTOFMEMORY. */
HRESULT report_event_look(struct report_event *e, const struct dumped_event **out);

/* Returns whether the event belongs to the log itself (class {68FDD900-4A3E-11D1-84F4-0000F80464E3}), not to a
   provider. */
static inline bool report_event_is_of_log(const EVENT_RECORD *record)
{
    static const GUID of_logs = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
    return guid_equal(&record->EventHeader.ProviderId, &of_logs);
}

struct report_table_kind {
    /* Called for each event of all traces. A failure ends the report; the table counts invalid events. */
    HRESULT (*event)(void *table, struct report_event *e);
    /* Writes the table, from report_table_begin to report_table_end, or only a warning. Stops if totals->stop returns
       true. */
    HRESULT (*write)(void *table, const struct report_totals *totals, struct report_document *to);
    void (*free)(void *table);
};
struct report_table {
    const struct report_table_kind *kind;
    void *state;
};

/* Creates an event table (event_table.c). Fails with E_OUTOFMEMORY. Some errors of a table (too many event sources, a
   sum of texts) are found only by this function or when events are read. These errors become warnings when the table is
   written. */
HRESULT event_table_create(const struct report_table_make *make, struct report_table *out);

/* ---- the event tables of a report, from one reading of all traces ---- */
struct report_events;

struct report_events_make {
    const struct report_schema *schema; /* borrowed until report_events_free, like all members below */
    unsigned level;                     /* tables of higher levels are not created */
    size_t memory;                      /* bytes that all tables together may keep */
    const struct trace_knowledge *known;
    const char *events_output; /* all events as XML go to this file; NULL means nowhere */
    const char *base;          /* folder below which events_output must be (report_document.h) */
};
/* `warnings` and `notes` receive the messages that struct report_table_make describes; both are borrowed until
   report_events_free. */
HRESULT report_events_create(const struct report_events_make *make, struct texts *warnings, struct texts *notes,
                             struct report_events **out);
/* Calls `seen` often with the number of bytes read. If `seen` returns false, stops and fails with
   HRESULT_FROM_WIN32(ERROR_CANCELLED). */
HRESULT report_events_read(struct report_events *e, struct trace_inputs *traces,
                           bool (*seen)(void *context, uint64_t done), void *context);
/* Fills in the times of the events and the duration. */
void report_events_totals(const struct report_events *e, struct report_totals *totals);
HRESULT report_events_write(struct report_events *e, const struct schema_table *table,
                            const struct report_totals *totals, struct report_document *to);
/* Renames the draft to `events_output`. After a failure, an existing file is unchanged. */
HRESULT report_events_keep(struct report_events *e);
void report_events_free(struct report_events *e); /* NULL is allowed */

#endif
