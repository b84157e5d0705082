/* SPDX-License-Identifier: MIT */
/* Payload filters: conditions on the data of an event provider's events. A process that knows the schema creates the
   filters, and the process that writes an event evaluates them. The writing process has no schema, so the filter
   contains the part of the layout that the evaluation needs.

       u32 mark   u16 version   u16 events   u32 total size
       per event: u16 id  u8 version  u8 flags  u16 properties  u16 top-level properties  u16 conditions  u16 their size
         per property:  u16 flags, in-type, out-type, count, length, first member, members
         per condition: u16 property  u8 operation  u8 0  u16 bytes of text  u64, u64 numbers  text in UTF-8 */
#ifndef OPENPLA_PAYLOAD_FILTER_H
#define OPENPLA_PAYLOAD_FILTER_H

#include "engine/etw/decode/event_schema.h"

enum { PAYLOAD_MOST_CONDITIONS = 8, PAYLOAD_MOST_BYTES = 4096, PAYLOAD_MOST_EVENTS = 64 };
/* PAYLOADFIELD_ */
enum payload_operation {
    PAYLOAD_EQUAL,
    PAYLOAD_NOT_EQUAL,
    PAYLOAD_AT_MOST,
    PAYLOAD_GREATER,
    PAYLOAD_LESS,
    PAYLOAD_AT_LEAST,
    PAYLOAD_BETWEEN, /* "lowest,highest", inclusive */
    PAYLOAD_NOT_BETWEEN,
    PAYLOAD_MULTIPLE,
    PAYLOAD_CONTAINS = 20,
    PAYLOAD_LACKS,
    PAYLOAD_IS = 30,
    PAYLOAD_IS_NOT,
};
/* A condition. Operations for numbers are 0 to 8; for strings (case is ignored) 20, 21, 30 and 31; for GUIDs in braces
   30 and 31. */
struct payload_condition {
    const char *field; /* a top-level property, case-sensitive */
    uint16_t operation;
    const char *value;
};

/* Creates a filter for one event. If `any` is set, an event passes if one condition is true; otherwise all conditions
   must be true. *bytes is from memory_alloc. Returns E_INVALIDARG for an unknown field, a type that cannot be compared,
   or an operator or value that does not apply; the error text names the field and the value. Returns
   HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER) if the filter exceeds PAYLOAD_MOST_BYTES. */
HRESULT payload_filter_create(const struct event_schema *schema, uint16_t id, uint8_t version, bool any,
                              const struct payload_condition *conditions, size_t count, uint8_t **bytes, size_t *size);
/* Joins filters of several events, or several filters of the same event. An event with several filters passes if all
   filters that are marked in `all` pass, or if at least one unmarked filter passes. If `all` is NULL, no filter is
   marked. */
HRESULT payload_filter_join(const uint8_t *const *filters, const size_t *sizes, const bool *all, size_t count,
                            uint8_t **bytes, size_t *size);

struct payload_filter;
/* Reads the bytes of a filter. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text. */
HRESULT payload_filter_read(const uint8_t *bytes, size_t size, struct payload_filter **out);
void payload_filter_free(struct payload_filter *f); /* NULL is allowed */
/* Returns whether the filter has conditions for events of that id and version. */
bool payload_filter_concerns(const struct payload_filter *f, const EVENT_DESCRIPTOR *event);
/* Evaluates the filter. Events without conditions pass. Events whose data end before a field pass too, so that events
   that cannot be evaluated are kept. `pointer_size` is 4 or 8. Any number of threads may call it at the same time. */
bool payload_filter_passes(const struct payload_filter *f, const EVENT_DESCRIPTOR *event, const uint8_t *data,
                           size_t size, uint32_t pointer_size);

#endif
