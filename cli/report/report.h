/* SPDX-License-Identifier: MIT */
/* A report that a command line requests, for "openpla report" and "openpla tracerpt -report". */
#ifndef OPENPLA_CLI_REPORT_H
#define OPENPLA_CLI_REPORT_H

#include "cli/cli.h"
#include "engine/etw/trace_input.h"
#include "engine/report/report_schema.h"
#include "engine/report/rules.h"

/* Zero-initialise and set the options. */
struct report_request {
    struct texts operands;       /* files and folders */
    struct texts schemas;        /* names of report schemas; empty: the general schema */
    const char *output, *events; /* `output`: name of the report; NULL means report.xml; `events`: file for all
                                    events; NULL means no file; both are borrowed, like the strings below */
    const char *set, *language;
    uint32_t level;
    uint32_t slice;    /* length of a slice in seconds; 0 means automatic */
    uint32_t seconds;  /* time limit for rules and for a style sheet; 0 means the default */
    const char *sheet; /* style sheet of the page; NULL means the built-in style sheet */
    bool as_json, show_progress, yes, html;
    bool checked;                   /* apply rules */
    bool unchecked;                 /* result: no rule applied to the contents of the report */
    struct texts rules;             /* names of rules; empty: the built-in rules */
    const struct rules *slices_for; /* rules that need more slices than the schemas specify; NULL means no such
                                       rules */
    struct trace_knowledge known;
    struct texts name_files; /* from -names: files with the counter names of the computer that wrote the logs; not freed
                                by report_request_free */
    struct rules *read;      /* the rules to apply; NULL means no rules */
    /* Results: */
    char *path;  /* path of the report */
    char *page;  /* path of the page; NULL if not requested */
    char *names; /* text about how many counter names were recognized; NULL if the names are English */
    struct texts warnings;

    struct texts inputs;
    struct report_schema schema;
    struct cli_progress progress;
};
/* Creates the report. Fails with HRESULT_FROM_WIN32(ERROR_CANCELLED) after Ctrl+C. */
HRESULT report_request_make(struct report_request *r);
void report_request_free(struct report_request *r); /* frees everything except `known` and name_files */

/* Runs the sub-verb import-pal of "openpla rules". */
int rules_import_pal(int argc, char **argv);

/* Reads rules files, or built-in rules by name; without names, the built-in rules RULES_GENERAL, which include all
   others. *out must be freed even after a failure. */
HRESULT rules_read_named(const struct texts *names, struct rules **out);

/* Prints the rules with their limits and sources. */
HRESULT rules_print_list(const struct rules *rules, const char *language, bool as_json);

/* A temporary report of a log, a trace or a folder, created with the general schema in a separate folder for temporary
   files. The report contains everything that the rules need. Zero-initialise. */
struct temporary_report {
    char *folder, *path;
    char *names; /* as in struct report_request */
    struct texts warnings;
};
/* Creates the report. `rules` NULL means the built-in rules. `name_files` is from -names. */
HRESULT temporary_report_make(struct temporary_report *t, const char *input, const struct rules *rules,
                              const struct texts *name_files);
/* Deletes the report's files. */
void temporary_report_free(struct temporary_report *t);

#endif
