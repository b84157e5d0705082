/* SPDX-License-Identifier: MIT */
/* An event's data read by a schema that may be any, as decoders do it. */
#ifndef OPENPLA_TEST_DECODE_EVENT_H
#define OPENPLA_TEST_DECODE_EVENT_H

#include "engine/etw/decode/event_schema.h"

/* Walks over the data and makes all texts of it. Aborts when a walk says more than it may. The schema has passed
   event_schema_check. */
void decode_event(const struct event_schema *schema, const uint8_t *data, size_t size, uint32_t pointer_size);

#endif
