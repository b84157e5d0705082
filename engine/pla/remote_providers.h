/* SPDX-License-Identifier: MIT */
/* Lists and queries the event providers of another computer by DCOM, without the host OS' COM (MS-PLA 3.2.4.11,
   3.2.4.13). This is the counterpart of engine/pla/trace_event_providers.h. The functions use the DCOM servers and
   accounts of engine/pla/remote_sets.h. */
#ifndef OPENPLA_REMOTE_PROVIDERS_H
#define OPENPLA_REMOTE_PROVIDERS_H

#include "engine/pla/model.h"

/* Adds the computer's event providers, with DisplayName and Guid. If `process` is not NULL, adds only the event
   providers that the process with the id *process has registered on that computer. */
HRESULT remote_providers_list(struct object *collection, const char *server, const uint32_t *process);
/* Fills a new event provider from its name or GUID, with the levels and keywords that the event provider has on the
   computer `server`. Creates *processes, a value map of the processes of that computer that have currently registered
   the event provider. */
HRESULT remote_provider_query(struct object *provider, const char *server, const char *name, struct object **processes);

#endif
