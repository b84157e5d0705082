/* SPDX-License-Identifier: MIT */
/* What people are told of counters: the unit of a value, what a value of ours is made of, and why a
   counter of Windows is not here. */
#ifndef OPENPLA_PDH_COUNTER_FACTS_H
#define OPENPLA_PDH_COUNTER_FACTS_H

#include "engine/pdh/core/counter_object.h"

/* Of the values that PDH computes of it: "%", "s", "bytes", "bytes/s", "1/s", "MHz" ...; "" for a plain number. What a
   type does not say is taken from the counter's name. `room` of 24 is enough. */
void counter_unit(const char *counter, DWORD type, char *out, size_t room);
/* The row of this computer's objects, names in any case; NULL: we have none. */
const struct counter_schema *counter_row(const char *object, const char *counter);
/* Why this host has no such counter, or no such object; NULL: nothing is known of it. */
const char *counter_absence(const char *object, const char *counter);

#endif
