/* SPDX-License-Identifier: MIT */
/* Counters of remote computers for the verbs of this program. */
#ifndef OPENPLA_CLI_REMOTE_COUNTERS_H
#define OPENPLA_CLI_REMOTE_COUNTERS_H

#include "engine/base/error.h"

/* Enables counters of remote computers. A verb that reads counters calls it first. */
void remote_counters_begin(void);
/* Asks for the account's password. From then on this process logs on with the account to the machine (NULL: to each
   machine in a path). */
HRESULT remote_counters_log_on(const char *machine, const char *account);

#endif
