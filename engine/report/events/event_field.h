/* SPDX-License-Identifier: MIT */
/* What a column of an event table is made of: a property of the event, or a field of its header. */
#ifndef OPENPLA_EVENT_FIELD_H
#define OPENPLA_EVENT_FIELD_H

#include "engine/etw/event_dump.h"
#include "engine/report/events/event_cell.h"
#include "engine/report/report_schema.h"

struct event_field {
    enum schema_system_field system; /* SYS_NONE: a property of the event's data */
    const char *name;                /* of the property, "Struct.Member" of one in a structure; borrowed */
    bool has_out;
    uint16_t out; /* enum value_out_type */
};
/* `said` is borrowed while the field is used. */
struct event_field event_field_of(const struct schema_field *said, enum schema_out_type out);

enum { EVENT_FIELDS = 256 }; /* of one event at most */
/* The fields that are wanted of one sort of event, and where they were found in its schema. Zero-initialise; set
   `items`, borrowed, and `count`. */
struct event_fields {
    const struct event_field *items;
    size_t count;
    const struct event_schema *schema; /* of the event before, whose places these are; not to be followed */
    uint16_t places[EVENT_FIELDS];
    uint16_t last_place;
    size_t wanted; /* properties */
    struct text_buffer texts;
    struct {
        size_t at, length;
        bool has;
    } spans[EVENT_FIELDS]; /* of the cells' texts */
    size_t missing;        /* a field that this event's schema does not have; `count`: none is missing */
};
void event_field_set_free(struct event_fields *f);
/* A cell for each field; their texts are valid until the next call. What the event does not have is an empty cell.
   EVENT_DATA_INVALID: the data do not fit their schema; S_FALSE: properties are wanted, and nobody knows what the event
   says. E_OUTOFMEMORY. */
HRESULT event_fields_take(struct event_fields *f, const struct dumped_event *e, struct event_cell *cells);

/* The thread's processor time at the event, in ms, of both modes; false: the event has none. */
bool event_processor_ms(const struct dumped_event *e, double *kernel, double *user);

#endif
