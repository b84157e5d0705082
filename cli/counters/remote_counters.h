/* SPDX-License-Identifier: MIT */
/* Counters of other computers for the verbs of this program. */
#ifndef OPENPLA_CLI_REMOTE_COUNTERS_H
#define OPENPLA_CLI_REMOTE_COUNTERS_H

#include "engine/base/error.h"

/* First thing in a verb that reads them. */
void remote_counters_begin(void);
/* Asks for the account's password; from then on this process logs on to the machine with it, NULL: to each that a path
   names. */
HRESULT remote_counters_log_on(const char *machine, const char *account);

#endif
