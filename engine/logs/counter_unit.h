/* SPDX-License-Identifier: MIT */
/* Units of counters, for people and for the names of metrics. */
#ifndef OPENPLA_COUNTER_UNIT_H
#define OPENPLA_COUNTER_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* Writes the unit of the values that PDH computes for the counter: "%", "s", "bytes", "bytes/s", "1/s", "MHz" ..., or
   "" for a plain number. The unit comes from the type and, where the type leaves it open, from the counter's name. 24
   bytes are enough for `room`. */
void counter_unit(const char *counter, uint32_t type, char *out, size_t room);

#endif
