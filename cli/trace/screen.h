/* SPDX-License-Identifier: MIT */
/* A terminal that shows one page after another in one place. */
#ifndef OPENPLA_CLI_SCREEN_H
#define OPENPLA_CLI_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the stream is a terminal, so that somebody reads it as it is written. `stream`: stdout or stderr. */
bool screen_is_terminal(FILE *stream);
/* Makes stdout's terminal empty, from its top on. False: stdout is none. */
bool screen_clear(void);

#endif
