/* SPDX-License-Identifier: MIT */
/* Enables counters of remote computers for programs that are linked with this PDH. openpdh.dll always supports them. */
#ifndef OPENPLA_REMOTE_COUNTERS_H
#define OPENPLA_REMOTE_COUNTERS_H

/* Allows counter paths to name remote computers from now on. The connections use TCP (engine/pdh/remote/link.h). */
void remote_counters_by_tcp(void);

#endif
