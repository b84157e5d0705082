/* SPDX-License-Identifier: MIT */
/* What help and completion say of logman, out of the tables by which its lines are read. */
#ifndef OPENPLA_CLI_LOGMAN_HELP_H
#define OPENPLA_CLI_LOGMAN_HELP_H

#include "cli/logman/line.h"

/* Prints the help of the line's verb and adverb; of all where it names no verb. E_OUTOFMEMORY. */
HRESULT logman_show_help(const struct logman_line *line);
/* Tells the options of each verb and adverb to who asks (cli/cli.h). False: nobody does. */
bool logman_tell_options(void);

#endif
