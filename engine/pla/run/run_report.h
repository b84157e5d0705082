/* SPDX-License-Identifier: MIT */
/* The report of one folder, as the data manager of a set asks for it. */
#ifndef OPENPLA_RUN_REPORT_H
#define OPENPLA_RUN_REPORT_H

#include "engine/pla/model.h"

struct run_report {
    const struct data_collector_set *set; /* nobody changes it meanwhile */
    const char *name;                     /* of the set */
    const char *root;                     /* RootPath: nothing is written outside (DECISIONS 36) */
    const char *folder;                   /* there */
    const struct texts *files;            /* the logs, "" for one without; NULL: those that are in the folder */
    uint32_t steps;                       /* STEP_CREATE_REPORT, STEP_RUN_RULES, STEP_CREATE_HTML (sets.h) */
};
/* Writes the report, applies the rules to the report that exists by then, and writes its page, ReportFileName: the
   steps that were asked for, in this order. Report and page replace those that exist, or stay as they are on failure.
   *path, from memory_alloc, is the report's file; what the user must know of the logs and the schema is added to
   `notes`. S_FALSE: there are no logs, or no report for the rules or the page. Without a log, `files` have no report,
   so that one which exists, with its page, stays as it is. E_INVALIDARG: RuleTargetFileName,
   EventsFileName or ReportFileName is the name of a log or of a collected configuration; HRESULT of ERROR_BAD_PATHNAME:
   a link leads outside; of ERROR_TIMEOUT; what report_make says. */
HRESULT run_report_make(const struct run_report *what, char **path, struct texts *notes);

#endif
