/* SPDX-License-Identifier: MIT */
/* What tracefs tells of the form of an event (events/SYSTEM/NAME/format): ids and fields are another kernel's
   otherwise, so a field is asked for by name, once, and one that is not there reads as 0. */
#ifndef OPENPLA_RING_FORMAT_H
#define OPENPLA_RING_FORMAT_H

#include "engine/etw/kernel/ring_page.h"

struct ring_field {
    uint16_t offset, size; /* size 0: this kernel's event has no such field */
    bool is_signed;
    bool is_located; /* __data_loc: u32 with the offset from the event's first byte, and the length << 16 */
};
enum { RING_NO_EVENT = 0, RING_MOST_ID = 0xFFFF };

/* Of the text of events/header_page. ERROR_INVALID_DATA's HRESULT with a text: it is none. */
HRESULT ring_layout_read(const char *text, struct ring_layout *out);
/* The event's number, its common_type; RING_NO_EVENT: the text tells none. */
uint32_t ring_format_id(const char *text);
/* The field of that name; all zero when there is none. */
struct ring_field ring_format_field(const char *text, const char *name);

/* A number of at most 8 bytes; 0 where the field is not within the event. */
int64_t ring_number(const struct ring_event *e, const struct ring_field *f);
/* The field's bytes within the event, of a located one those that it tells; NULL and *size 0: not within the event. */
const uint8_t *ring_bytes(const struct ring_event *e, const struct ring_field *f, uint32_t *size);
/* The text of the field up to its NUL, cut to what `room` holds with a NUL of its own. */
void ring_text(const struct ring_event *e, const struct ring_field *f, char *out, size_t room);

#endif
