/* SPDX-License-Identifier: MIT */
/* A computer whose PerflibV2 is this process' own methods: what a client of it sends is taken apart here, by hand, and
   what it is answered is put together. It can be down, hang, and answer what the test wants. */
#ifndef OPENPLA_PCQ_LOOPBACK_H
#define OPENPLA_PCQ_LOOPBACK_H

#include "engine/base/thread.h"
#include "engine/pdh/remote/link.h"

extern const struct link_kind loopback_links;

struct loopback {
    bool down;              /* calls fail, and so does opening a link */
    bool forgets;           /* the next call fails, as on a link to a host that was started anew */
    bool denies;            /* ERROR_ACCESS_DENIED */
    const uint8_t *rubbish; /* every call is answered with this instead, if it is not NULL */
    size_t rubbish_size;
    struct wakeup *_Atomic hangs; /* a call waits for it first, if it is not NULL */
    size_t calls, opened;         /* how many there were */
    size_t bytes;                 /* of the replies */
};
/* Of all links, under no lock: set while no call is under way, but for `hangs`. */
extern struct loopback loopback;
/* Ends the server that the first call has made. */
void loopback_end(void);

#endif
