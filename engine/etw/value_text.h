/* SPDX-License-Identifier: MIT */
/* A value's text as TdhFormatProperty gives it: of all types, and of maps. */
#ifndef OPENPLA_VALUE_TEXT_H
#define OPENPLA_VALUE_TEXT_H

#include "engine/etw/event_values.h"

/* Adds the text of the value at the start of `size` bytes; *used (may be NULL) is how many it took. With a map its text
   of the value. EVENT_DATA_INVALID with a text: there are too few bytes, or the map has no such value, and nothing was
   added. */
HRESULT value_text(const struct value_type *type, const struct event_map *map, const uint8_t *bytes, size_t size,
                   struct text_buffer *out, size_t *used);
/* Of a value that a walk gives (STEP_VALUE), by its map where it has one that has the value. */
HRESULT event_value_text(const struct event_schema *schema, const struct event_value *value, struct text_buffer *out);
/* The map's text of a number, for bits those of each joined by `|`; false: it has none. */
bool event_map_text(const struct event_map *map, uint64_t number, struct text_buffer *out);

#endif
