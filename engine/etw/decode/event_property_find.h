/* SPDX-License-Identifier: MIT */
/* Where in an event's data a property stands that is named by a path. */
#ifndef OPENPLA_EVENT_PROPERTY_FIND_H
#define OPENPLA_EVENT_PROPERTY_FIND_H

#include "engine/etw/event_values.h"

#define PROPERTY_WHOLE UINT32_MAX /* all elements of an array, or what is none */
enum { PROPERTY_PATH_STEPS = 32 };

/* A name (with case) and which element; of a struct on the way to a member PROPERTY_WHOLE is the first one. */
struct property_step {
    const char *name;
    uint32_t element;
};
struct found_property {
    size_t offset, size; /* in the data; the bytes as they stand there */
};
/* S_FALSE: the event has none of that name, or not that element. EVENT_DATA_INVALID: its data end before it. */
HRESULT event_property_find(const struct event_schema *schema, const struct event_data *data,
                            const struct property_step *path, size_t steps, struct found_property *out);

#endif
