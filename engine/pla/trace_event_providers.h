/* SPDX-License-Identifier: MIT */
/* The event providers of this host: names, levels and keywords (MS-PLA 3.2.4.11.15, 3.2.4.13.9, note 2). */
#ifndef OPENPLA_TRACE_EVENT_PROVIDERS_H
#define OPENPLA_TRACE_EVENT_PROVIDERS_H

#include "engine/pla/model.h"

/* Fills an event provider from its name or GUID; replaces everything but its filter. HRESULT of
   ERROR_WMI_GUID_NOT_FOUND, naming it: unknown. */
HRESULT trace_provider_query(struct object *provider, const char *name);
/* Copies names and descriptions of values from `from` (MS-PLA 3.2.4.11.16): an event provider, or a collection that is
   searched for the same GUID. S_OK even if the collection has no match. */
HRESULT trace_provider_resolve(struct object *provider, struct object *from);
/* Fills the collection with the kernel's event providers, those that have a name on this host (from a manifest or from
   themselves), and those that a process has registered now, by GUID. Unchanged on failure. */
HRESULT trace_providers_list(struct object *collection);
/* Fills it with those that the process has registered now. E_INVALIDARG: the process does not exist. */
HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process_id);
/* MS-PLA 3.2.4.11.19: a new value map with an item for each process that has registered the event provider now: key
   is its program's path, value its id. E_INVALIDARG without a Guid. */
HRESULT trace_provider_processes(struct object *provider, struct object **map);
/* MS-PLA 3.2.4.11.17, 3.2.4.11.18; `parts`: SECURITY_INFORMATION bits. *sddl from memory_alloc. E_INVALIDARG without
   a Guid, without any of the bits 1 to 8, or for invalid SDDL. */
HRESULT trace_provider_get_security(struct object *provider, uint32_t parts, char **sddl);
HRESULT trace_provider_set_security(struct object *provider, const char *sddl);

#endif
