/* SPDX-License-Identifier: MIT */
/* A remote computer whose PerflibV2 is simulated by this process. It decodes requests and encodes answers independently
   of the library, and can be down, hang, or return any answer. */
#ifndef OPENPLA_PCQ_LOOPBACK_H
#define OPENPLA_PCQ_LOOPBACK_H

#include "engine/base/thread.h"
#include "engine/pdh/remote/link.h"

extern const struct link_kind loopback_links;

struct loopback {
    bool down;              /* calls fail, and so does opening a link */
    bool forgets;           /* the next call fails, as on a link to a computer that was restarted */
    bool denies;            /* ERROR_ACCESS_DENIED */
    const uint8_t *rubbish; /* if not NULL: the answer to every call */
    size_t rubbish_size;
    struct wakeup *_Atomic hangs; /* if not NULL: a call waits for it first */
    size_t calls, opened;         /* number of calls and of opened links */
    size_t bytes;                 /* size of the replies */
};
/* Shared by all links without a lock: change it only while no call is running, except `hangs`. */
extern struct loopback loopback;
/* Ends the server that the first call has created. */
void loopback_end(void);

#endif
