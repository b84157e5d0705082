/* SPDX-License-Identifier: MIT */
/* How often the host of a session looks for closed buffers unasked: as often as it finds some, so that writers need not
   wake it. To wake it costs a writer as much as thousands of events do: under Wine it waits for the answer of another
   process, and on a virtual machine each processor that slept for the signal that it sleeps no more. */
#ifndef OPENPLA_SESSION_PACE_H
#define OPENPLA_SESSION_PACE_H

#include <stdint.h>

enum {
    SESSION_PACE_LEAST_MS = 2,
    SESSION_PACE_MOST_MS = 1000, /* then it does not look any more until it is woken */
};
#define SESSION_PACE_NEVER UINT32_MAX

/* Until the next look, when `ms` were until this one (0: it is the first, or the host did not look), which found so
   many closed buffers; `wake_at` of them wake the host. */
static inline uint32_t session_pace(uint32_t ms, uint32_t found, uint32_t wake_at)
{
    if (found != 0 && found >= wake_at)
        return SESSION_PACE_LEAST_MS; /* writers had to, or nearly so */
    if (ms == 0 || ms == SESSION_PACE_NEVER)
        return SESSION_PACE_NEVER; /* the session is slow: it is woken, or flushed */
    if (found > wake_at / 2)
        return ms / 2 > SESSION_PACE_LEAST_MS ? ms / 2 : SESSION_PACE_LEAST_MS;
    if (found != 0)
        return ms;
    return 2 * ms <= SESSION_PACE_MOST_MS ? 2 * ms : SESSION_PACE_NEVER;
}

#endif
