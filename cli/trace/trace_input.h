/* SPDX-License-Identifier: MIT */
/* Event traces as the verbs read them. */
#ifndef OPENPLA_CLI_TRACE_INPUT_H
#define OPENPLA_CLI_TRACE_INPUT_H

#include "cli/cli.h"
#include "engine/etw/trace_input.h"

/* As trace_progress; the context is a struct cli_progress. */
void trace_inputs_progress(void *progress, uint64_t done, uint64_t total);
/* Tells on stderr what is damaged: CLI_DONE, or CLI_REMARKS. */
int trace_inputs_remarks(const struct trace_inputs *in, const char *verb);

#endif
