/* SPDX-License-Identifier: MIT */
/* Units of counters, for display and for the names of metrics. */
#ifndef OPENPLA_COUNTER_UNIT_H
#define OPENPLA_COUNTER_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* Writes the unit of the values that PDH computes for the counter: "%", "s", "bytes", "bytes/s", "1/s", "MHz" ..., or
   "" for a plain number. The unit is derived from the type or, if the type does not determine it, from the counter's
   name. A `room` of 24 bytes is enough. */
void counter_unit(const char *counter, uint32_t type, char *out, size_t room);

#endif
