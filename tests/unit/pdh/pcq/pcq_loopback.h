/* SPDX-License-Identifier: MIT */
/* Simulates a remote computer with the interface PerflibV2 in this process. It decodes requests and encodes replies
   without the library's code. It can be down, hang, or return any reply. */
#ifndef OPENPLA_PCQ_LOOPBACK_H
#define OPENPLA_PCQ_LOOPBACK_H

#include "engine/base/thread.h"
#include "engine/pdh/remote/link.h"

extern const struct link_kind loopback_links;

struct loopback {
    bool down;              /* calls fail, and so does opening a link */
    bool forgets;           /* the next call fails, as if the computer was restarted after the link was opened */
    bool denies;            /* ERROR_ACCESS_DENIED */
    const uint8_t *rubbish; /* if not NULL: the reply to every call */
    size_t rubbish_size;
    struct wakeup *_Atomic hangs; /* if not NULL: a call waits for it first */
    size_t calls, opened;         /* number of calls and of opened links */
    size_t bytes;                 /* size of the replies */
};
/* All links share this without a lock. While a call is running, only `hangs` may be changed. */
extern struct loopback loopback;
/* Closes the server, which the first call creates. */
void loopback_end(void);

#endif
