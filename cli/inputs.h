/* SPDX-License-Identifier: MIT */
/* Logs as people are told of them. */
#ifndef OPENPLA_CLI_INPUTS_H
#define OPENPLA_CLI_INPUTS_H

#include "engine/logs/log_inputs.h"

/* What the log is: "CSV", "Binary". */
const char *format_name(const struct log_reader *reader);
/* "3/4/2021 9:51:39" as Windows' tools say times; `utc` in the zone. */
char *format_time(int64_t utc, const struct log_zone *zone);
/* "2021-03-04T09:51:39.073Z" */
char *format_iso_time(int64_t utc);

#endif
