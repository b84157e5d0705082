/* SPDX-License-Identifier: MIT */
/* One page of a Linux ftrace ring buffer (trace_pipe_raw): its events, in the order of time. The form is that of the
   kernel's documentation of the ring buffer and of tracefs' own events/header_page and header_event. */
#ifndef OPENPLA_RING_PAGE_H
#define OPENPLA_RING_PAGE_H

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

#endif
