/* SPDX-License-Identifier: MIT */
/* logstat for event traces, and functions that logstat for performance logs also uses. */
#ifndef OPENPLA_CLI_LOGSTAT_TRACE_H
#define OPENPLA_CLI_LOGSTAT_TRACE_H

#include "cli/output.h"

/* Shows the event trace. Returns CLI_DONE, CLI_FAILED or CLI_REMARKS. Returns -1 without any output if the file is not
   an event trace. */
int logstat_trace(const char *path, const char *shown, struct json *j);

/* Prints a line such as "Begin: 4/19/2022 ... (2022-04-19T...Z)". */
void print_log_time(const char *label, int64_t utc, const struct log_zone *zone);
void json_log_time(struct json *j, const char *name, int64_t utc);

#endif
