/* SPDX-License-Identifier: MIT */
/* The trace providers that are known here: names, levels and keywords. MS-PLA 3.2.4.11.15, 3.2.4.13.9, note 2. */
#ifndef OPENPLA_TRACE_EVENT_PROVIDERS_H
#define OPENPLA_TRACE_EVENT_PROVIDERS_H

#include "engine/pla/model.h"

/* Fills a provider from what is known under the name or GUID text; what it held is lost but for its filter. HRESULT of
   ERROR_WMI_GUID_NOT_FOUND, naming it, when nothing is. */
HRESULT trace_provider_query(struct object *provider, const char *name);
/* MS-PLA 3.2.4.11.16: `from` is a provider, or a collection of which the one with the same GUID is taken. S_OK also
   when there is none. */
HRESULT trace_provider_resolve(struct object *provider, struct object *from);
/* Fills the collection with the kernel's providers, those that something on this host names (manifests, and providers
   that call themselves something) and those that a process has registered now, by their GUIDs; it is unchanged on
   failure. */
HRESULT trace_providers_list(struct object *collection);
/* The same with those that the process has registered now. E_INVALIDARG when there is no such process. */
HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process_id);
/* MS-PLA 3.2.4.11.19: a new value map with an item for each process that has the provider registered now, its program's
   path as the key and its id as the value. E_INVALIDARG without a Guid. */
HRESULT trace_provider_processes(struct object *provider, struct object **map);
/* MS-PLA 3.2.4.11.17, 3.2.4.11.18; `parts`: SECURITY_INFORMATION bits. *sddl from memory_alloc. E_INVALIDARG without a
   Guid, for none of the bits 1 to 8 and for what is no SDDL. */
HRESULT trace_provider_get_security(struct object *provider, uint32_t parts, char **sddl);
HRESULT trace_provider_set_security(struct object *provider, const char *sddl);

#endif
