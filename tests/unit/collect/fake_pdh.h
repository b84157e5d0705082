/* SPDX-License-Identifier: MIT */
/* A fake PDH for tests: a German system with one object with instances and one without. The test sets the instances. In
   native builds it is linked instead of OpenPLA's PDH. */
#ifndef OPENPLA_FAKE_PDH_H
#define OPENPLA_FAKE_PDH_H

#include "engine/logs/pdh_types.h"

/* Counters: \Prozess(*)\Zahl and \Zeit (English: Process, Count, Time), and \Speicher\Frei (Memory, Free). Zahl has the
   value i for the i-th instance. Zeit has a value from the second sample on. Frei is the number of samples. */
extern const char *fake_instances[8]; /* up to the first NULL */
extern const double *fake_values;     /* Zahl's values by instance; NULL: the defaults above */
extern bool fake_no_memory;           /* the object Speicher does not exist */
extern PDH_STATUS fake_collect_status;
extern PDH_STATUS fake_list_status; /* status that PDH returns for a list of instances; 0: success */
extern int fake_open_queries;

#endif
