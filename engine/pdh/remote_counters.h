/* SPDX-License-Identifier: MIT */
/* For programs that are linked with this PDH: counters of other computers. openpdh.dll always has them. */
#ifndef OPENPLA_REMOTE_COUNTERS_H
#define OPENPLA_REMOTE_COUNTERS_H

/* From now on counter paths may name other computers, which are reached by TCP (engine/pdh/remote/link.h). */
void remote_counters_by_tcp(void);

#endif
