/* SPDX-License-Identifier: MIT */
/* The host of one session, inside: a process of its own, or, for a part of a private session, a thread of the
   process that the part is in. With it the kernel's events, which another thread of the host writes, and the pace at
   which the host looks for closed buffers. */
#ifndef OPENPLA_SESSION_HOST_H
#define OPENPLA_SESSION_HOST_H

#include "engine/base/host.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_output.h"

#include <stdint.h>

/* ---- the kernel's events ---- */

struct session_kernel;
/* What the journal has of a session, which is told once. Zero-initialise. */
struct session_kernel_reported {
    uint32_t masks[8];
    bool lists[DIRECTORY_KERNEL_LISTS];
};
/* Whether such events can be in it: it is one of the kernel's loggers, or a system logger. */
bool session_kernel_is_one(const struct directory_session *s);
/* Begins what its flags ask for, the rundown first. S_FALSE, and *out NULL: it asks for nothing that this host has a
   source for, which is told to the journal. The session and its buffers are borrowed until it has ended. */
HRESULT session_kernel_begin(struct directory *d, const struct directory_session *s, const struct session_buffers *b,
                             struct session_kernel_reported *reported, struct session_kernel **out);
/* The session has another list now; k NULL: and no events of the kernel. */
void session_kernel_list(struct session_kernel *k, const struct directory_session *s, enum directory_kernel_list list,
                         struct session_kernel_reported *reported);
/* Asks it to end, with the rundown of the end. NULL is allowed, as below. */
void session_kernel_stop(struct session_kernel *k);
/* True: it has ended, and *k is freed. It may need buffers for that: whoever empties them does not wait here. */
bool session_kernel_ended(struct session_kernel *k, uint32_t timeout_ms);

/* ---- system providers ---- */

/* The system providers of newer Windows: the kernel's events by EnableTraceEx2, each kind by a GUID and keywords. */
bool system_provider_is_one(const GUID *provider);
/* Those of all that the session has enabled. */
HRESULT system_providers_enabled(struct directory *d, const struct directory_session *s, uint32_t *flags);

/* ---- pace ---- */

/* How often the host of a session looks for closed buffers unasked: as often as it finds some, so that writers need not
   wake it. To wake it costs a writer as much as thousands of events do: under Wine it waits for the answer of another
   process, and on a virtual machine each processor that slept for the signal that it sleeps no more. */
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

/* ---- the host ---- */
struct session_host {
    struct directory *d;
    uint64_t born;                    /* directory_born, when the session was begun */
    struct directory_session session; /* as the directory has it */
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_drain *drain;
    struct session_output output;
    struct session_kernel *kernel; /* NULL: none of the kernel's events */
    struct session_kernel_reported reported;
    uint64_t flushed; /* ms: since when events may lie in buffers that are not full */
    uint64_t reaped;
    uint64_t checked;   /* ms: for the directory */
    uint32_t reap_ms;   /* until the next time */
    uint32_t pace_ms;   /* until it looks for closed buffers unasked; session_pace's */
    uint32_t found;     /* closed buffers, since it slept */
    uint64_t seen;      /* of the processors' words, the last time */
    atomic_bool end;    /* by anybody, who then wakes it; all else by who has the lock */
    bool asked_to_stop; /* somebody waits for the answer */
    bool finished;
    struct host_lock *lock; /* of a thread: it has it but while it sleeps. NULL: nobody else comes near */
};

/* The session of the directory that is about to start: makes its buffers and its file, and says that it runs. An error
   code of Windows with a text; then, too, session_host_release frees what *h has. */
ULONG session_host_begin(struct session_host *h, uint32_t logger, uint32_t generation);
/* The thread that calls it is from now on the one that empties the session (LoggerThreadId). */
void session_host_own(struct session_host *h);
/* Until the session ends. */
void session_host_run(struct session_host *h);
/* It takes no more events; what it took is in its file, which ends, and it is out of the directory. Once. */
void session_host_finish(struct session_host *h);
void session_host_release(struct session_host *h);

/* Does what a controller or consumer asks for, if one does. */
void session_host_answer(struct session_host *h);

#endif
