/* SPDX-License-Identifier: MIT */
/* Enables the verbs of this program to read counters of remote computers. */
#ifndef OPENPLA_CLI_REMOTE_COUNTERS_H
#define OPENPLA_CLI_REMOTE_COUNTERS_H

#include "engine/base/error.h"

/* Enables counters of remote computers. A verb that reads counters calls this function first. */
void remote_counters_begin(void);
/* Asks for the account's password. From then on, this process uses the account to log on to `machine`. If `machine` is
   NULL, it uses the account for each computer that a path names. */
HRESULT remote_counters_log_on(const char *machine, const char *account);

#endif
