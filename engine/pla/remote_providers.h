/* SPDX-License-Identifier: MIT */
/* The event providers of another computer, by DCOM without the host OS' COM (MS-PLA 3.2.4.11, 3.2.4.13): like
   engine/pla/trace_event_providers.h, for servers and accounts as engine/pla/remote_sets.h takes them. */
#ifndef OPENPLA_REMOTE_PROVIDERS_H
#define OPENPLA_REMOTE_PROVIDERS_H

#include "engine/pla/model.h"

/* Adds those of the computer, or those that the process there has registered (NULL: all), with DisplayName and Guid. */
HRESULT remote_providers_list(struct object *collection, const char *server, const uint32_t *process);
/* Fills a new event provider from its name or GUID: also with the levels and keywords that it has there. *processes: a
   new value map of the processes that have registered it there now. */
HRESULT remote_provider_query(struct object *provider, const char *server, const char *name, struct object **processes);

#endif
