/* SPDX-License-Identifier: MIT */
/* Pages of a Linux ftrace ring buffer (trace_pipe_raw) and the format of their events (events/SYSTEM/NAME/format), as
   the kernel's documentation and tracefs' own events/header_page and header_event describe them. */
#ifndef OPENPLA_FTRACE_RING_H
#define OPENPLA_FTRACE_RING_H

#include "engine/base/wintypes.h"

/* As events/header_page tells it (ring_layout_read). */
struct ring_layout {
    uint32_t commit_offset, commit_size; /* the word with the bytes used; 4 or 8 bytes */
    uint32_t data_offset;                /* of the first event */
    uint32_t page_size;                  /* data_offset and the data: what one read has to ask for */
};
enum { RING_SMALLEST_PAGE = 64, RING_LARGEST_PAGE = 1 << 16, RING_UNCOUNTED = -1 };

struct ring_page {
    const uint8_t *at, *end;
    uint64_t time;  /* ns of the instance's clock: of the event before, first of the page */
    int64_t missed; /* events lost in front of the page; RING_UNCOUNTED: some */
};
struct ring_event {
    uint64_t time; /* ns */
    const uint8_t *data;
    uint32_t size; /* of the data, a multiple of 4 */
};

/* The page of layout->page_size bytes. False: it is none. */
bool ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page);
/* The next event. S_FALSE: the page is done. ERROR_INVALID_DATA's HRESULT: what follows cannot be read, and the page is
   done. */
HRESULT ring_page_next(struct ring_page *p, struct ring_event *e);

/* What tracefs tells of the form of an event (events/SYSTEM/NAME/format): ids and fields are another kernel's
   otherwise, so a field is asked for by name, once, and one that is not there reads as 0. */
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
