/* SPDX-License-Identifier: MIT */
/* The Windows service OpenPLA: created, updated and deleted through the service control manager. */
#ifndef OPENPLA_SERVICE_H
#define OPENPLA_SERVICE_H

#include "engine/base/text.h"

#include <windows.h>

#define OPENPLA_SERVICE_NAME         L"OpenPLA"
#define OPENPLA_SERVICE_DISPLAY_NAME L"OpenPLA Performance Logs and Alerts"
#define OPENPLA_SERVICE_DESCRIPTION                                                                                    \
    L"Starts, stops and schedules data collector sets, and serves the PLA classes to local and remote clients."

/* A saved state of the service, for service_restore. */
struct service_kept {
    bool taken;                        /* service_keep succeeded */
    QUERY_SERVICE_CONFIGW *config;     /* from memory_alloc; NULL: there was no service */
    SERVICE_DESCRIPTIONW *description; /* from memory_alloc; its text may be NULL */
};
/* Saves the state. S_FALSE: the service does not exist, which is saved too. On failure *out is empty. */
HRESULT service_keep(struct service_kept *out);
/* Undoes service_install(server), or removes the service if it did not exist; does nothing without a saved state.
   Continues after a failure and returns the first one. An account with a password cannot be restored, because only the
   service manager knows the password. */
HRESULT service_restore(const struct service_kept *kept, const char *server);
void service_kept_free(struct service_kept *kept);

/* Creates or updates the service: separate process, automatic start, account LocalSystem, program `server` (UTF-8 path)
   with the argument /service. On failure it may be half done: call service_restore. */
HRESULT service_install(const char *server);
/* Stops the service (waits up to 30 s for its process) and deletes it, if it runs `server`. If it cannot be deleted, it
   is started again. S_FALSE: it does not exist or runs another program. */
HRESULT service_remove(const char *server);
/* Stops the service, if it runs `server`, and waits up to 30 s until its process has exited and its program can be
   deleted. S_FALSE: it does not exist or runs another program. */
HRESULT service_stop(const char *server);
/* Starts the service and waits until it runs, at most 30 seconds. S_OK if it was already running. */
HRESULT service_start(void);

/* Restarts Wine's rpcss. After a server was killed, rpcss keeps returning its process to clients for minutes; the
   restarted one has forgotten all servers. It would also forget the service's running server, so this function stops
   the service first. A running set continues in its set host process, and the activation by the next client starts the
   service. Not for Windows. */
HRESULT service_renew_rpcss(void);

/* The service as its manager reports it. */
struct service_seen {
    char *command; /* UTF-8, from memory_alloc: the program with its argument */
    bool disabled; /* the service cannot be started */
    bool running;  /* running, or starting */
    DWORD process; /* process of a running service; it may have exited, which Wine's manager does not notice */
};
/* Queries the service. S_FALSE, and *out empty: it does not exist. */
HRESULT service_look(struct service_seen *out);

#endif
