/* SPDX-License-Identifier: MIT */
/* The event tables of a report: all of them from one reading of all traces. */
#ifndef OPENPLA_REPORT_EVENTS_H
#define OPENPLA_REPORT_EVENTS_H

#include "engine/report/make/report_tables.h"

struct report_events;

struct report_events_make {
    const struct report_schema *schema; /* borrowed until the end, as all below */
    unsigned level;                     /* tables of higher ones are not made */
    size_t memory;                      /* bytes that all tables may keep */
    const struct trace_knowledge *known;
    const char *events_output; /* all events as XML go to this file; NULL: nowhere */
    const char *base;          /* of it, as report_draft.h has it */
};
/* `remarks` and `notes` get what report_tables.h says, until the end. */
HRESULT report_events_create(const struct report_events_make *make, struct texts *remarks, struct texts *notes,
                             struct report_events **out);
/* `seen` is told the bytes that are read, often; false ends the reading with ERROR_CANCELLED's HRESULT. */
HRESULT report_events_read(struct report_events *e, struct trace_inputs *traces,
                           bool (*seen)(void *context, uint64_t done), void *context);
/* Events, their times and the duration. */
void report_events_totals(const struct report_events *e, struct report_totals *totals);
HRESULT report_events_write(struct report_events *e, const struct schema_table *table,
                            const struct report_totals *totals, struct report_document *to);
/* What `events_output` says is there from now on; without it that file is as it was. */
HRESULT report_events_keep(struct report_events *e);
void report_events_free(struct report_events *e); /* NULL is allowed */

#endif
