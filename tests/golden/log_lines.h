/* SPDX-License-Identifier: MIT */
/* The contents of a log as lines for blg_check.py: fields between tabs, an absent name is a lone "-". */
#ifndef OPENPLA_TEST_LOG_LINES_H
#define OPENPLA_TEST_LOG_LINES_H

#include "engine/logs/log.h"

#include <stdio.h>

void print_counter(FILE *text, const struct log_counter *counter);
/* `utc` cut to whole milliseconds, as logs keep it. */
void print_sample(FILE *text, int64_t utc, const struct log_counter *counters, const struct log_cell *cells,
                  size_t count);

#endif
