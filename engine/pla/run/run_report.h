/* SPDX-License-Identifier: MIT */
/* Creates the report of one folder for the data manager of a set. */
#ifndef OPENPLA_RUN_REPORT_H
#define OPENPLA_RUN_REPORT_H

#include "engine/pla/model.h"

struct run_report {
    const struct data_collector_set *set; /* not changed during the call */
    const char *name;                     /* of the set */
    const char *root;                     /* RootPath: nothing is written outside (DECISIONS 36) */
    const char *folder;                   /* the folder below root */
    const struct texts *files;            /* the logs, "" for a collector without one; NULL: the logs in the folder */
    uint32_t steps;                       /* STEP_CREATE_REPORT, STEP_RUN_RULES, STEP_CREATE_HTML (sets.h) */
};
/* Performs the requested steps in this order: creates the report, applies the rules to the existing report, and
   creates its page, ReportFileName. Report and page are replaced, or unchanged on failure. *path, from memory_alloc,
   is the report's file; `notes` receives what users must know about logs and schema. S_FALSE: there are no logs, or
   no report for rules or page. If `files` contains no log, an existing report and its page stay as they are.
   E_INVALIDARG: RuleTargetFileName, EventsFileName or ReportFileName is the name of a log or of a collected
   configuration; HRESULT of ERROR_BAD_PATHNAME: a link leads outside; of ERROR_TIMEOUT; errors of report_make. */
HRESULT run_report_make(const struct run_report *what, char **path, struct texts *notes);

#endif
