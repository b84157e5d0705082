/* SPDX-License-Identifier: MIT */
/* The event providers of another computer, by DCOM without the host OS' COM (MS-PLA 3.2.4.11, 3.2.4.13): like
   engine/pla/trace_event_providers.h, for the servers and accounts of engine/pla/remote_sets.h. */
#ifndef OPENPLA_REMOTE_PROVIDERS_H
#define OPENPLA_REMOTE_PROVIDERS_H

#include "engine/pla/model.h"

/* Adds the event providers of the computer, or only those that `process` there has registered (NULL: all), with
   DisplayName and Guid. */
HRESULT remote_providers_list(struct object *collection, const char *server, const uint32_t *process);
/* Fills a new event provider from its name or GUID, including the levels and keywords that it has on that computer.
 *processes: a new value map of the processes that currently have it registered there. */
HRESULT remote_provider_query(struct object *provider, const char *server, const char *name, struct object **processes);

#endif
