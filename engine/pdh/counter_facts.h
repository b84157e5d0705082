/* SPDX-License-Identifier: MIT */
/* Facts about counters for people: the schema of a counter of ours, and why a counter of Windows does not exist here.
 */
#ifndef OPENPLA_PDH_COUNTER_FACTS_H
#define OPENPLA_PDH_COUNTER_FACTS_H

#include "engine/pdh/core/counter_object.h"

/* The schema of a counter of this computer's objects, found by name without regard to case; NULL if it does not
   exist. */
const struct counter_schema *counter_row(const char *object, const char *counter);
/* The reason why this host OS does not have the counter or the whole object; NULL if it is unknown. */
const char *counter_absence(const char *object, const char *counter);

#endif
