/* SPDX-License-Identifier: MIT */
/* The Windows service OpenPLA: created, updated and deleted through the service control manager. */
#ifndef OPENPLA_SERVICE_H
#define OPENPLA_SERVICE_H

#include "engine/os/text.h"

#include <windows.h>

#define OPENPLA_SERVICE_NAME         L"OpenPLA"
#define OPENPLA_SERVICE_DISPLAY_NAME L"OpenPLA Performance Logs and Alerts"
#define OPENPLA_SERVICE_DESCRIPTION                                                                                    \
    L"Starts, stops and schedules data collector sets, and serves the PLA classes to local and remote clients."

/* Makes the service, or brings the one that exists up to date: own process, automatic start, account LocalSystem,
   program `server` (UTF-8 path) with the argument /service. On failure the service is as it was. */
HRESULT service_install(const char *server);
/* Stops the service (waits up to 30 s for its process) and deletes it, if it runs `server`.
   S_FALSE: there is none, or it runs another program. */
HRESULT service_remove(const char *server);
/* Starts the service and waits until it runs, 30 seconds at most. S_OK when it ran already. */
HRESULT service_start(void);

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
