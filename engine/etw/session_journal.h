/* SPDX-License-Identifier: MIT */
/* What happens to sessions and is nobody's answer, in the event journal. */
#ifndef OPENPLA_SESSION_JOURNAL_H
#define OPENPLA_SESSION_JOURNAL_H

#include "engine/etw/directory.h"

enum session_journal_id {
    SESSION_RESCUED = 9101,     /* its host had ended */
    SESSION_NOT_RESCUED = 9102, /* what its buffers held is lost */
    SESSION_NOT_WRITTEN = 9103, /* the file takes no more; the session goes on in memory */
    SESSION_WRITTEN_AGAIN = 9104,
    SESSION_FULL = 9105,          /* the file has its maximum and is closed */
    SESSION_RESCUE_FAILED = 9106, /* for now */
    SESSION_WITHOUT_DIRECTORY = 9107,
    SESSION_UNDELIVERED = 9108, /* consumers did not take them from a session that had ended */
};
/* `count`: events that were rescued, or buffers that were lost; 0: not said. Nothing that happens here is told. The
   thread's error text survives. */
void session_tell(enum session_journal_id id, const struct directory_session *s, HRESULT hr, uint64_t count);

#endif
