/* SPDX-License-Identifier: MIT */
/* Creates a report. A report is one document that is created from counter logs, traces and configuration documents;
   report schemas define its contents. */
#ifndef OPENPLA_REPORT_H
#define OPENPLA_REPORT_H

#include "engine/etw/trace_input.h"
#include "engine/logs/counter_names.h"
#include "engine/report/report_schema.h"

#define REPORT_MEMORY    ((size_t)96 << 20)                /* bytes, the default of report_make */
#define REPORT_NO_DATA   HRESULT_FROM_WIN32(ERROR_NO_DATA) /* no usable input for a report */

/* The warning about counter logs from which no value can be computed. */
#define REPORT_NO_VALUES "the counter logs contain no value that can be computed (a rate needs two consecutive samples)"

/* Zero-initialise. All borrowed. */
struct report_make {
    const struct texts *inputs;         /* paths of files, for example the result of report_find_inputs */
    const struct report_schema *schema; /* after report_schema_order */
    const char *output;                 /* path of the document */
    const char *base;                   /* folder below which the document and events_output must be (report_head); NULL
                                           means anywhere */
    const char *events_output;          /* EventsFileName: all events as XML; NULL means no file */
    const char *set, *computer;         /* names for the header; NULL means that the name is taken from the inputs */
    const char *language;               /* language of the schema's strings; NULL means strings without a language, or
                                           English */
    unsigned level;                     /* highest level of tables; 0 means 1 */
    size_t memory;                      /* number of bytes that all tables together may use; 0 means REPORT_MEMORY */
    uint32_t slice;   /* seconds of the slices of all counter tables; 0 means the length in the schema */
    bool ranged;      /* use only the samples of counter logs from `from` to `to`, inclusive */
    int64_t from, to; /* FILETIMEs in the time zone of the first log; INT64_MIN and INT64_MAX mean no
                         limit */
    const struct counter_names *names; /* translates counter names of other languages; NULL means that the report has
                                          the names in the logs */
    char **names_result; /* receives the result of inputs_describe_names, from memory_alloc or NULL; may be NULL */
    const struct trace_knowledge *known; /* schemas of events; NULL means the schemas registered on this computer */
    /* The threads that read call this function often. If it returns true, report_make stops with
       HRESULT_FROM_WIN32(ERROR_CANCELLED). May be NULL. */
    bool (*stop)(void *context);
    /* Progress in bytes of the inputs; may be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context; /* passed to `stop` and `progress` */
};

/* Finds the inputs in a folder, sorted by name: *.blg, *.csv, *.tsv, *.etl, and *.xml that are configuration documents.
   Omits the files whose names are in `except`, ignoring case; these are the report and its outputs. Does not search
   subfolders. Fails with HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) if the folder is missing. */
HRESULT report_find_inputs(const char *folder, const struct texts *except, struct texts *out);

/* Creates the document. The document also reports everything that the user must know: corrupt and unreadable inputs,
   lost events and gaps, and omitted parts of the schema. The function adds the problems of inputs and schema to
   `warnings`, but not lost events and gaps. Fails with REPORT_NO_DATA if no input could be read, or if the schema has
   no table and the inputs have no configuration. The function also fails with HRESULT_FROM_WIN32(ERROR_CANCELLED), or
   with an error of writing. After a failure no new document exists, and an old one is unchanged. */
HRESULT report_make(const struct report_make *make, struct texts *warnings);

/* Names of a run's reports if its data manager does not name them. */
#define REPORT_FILE_NAME "report.xml"  /* RuleTargetFileName */
#define PAGE_FILE_NAME   "report.html" /* ReportFileName */

/* Checks whether the file is a configuration document. Reads only the start of the file. If it is one, returns S_OK and
   sets *computer to the name of the document's computer, from memory_alloc; *computer is unchanged if it was already
   set, or if the document does not contain the name. Returns S_FALSE for any other file. Fails with E_OUTOFMEMORY. */
HRESULT report_configuration_is(const char *path, char **computer);

#endif
