/* SPDX-License-Identifier: MIT */
/* What the system tells of performance extension DLLs: services with a key Performance, and the table of names that
   their installers extend. Nothing natively. */
#ifndef OPENPLA_PDH_EXTENSION_SYSTEM_H
#define OPENPLA_PDH_EXTENSION_SYSTEM_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* Names of the services that have Library, Open, Collect and Close under Performance and are not disabled. */
HRESULT extension_services(struct texts *out);
/* The English names and help: number, text, number, text ... of Perflib\009, values Counter and Help, and of the
   services' own: Wine keeps no such table and lets nobody write one, so there a service's key Performance may hold its
   part as the values "Counter 009" and "Help 009" (REG_MULTI_SZ), in the same form, as `openpla lodctr` writes them. */
HRESULT extension_names(const struct texts *services, struct texts *out);
/* Starts the process that loads the service's DLL and serves the channel of this name (extension_host.h). */
HRESULT extension_start(const char *channel, const char *service, struct process **out);

#endif
