/* SPDX-License-Identifier: MIT */
/* The verbs of openpla.exe, each of the file that has its name. */
#ifndef OPENPLA_CLI_VERBS_H
#define OPENPLA_CLI_VERBS_H

#include "cli/cli.h"

extern const struct verb verb_check, verb_config, verb_events, verb_logman, verb_logstat, verb_manifest, verb_mof,
    verb_relog, verb_store, verb_task, verb_trace, verb_tracerpt, verb_typeperf;
#ifdef _WIN32
extern const struct verb verb_run;
#endif

#endif
