/* SPDX-License-Identifier: MIT */
/* Decodes an event's data with any schema, as decoders do. */
#ifndef OPENPLA_TEST_DECODE_EVENT_H
#define OPENPLA_TEST_DECODE_EVENT_H

#include "engine/etw/decode/event_schema.h"

/* Walks over the data and formats all texts. Aborts if a walk returns more than allowed. The schema has passed
   event_schema_check. */
void decode_event(const struct event_schema *schema, const uint8_t *data, size_t size, uint32_t pointer_size);

#endif
