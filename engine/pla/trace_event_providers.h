/* SPDX-License-Identifier: MIT */
/* Lists and queries the event providers of this computer: names, levels, keywords, processes and security (MS-PLA
   3.2.4.11.15, 3.2.4.13.9, note 2). */
#ifndef OPENPLA_TRACE_EVENT_PROVIDERS_H
#define OPENPLA_TRACE_EVENT_PROVIDERS_H

#include "engine/pla/model.h"

/* Fills an event provider from its name or GUID; replaces everything except its filter.
   HRESULT_FROM_WIN32(ERROR_WMI_GUID_NOT_FOUND): the event provider is unknown; the message names it. */
HRESULT trace_provider_query(struct object *provider, const char *name);
/* Copies the names and descriptions of values from `from` (MS-PLA 3.2.4.11.16). `from` is an event provider or a
   collection. If `from` is a collection, the function uses the event provider with the same GUID in it. S_OK even if
   the collection has no such event provider. */
HRESULT trace_provider_resolve(struct object *provider, struct object *from);
/* Fills the collection with the kernel's event providers and two other groups: event providers that have a name on this
   computer, from a manifest or from the event provider itself; and event providers that have only a GUID and that a
   process has currently registered. The collection is unchanged on failure. */
HRESULT trace_providers_list(struct object *collection);
/* Fills the collection with the event providers that the process has currently registered. E_INVALIDARG: the process
   does not exist. */
HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process_id);
/* Creates a value map with an item for each process that has currently registered the event provider. The key is the
   path of the process's program, the value is the process id (MS-PLA 3.2.4.11.19). E_INVALIDARG: the event provider has
   no Guid. */
HRESULT trace_provider_processes(struct object *provider, struct object **map);
/* Get and set the event provider's security descriptor (MS-PLA 3.2.4.11.17, 3.2.4.11.18). `parts`: SECURITY_INFORMATION
   bits. *sddl is from memory_alloc. E_INVALIDARG: no Guid, none of the bits 1 to 8 in `parts`, or invalid SDDL. */
HRESULT trace_provider_get_security(struct object *provider, uint32_t parts, char **sddl);
HRESULT trace_provider_set_security(struct object *provider, const char *sddl);

#endif
