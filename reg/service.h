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

/* The service as it was, for service_restore. */
struct service_kept {
    bool taken;                        /* service_keep succeeded */
    QUERY_SERVICE_CONFIGW *config;     /* from memory_alloc; NULL: there was no service */
    SERVICE_DESCRIPTIONW *description; /* from memory_alloc; its text may be NULL */
};
/* S_FALSE: there is no such service, which is kept too. On failure *out is empty. */
HRESULT service_keep(struct service_kept *out);
/* Puts back what service_install(server) has changed, or removes the service where there was none; nothing where
   nothing was kept. Goes on after a failure and returns the first: the account cannot come back where it has a
   password, which nobody but the service manager knows. */
HRESULT service_restore(const struct service_kept *kept, const char *server);
void service_kept_free(struct service_kept *kept);

/* Makes the service, or brings the one that exists up to date: own process, automatic start, account LocalSystem,
   program `server` (UTF-8 path) with the argument /service. On failure it may be half done: service_restore. */
HRESULT service_install(const char *server);
/* Stops the service (waits up to 30 s for its process) and deletes it, if it runs `server`. Where it cannot be deleted
   it is started again. S_FALSE: there is none, or it runs another program. */
HRESULT service_remove(const char *server);
/* Stops the service, if it runs `server`, and waits up to 30 s for its process: until that has ended nobody can delete
   its program. S_FALSE: there is none, or it runs another program. */
HRESULT service_stop(const char *server);
/* Starts the service and waits until it runs, 30 seconds at most. S_OK when it ran already. */
HRESULT service_start(void);

/* Wine's rpcss goes on naming the process of a server that was killed to each client, for minutes. Starts rpcss anew,
   which forgets all servers. A server of the service that runs would be forgotten too, so it is stopped first (a
   running set goes on in its host); the next client's activation starts the service. On Windows it is not to be called.
 */
HRESULT service_renew_rpcss(void);

/* The service as its manager tells of it. */
struct service_seen {
    char *command; /* UTF-8, from memory_alloc: the program with its argument */
    bool disabled; /* it may not be started */
    bool running;  /* or about to */
    DWORD process; /* of a running one; it may have ended, which Wine's manager does not notice */
};
/* S_FALSE, and *out empty: there is no such service. */
HRESULT service_look(struct service_seen *out);

#endif
