/* SPDX-License-Identifier: MIT */
/* The event providers that are registered on this host, and who may use them. */
#ifndef OPENPLA_EVENT_PROVIDERS_H
#define OPENPLA_EVENT_PROVIDERS_H

#include "engine/base/text.h"

struct event_provider {
    GUID guid;
    char *name;
};
struct event_providers {
    struct event_provider *items;
    size_t count, capacity;
};
struct etw_api;
/* The ETW functions of this host: the system's on Windows, our own under Wine, whose are empty, and natively. Chosen
   once. */
const struct etw_api *host_etw(void);

/* All that the host's ETW names, those that call themselves something by their traits, and behind them those that a
   process has registered now without a name here: their GUIDs are their names. Each once. *out is empty on failure. */
HRESULT event_providers_list(const struct etw_api *etw, struct event_providers *out);
/* Takes the name over; NULL counts as out of memory. */
HRESULT event_providers_add(struct event_providers *list, const GUID *guid, char *name);
/* NULL: it is not among them. */
const struct event_provider *event_providers_find(const struct event_providers *list, const GUID *guid);
void event_providers_free(struct event_providers *providers);

/* A process that has a provider registered. */
struct event_registration {
    GUID guid;
    uint32_t process;
};
struct event_registrations {
    struct event_registration *items;
    size_t count, capacity;
};
/* Who has the provider (NULL: any) registered now, each pair once; groups of providers are none. *out is empty on
   failure. ERROR_NOT_SUPPORTED's HRESULT in 32-bit programs under Wine. */
HRESULT event_registrations_list(const struct etw_api *etw, const GUID *guid, struct event_registrations *out);
HRESULT event_registrations_add(struct event_registrations *list, const GUID *guid, uint32_t process);
void event_registrations_free(struct event_registrations *registrations);

/* A level or keyword that a provider defines. */
struct event_field {
    char *name, *description;
    uint64_t value;
};
struct event_fields {
    struct event_field *items;
    size_t count, capacity;
};
/* The levels or the keywords of a provider; S_FALSE with *out empty: nothing on this host knows them. */
HRESULT event_provider_fields(const struct etw_api *etw, const GUID *guid, bool keywords, struct event_fields *out);
void event_fields_free(struct event_fields *fields);

/* The provider's security descriptor as SDDL: what is registered for it, else the host's default for providers, else
   Windows' own. `parts`: SECURITY_INFORMATION bits (MS-DTYP 2.4.7; 1 owner, 2 group, 4 DACL, 8 SACL). *sddl from
   memory_alloc. ERROR_NOT_SUPPORTED's HRESULT natively. */
HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl);
/* E_INVALIDARG for what is no SDDL; E_ACCESSDENIED. */
HRESULT event_provider_set_security(const GUID *guid, const char *sddl);

#endif
