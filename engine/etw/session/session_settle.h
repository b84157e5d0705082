/* SPDX-License-Identifier: MIT */
/* One closed buffer of a session, judged and copied: which of its events are whole, which are being written, which
   never will be. It stays as it is but for marks, so that another process can do the same should this one end. */
#ifndef OPENPLA_SESSION_SETTLE_H
#define OPENPLA_SESSION_SETTLE_H

#include "engine/etw/session/session_clock.h"

/* Who can tell whether a writer may still write. */
struct session_judge {
    /* `thread` 0: any of the process. Asked only for an event that is not whole. */
    bool (*alive)(void *context, uint32_t owner, uint32_t thread);
    void *context;
};

/* The order of stamps on a processor, kept from buffer to buffer: writers are not trusted to rise, nor readings of
   processors' counters taken a few ns apart. Zero-initialise. */
struct session_order {
    uint64_t stamp;
    int64_t time;
};

struct session_settled {
    uint32_t used;     /* bytes of the copy, ETL_BUFFER_HEAD included */
    uint32_t events;   /* in it */
    uint32_t torn;     /* newly found, and to be counted; also when the buffer must wait */
    uint32_t given_up; /* not whole, not torn either: by force, or in a place that no writer of ours left so */
    int64_t time;      /* of the newest event; that of `order` if there is none */
};
/* `place`: of the closed buffer's word. `copy`: room for a buffer; its header is not touched. Stamps above
   `now`, that of a moment after the buffer was closed, are not believed. False: somebody who lives writes in it, and
   `force` is not set; *order is then as it was. */
bool session_settle(const struct session_buffers *b, uint32_t buffer, uint64_t place, const struct session_judge *judge,
                    bool force, const struct session_clock *clock, uint64_t now, struct session_order *order,
                    uint8_t *copy, struct session_settled *out);
/* Where the events end in a buffer that no word tells the end of; ETL_BUFFER_HEAD: it has none. */
uint32_t session_unclosed_end(const struct session_buffers *b, uint32_t buffer);

#endif
