/* SPDX-License-Identifier: MIT */
/* A PDH of the tests: a German system with one object with instances and one without, whose instances the test sets.
   Linked in place of ours natively. */
#ifndef OPENPLA_FAKE_PDH_H
#define OPENPLA_FAKE_PDH_H

#include "engine/logs/pdh_types.h"

/* \Prozess(*)\Zahl and \Zeit (English: Process, Count, Time), \Speicher\Frei (Memory, Free). Zahl of the i-th instance
   is i, Zeit has a value from the second sample on, Frei counts the samples. */
extern const char *fake_instances[8]; /* up to the first NULL */
extern const double *fake_values;     /* of Zahl, by instance; NULL: as above */
extern bool fake_no_memory;           /* the object Speicher is not there */
extern PDH_STATUS fake_collect_status;
extern PDH_STATUS fake_list_status; /* what instances cannot be listed for; 0: they can */
extern int fake_open_queries;

#endif
