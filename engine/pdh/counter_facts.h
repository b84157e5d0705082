/* SPDX-License-Identifier: MIT */
/* Facts about counters for documentation and messages: the schema of a counter that this engine implements, and the
   reason why a Windows counter does not exist here. */
#ifndef OPENPLA_PDH_COUNTER_FACTS_H
#define OPENPLA_PDH_COUNTER_FACTS_H

#include "engine/pdh/core/counter_object.h"

/* Finds the schema of a counter of this computer's objects by name, ignoring case. NULL if the counter does not
   exist. */
const struct counter_schema *counter_row(const char *object, const char *counter);
/* Returns the reason why this host OS does not have the counter or its whole object; NULL if the reason is unknown. */
const char *counter_absence(const char *object, const char *counter);

#endif
