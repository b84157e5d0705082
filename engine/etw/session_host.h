/* SPDX-License-Identifier: MIT */
/* The process of one session, inside: what its loop has. */
#ifndef OPENPLA_SESSION_HOST_H
#define OPENPLA_SESSION_HOST_H

#include "engine/etw/session_output.h"

struct session_host {
    struct directory *d;
    struct directory_session session; /* as the directory has it */
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_drain *drain;
    struct session_output output;
    uint64_t flushed; /* ms: since when events may lie in buffers that are not full */
    uint64_t tended;
    uint64_t looked;  /* ms: for the directory */
    uint32_t tend_ms; /* until the next time */
    uint64_t seen;    /* of the processors' words, the last time */
    bool end;
    bool asked_to_stop; /* somebody waits for the answer */
};

/* Does what a controller or consumer asks for, if one does. */
void session_host_answer(struct session_host *h);
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
