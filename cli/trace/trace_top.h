/* SPDX-License-Identifier: MIT */
#ifndef OPENPLA_CLI_TRACE_TOP_H
#define OPENPLA_CLI_TRACE_TOP_H

/* `openpla trace top`, without these two words. Gives an enum cli_exit. */
int trace_top(int argc, char **argv);

#endif
