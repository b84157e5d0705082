/* SPDX-License-Identifier: MIT */
/* A terminal that shows one page after another in one place. */
#ifndef OPENPLA_CLI_SCREEN_H
#define OPENPLA_CLI_SCREEN_H

#include <stdbool.h>

/* Makes stdout's terminal empty, from its top on. False: stdout is none. */
bool screen_clear(void);

#endif
