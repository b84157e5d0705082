/* SPDX-License-Identifier: MIT */
/* The trace providers that are known here: names, levels and keywords. MS-PLA 3.2.4.11.15, 3.2.4.13.9, note 2. */
#ifndef OPENPLA_TRACE_PROVIDERS_H
#define OPENPLA_TRACE_PROVIDERS_H

#include "engine/model/model.h"

/* Fills a provider from what is known under the name or GUID text; what it held is lost but for its filter. HRESULT of
   ERROR_WMI_GUID_NOT_FOUND, naming it, when nothing is. */
HRESULT trace_provider_query(struct object *provider, const char *name);
/* MS-PLA 3.2.4.11.16: `from` is a provider, or a collection of which the one with the same GUID is taken. S_OK also
   when there is none. */
HRESULT trace_provider_resolve(struct object *provider, struct object *from);
/* Fills the collection with all known providers; it is unchanged on failure. */
HRESULT trace_providers_list(struct object *collection);
HRESULT trace_providers_list_of_process(struct object *collection, uint32_t process_id);
/* What needs to know the processes that registered a provider: ERROR_NOT_SUPPORTED's HRESULT. */
HRESULT trace_providers_no_processes(const char *method);
/* MS-PLA 3.2.4.11.17, 3.2.4.11.18; `parts`: SECURITY_INFORMATION bits. *sddl from memory_alloc. E_INVALIDARG without a
   Guid, for none of the bits 1 to 8 and for what is no SDDL. */
HRESULT trace_provider_get_security(struct object *provider, uint32_t parts, char **sddl);
HRESULT trace_provider_set_security(struct object *provider, const char *sddl);

#endif
