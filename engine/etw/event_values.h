/* SPDX-License-Identifier: MIT */
/* The walk over an event's data by its schema: each value's bytes, type, element and nesting. */
#ifndef OPENPLA_EVENT_VALUES_H
#define OPENPLA_EVENT_VALUES_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/value_extent.h"

/* Borrowed while the walk lasts. */
struct event_data {
    const uint8_t *bytes;
    size_t size;
    uint32_t pointer_size; /* 4 or 8, of who wrote it */
};
/* UserData of the event; the size of pointers is its header's, else `pointer_size` (0: this process'). */
struct event_data event_data_of(const EVENT_RECORD *event, uint32_t pointer_size);

enum event_step {
    STEP_VALUE,  /* a scalar, or an element of an array */
    STEP_STRUCT, /* a struct begins, which may be an element of an array; its members follow */
    STEP_STRUCT_END,
    STEP_ARRAY, /* the elements follow, also when there are none */
    STEP_ARRAY_END,
};
struct event_value {
    const struct event_property *property;
    uint16_t index;   /* of the property in the schema */
    uint16_t depth;   /* how many structs it is in */
    uint32_t element; /* which element it is of `elements`; of a scalar 0 of 1 */
    uint32_t elements;
    bool array;
    struct value_type type; /* of STEP_VALUE */
    /* As they stand in the event: counts, NULs and all. Of STEP_STRUCT and STEP_ARRAY none, of their ends all that they
       took. */
    const uint8_t *bytes;
    size_t size;
};
/* S_OK: go on. S_FALSE: the walk ends here, and well. A failure ends it. */
typedef HRESULT event_value_taker(void *context, enum event_step step, const struct event_value *value);

/* Gives what the data have, in their order. Bytes behind the last property are no error: newer versions append; nor is
   a classic event that ends before one of its class' properties. *used (may be NULL): bytes that the values took.
   EVENT_DATA_INVALID with a text that names the property: the data end within it, or say more values than such an event
   can have; what came before it has been given. S_FALSE: the taker ended it. Needs memory only for schemas of more than
   64 properties. */
HRESULT event_values_walk(const struct event_schema *schema, const struct event_data *data, event_value_taker *take,
                          void *context, size_t *used);

#endif
