/* SPDX-License-Identifier: MIT */
/* A session that runs as a source of events: a ring that its host fills and this process empties. */
#ifndef OPENPLA_REALTIME_SOURCE_H
#define OPENPLA_REALTIME_SOURCE_H

#include "engine/etw/consumer/consumer_source.h"
#include "engine/etw/session/realtime_ring.h"

/* What a connection to a session's host is. `wait` may be called by one thread, `wake` by all. */
struct realtime_connection {
    struct realtime_ring ring; /* of which the host's first buffer holds the log file header */
    uint32_t flush_ms;         /* the session's FlushTimer: so long buffers wait for older events; 0: a second */
    void *context;
    /* S_OK: the host has put something into the ring, or wake was called; S_FALSE: the time is over; E_ABORT: the
       host's process has ended. */
    HRESULT (*wait)(void *context, uint32_t timeout_ms);
    void (*wake)(void *context);
    void (*close)(void *context); /* tells the host, too */
};

/* The way to sessions, as whoever knows their directory offers it. */
struct realtime_source {
    /* HRESULTs of ERROR_WMI_INSTANCE_NOT_FOUND: there is no such session, or it has no real-time mode;
       ERROR_ACCESS_DENIED. */
    HRESULT (*connect)(void *context, const char *session, struct realtime_connection *out);
    void *context;
};

/* By the directory of this host. */
extern const struct realtime_source session_connections;

/* The events of the session, merged over its processors; what is lost on the way comes as events of the class
   RT_LostEvent. It ends with the session, or with the host's process. `source` NULL: there are no sessions. */
HRESULT realtime_source_open(const struct realtime_source *source, const char *session, struct consumer_source **out);

#endif
