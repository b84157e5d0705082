/* SPDX-License-Identifier: MIT */
/* The verbs of openpla.exe, each of the file that has its name. */
#ifndef OPENPLA_CLI_VERBS_H
#define OPENPLA_CLI_VERBS_H

#include "cli/cli.h"

#include <stdio.h>

extern const struct verb verb_check, verb_completion, verb_config, verb_data, verb_diskperf, verb_doctor, verb_events,
    verb_lodctr, verb_logman, verb_logstat, verb_manifest, verb_mof, verb_plot, verb_relog, verb_report, verb_rules,
    verb_store, verb_task, verb_trace, verb_tracerpt, verb_typeperf, verb_unlodctr, verb_version;
#ifdef _WIN32
extern const struct verb verb_run;
#endif

/* All of them, in the order of their names; NULL ends the list. */
extern const struct verb *const cli_verbs[];

/* "openpla help ...": the list of verbs, the help of one, with --json what each of them takes. `out` is where the list
   goes. Gives an enum cli_exit. */
int help_list(FILE *out);
int help_of(int argc, char **argv);
int help_print(const struct verb *verb, int argc, char **argv);
/* Names what there is no verb for, and the nearest one. Gives CLI_USAGE. */
int help_no_verb(const char *name);
const struct verb *help_find_verb(const char *name); /* in any case; NULL */

#endif
