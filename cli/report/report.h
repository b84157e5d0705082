/* SPDX-License-Identifier: MIT */
/* A report as a command line asks for it: what "openpla report" and "openpla tracerpt -report" share. */
#ifndef OPENPLA_CLI_REPORT_H
#define OPENPLA_CLI_REPORT_H

#include "cli/cli.h"
#include "engine/etw/trace_input.h"
#include "engine/report/report_schema.h"

/* Zero-initialise but for what is asked. */
struct report_request {
    struct texts operands;       /* files and folders */
    struct texts schemas;        /* names of report schemas; none: the general one */
    const char *output, *events; /* borrowed, as the texts below; NULL: report.xml, no events */
    const char *set, *language;
    uint32_t level;
    const char *sheet; /* of the page; NULL: our own */
    bool as_json, show_progress, yes, html;
    struct trace_knowledge known;
    /* What came of it. */
    char *path; /* of the report */
    char *page; /* NULL: none was wanted */
    struct texts remarks;

    struct texts inputs;
    struct report_schema schema;
    struct cli_progress progress;
};
/* Makes it; Ctrl+C ends it with ERROR_CANCELLED's HRESULT. */
HRESULT report_request_make(struct report_request *r);
void report_request_free(struct report_request *r); /* all but `known` */

#endif
