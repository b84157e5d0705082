/* SPDX-License-Identifier: MIT */
/* Counters of other computers for the verbs of this program. */
#ifndef OPENPLA_CLI_REMOTE_COUNTERS_H
#define OPENPLA_CLI_REMOTE_COUNTERS_H

#include "engine/base/error.h"

/* Call this first in a verb that reads them. */
void remote_counters_begin(void);
/* Asks for the account's password. From then on, this process uses the account to log on to the machine (NULL: to each
   machine in a path). */
HRESULT remote_counters_log_on(const char *machine, const char *account);

#endif
