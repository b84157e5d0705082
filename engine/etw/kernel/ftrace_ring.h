/* SPDX-License-Identifier: MIT */
/* Reads pages of a Linux ftrace ring buffer (trace_pipe_raw) and the formats of its events (events/SYSTEM/NAME/format).
   Sources: the kernel's documentation, and the files events/header_page and header_event of tracefs. */
#ifndef OPENPLA_FTRACE_RING_H
#define OPENPLA_FTRACE_RING_H

#include "engine/base/wintypes.h"

/* Layout of a page, from events/header_page (ring_layout_read). */
struct ring_layout {
    uint32_t commit_offset, commit_size; /* offset and size (4 or 8) of the word that counts the bytes in use */
    uint32_t data_offset;                /* offset of the first event */
    uint32_t page_size; /* data_offset plus the size of the data: the number of bytes to read at a time */
};
enum { RING_SMALLEST_PAGE = 64, RING_LARGEST_PAGE = 1 << 16, RING_UNCOUNTED = -1 };

struct ring_page {
    const uint8_t *at, *end;
    uint64_t time;  /* ns of the instance's clock: time of the previous event; at the first event, time of the page */
    int64_t missed; /* number of events lost before this page; RING_UNCOUNTED: unknown */
};
struct ring_event {
    uint64_t time; /* ns */
    const uint8_t *data;
    uint32_t size; /* bytes of data, a multiple of 4 */
};

/* Begins to read a page of layout->page_size bytes. Returns false if the page is invalid. */
bool ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page);
/* Reads the next event. Returns S_FALSE at the end of the page, and HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the rest
   of the page is unreadable. */
HRESULT ring_page_next(struct ring_page *p, struct ring_event *e);

/* A field of an event's format file (events/SYSTEM/NAME/format). Event numbers and offsets differ between kernels, so
   each field is looked up by name, but only once. A missing field reads as 0. */
struct ring_field {
    uint16_t offset, size; /* size 0: the event has no such field in this kernel */
    bool is_signed;
    bool is_located; /* __data_loc: a u32 with two parts, the offset from the start of the event and the length << 16 */
};
enum { RING_NO_EVENT = 0, RING_MOST_ID = 0xFFFF };

/* Parses the contents of events/header_page. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA), with an error text, if the
   format is unknown. */
HRESULT ring_layout_read(const char *text, struct ring_layout *out);
/* Returns the event's number (common_type), or RING_NO_EVENT if the text contains no number. */
uint32_t ring_format_id(const char *text);
/* Returns the field with this name. If the text lacks the field, the result is all zero. */
struct ring_field ring_format_field(const char *text, const char *name);

/* Returns the field's value, a number of at most 8 bytes. Returns 0 if the field is outside the event. */
int64_t ring_number(const struct ring_event *e, const struct ring_field *f);
/* Returns the bytes of the field. For a __data_loc field, returns the bytes to which the field refers. If the bytes are
   outside the event, returns NULL, and *size is 0. */
const uint8_t *ring_bytes(const struct ring_event *e, const struct ring_field *f, uint32_t *size);
/* Copies the field's string up to its NUL. The copy is truncated to `room` bytes, including its NUL. */
void ring_text(const struct ring_event *e, const struct ring_field *f, char *out, size_t room);

#endif
