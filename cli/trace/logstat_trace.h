/* SPDX-License-Identifier: MIT */
/* logstat for event traces, and functions shared with that for performance logs. */
#ifndef OPENPLA_CLI_LOGSTAT_TRACE_H
#define OPENPLA_CLI_LOGSTAT_TRACE_H

#include "cli/output.h"

/* Shows the event trace. Returns CLI_DONE, CLI_FAILED or CLI_REMARKS; -1, without output: not an event trace. */
int logstat_trace(const char *path, const char *shown, struct json *j);

/* "Begin:      4/19/2022 ... (2022-04-19T...Z)" */
void print_log_time(const char *label, int64_t utc, const struct log_zone *zone);
void json_log_time(struct json *j, const char *name, int64_t utc);

#endif
