/* SPDX-License-Identifier: MIT */
/* The blocks of TDH's functions: a structure at the start, UTF-16 texts behind it, and offsets from the start to them.
   The same bytes on every host. */
#ifndef OPENPLA_TDH_BLOCK_H
#define OPENPLA_TDH_BLOCK_H

#include "engine/etw/decode/event_schema.h"

/* Zero-initialise. A failed allocation sticks. */
struct tdh_block {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};
/* Adds zeroed bytes and returns their offset; 0 when memory is out. */
uint32_t tdh_block_add(struct tdh_block *b, size_t size);
/* Adds the text with its NUL and returns its offset; NULL gives 0, "absent". */
uint32_t tdh_block_text(struct tdh_block *b, const char *text);
void tdh_block_u16(struct tdh_block *b, uint32_t at, uint16_t value);
void tdh_block_u32(struct tdh_block *b, uint32_t at, uint32_t value);
void tdh_block_put(struct tdh_block *b, uint32_t at, const void *bytes, size_t size);
void tdh_block_free(struct tdh_block *b);

/* TRACE_EVENT_INFO; E_OUTOFMEMORY. `pointer_size`: the event's, 0 without one. */
HRESULT tdh_block_event(const struct event_schema *schema, uint32_t pointer_size, struct tdh_block *out);
/* EVENT_MAP_INFO; E_OUTOFMEMORY. */
HRESULT tdh_block_map(const struct event_map *map, struct tdh_block *out);
/* EVENT_PROPERTY_INFO of each property, at its place from `at` on. Schema readers set no length for most types of a
   fixed size; it is added here, since programs compute with it. */
enum { TDH_EVENT_HEAD = 112, TDH_PROPERTY_SIZE = 24, TDH_MAP_HEAD = 16, TDH_MAP_ENTRY = 8 };
void tdh_block_properties(struct tdh_block *b, uint32_t at, const struct event_schema *schema, uint32_t pointer_size);

#endif
