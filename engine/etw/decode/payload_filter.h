/* SPDX-License-Identifier: MIT */
/* Payload filters: conditions on the data of a provider's events, made where the schema is known, evaluated in the
   writer's process, which knows none: the layout of what is looked at is in the filter. Its bytes:
   u32 mark, u16 version, u16 number of events, u32 size of all;
   for each event: u16 id, u8 version, u8 flags, u16 properties, u16 top level, u16 conditions, u16 size of the
   conditions; its properties {u16 flags, in-type, out-type, count, length, first member, members}; its conditions {u16
   property, u8 operation, u8 0, u16 bytes of text, two u64 numbers, text in UTF-8}. */
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
    PAYLOAD_BETWEEN, /* "lowest,highest", both of them too */
    PAYLOAD_NOT_BETWEEN,
    PAYLOAD_MULTIPLE,
    PAYLOAD_CONTAINS = 20,
    PAYLOAD_LACKS,
    PAYLOAD_IS = 30,
    PAYLOAD_IS_NOT,
};
/* One condition: numbers 0 to 8, texts 20, 21, 30 and 31 without case, GUIDs in braces 30 and 31. */
struct payload_condition {
    const char *field; /* of the top level; with case */
    uint16_t operation;
    const char *value;
};

/* One event's conditions. `any`: one of them is enough, else all. *bytes from memory_alloc. E_INVALIDARG with a text
   that names the field and the value: no such field, one that has no comparable type, or an operation or value that is
   not for it. ERROR_INSUFFICIENT_BUFFER's HRESULT: more than PAYLOAD_MOST_BYTES. */
HRESULT payload_filter_create(const struct event_schema *schema, uint16_t id, uint8_t version, bool any,
                              const struct payload_condition *conditions, size_t count, uint8_t **bytes, size_t *size);
/* One filter of several events or several filters of one: of these all that are marked in `all` have to pass, or one
   that is not (NULL: none is marked). */
HRESULT payload_filter_join(const uint8_t *const *filters, const size_t *sizes, const bool *all, size_t count,
                            uint8_t **bytes, size_t *size);

struct payload_filter;
/* ERROR_INVALID_DATA's HRESULT with a text. */
HRESULT payload_filter_read(const uint8_t *bytes, size_t size, struct payload_filter **out);
void payload_filter_free(struct payload_filter *f); /* NULL is allowed */
/* Is there a condition for events of the id and version? */
bool payload_filter_concerns(const struct payload_filter *f, const EVENT_DESCRIPTOR *event);
/* Events that it does not concern pass, and those whose data end before what is asked for: nothing is lost for what
   nobody can tell. `pointer_size` 4 or 8. Any number of threads. */
bool payload_filter_passes(const struct payload_filter *f, const EVENT_DESCRIPTOR *event, const uint8_t *data,
                           size_t size, uint32_t pointer_size);

#endif
