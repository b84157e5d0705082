/* SPDX-License-Identifier: MIT */
/* The host of one session is a process. The host of a part of a private session is a thread of the process to which the
   part belongs. This header also declares the functions for the kernel's events of a session; another thread of the
   host writes these events. It also defines how often the host checks for closed buffers. */
#ifndef OPENPLA_SESSION_HOST_H
#define OPENPLA_SESSION_HOST_H

#include "engine/base/os.h"
#include "engine/etw/directory.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_output.h"

#include <stdint.h>

/* ---- the kernel's events ---- */

struct session_kernel;
/* The conditions of a session that have been reported in the journal; each is reported once. Zero-initialise. */
struct session_kernel_reported {
    uint32_t masks[8];
    bool lists[DIRECTORY_KERNEL_LISTS];
};
/* Returns whether the session can have kernel events: it is a kernel logger or a system logger. */
bool session_kernel_is_one(const struct directory_session *s);
/* Starts the kernel events that the session's flags request, beginning with the rundown. Reports in the journal each
   requested flag for which this host OS has no source. Returns S_FALSE, and *out is NULL, if no known flag is
   requested, or if the events cannot be started, which is also reported. Borrows the session and its buffers until
   session_kernel_ended returns true. */
HRESULT session_kernel_begin(struct directory *d, const struct directory_session *s, const struct session_buffers *b,
                             struct session_kernel_reported *reported, struct session_kernel **out);
/* Applies a changed list of the session. If `k` is NULL, the session has no kernel events at present. */
void session_kernel_list(struct session_kernel *k, const struct directory_session *s, enum directory_kernel_list list,
                         struct session_kernel_reported *reported);
/* Requests the end of the kernel events, with the final rundown. NULL is allowed here and below. */
void session_kernel_stop(struct session_kernel *k);
/* Returns true if the kernel events have ended; *k is then freed. The thread of the kernel events may need free buffers
   in order to end. Therefore the thread that empties the buffers must use a short timeout, and must empty buffers
   between two calls. */
bool session_kernel_ended(struct session_kernel *k, uint32_t timeout_ms);

/* ---- system providers ---- */

/* The system providers of newer Windows versions. EnableTraceEx2 can enable a group of kernel events; the GUID of a
   system provider and keywords select the group. */
bool system_provider_is_one(const GUID *provider);
/* Returns the EnableFlags for all system providers that the session has enabled. */
HRESULT system_providers_enabled(struct directory *d, const struct directory_session *s, uint32_t *flags);

/* ---- pace ---- */

/* The host process checks for closed buffers at intervals, without being woken. The interval is adapted so that most
   checks find closed buffers, and writers need not wake the host process. Waking the host process costs a writer as
   much as writing thousands of events: under Wine, the writer waits for the answer of another process; on a virtual
   machine, the writer waits until a halted processor has woken up. */
enum {
    SESSION_PACE_LEAST_MS = 2,
    SESSION_PACE_MOST_MS = 1000, /* if the interval would be longer, the host process sleeps until it is woken */
};
#define SESSION_PACE_NEVER UINT32_MAX

/* Returns the time in ms until the next check. `ms` is the previous result of this function; 0 means that this is the
   first check, or that the host process was not checking. `found` is the number of closed buffers found since the
   previous check. Writers wake the host process when `wake_at` buffers are closed. */
static inline uint32_t session_pace(uint32_t ms, uint32_t found, uint32_t wake_at)
{
    if (found != 0 && found >= wake_at)
        return SESSION_PACE_LEAST_MS; /* writers woke the host process or were about to wake it */
    if (ms == 0 || ms == SESSION_PACE_NEVER)
        return SESSION_PACE_NEVER; /* there are few events: writers or the flush timer wake the host process */
    if (found > wake_at / 2)
        return ms / 2 > SESSION_PACE_LEAST_MS ? ms / 2 : SESSION_PACE_LEAST_MS;
    if (found != 0)
        return ms;
    return 2 * ms <= SESSION_PACE_MOST_MS ? 2 * ms : SESSION_PACE_NEVER;
}

/* ---- the host ---- */
struct session_host {
    struct directory *d;
    uint64_t born;                    /* directory_born when the session began */
    struct directory_session session; /* copy of the session's entry in the directory */
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_drain *drain;
    struct session_output output;
    struct session_kernel *kernel; /* NULL: no kernel events */
    struct session_kernel_reported reported;
    uint64_t flushed; /* ms: since when partly filled buffers may contain events */
    uint64_t reaped;
    uint64_t checked; /* ms: when the directory was last checked */
    uint32_t reap_ms; /* interval of reaping */
    uint32_t pace_ms; /* time between checks for closed buffers, from session_pace */
    uint32_t found;   /* number of closed buffers found since the host last slept */
    uint64_t seen;    /* checksum of all words of session_processor at the last check */
    /* Any thread may set `end`, and then wakes the host process. All other members belong to the holder of `lock`. */
    atomic_bool end;
    bool asked_to_stop; /* a controller waits for the answer */
    bool finished;
    /* A host thread holds this lock except while it sleeps. NULL: no other thread uses *h. */
    struct lock *lock;
};

/* Creates the buffers and the file of a session that is about to start, and publishes that it runs. Returns a
   Windows error code with an error text; call session_host_release even after a failure. */
ULONG session_host_begin(struct session_host *h, uint32_t logger, uint32_t generation);
/* Publishes the calling thread as the one that empties the session's buffers (LoggerThreadId). */
void session_host_own(struct session_host *h);
/* Runs until the session ends. */
void session_host_run(struct session_host *h);
/* Stops the session: writes all accepted events to its file, completes the file, and removes the session from the
   directory. Later calls do nothing. */
void session_host_finish(struct session_host *h);
void session_host_release(struct session_host *h);

/* Performs the request of a controller or consumer, if one is waiting. */
void session_host_answer(struct session_host *h);

#endif
