/* SPDX-License-Identifier: MIT */
/* The host of one session, inside: a process of its own, or, of a part of a private session, a thread of the process
   that the part is in. */
#ifndef OPENPLA_SESSION_HOST_H
#define OPENPLA_SESSION_HOST_H

#include "engine/base/host.h"
#include "engine/etw/session/session_kernel.h"
#include "engine/etw/session/session_output.h"

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
    struct session_kernel_told told;
    uint64_t flushed; /* ms: since when events may lie in buffers that are not full */
    uint64_t tended;
    uint64_t looked;    /* ms: for the directory */
    uint32_t tend_ms;   /* until the next time */
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
ULONG session_host_begin(struct session_host *h, uint32_t logger, uint32_t turn);
/* The thread that calls it is from now on the one that empties the session (LoggerThreadId). */
void session_host_own(struct session_host *h);
/* Until the session ends. */
void session_host_run(struct session_host *h);
/* It takes no more events; what it took is in its file, which ends, and it is out of the directory. Once. */
void session_host_finish(struct session_host *h);
void session_host_release(struct session_host *h);

/* ---- parts ---- */

/* False: the directory has been begun anew. The session is not in it any more, and another one may have its logger, for
   which it must not speak. */
bool session_host_is_known(const struct session_host *h);
/* Does what a controller or consumer asks for, if one does. */
void session_host_answer(struct session_host *h);
/* The kernel's events are those of the session's flags, as they are now. What it wrote so far is emptied meanwhile. */
void session_host_kernel(struct session_host *h, bool end);
/* The session goes on without a file, in real time. A code of Windows. */
ULONG session_host_drop_file(struct session_host *h);
/* Passes over the buffers until there is nothing to do for now. */
void session_host_drain(struct session_host *h);
/* As session_host_drain, of all that holds events; then it is in the file. */
void session_host_flush(struct session_host *h);
/* All events until this time of the session's clock have been handed on; to be asked after a drain of all that holds
   events. */
bool session_host_has_until(const struct session_host *h, int64_t time);

#endif
