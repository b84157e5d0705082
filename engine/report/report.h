/* SPDX-License-Identifier: MIT */
/* A report: what counter logs, traces and configuration documents say, by report schemas, as one document. */
#ifndef OPENPLA_REPORT_H
#define OPENPLA_REPORT_H

#include "engine/etw/trace_input.h"
#include "engine/report/report_schema.h"

#define REPORT_MEMORY    ((size_t)96 << 20)                /* bytes, the default of report_make */
#define REPORT_NO_DATA   HRESULT_FROM_WIN32(ERROR_NO_DATA) /* nothing that a report could be made of */

/* The warning about counter logs of which no value can be computed. */
#define REPORT_NO_VALUES "the counter logs contain no computable value (a rate needs two consecutive samples)"

/* Zero-initialise. All borrowed. */
struct report_make {
    const struct texts *inputs;          /* files; report_find_inputs finds those of a folder */
    const struct report_schema *schema;  /* ordered */
    const char *output;                  /* the document */
    const char *base;                    /* as struct report_head has it; NULL: document and events may lie anywhere */
    const char *events_output;           /* EventsFileName: all events as XML; NULL: not wanted */
    const char *set, *computer;          /* for its header; NULL: as the inputs say it */
    const char *language;                /* of its texts; NULL: that without a name, or English */
    unsigned level;                      /* tables up to it; 0: 1 */
    size_t memory;                       /* bytes that all tables may keep; 0: REPORT_MEMORY */
    bool ranged;                         /* of counter logs only the samples of `from` to `to`, inclusive: FILETIMEs */
    int64_t from, to;                    /* in the zone of the first of the logs; INT64_MIN, INT64_MAX: open */
    const struct trace_knowledge *known; /* of events; NULL: what is registered here */
    /* Called often, from the threads that read; true ends the work with ERROR_CANCELLED's HRESULT. NULL: nobody asks.
     */
    bool (*stop)(void *context);
    /* Progress in bytes of the inputs; may be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context; /* of both */
};

/* The inputs in a folder, sorted by name: *.blg, *.csv, *.tsv, *.etl, and *.xml that are configuration documents. Omits
   the report and its outputs (`except`: names, ignoring case). Does not search subfolders. Missing folder:
   PATH_NOT_FOUND. */
HRESULT report_find_inputs(const char *folder, const struct texts *except, struct texts *out);

/* Creates the document. It also contains everything that the user must know: corrupt and unreadable inputs, lost events
   and gaps, and omitted parts of the schema. `warnings` has the problems of inputs and schema, but not lost events and
   gaps.
   REPORT_NO_DATA: no input could be read, or the schema has no table and the inputs have no configuration;
   ERROR_CANCELLED; errors of writing. Then no new document exists, and an old one is unchanged. */
HRESULT report_make(const struct report_make *make, struct texts *warnings);

/* Names of a run's reports if its data manager does not name them. */
#define REPORT_FILE_NAME "report.xml"  /* RuleTargetFileName */
#define PAGE_FILE_NAME   "report.html" /* ReportFileName */

/* S_OK: the file is a configuration document; `computer` gets the one that it names, from memory_alloc, or stays as it
   is. S_FALSE: it is another report, or none. E_OUTOFMEMORY. Nothing but its begin is read. */
HRESULT report_configuration_is(const char *path, char **computer);

#endif
