/* SPDX-License-Identifier: MIT */
/* What happens to sessions and is nobody's answer, in the event journal. */
#ifndef OPENPLA_SESSION_JOURNAL_H
#define OPENPLA_SESSION_JOURNAL_H

#include "engine/etw/autologger.h"

enum session_journal_id {
    SESSION_RESCUED = 9101,     /* its host had ended */
    SESSION_NOT_RESCUED = 9102, /* what its buffers held is lost */
    SESSION_NOT_WRITTEN = 9103, /* the file takes no more; the session goes on in memory */
    SESSION_WRITTEN_AGAIN = 9104,
    SESSION_FULL = 9105,          /* the file has its maximum and is closed */
    SESSION_RESCUE_FAILED = 9106, /* for now */
    SESSION_WITHOUT_DIRECTORY = 9107,
    SESSION_UNDELIVERED = 9108,  /* consumers did not take them from a session that had ended */
    SESSION_KEY_VALUE = 9109,    /* of an autologger in the registry: it is not as it must be */
    SESSION_KEY_PROVIDER = 9110, /* the session goes on without it */
    SESSION_KEY_NOT_STARTED = 9111,
    SESSION_WITHOUT_KERNEL = 9112,  /* a logger of the kernel's events has none here */
    SESSION_KERNEL_FLAGS = 9113,    /* of those that it asks for some have no source here */
    SESSION_KERNEL_LEFT = 9114,     /* buffers in the kernel could not be removed */
    SESSION_KERNEL_COUNTERS = 9116, /* it asks for counters of processors */
    SESSION_KERNEL_STACKS = 9117,   /* of those that it asks for some have no source here */
    SESSION_KERNEL_POORER = 9115,   /* they do not come from tracefs, or no more */
    SESSION_KERNEL_HIDDEN = 9118,   /* /proc shows no processes of other users, or no more */
};
/* `count`: events that were rescued, or buffers that were lost; 0: not said. Nothing that happens here is told. The
   thread's error text survives. */
void session_tell(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count);
/* What it asks for of the kernel in vain, as `field`, which is EnableFlags for example. */
void session_tell_missing(enum session_journal_id id, const struct directory_session *s, const char *field,
                          const char *what);
/* SESSION_KERNEL_POORER or SESSION_KERNEL_HIDDEN of the session of that name. `source` and `why` may be NULL. */
void session_tell_source(enum session_journal_id id, const char *session, const char *source, const char *why);
/* The same of the key of an autologger, and of the key `below` it if that is not NULL. `text`: what is wrong, of
   what has not failed. */
void session_tell_key(enum session_journal_id id, const struct autologger *a, HRESULT hr, const char *below,
                      const char *text);

#endif
