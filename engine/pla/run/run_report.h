/* SPDX-License-Identifier: MIT */
/* Creates the report of one run folder, for the data manager of a set. */
#ifndef OPENPLA_RUN_REPORT_H
#define OPENPLA_RUN_REPORT_H

#include "engine/pla/model.h"

struct run_report {
    const struct data_collector_set *set; /* not changed during the call */
    const char *name;                     /* name of the set */
    const char *root;                     /* RootPath; nothing is written outside of it (DECISIONS 36) */
    const char *folder;                   /* the folder below root */
    const struct texts *files;            /* the logs, "" for a collector without one; NULL: all logs in the folder */
    uint32_t steps;                       /* STEP_CREATE_REPORT, STEP_RUN_RULES, STEP_CREATE_HTML (sets.h) */
};
/* Performs the requested steps in this order: creates the report, applies the rules to the existing report, and creates
   the report page (ReportFileName). An existing report and report page are replaced. On failure the existing report and
   report page are unchanged. *path, from memory_alloc, is the path of the report. Adds notes for users about the logs
   and the schema to `notes`. S_FALSE: there are no logs, or there is no report for the rules or the report page. If
   `files` contains no log, an existing report and its report page stay as they are. E_INVALIDARG: RuleTargetFileName,
   EventsFileName or ReportFileName is the name of a log or of a collected configuration;
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME): a link leads out of `root`. Also fails with HRESULT_FROM_WIN32(ERROR_TIMEOUT)
   and the errors of report_make. */
HRESULT run_report_make(const struct run_report *what, char **path, struct texts *notes);

#endif
